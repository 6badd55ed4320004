package sonde.tools.explain;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.binary.btf.Btf;
import sonde.binary.btf.BtfType;
import sonde.binary.dwarf.location.DebugEntry;
import sonde.binary.dwarf.location.ObjectLocation;
import sonde.binary.dwarf.location.ObjectLocation.ImplicitValue;
import sonde.binary.dwarf.location.ObjectLocation.InRegister;
import sonde.binary.dwarf.location.SourceScope;
import sonde.binary.dwarf.location.SourceVariable;
import sonde.binary.dwarf.location.SymbolicValue;
import sonde.binary.dwarf.location.SymbolicValue.ConstantValue;
import sonde.binary.dwarf.location.SymbolicValue.RegisterValue;
import sonde.binary.dwarf.location.SymbolicValue.SumValue;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSection;
import sonde.binary.elf.SectionBytes;
import sonde.binary.machine.CodeLine;
import sonde.binary.machine.MachineFlow;
import sonde.binary.machine.MachineInstruction;
import sonde.binary.machine.MachineOperand;
import sonde.binary.machine.MachineOperand.MachineImmediate;
import sonde.binary.machine.MachineOperand.MachineMemory;
import sonde.binary.machine.MachineOperand.MachineRegister;
import sonde.symbol.ctype.BtfSourceTypes;
import sonde.symbol.ctype.SourceType;
import sonde.symbol.ctype.SourceType.Array;
import sonde.symbol.ctype.SourceType.Member;
import sonde.symbol.ctype.SourceType.Pointer;
import sonde.symbol.ctype.SourceType.Structure;
import sonde.symbol.line.SourceSymbols;
import sonde.tools.symbolize.SymbolizeRecipe.LogCopy.LogPlace;

/**
 * Which variable and which member of a structure an instruction accesses. A register has a name
 * only where DWARF says that a variable is in it at that instruction, or where the instructions
 * before it load it from a member of such a variable.
 */
final class OperandNames {
    private static final int MOST_STEPS = 6;
    private static final int MOST_DEPTH = 8;

    /** System V ABI of AMD64, figure 3.36. */
    private static final List<String> AMD64 =
            List.of("rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp");

    /** Registers that a call may change. */
    private static final Set<String> SCRATCH =
            Set.of("rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11");

    /** Registers of the first parameters; figure 3.4, and section 6.8.2 of AAPCS64. */
    private static final List<String> ARGUMENTS = List.of("rdi", "rsi", "rdx", "rcx", "r8", "r9");

    private static final List<String> ARM_ARGUMENTS =
            List.of("x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7");

    /** The tracer's entry, which each function calls first, keeps all registers. */
    private static final String FENTRY = "__fentry__";

    /** Instructions that write registers which they do not name. */
    private static final Set<String> HIDDEN =
            Set.of(
                    "mul", "imul", "div", "idiv", "cpuid", "xchg", "cmpxchg", "xadd", "pop",
                    "leave");

    private static final Set<String> NO_WRITE =
            Set.of("cmp", "test", "push", "nop", "bt", "str", "stp", "cmn", "tst", "cbz", "cbnz");

    /**
     * What a register holds.
     *
     * @param name an expression of C
     * @param shift bytes that the register is above the value of the expression
     */
    private record Known(String name, SourceType type, long shift) {}

    private final LogPlace place;
    private final CodeLine code;
    private final int machine;

    /** What registers hold before the first instruction of the function, by BTF. */
    private final Map<String, Known> parameters;

    private OperandNames(
            LogPlace place, CodeLine code, int machine, Map<String, Known> parameters) {
        this.place = place;
        this.code = code;
        this.machine = machine;
        this.parameters = parameters;
    }

    /**
     * As below, without DWARF: BTF has the parameters of functions, and no other variables.
     *
     * @param code of the whole function
     */
    static String of(
            LogPlace place, CodeLine code, int machine, BtfSourceTypes types, String function)
            throws IOException {
        List<String> registers =
                machine == ElfFile.EM_X86_64
                        ? ARGUMENTS
                        : machine == ElfFile.EM_AARCH64 ? ARM_ARGUMENTS : List.of();
        Map<String, Known> parameters = new HashMap<>();
        List<BtfType.FuncProto> prototypes = new ArrayList<>();
        Btf btf = types.btf();
        for (int id : btf.findEach(function)) {
            if (btf.type(id) instanceof BtfType.Func found
                    && btf.type(found.type()) instanceof BtfType.FuncProto prototype) {
                prototypes.add(prototype);
            }
        }
        // Functions of one name in several files may have other parameters.
        List<BtfType.Param> all =
                prototypes.size() == 1 ? prototypes.getFirst().params() : List.of();
        for (int i = 0; i < Math.min(all.size(), registers.size()); i++) {
            SourceType type = types.type(all.get(i).type());
            if (type.sizeBytes() > Long.BYTES || type.plain() instanceof Structure) {
                break; // it may take two registers or none
            }
            parameters.put(registers.get(i), new Known(all.get(i).name(), type, 0));
        }
        return parameters.isEmpty()
                ? ""
                : new OperandNames(place, code, machine, parameters).operand(null);
    }

