package sonde.probe.dynamic;

import java.util.HashMap;
import java.util.Map;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.location.DebugEntry;
import sonde.binary.dwarf.location.DwarfTag;
import sonde.binary.dwarf.location.SourceScope;
import sonde.symbol.CloneSuffix;
import sonde.symbol.ctype.CallingConvention;
import sonde.symbol.ctype.CallingConvention.ConventionMachine;
import sonde.symbol.ctype.CallingConvention.ParameterHome.HomeRegisters;
import sonde.symbol.ctype.DwarfSourceTypes;
import sonde.symbol.ctype.SourceType;
import sonde.symbol.ctype.SourceType.NumberType;

/**
 * Which of the registers for arguments the parameters of a function are in when it is entered, by
 * the calling convention of C and C++. In other languages nothing is counted behind what does not
 * fit into one register.
 */
final class EntryRegisters {
    /** Not in one of them, or nothing tells in which. */
    static final int NONE = -1;

    private final Map<DebugEntry, Integer> registers = new HashMap<>();

    /**
     * The number of the register that a parameter of a spot's function is in at the entry, {@link
     * #NONE} for none. A clone may have lost parameters before it.
     */
    static int of(ProbedObject subject, ProbeLocation spot, DebugEntry parameter)
            throws MalformedInputException {
        SourceScope scope = spot.scope();
        if (scope == null
                || CloneSuffix.isClone(spot.symbol())
                || !(subject.types() instanceof DwarfSourceTypes types)) {
            return NONE;
        }
        ConventionMachine machine = subject.registers().machine();
        return machine == null
                ? NONE
                : new EntryRegisters(scope.function(), types, machine)
                        .registers.getOrDefault(parameter, NONE);
    }

    private EntryRegisters(DebugEntry function, DwarfSourceTypes types, ConventionMachine machine)
            throws MalformedInputException {
        CallingConvention convention = new CallingConvention(types.layout(), machine);
        convention.result(function.type());
        boolean counts = true;
        for (DebugEntry child : function.children()) {
            if (child.tag() == DwarfTag.FORMAL_PARAMETER) {
                SourceType type = types.type(child.type());
                boolean word = isWord(type);
                counts &= word || CallingConvention.isOf(function.unit().language());
                if (convention.next(child.type()) instanceof HomeRegisters home && counts && word) {
                    registers.put(child, home.first());
                }
            }
        }
    }

    private static boolean isWord(SourceType type) {
        return type.plain() instanceof SourceType.Pointer
                || (type.plain() instanceof NumberType
                                || type.plain() instanceof SourceType.Enumeration)
                        && type.sizeBytes() <= Long.BYTES;
    }
}
