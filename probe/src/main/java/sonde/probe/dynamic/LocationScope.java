package sonde.probe.dynamic;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.btf.BtfType;
import sonde.binary.dwarf.location.DebugEntry;
import sonde.binary.dwarf.location.DwarfTag;
import sonde.binary.dwarf.location.ObjectLocation;
import sonde.binary.dwarf.location.ObjectLocation.AbsentLocation;
import sonde.binary.dwarf.location.ObjectLocation.ImplicitBytes;
import sonde.binary.dwarf.location.ObjectLocation.ImplicitValue;
import sonde.binary.dwarf.location.ObjectLocation.LocationPiece;
import sonde.binary.dwarf.location.ObjectLocation.LocationPieces;
import sonde.binary.dwarf.location.ObjectLocation.UnreadableLocation;
import sonde.binary.dwarf.location.SourceFunction;
import sonde.binary.dwarf.location.SourceScope;
import sonde.binary.dwarf.location.SourceVariable;
import sonde.binary.dwarf.location.SymbolicValue;
import sonde.binary.dwarf.location.SymbolicValue.ConstantValue;
import sonde.binary.dwarf.location.SymbolicValue.OperationValue;
import sonde.binary.dwarf.location.SymbolicValue.RegisterValue;
import sonde.binary.dwarf.location.SymbolicValue.StaticAddress;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSection;
import sonde.binary.elf.ElfSegment;
import sonde.event.NearestNames;
import sonde.probe.dynamic.FetchArgument.FetchException;
import sonde.probe.dynamic.FetchArgument.FetchNames;
import sonde.probe.dynamic.FetchArgument.StaticAddresses;
import sonde.probe.dynamic.ObjectSymbols.ObjectSymbol;
import sonde.probe.dynamic.ProbeExpression.MemberOf;
import sonde.probe.dynamic.ProbeExpression.VariableName;
import sonde.probe.dynamic.ProbeOperand.CalculatedOperand;
import sonde.probe.dynamic.ProbeOperand.HeldOperand;
import sonde.probe.dynamic.ProbeOperand.KernelOperand;
import sonde.probe.dynamic.ProbeOperand.OperandPart;
import sonde.probe.dynamic.ProbeOperand.SplitOperand;
import sonde.probe.dynamic.ProbeOperand.StoredOperand;
import sonde.symbol.ctype.CallingConvention.ConventionMachine;
import sonde.symbol.ctype.DwarfSourceTypes;
import sonde.symbol.ctype.NamedTypes;
import sonde.symbol.ctype.SourceType;
import sonde.symbol.ctype.StatedPlaces;

/** Variables, registers and types as an expression sees them where a probe stands. */
final class LocationScope implements ExpressionScope {
    /** Characters of the lines that a message names. */
    private static final int MOST_SHOWN = 160;

    /** Places that a search for readable ones looks at. */
    private static final int MOST_LOOKED = 1000;

    private static final Pattern REGISTER = Pattern.compile("%(\\w+)");

    private final ProbedObject subject;
    private final ProbeLocation spot;
    private final FetchNames names;

    LocationScope(ProbedObject subject, ProbeLocation spot) {
        this(subject, spot, subject.registers());
    }

    /** With the words for registers and arguments that the kind of probe has. */
    LocationScope(ProbedObject subject, ProbeLocation spot, FetchNames names) {
        this.subject = subject;
        this.spot = spot;
        this.names = names;
    }

    @Override
    public NamedTypes types() {
        return subject.types();
    }

    @Override
    public int addressBytes() {
        return subject.addressBytes();
    }

    @Override
    public boolean isKernel() {
        return subject.isKernel();
    }

    @Override
    public StaticAddresses statics() {
        return subject.isKernel() ? new KernelStatics() : new ProgramStatics();
    }

    /** Data of the kernel moves with its code. */
    private final class KernelStatics implements FetchArgument.StaticAddresses {
        private @Nullable Long start() {
            List<ObjectSymbol> text = subject.symbols().named("_text");
            return text.isEmpty() ? null : text.getFirst().address();
        }

        @Override
        public String memory(long address) throws ProbeException {
            ModulePlaces places = subject.modulePlaces();
            if (places != null) {
                return places.memory(address);
            }
            Long start = start();
            return start == null
                    ? "@0x" + Long.toHexString(address)
                    : "@_text+" + (address - start);
        }

        @Override
        public @Nullable Long running(long address) {
            if (subject.modulePlaces() != null) {
                return null;
            }
            Long start = start();
            KernelImage kernel = subject.kernel();
            long loaded = kernel == null ? 0 : kernel.names().address("_text");
            return start == null || loaded == 0 ? null : address - start + loaded;
        }
    }