    /** What a register holds at the entry of the function; null where nothing says it. */
    private @Nullable Known parameter(String register) {
        MachineInstruction first = code.instructions().getFirst();
        boolean isEntry =
                first.address() == 0
                        && code.instructions().stream()
                                .noneMatch(one -> one.target().orElse(Long.MIN_VALUE) == 0);
        return isEntry ? parameters.get(register) : null;
    }

    /**
     * A sentence; empty where nothing is sure.
     *
     * @param place of the faulting instruction
     * @param address of the access; null where it is not known
     */
    static String of(LogPlace place, CodeLine code, int machine, @Nullable Long address)
            throws IOException {
        boolean isKnown = machine == ElfFile.EM_X86_64 || machine == ElfFile.EM_AARCH64;
        return isKnown ? new OperandNames(place, code, machine, Map.of()).operand(address) : "";
    }

    private String operand(@Nullable Long address) throws IOException {
        boolean divides = code.fault().mnemonic().matches("i?div[bwlq]?");
        if (divides && code.fault().operands().getFirst() instanceof MachineRegister by) {
            String name = number(code.marked(), by.name());
            return name.isEmpty() ? "" : by.name().toUpperCase(Locale.ROOT) + " is " + name;
        }
        for (MachineOperand operand : code.fault().operands()) {
            if (!(operand instanceof MachineMemory memory) || memory.base().endsWith("ip")) {
                continue;
            }
            if (memory.base().isEmpty() && memory.index().isEmpty()) {
                return address == null ? "" : constant(address);
            }
            for (String base : List.of(memory.base(), memory.index())) {
                Known known = base.isEmpty() ? null : known(code.marked(), base, 0);
                if (known != null) {
                    return sentence(base, known, memory.displacement(), memory.bytes());
                }
            }
        }
        return "";
    }

    private static String sentence(String register, Known known, long displacement, int bytes) {
        String name = register.toUpperCase(Locale.ROOT);
        long shift = known.shift();
        String far = " %s 0x%x".formatted(shift < 0 ? "-" : "+", Math.abs(shift));
        String variable =
                "%s is %s%s (%s)"
                        .formatted(
                                name, known.name(), shift == 0 ? "" : far, known.type().spelling());
        long offset = shift + displacement;
        SourceType target =
                known.type().plain() instanceof Pointer pointer ? pointer.target().get() : null;
        if (target == null || !(target.plain() instanceof Structure structure)) {
            return variable;
        }
        Member member = member(structure, offset, bytes, 0);
        return member == null
                ? variable
                : "%s; member `%s` at offset 0x%x of `%s`"
                        .formatted(variable, member.name(), offset, target.spelling());
    }

    /** A pointer variable whose value the compiler knew. */
    private String constant(long address) throws IOException {
        for (SourceVariable variable : variables(code.marked())) {
            SourceType type = place.symbols().type(variable);
            boolean isPointer = type.plain() instanceof Pointer;
            if (isPointer
                    && variable.location() instanceof ImplicitValue(ConstantValue value)
                    && address >= value.value()
                    && address - value.value() < Math.max(target(type).sizeBytes(), 1)) {
                Known known = new Known(variable.name(), type, address - value.value());
                String text = sentence("", new Known(known.name(), type, 0), known.shift(), 0);
                return text.replaceFirst("^ is ", "the pointer is ");
            }
        }
        return "";
    }

    private static SourceType target(SourceType type) {
        return type.plain() instanceof Pointer pointer
                ? pointer.target().get()
                : SourceType.Opaque.UNKNOWN;
    }

