package sonde.probe.dynamic;

import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.binary.dwarf.location.AddressRange;
import sonde.binary.dwarf.location.DwarfAttribute;
import sonde.binary.dwarf.location.LineRows;
import sonde.binary.dwarf.location.ObjectLocation;
import sonde.binary.dwarf.location.ObjectLocation.AbsentLocation;
import sonde.binary.dwarf.location.ObjectLocation.ImplicitBytes;
import sonde.binary.dwarf.location.ObjectLocation.ImplicitValue;
import sonde.binary.dwarf.location.ObjectLocation.LocationPieces;
import sonde.binary.dwarf.location.ObjectLocation.UnreadableLocation;
import sonde.binary.dwarf.location.SourceScope;
import sonde.binary.dwarf.location.SourceVariable;
import sonde.binary.dwarf.location.SymbolicValue;
import sonde.binary.dwarf.location.SymbolicValue.ConstantValue;
import sonde.binary.dwarf.location.SymbolicValue.MemoryValue;
import sonde.binary.dwarf.location.SymbolicValue.OperationValue;
import sonde.binary.dwarf.location.SymbolicValue.RegisterValue;
import sonde.binary.dwarf.location.SymbolicValue.StaticAddress;
import sonde.binary.dwarf.location.SymbolicValue.SumValue;
import sonde.binary.dwarf.location.SymbolicValue.TruncatedValue;
import sonde.probe.dynamic.PointSpec.PointPlace;
import sonde.probe.dynamic.PointSpec.PointPlace.FunctionPoint;
import sonde.symbol.ctype.StatedPlaces;

/**
 * The instructions at a function's entry that make its frame. What DWARF says of a frame that is
 * counted from a register (LLVM: DW_OP_reg7, the stack pointer) is true behind them only, and so
 * are places that they fill.
 */
final class FunctionPrologue {
    private static final Pattern WORD = Pattern.compile("[A-Za-z_]\\w*");

    private final ProbedObject subject;
    private final PointResolver resolver;

    FunctionPrologue(ProbedObject subject, PointResolver resolver) {
        this.subject = subject;
        this.resolver = resolver;
    }

    /** The spot, or where the frame is complete when a definition at entry names what is in it. */
    ProbeLocation behind(ProbeLocation spot, PointSpec spec) throws IOException {
        return namesVariables(spec) ? behind(spot, spec.place(), wanted(spec)) : spot;
    }

    /** The spot, or where all variables can be read, for those of a place at entry. */
    ProbeLocation behind(ProbeLocation spot, PointPlace place) throws IOException {
        return behind(spot, place, _ -> true);
    }

    private ProbeLocation behind(
            ProbeLocation spot, PointPlace place, Predicate<SourceVariable> wanted)
            throws IOException {
        SourceScope scope = spot.scope();
        boolean plainEntry =
                place instanceof FunctionPoint function
                        && function.offset() < 0
                        && function.line() <= 0
                        && !function.isReturn();
        if (scope == null || !plainEntry || !spot.isEntry()) {
            return spot;
        }
        boolean stored = isPlain(scope);
        boolean framed = false;
        for (SourceVariable variable : scope.variables()) {
            framed |= wanted.test(variable) && needsFrame(variable, spot, scope);
        }
        long behind = stored || framed ? end(scope, spot.address()) : spot.address();
        if (behind == spot.address()) {
            return spot;
        }
        String why = stored ? "where the parameters are stored" : "where the frame is complete";
        return resolver.inside(scope, behind)
                .called(spot.function())
                .noted("at +" + (behind - spot.address()) + ", " + why);
    }

    private static boolean namesVariables(PointSpec spec) {
        return spec.arguments().stream()
                .anyMatch(text ->
                        !text.matches("(\\w+=)?([$%@+\\\\-]).*")
                                || text.matches("\\$(vars|params)"));
    }