    /**
     * {@code @+OFFSET} adds to where byte 0 of the file would be by the mapping that has the probe
     * (translate_user_vaddr of kernel/trace/trace_uprobe.c).
     */
    private final class ProgramStatics implements FetchArgument.StaticAddresses {
        @Override
        public String memory(long address) {
            return "@+" + (address - moved());
        }

        private long moved() {
            ElfFile elf = subject.elf().orElse(null);
            if (elf != null) {
                for (ElfSegment segment : elf.segments()) {
                    if (segment.type() == ElfFile.PT_LOAD
                            && Long.compareUnsigned(
                                            spot.address() - segment.address(), segment.fileBytes())
                                    < 0) {
                        return segment.address() - segment.offset();
                    }
                }
            }
            return 0;
        }

        @Override
        public @Nullable Long running(long address) {
            boolean fixed = subject.elf().map(elf -> elf.type() == ElfFile.ET_EXEC).orElse(false);
            return fixed ? address : null;
        }
    }

    @Override
    public ProbeOperand variable(String text, int at, String name) throws ProbeException {
        try {
            if (spot.isReturn() && !hasArguments()) {
                throw ProbeException.at(
                        text,
                        at,
                        "at a return only $retval is known, no variables"
                                + (isKernel() ? " (arguments since Linux 6.10)" : ""));
            }
            SourceScope scope = spot.scope();
            return scope == null ? parameter(text, at, name) : placed(text, at, name, scope);
        } catch (MalformedInputException e) {
            throw ProbeException.at(
                    text, at, "the debugging information is damaged: " + e.reason());
        } catch (ProbeException e) {
            throw e;
        } catch (IOException e) {
            throw ProbeException.at(text, at, String.valueOf(e.getMessage()));
        }
    }

    /** Without DWARF: a parameter of a kernel function by its declaration in BTF. */
    private ProbeOperand parameter(String text, int at, String name) throws IOException {
        KernelImage.Declaration declared = declaration();
        if (declared == null) {
            subject.entries(); // says what is missing
            throw ProbeException.at(text, at, "nothing is known of the variables here");
        }
        if (!spot.isEntry() && !spot.isReturn()) {
            throw ProbeException.at(
                    text, at, "without debugging information variables are known at entry only");
        }
        List<String> known = new ArrayList<>();
        List<BtfType.Param> params = declared.proto().params();
        for (int i = names.hidden(); i < params.size(); i++) {
            BtfType.Param param = params.get(i);
            known.add(param.name());
            if (param.name().equals(name)) {
                return argument(text, at, i, declared.types().type(param.type()));
            }
        }
        throw ProbeException.at(
                text,
                at,
                spot.function()
                        + " has no parameter '"
                        + name
                        + "'"
                        + NearestNames.suggestion(name, known, "it has "));
    }

    /** Whether the kernel keeps what the function was called with. */
    private boolean hasArguments() {
        return !(names instanceof FetchRegisters);
    }

    @Override
    public String words(String text, int at, String words) throws ProbeException {
        Matcher register = REGISTER.matcher(words);
        StringBuilder out = new StringBuilder();
        while (register.find()) {
            String word = names.spelled(register.group(1));
            if (word.isEmpty()) {
                throw ProbeException.at(
                        text, at + register.start(), names.unknown(register.group(1)));
            }
            register.appendReplacement(out, Matcher.quoteReplacement(word));
        }
        return register.appendTail(out).toString();
    }

    private KernelImage.@Nullable Declaration declaration() throws IOException {
        KernelImage kernel = subject.kernel();
        return kernel == null ? null : kernel.function(spot.function()).orElse(null);
    }

    private ProbeOperand argument(String text, int at, int index, SourceType type)
            throws ProbeException {
        String word = names.argument(index);
        // $argN of more than registers hold: Linux 4.20
        String register = word.isEmpty() && isKernel() ? "$arg" + (index + 1) : word;
        if (register.isEmpty()) {
            throw ProbeException.at(
                    text, at, "argument " + (index + 1) + " is not in a register at entry");
        }
        return new HeldOperand(register, type, 0, 0);
    }

    private ProbeOperand placed(String text, int at, String name, SourceScope scope)
            throws IOException {
        ProbeOperand own = memberOfThis(text, at, name, scope);
        if (own != null) {
            return own;
        }
        Optional<SourceVariable> found = scope.find(name);
        if (found.isEmpty()) {
            ProbeOperand declared = declared(name, scope);
            if (declared != null) {
                return declared;
            }
            List<String> names =
                    scope.variables().stream().map(SourceVariable::name).distinct().toList();
            throw ProbeException.at(
                    text,
                    at,
                    spot.function()
                            + " has no variable '"
                            + name
                            + "' here"
                            + NearestNames.suggestion(name, names, "there are "));
        }
        SourceVariable variable = found.get();
        SourceType type = type(variable);
        return operand(text, at, variable, type);
    }

