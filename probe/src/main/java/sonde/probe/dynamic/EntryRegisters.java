package sonde.probe.dynamic;

import java.util.HashMap;
import java.util.Map;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.location.Entry;
import sonde.binary.dwarf.location.Scope;
import sonde.binary.dwarf.location.Tag;
import sonde.symbol.Clones;
import sonde.symbol.ctype.CallingConvention;
import sonde.symbol.ctype.CallingConvention.Home;
import sonde.symbol.ctype.CallingConvention.Machine;
import sonde.symbol.ctype.DwarfSourceTypes;
import sonde.symbol.ctype.SourceType;

/**
 * Which of the registers for arguments the parameters of a function are in when it is entered, by
 * the calling convention of C and C++. In other languages nothing is counted behind what does not
 * fit into one register.
 */
final class EntryRegisters {
    /** Not in one of them, or nothing tells in which. */
    static final int NONE = -1;

    private final Map<Entry, Integer> registers = new HashMap<>();

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
        Machine machine = subject.registers().machine();
        return machine == null
                ? NONE
                : new EntryRegisters(scope.function(), types, machine)
                        .registers.getOrDefault(parameter, NONE);
    }

    private EntryRegisters(Entry function, DwarfSourceTypes types, Machine machine)
            throws MalformedInputException {
        CallingConvention convention = new CallingConvention(types.layout(), machine);
        convention.result(function.type());
        boolean counts = true;
        for (Entry child : function.children()) {
            if (child.tag() == Tag.FORMAL_PARAMETER) {
                SourceType type = types.type(child.type());
                boolean word = isWord(type);
                counts &= word || CallingConvention.isOf(function.unit().language());
                if (convention.next(child.type()) instanceof Home.Registers home
                        && counts
                        && word) {
                    registers.put(child, home.first());
                }
            }
        }
    }

    private static boolean isWord(SourceType type) {
        return type.plain() instanceof SourceType.Pointer
                || (type.plain() instanceof SourceType.Number
                                || type.plain() instanceof SourceType.Enumeration)
                        && type.sizeBytes() <= Long.BYTES;
    }
}
