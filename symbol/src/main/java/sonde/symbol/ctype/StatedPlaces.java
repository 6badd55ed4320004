package sonde.symbol.ctype;

import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.location.Attribute;
import sonde.binary.dwarf.location.Location;
import sonde.binary.dwarf.location.Scope;
import sonde.binary.dwarf.location.Value;
import sonde.binary.dwarf.location.Variable;

/**
 * Which places of variables hold where a function is entered. gcc without its pass that follows
 * variables (-fno-var-tracking, functions too large for it) states one place for all of a function:
 * that behind the first instructions, where {@link CallingConvention} says the one at the entry.
 */
public final class StatedPlaces {
    private StatedPlaces() {}

    /** Whether what is said of a parameter, or a variable in a register, may not hold at entry. */
    public static boolean isDoubted(Variable variable, Scope scope) {
        return variable.ranges().isEmpty()
                && producer(scope).startsWith("GNU ")
                && switch (variable.location()) {
                    case Location.InRegister _, Location.Pieces _ -> true;
                    case Location.InMemory in ->
                            variable.isParameter() && isMade(in.address(), scope);
                    case Location.Computed _,
                            Location.Bytes _,
                            Location.ImplicitPointer _,
                            Location.Absent _,
                            Location.Unreadable _ ->
                            false;
                };
    }

    /** Whether the function itself puts something there: below its frame, or in a register. */
    private static boolean isMade(Value address, Scope scope) {
        Value frame = scope.frameAddress().orElse(null);
        return isUnmade(address, scope)
                || base(address) instanceof Value.Register of
                        && (frame == null || !of.equals(base(frame)));
    }

    private static Value base(Value address) {
        return address instanceof Value.Sum sum ? sum.base() : address;
    }

    /** Whether variables were not followed in the unit of a scope. */
    public static boolean isUntracked(Scope scope) {
        return producer(scope).matches(".* -fno-var-tracking( .*)?");
    }

    private static String producer(Scope scope) {
        try {
            return scope.unit().root().text(Attribute.PRODUCER);
        } catch (MalformedInputException e) {
            return "";
        }
    }

    /** Whether it is below the stack as the caller left it: the function itself stores there. */
    public static boolean isUnmade(Value address, Scope scope) {
        Value frame = scope.frameAddress().orElse(null);
        Value base = frame instanceof Value.Sum sum ? sum.base() : frame;
        return address instanceof Value.Sum sum && sum.base().equals(base) && sum.offset() < 0;
    }
}