    /** A member of the object whose function this is (C++ 7.5.4); null where it is none. */
    private @Nullable ProbeOperand memberOfThis(String text, int at, String name, SourceScope scope)
            throws IOException {
        List<SourceVariable> locals = scope.variables();
        boolean hidden = locals.stream().anyMatch(one -> one.name().equals(name));
        SourceVariable self =
                locals.stream().filter(o -> o.name().equals("this")).findFirst().orElse(null);
        boolean has =
                !hidden
                        && self != null
                        && type(self).plain() instanceof SourceType.Pointer pointer
                        && pointer.target().get().plain() instanceof SourceType.Structure structure
                        && ExpressionCompiler.find(structure, name, 0) != null;
        return has
                ? new ExpressionCompiler(text, this)
                        .compile(new MemberOf(at, new VariableName(at, "this"), name, true))
                : null;
    }

    /** Data that another file defines: its type from the declaration, its place by its symbol. */
    private @Nullable ProbeOperand declared(String name, SourceScope scope) throws IOException {
        List<ObjectSymbol> symbols =
                subject.symbols().named(name).stream().filter(one -> !one.isFunction()).toList();
        DebugEntry declaration = symbols.size() == 1 ? scope.declaration(name).orElse(null) : null;
        return declaration != null && subject.types() instanceof DwarfSourceTypes types
                ? new StoredOperand(
                        FetchArgument.program(symbols.getFirst().address()),
                        types.type(declaration.type()),
                        0,
                        0,
                        false)
                : null;
    }

    SourceType type(SourceVariable variable) {
        return subject.types() instanceof DwarfSourceTypes types
                ? types.type(variable.type())
                : SourceType.Opaque.UNKNOWN;
    }

    private ProbeOperand operand(String text, int at, SourceVariable variable, SourceType type)
            throws IOException {
        if (variable.location() instanceof AbsentLocation) {
            throw ProbeException.at(text, at, absent(variable));
        }
        try {
            return of(variable, type);
        } catch (FetchException e) {
            String why = "'" + variable.name() + "' " + e.reason();
            throw ProbeException.at(text, at, why + elsewhere(variable));
        }
    }

    /** The lowest bits of a register, as clang has them of a {@code bool}; null for others. */
    private ProbeOperand.@Nullable HeldOperand lowBits(SymbolicValue value, SourceType type) {
        if (value instanceof OperationValue(String symbol, SymbolicValue of, ConstantValue mask)
                && symbol.equals("&")
                && mask.value() > 0
                && (mask.value() & mask.value() + 1) == 0) {
            int bits = Long.bitCount(mask.value());
            SymbolicValue whole = SymbolicValue.lowest(of, (bits + 7) / 8);
            String name =
                    whole instanceof RegisterValue register
                            ? names.register(register.number())
                            : "";
            return name.isEmpty() ? null : new HeldOperand(name, type, 0, bits);
        }
        return null;
    }

    /** Where a variable is, as an operand of its type. */
    ProbeOperand of(SourceVariable variable, SourceType type)
            throws FetchException, MalformedInputException {
        SourceScope scope = spot.scope();
        if (scope == null || !spot.isEntry() || !StatedPlaces.isDoubted(variable, scope)) {
            return of(variable.location(), type);
        }
        int register = EntryRegisters.of(subject, spot, variable.entry());
        String argument = register == EntryRegisters.NONE ? "" : names.argument(register);
        if (!argument.isEmpty()) {
            return new HeldOperand(argument, type, 0, 0);
        }
        if (StatedPlaces.isUntracked(scope) || !isInArguments(variable.location())) {
            throw new FetchException(
                    "has no valid location yet at function entry (gcc built it with"
                            + " -fno-var-tracking); probe a later line");
        }
        return of(variable.location(), type);
    }

    /** Whether all registers that it is in are some that arguments come in. */
    private boolean isInArguments(ObjectLocation location) {
        return switch (location) {
            case ObjectLocation.InRegister in -> {
                String name = names.register(in.number());
                boolean found = name.isEmpty();
                for (int i = 0; i < Byte.SIZE; i++) {
                    found |= name.equals(names.argument(i));
                }
                yield found;
            }
            case LocationPieces pieces ->
                    pieces.pieces().stream().allMatch(one -> isInArguments(one.location()));
            default -> true;
        };
    }

