package sonde.symbol.ctype;

import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.location.DwarfAttribute;
import sonde.binary.dwarf.location.ObjectLocation;
import sonde.binary.dwarf.location.ObjectLocation.AbsentLocation;
import sonde.binary.dwarf.location.ObjectLocation.ImplicitBytes;
import sonde.binary.dwarf.location.ObjectLocation.ImplicitValue;
import sonde.binary.dwarf.location.ObjectLocation.LocationPieces;
import sonde.binary.dwarf.location.ObjectLocation.UnreadableLocation;
import sonde.binary.dwarf.location.SourceScope;
import sonde.binary.dwarf.location.SourceVariable;
import sonde.binary.dwarf.location.SymbolicValue;
import sonde.binary.dwarf.location.SymbolicValue.RegisterValue;
import sonde.binary.dwarf.location.SymbolicValue.SumValue;

/**
 * Which places of variables hold where a function is entered. gcc without its pass that follows
 * variables (-fno-var-tracking, functions too large for it) states one place for all of a function:
 * that behind the first instructions, where {@link CallingConvention} says the one at the entry.
 */
public final class StatedPlaces {
    private StatedPlaces() {}

    /** Whether what is said of a parameter, or a variable in a register, may not hold at entry. */
    public static boolean isDoubted(SourceVariable variable, SourceScope scope) {
        return variable.ranges().isEmpty()
                && producer(scope).startsWith("GNU ")
                && switch (variable.location()) {
                    case ObjectLocation.InRegister _, LocationPieces _ -> true;
                    case ObjectLocation.InMemory in ->
                            variable.isParameter() && isMade(in.address(), scope);
                    case ImplicitValue _,
                            ImplicitBytes _,
                            ObjectLocation.ImplicitPointer _,
                            AbsentLocation _,
                            UnreadableLocation _ ->
                            false;
                };
    }

    /** Whether the function itself puts something there: below its frame, or in a register. */
    private static boolean isMade(SymbolicValue address, SourceScope scope) {
        SymbolicValue frame = scope.frameAddress().orElse(null);
        return isUnmade(address, scope)
                || base(address) instanceof RegisterValue of
                        && (frame == null || !of.equals(base(frame)));
    }

    private static SymbolicValue base(SymbolicValue address) {
        return address instanceof SumValue sum ? sum.base() : address;
    }

    /** Whether variables were not followed in the unit of a scope. */
    public static boolean isUntracked(SourceScope scope) {
        return producer(scope).matches(".* -fno-var-tracking( .*)?");
    }

    private static String producer(SourceScope scope) {
        try {
            return scope.unit().root().text(DwarfAttribute.PRODUCER);
        } catch (MalformedInputException e) {
            return "";
        }
    }

    /** Whether it is below the stack as the caller left it: the function itself stores there. */
    public static boolean isUnmade(SymbolicValue address, SourceScope scope) {
        SymbolicValue frame = scope.frameAddress().orElse(null);
        SymbolicValue base = frame instanceof SumValue sum ? sum.base() : frame;
        return address instanceof SumValue sum && sum.base().equals(base) && sum.offset() < 0;
    }
}
