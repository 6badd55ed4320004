package sonde.probe.dynamic;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.format.MalformedInputException;
import sonde.format.dwarf.location.Attribute;
import sonde.format.dwarf.location.Entry;
import sonde.format.dwarf.location.Location;
import sonde.format.dwarf.location.Scope;
import sonde.format.dwarf.location.Tag;
import sonde.format.dwarf.location.Value;
import sonde.format.dwarf.location.Variable;
import sonde.symbol.Clones;

/**
 * Which of the registers for arguments the parameters of a function are in when it is entered, by
 * the calling convention of C and C++: System V AMD64 psABI, 3.2.3; AAPCS64, 6.8. Behind a
 * structure that may be handed over in registers nothing is counted.
 *
 * <p>Code of gcc needs it where one place is said for all of a function. Without its pass that
 * follows variables (-fno-var-tracking, functions too large for it) that is the place behind the
 * first instructions, and not the one at the entry.
 */
final class EntryRegisters {
    /** Not in one of them, or nothing tells in which. */
    static final int NONE = -1;

    /** A structure of more is in memory: on the stack on x86-64, by its address elsewhere. */
    private static final int MOST_IN_REGISTERS = 16;

    private final DwarfSourceTypes types;
    private final boolean x86;
    private final List<Entry> parameters = new ArrayList<>();
    private final List<Integer> registers = new ArrayList<>();

    /**
     * The number of the register that a parameter of a spot's function is in at the entry, {@link
     * #NONE} for none. A clone may have lost parameters before it.
     */
    static int of(Subject subject, Spot spot, Entry parameter) throws MalformedInputException {
        Scope scope = spot.scope();
        if (scope == null
                || Clones.isClone(spot.symbol())
                || !(subject.types() instanceof DwarfSourceTypes types)) {
            return NONE;
        }
        boolean x86 = subject.registers() == FetchRegisters.X86_64;
        return new EntryRegisters(scope.function(), types, x86).of(parameter);
    }

    private EntryRegisters(Entry function, DwarfSourceTypes types, boolean x86)
            throws MalformedInputException {
        this.types = types;
        this.x86 = x86;
        for (Entry child : function.children()) {
            if (child.tag() == Tag.FORMAL_PARAMETER) {
                parameters.add(child);
            }
        }
        // x86-64 takes the address of what is returned in memory first, the others elsewhere.
        count(x86 && isInMemory(function.type()) ? 1 : 0);
    }

    /** Whether what is said of a parameter, or a variable in a register, may not hold at entry. */
    static boolean isDoubted(Variable variable, Scope scope) {
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
        return Prologue.isUnmade(address, scope)
                || base(address) instanceof Value.Register of
                        && (frame == null || !of.equals(base(frame)));
    }

    private static Value base(Value address) {
        return address instanceof Value.Sum sum ? sum.base() : address;
    }

    /** Whether variables were not followed in the unit of a scope. */
    static boolean isUntracked(Scope scope) {
        return producer(scope).matches(".* -fno-var-tracking( .*)?");
    }

    private static String producer(Scope scope) {
        try {
            return scope.unit().root().text(Attribute.PRODUCER);
        } catch (MalformedInputException e) {
            return "";
        }
    }

    private void count(int first) throws MalformedInputException {
        int next = first;
        for (Entry parameter : parameters) {
            SourceType type = types.type(parameter.type());
            boolean floating =
                    type instanceof SourceType.Number number
                            && number.kind() == SourceType.Kind.FLOATING;
            boolean word = !floating && isWord(type);
            registers.add(word ? next : NONE);
            if (word) {
                next++;
            } else if (!floating) {
                if (!isInMemory(parameter.type())) {
                    return;
                }
                next += x86 && !NonTrivial.is(parameter.type()) ? 0 : 1;
            }
        }
    }

    private int of(Entry parameter) {
        int index = parameters.indexOf(parameter);
        return index >= 0 && index < registers.size() ? registers.get(index) : NONE;
    }

    private static boolean isWord(SourceType type) {
        return type instanceof SourceType.Pointer
                || (type instanceof SourceType.Number || type instanceof SourceType.Enumeration)
                        && type.sizeBytes() <= Long.BYTES;
    }

    private boolean isInMemory(@Nullable Entry stated) throws MalformedInputException {
        return stated != null
                && types.type(stated) instanceof SourceType.Structure structure
                && (structure.sizeBytes() > MOST_IN_REGISTERS || NonTrivial.is(stated));
    }
}
