package sonde.probe.dynamic;

import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.binary.dwarf.location.AddressRange;
import sonde.binary.dwarf.location.Attribute;
import sonde.binary.dwarf.location.LineRows;
import sonde.binary.dwarf.location.Location;
import sonde.binary.dwarf.location.Scope;
import sonde.binary.dwarf.location.Value;
import sonde.binary.dwarf.location.Variable;
import sonde.symbol.ctype.StatedPlaces;

/**
 * The instructions at a function's entry that make its frame. What DWARF says of a frame that is
 * counted from a register (LLVM: DW_OP_reg7, the stack pointer) is true behind them only, and so
 * are places that they fill.
 */
final class Prologue {
    private static final Pattern WORD = Pattern.compile("[A-Za-z_]\\w*");

    private final Subject subject;
    private final Resolver resolver;

    Prologue(Subject subject, Resolver resolver) {
        this.subject = subject;
        this.resolver = resolver;
    }

    /** The spot, or where the frame is complete when a definition at entry names what is in it. */
    Spot behind(Spot spot, PointSpec spec) throws IOException {
        return namesVariables(spec) ? behind(spot, spec.place(), wanted(spec)) : spot;
    }

    /** The spot, or where all variables can be read, for those of a place at entry. */
    Spot behind(Spot spot, PointSpec.Place place) throws IOException {
        return behind(spot, place, _ -> true);
    }

    private Spot behind(Spot spot, PointSpec.Place place, Predicate<Variable> wanted)
            throws IOException {
        Scope scope = spot.scope();
        boolean plainEntry =
                place instanceof PointSpec.Place.Function function
                        && function.offset() < 0
                        && function.line() <= 0
                        && !function.isReturn();
        if (scope == null || !plainEntry || !spot.isEntry()) {
            return spot;
        }
        boolean stored = isPlain(scope);
        boolean framed = false;
        for (Variable variable : scope.variables()) {
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
    private static Predicate<Variable> wanted(PointSpec spec) {
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
    private static boolean isPlain(Scope scope) throws IOException {
        List<Variable> parameters =
                scope.variables().stream().filter(Variable::isParameter).toList();
        return !parameters.isEmpty()
                && parameters.stream()
                        .allMatch(one ->
                                isSingle(one) && one.location() instanceof Location.InMemory);
    }

    /** Whether one expression says for the whole function where it is. */
    private static boolean isSingle(Variable variable) {
        return variable.entry().has(Attribute.LOCATION)
                && variable.entry().block(Attribute.LOCATION) != null;
    }

    private boolean needsFrame(Variable variable, Spot spot, Scope scope) throws IOException {
        if (variable.isParameter()
                && StatedPlaces.isDoubted(variable, scope)
                && EntryRegisters.of(subject, spot, variable.entry()) != EntryRegisters.NONE) {
            return false; // it is still in its register
        }
        int register = scope.frameRegister().orElse(-1);
        return register >= 0 && isFramed(variable.location(), register)
                || variable.isParameter()
                        && isSingle(variable)
                        && variable.location() instanceof Location.InMemory in
                        && StatedPlaces.isUnmade(in.address(), scope);
    }

    private static boolean isFramed(Location location, int register) {
        return switch (location) {
            case Location.InMemory in -> reads(in.address(), register);
            case Location.Computed computed -> reads(computed.value(), register);
            case Location.Pieces pieces ->
                    pieces.pieces().stream().anyMatch(one -> isFramed(one.location(), register));
            case Location.InRegister _,
                    Location.Bytes _,
                    Location.ImplicitPointer _,
                    Location.Absent _,
                    Location.Unreadable _ ->
                    false;
        };
    }

    private static boolean reads(Value value, int register) {
        return switch (value) {
            case Value.Register one -> one.number() == register;
            case Value.Sum sum -> reads(sum.base(), register);
            case Value.Load load -> reads(load.address(), register);
            case Value.Cast cast -> reads(cast.value(), register);
            case Value.Operation one -> {
                Value right = one.right();
                yield reads(one.left(), register) || right != null && reads(right, register);
            }
            case Value.Constant _,
                    Value.Static _,
                    Value.AtEntry _,
                    Value.FrameAddress _,
                    Value.ThreadLocal _ ->
                    false;
        };
    }

    /** The row that says so, or the second of the function's rows. */
    private long end(Scope scope, long entry) throws IOException {
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