    /** What a register holds before an instruction; null where nothing says it. */
    private @Nullable Known known(int index, String register, int steps) throws IOException {
        String wanted = FaultCode.name(register);
        Known moved = null;
        for (SourceVariable variable : variables(index)) {
            long shift = shift(variable.location(), wanted);
            SourceType type = place.symbols().type(variable);
            if (shift != Long.MIN_VALUE && type.plain() instanceof Pointer) {
                Known known = new Known(variable.name(), type, shift);
                if (shift == 0) {
                    return known;
                }
                moved = moved == null ? known : moved;
            }
        }
        if (moved != null) {
            return moved;
        }
        int i = index - 1;
        for (; i >= 0 && steps < MOST_STEPS; i--) {
            MachineInstruction one = code.instructions().get(i);
            if (endsStraightLine(one, index) || mayHide(one, wanted)) {
                return null;
            }
            if (writes(one, wanted)) {
                return made(one, i, wanted, steps + 1);
            }
            String copy = copy(one, wanted);
            if (!copy.isEmpty() && isKept(copy, i + 1, index)) {
                Known known = known(index, copy, MOST_STEPS);
                if (known != null) {
                    return known;
                }
            }
        }
        Known parameter = i < 0 ? parameter(wanted) : null;
        return parameter != null && parameter.type().plain() instanceof Pointer ? parameter : null;
    }

    /** The variable or member whose value a register holds, as an expression; empty for none. */
    private String number(int index, String register) throws IOException {
        String wanted = FaultCode.name(register);
        for (SourceVariable variable : variables(index)) {
            if (shift(variable.location(), wanted) == 0) {
                return variable.name();
            }
        }
        for (int i = index - 1; i >= 0; i--) {
            MachineInstruction one = code.instructions().get(i);
            if (endsStraightLine(one, index) || mayHide(one, wanted)) {
                return "";
            } else if (!writes(one, wanted)) {
                continue;
            }
            boolean isLoad = one.mnemonic().startsWith("mov") && one.operands().size() == 2;
            if (!isLoad || !(one.operands().get(1) instanceof MachineMemory memory)) {
                return "";
            }
            boolean isPlain = memory.index().isEmpty() && !memory.base().endsWith("ip");
            Known base = memory.base().isEmpty() || !isPlain ? null : known(i, memory.base(), 0);
            Member member =
                    base != null && target(base.type()).plain() instanceof Structure structure
                            ? member(
                                    structure,
                                    base.shift() + memory.displacement(),
                                    memory.bytes(),
                                    0)
                            : null;
            return base == null || member == null ? "" : base.name() + "->" + member.name();
        }
        Known parameter = parameter(wanted);
        return parameter == null ? "" : parameter.name();
    }

    /** The register into which an instruction copies another; empty for none. */
    private static String copy(MachineInstruction one, String register) {
        boolean isCopy =
                one.mnemonic().startsWith("mov")
                        && one.operands().size() == 2
                        && one.operands().get(0) instanceof MachineRegister to
                        && one.operands().get(1) instanceof MachineRegister from
                        && to.bits() == 64
                        && from.bits() == 64
                        && FaultCode.name(from.name()).equals(register);
        return isCopy && one.operands().get(0) instanceof MachineRegister to
                ? FaultCode.name(to.name())
                : "";
    }

    private boolean isKept(String register, int from, int to) throws IOException {
        for (MachineInstruction one : code.instructions().subList(from, to)) {
            if (mayHide(one, register) || writes(one, register)) {
                return false;
            }
        }
        return true;
    }

    /** What an instruction puts into a register, from what its operands are. */
    private @Nullable Known made(MachineInstruction one, int index, String register, int steps)
            throws IOException {
        List<MachineOperand> operands = one.operands();
        String mnemonic = one.mnemonic();
        MachineOperand from = operands.size() == 2 ? operands.get(1) : null;
        boolean isWhole =
                operands.getFirst() instanceof MachineRegister to
                        && to.bits() == 64
                        && FaultCode.name(to.name()).equals(register);
        if (!isWhole) {
            return null;
        }
        if (mnemonic.startsWith("mov") && from instanceof MachineRegister copied) {
            return known(index, copied.name(), steps);
        }
        boolean isShadow =
                mnemonic.equals("shr") && from instanceof MachineImmediate by && by.value() == 3;
        if (isShadow) {
            return known(index, register, steps); // the shadow byte of KASAN is at address / 8
        }
        if (!(from instanceof MachineMemory memory)) {
            return null;
        }
        if (memory.base().isEmpty() || memory.base().endsWith("ip")) {
            return mnemonic.startsWith("mov") ? global(one, memory) : null;
        }
        if (!memory.index().isEmpty()) {
            return null;
        }
        Known base = known(index, memory.base(), steps);
        if (base == null) {
            return null;
        }
        if (mnemonic.equals("lea")) {
            return new Known(base.name(), base.type(), base.shift() + memory.displacement());
        }
        boolean isLoad = mnemonic.startsWith("mov") || mnemonic.equals("ldr");
        boolean isStructure = target(base.type()).plain() instanceof Structure;
        if (!isLoad || !isStructure) {
            return null;
        }
        Structure structure = (Structure) target(base.type()).plain();
        Member member = member(structure, base.shift() + memory.displacement(), 8, 0);
        return member == null || !(member.type().get().plain() instanceof Pointer)
                ? null
                : new Known(base.name() + "->" + member.name(), member.type().get(), 0);
    }