    /** Variables whose names are words of the arguments; members are those of {@code this}. */
    private static Predicate<SourceVariable> wanted(PointSpec spec) {
        Set<String> words = new HashSet<>(Set.of("this"));
        for (String text : spec.arguments()) {
            Matcher matcher = WORD.matcher(text.replaceFirst("^\\w+=", ""));
            while (matcher.find()) {
                words.add(matcher.group());
            }
        }
        boolean all = spec.arguments().contains("$vars");
        boolean parameters = spec.arguments().contains("$params");
        return one -> all || parameters && one.isParameter() || words.contains(one.name());
    }

    /** Whether the unit's code was compiled without keeping parameters in registers. */
    private static boolean isPlain(SourceScope scope) throws IOException {
        List<SourceVariable> parameters =
                scope.variables().stream().filter(SourceVariable::isParameter).toList();
        return !parameters.isEmpty()
                && parameters.stream()
                        .allMatch(one ->
                                isSingle(one) && one.location() instanceof ObjectLocation.InMemory);
    }

    /** Whether one expression says for the whole function where it is. */
    private static boolean isSingle(SourceVariable variable) {
        return variable.entry().has(DwarfAttribute.LOCATION)
                && variable.entry().block(DwarfAttribute.LOCATION) != null;
    }

    private boolean needsFrame(SourceVariable variable, ProbeLocation spot, SourceScope scope)
            throws IOException {
        if (variable.isParameter()
                && StatedPlaces.isDoubted(variable, scope)
                && EntryRegisters.of(subject, spot, variable.entry()) != EntryRegisters.NONE) {
            return false; // it is still in its register
        }
        int register = scope.frameRegister().orElse(-1);
        return register >= 0 && isFramed(variable.location(), register)
                || variable.isParameter()
                        && isSingle(variable)
                        && variable.location() instanceof ObjectLocation.InMemory in
                        && StatedPlaces.isUnmade(in.address(), scope);
    }

    private static boolean isFramed(ObjectLocation location, int register) {
        return switch (location) {
            case ObjectLocation.InMemory in -> reads(in.address(), register);
            case ImplicitValue computed -> reads(computed.value(), register);
            case LocationPieces pieces ->
                    pieces.pieces().stream().anyMatch(one -> isFramed(one.location(), register));
            case ObjectLocation.InRegister _,
                    ImplicitBytes _,
                    ObjectLocation.ImplicitPointer _,
                    AbsentLocation _,
                    UnreadableLocation _ ->
                    false;
        };
    }

    private static boolean reads(SymbolicValue value, int register) {
        return switch (value) {
            case RegisterValue one -> one.number() == register;
            case SumValue sum -> reads(sum.base(), register);
            case MemoryValue load -> reads(load.address(), register);
            case TruncatedValue cast -> reads(cast.value(), register);
            case OperationValue one -> {
                SymbolicValue right = one.right();
                yield reads(one.left(), register) || right != null && reads(right, register);
            }
            case ConstantValue _,
                    StaticAddress _,
                    SymbolicValue.AtEntry _,
                    SymbolicValue.FrameAddress _,
                    SymbolicValue.ThreadLocal _ ->
                    false;
        };
    }

    /** The row that says so, or the second of the function's rows. */
    private long end(SourceScope scope, long entry) throws IOException {
        LineRows rows = subject.lines(scope.unit());
        List<AddressRange> own = scope.function().ranges();
        long second = entry;
        for (int i = 0; i < rows.count(); i++) {
            long address = rows.address(i);
            boolean inside =
                    AddressRange.anyContains(own, address)
                            && Long.compareUnsigned(address, entry) >= 0
                            && !rows.isEnd(i);
            if (inside && rows.endsPrologue(i)) {
                return address;
            }
            boolean behind = inside && address != entry;
            if (behind && (second == entry || Long.compareUnsigned(address, second) < 0)) {
                second = address;
            }
        }
        return second;
    }
}