    private ProbeOperand of(ObjectLocation location, SourceType type) throws FetchException {
        int bytes = subject.addressBytes();
        boolean atEntry = spot.isEntry() || spot.isReturn();
        return switch (location) {
            case ObjectLocation.InRegister in -> {
                String name = names.register(in.number());
                if (name.isEmpty()) {
                    throw new FetchException(
                            "is in register " + in.number() + ", which no probe can read");
                }
                yield new HeldOperand(name, type, 0, 0);
            }
            case ObjectLocation.InMemory in -> {
                perCpu(in.address());
                FetchArgument address = FetchArgument.of(in.address(), names, atEntry, bytes);
                yield new StoredOperand(address, type, 0, 0, false);
            }
            case ImplicitValue computed -> {
                SymbolicValue value = SymbolicValue.lowest(computed.value(), type.sizeBytes());
                HeldOperand some = lowBits(value, type);
                yield some != null
                        ? some
                        : new CalculatedOperand(
                                FetchArgument.of(value, names, atEntry, bytes), type);
            }
            case ImplicitBytes constant -> {
                if (constant.bytes().length > 8) {
                    throw new FetchException(
                            "is a constant of " + constant.bytes().length + " bytes");
                }
                long number = 0;
                for (int i = 0; i < constant.bytes().length; i++) {
                    number |= (constant.bytes()[i] & 0xffL) << 8 * i;
                }
                yield new CalculatedOperand(FetchArgument.constant(number), type);
            }
            case LocationPieces pieces -> {
                List<OperandPart> parts = new ArrayList<>();
                for (LocationPiece piece : pieces.pieces()) {
                    if (piece.bitOffset() != 0) {
                        throw new FetchException(
                                "begins at bit " + piece.bitOffset() + " of a word");
                    }
                    ProbeOperand place =
                            piece.location() instanceof AbsentLocation
                                    ? new KernelOperand("", SourceType.Opaque.UNKNOWN)
                                    : of(piece.location(), type);
                    parts.add(new OperandPart(place, piece.bits()));
                }
                yield new SplitOperand(List.copyOf(parts), type, 0, 0);
            }
            case ObjectLocation.ImplicitPointer _ ->
                    throw new FetchException("points to something that was optimised away");
            case AbsentLocation _ -> throw new FetchException("is optimised away here");
            case UnreadableLocation unreadable ->
                    throw new FetchException("cannot be found: " + unreadable.why());
        };
    }

    private void perCpu(SymbolicValue address) throws FetchException {
        long at =
                switch (address) {
                    case StaticAddress s -> s.address();
                    case ConstantValue c -> c.value();
                    default -> -1;
                };
        ElfSection section =
                subject.elf().flatMap(elf -> elf.section(".data..percpu")).orElse(null);
        if (subject.isKernel() && section != null && at >= 0 && section.contains(at)) {
            throw new FetchException("is a variable of each CPU, which no probe can find");
        }
    }

    private String absent(SourceVariable variable) throws IOException {
        String first = "'" + variable.name() + "' is optimised away here";
        String rest = elsewhere(variable);
        return rest.isEmpty() && variable.ranges().isEmpty()
                ? first + ", and everywhere in " + spot.function()
                : first + rest;
    }

    /** {@code "; it can be read at f:3 f:4"}; empty when it cannot anywhere. */
    private String elsewhere(SourceVariable variable) throws IOException {
        TreeSet<Integer> lines = readable(variable);
        StringBuilder words = new StringBuilder();
        for (int line : lines.headSet(lines.isEmpty() ? 0 : lines.last() + 1)) {
            if (words.length() > MOST_SHOWN) {
                words.append(" …");
                break;
            }
            words.append(' ')
                    .append(spot.function())
                    .append(':')
                    .append(line - spot.functionLine());
        }
        return words.isEmpty() ? "" : "; it can be read at" + words;
    }

    /** Lines of the function at which a probe can read the variable in every copy. */
    private TreeSet<Integer> readable(SourceVariable variable) throws IOException {
        TreeSet<Integer> lines = new TreeSet<>();
        if (spot.scope() == null || spot.functionLine() == 0) {
            return lines;
        }
        PointResolver resolver = new PointResolver(subject);
        int looked = 0;
        for (SourceFunction one : resolver.functions(spot.function(), "")) {
            if (!one.declared().equals(spot.scope().function().original())) {
                continue;
            }
            FunctionLines known = FunctionLines.of(subject, one);
            for (int line : known.lines()) {
                List<ProbeLocation> places = resolver.places(one, known, line);
                looked += places.size();
                if (looked > MOST_LOOKED) {
                    return lines;
                }
                boolean all = line >= spot.functionLine() && !places.isEmpty();
                for (ProbeLocation place : places) {
                    all = all && isReadable(variable, place);
                }
                if (all) {
                    lines.add(line);
                }
            }
        }
        return lines;
    }