    /** The pointer that an instruction loads from a variable of the unit or of the kernel. */
    private @Nullable Known global(MachineInstruction one, MachineMemory memory)
            throws IOException {
        long at = place.address() - code.fault().address() + one.address();
        boolean isRelative = !memory.base().isEmpty();
        long end = isRelative ? at + one.length() : 0;
        boolean isX86 = machine == ElfFile.EM_X86_64 && memory.segment().isEmpty();
        SourceSymbols.DataPlace data =
                isX86 && (isRelative || isInFile(at, one.length(), memory.displacement()))
                        ? place.symbols().data(at, one.length(), end + memory.displacement())
                        : null;
        Optional<SourceScope> scope = data == null ? Optional.empty() : place.symbols().scope(at);
        Optional<SourceVariable> found =
                data == null || scope.isEmpty() ? Optional.empty() : scope.get().find(data.name());
        if (data == null || found.isEmpty()) {
            return null;
        }
        SourceType type = place.symbols().type(found.get());
        Member whole = new Member(data.name(), () -> type, 0, 0);
        boolean isIndexed = !memory.index().isEmpty();
        if (isIndexed && type.plain() instanceof Array array && data.offset() == 0) {
            String name = data.name() + "[" + memory.index().toUpperCase(Locale.ROOT) + "]";
            boolean isEach = memory.scale() == Long.BYTES;
            return isEach && array.element().plain() instanceof Pointer
                    ? new Known(name, array.element(), 0)
                    : null;
        }
        Member member = isIndexed ? null : inner(whole, data.offset(), Long.BYTES, 0);
        return member != null && member.type().get().plain() instanceof Pointer
                ? new Known(member.name(), member.type().get(), 0)
                : null;
    }

    /** Whether the file's instruction has the same address: KASLR moves those of the log. */
    private boolean isInFile(long at, int length, long displacement) throws IOException {
        ElfFile elf = place.symbols().elf();
        for (ElfSection section : elf.sections()) {
            if (elf.type() != ElfFile.ET_REL && section.isExecutable() && section.contains(at)) {
                SectionBytes bytes = elf.bytes(section);
                long from = at - section.address();
                long to = Math.min(from + length, bytes.sizeBytes()) - Integer.BYTES;
                for (long i = from; i <= to; i++) {
                    int value = 0;
                    for (int k = Integer.BYTES - 1; k >= 0; k--) {
                        value = value << Byte.SIZE | bytes.at(i + k) & 0xff;
                    }
                    if (value == displacement) {
                        return true;
                    }
                }
            }
        }
        return elf.type() == ElfFile.ET_REL;
    }

    /** Whether the processor may come to an instruction from elsewhere than from this one. */
    private boolean endsStraightLine(MachineInstruction one, int to) {
        MachineFlow flow = one.flow();
        if (flow == MachineFlow.JUMP || flow == MachineFlow.RETURN || flow == MachineFlow.INVALID) {
            return true;
        }
        long behind = one.address() + one.length();
        long end = code.instructions().get(to).address();
        for (MachineInstruction other : code.instructions()) {
            boolean jumps = other.flow() == MachineFlow.JUMP || other.flow() == MachineFlow.BRANCH;
            long target = jumps ? other.target().orElse(Long.MIN_VALUE) : Long.MIN_VALUE;
            if (target >= behind && target <= end) {
                return true;
            }
        }
        return false;
    }

    /** Whether an instruction may write a register that it does not name. */
    private boolean mayHide(MachineInstruction one, String register) throws IOException {
        if (one.flow() == MachineFlow.CALL) {
            long begin = place.address() - code.fault().address();
            if (one.target().isPresent()
                    && place.symbols()
                            .functionAt(begin + one.target().getAsLong())
                            .equals(FENTRY)) {
                return false;
            }
            boolean isKept =
                    machine == ElfFile.EM_AARCH64
                            ? register.matches("x(?:19|2\\d)")
                            : !SCRATCH.contains(register);
            return !isKept;
        }
        if (machine == ElfFile.EM_AARCH64) {
            boolean isBack = false;
            for (MachineOperand operand : one.operands()) {
                isBack |=
                        operand instanceof MachineMemory memory
                                && memory.base().equals(register)
                                && (memory.decoration().endsWith("!")
                                        || memory.decoration().contains("],"));
            }
            return isBack || one.mnemonic().startsWith("ldp") || one.mnemonic().startsWith("ldx");
        }
        String plain = one.mnemonic().replaceFirst("[bwlq]$", "");
        return !one.prefix().isEmpty() || HIDDEN.contains(plain) || HIDDEN.contains(one.mnemonic());
    }

    private static boolean writes(MachineInstruction one, String register) {
        String plain = one.mnemonic().replaceFirst("[bwlq]$", "");
        return !one.operands().isEmpty()
                && !NO_WRITE.contains(plain)
                && !NO_WRITE.contains(one.mnemonic())
                && one.operands().getFirst() instanceof MachineRegister to
                && FaultCode.name(to.name()).equals(register);
    }

    /** Variables of the functions around an instruction, those of the innermost first. */
    private List<SourceVariable> variables(int index) throws IOException {
        long address =
                place.address() + code.instructions().get(index).address() - code.fault().address();
        Optional<SourceScope> scope = place.symbols().scope(address);
        List<SourceVariable> all = new ArrayList<>();
        if (scope.isPresent()) {
            for (DebugEntry function : scope.get().functions().reversed()) {
                all.addAll(scope.get().of(function).variables().reversed());
            }
        }
        return all;
    }

    /** Bytes that a register is above the value of a variable; MIN_VALUE where it is not in it. */
    private long shift(ObjectLocation location, String register) {
        return switch (location) {
            case InRegister in -> is(in.number(), register) ? 0 : Long.MIN_VALUE;
            case ImplicitValue(SymbolicValue value) ->
                    switch (value) {
                        case RegisterValue in -> is(in.number(), register) ? 0 : Long.MIN_VALUE;
                        case SumValue(RegisterValue in, long offset) ->
                                is(in.number(), register) ? -offset : Long.MIN_VALUE;
                        default -> Long.MIN_VALUE;
                    };
            default -> Long.MIN_VALUE;
        };
    }

    /** Whether DWARF's number is of a register. */
    private boolean is(int number, String register) {
        String name =
                machine == ElfFile.EM_AARCH64
                        ? number == 31 ? "sp" : "x" + number
                        : number < AMD64.size() ? AMD64.get(number) : "r" + number;
        return name.equals(register);
    }

    /** The innermost member at an offset, with the path to it; null for none. */
    private static @Nullable Member member(Structure in, long offset, int bytes, int depth) {
        Member found = null;
        for (Member member : in.members().get()) {
            long start = member.bitOffset() / Byte.SIZE;
            SourceType type = member.type().get();
            boolean isHere =
                    member.bitOffset() != Member.NOWHERE
                            && offset >= start
                            && offset < start + Math.max(type.sizeBytes(), 1);
            Member inner = isHere ? inner(member, offset - start, bytes, depth) : null;
            boolean fits = inner != null && inner.type().get().sizeBytes() == bytes;
            if (inner != null && (found == null || fits && in.isUnion())) {
                found = inner;
            }
        }
        return found;
    }

    private static Member inner(Member member, long offset, int bytes, int depth) {
        SourceType type = member.type().get();
        String name = member.name();
        long rest = offset;
        if (type.plain() instanceof Array array && array.element().sizeBytes() > 0) {
            long each = array.element().sizeBytes();
            name += "[" + rest / each + "]";
            rest %= each;
            type = array.element();
        }
        SourceType element = type;
        boolean goesOn = element.plain() instanceof Structure && depth < MOST_DEPTH;
        Member part = goesOn ? member((Structure) element.plain(), rest, bytes, depth + 1) : null;
        if (part != null) {
            String path = name.isEmpty() ? part.name() : name + "." + part.name();
            return new Member(path, part.type(), 0, part.bits());
        }
        return new Member(name, () -> element, 0, member.bits());
    }
}