    private boolean isReadable(SourceVariable variable, ProbeLocation there)
            throws MalformedInputException {
        SourceScope scope = there.scope();
        SourceVariable seen = scope == null ? null : scope.find(variable.name()).orElse(null);
        if (seen == null
                || !seen.entry().original().equals(variable.entry().original())
                || seen.location() instanceof AbsentLocation) {
            return false;
        }
        try {
            return isSomewhere(new LocationScope(subject, there, names).of(seen, type(seen)));
        } catch (FetchException e) {
            return false;
        }
    }

    private static boolean isSomewhere(ProbeOperand operand) {
        return !(operand instanceof SplitOperand split)
                || split.parts().stream()
                        .allMatch(part -> !(part.place() instanceof KernelOperand));
    }

    @Override
    public ProbeOperand special(String text, int at, String name) throws ProbeException {
        SourceType word = ReturnType.unknown(addressBytes());
        if (name.equals("retval")) {
            if (!spot.isReturn()) {
                throw ProbeException.at(
                        text, at, "there is a return value only at FUNCTION%return");
            }
            return new HeldOperand("$retval", returned(text, at), 0, 0);
        }
        if (name.matches("arg[1-9]\\d?")) {
            int index = Integer.parseInt(name.substring(3)) - 1 + names.hidden();
            if (!spot.isEntry() && !spot.isReturn() || spot.isReturn() && !hasArguments()) {
                throw ProbeException.at(text, at, "arguments by number are known at entry only");
            }
            return argument(text, at, index, parameterType(index, word));
        }
        if (name.equals("stack") || name.matches("stack\\d{1,4}")) {
            return new HeldOperand("$" + name, word, 0, 0);
        }
        if (name.equals("comm") || name.equals("COMM")) {
            return new KernelOperand("$comm", new SourceType.Opaque("string", 0));
        }
        throw ProbeException.at(
                text,
                at,
                "there is no $"
                        + name
                        + "; there are $retval, $arg1…, $stack, $stack0…, $comm, $vars, $params");
    }

    /** What the function returns; a word where that is not known. */
    private SourceType returned(String text, int at) throws ProbeException {
        try {
            SourceScope scope = spot.scope();
            if (scope != null && subject.types() instanceof DwarfSourceTypes types) {
                ConventionMachine machine = subject.registers().machine();
                return new ReturnType(spot, types, machine, text, at)
                        .of(scope.functions().getFirst());
            }
            KernelImage.Declaration declared = declaration();
            return declared == null
                    ? ReturnType.unknown(addressBytes())
                    : declared.types().type(declared.proto().returnType());
        } catch (ProbeException e) {
            throw e;
        } catch (IOException e) {
            return ReturnType.unknown(addressBytes());
        }
    }

    private SourceType parameterType(int index, SourceType otherwise) {
        try {
            SourceScope scope = spot.scope();
            if (scope != null && subject.types() instanceof DwarfSourceTypes types) {
                int seen = 0;
                for (DebugEntry child : scope.functions().getLast().children()) {
                    if (child.tag() == DwarfTag.FORMAL_PARAMETER && seen++ == index) {
                        // Behind others that are in no register, or in two, it is not this one.
                        boolean own = EntryRegisters.of(subject, spot, child) == index;
                        return own ? types.type(child.type()) : otherwise;
                    }
                }
                return otherwise;
            }
            KernelImage.Declaration declared = declaration();
            return declared != null && index < declared.proto().params().size()
                    ? declared.types().type(declared.proto().params().get(index).type())
                    : otherwise;
        } catch (IOException e) {
            return otherwise;
        }
    }

    /** Names of all variables, or of parameters alone. */
    List<String> names(boolean parametersOnly) throws IOException {
        SourceScope scope = spot.scope();
        List<String> found = new ArrayList<>();
        if (scope != null) {
            for (SourceVariable variable : scope.variables()) {
                if ((variable.isParameter() || !parametersOnly)
                        && !found.contains(variable.name())) {
                    found.add(variable.name());
                }
            }
            return found;
        }
        KernelImage.Declaration declared = declaration();
        if (declared != null) {
            declared.proto().params().stream()
                    .skip(names.hidden())
                    .map(BtfType.Param::name)
                    .forEach(found::add);
        }
        return found;
    }
}
