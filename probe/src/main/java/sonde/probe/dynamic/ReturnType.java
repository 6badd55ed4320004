package sonde.probe.dynamic;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.location.DebugEntry;
import sonde.binary.dwarf.location.DwarfAttribute;
import sonde.symbol.ctype.CallingConvention;
import sonde.symbol.ctype.CallingConvention.ConventionMachine;
import sonde.symbol.ctype.CallingConvention.ParameterHome;
import sonde.symbol.ctype.CallingConvention.ParameterHome.HomeRegisters;
import sonde.symbol.ctype.CallingConvention.ParameterHome.HomeUnread;
import sonde.symbol.ctype.DwarfSourceTypes;
import sonde.symbol.ctype.SourceType;
import sonde.symbol.ctype.SourceType.NumberType;

/**
 * The type of {@code $retval}: the register for numbers and pointers at the return of a function.
 *
 * @param machine null where no calling convention is known
 * @param text of the whole expression, for the message
 */
record ReturnType(
        ProbeLocation spot,
        DwarfSourceTypes types,
        @Nullable ConventionMachine machine,
        String text,
        int at) {
    /** DW_LANG_Mips_Assembler, DW_LANG_Go: results are not said, or are parameters. */
    private static final Set<Long> SAY_NOTHING = Set.of(0x8001L, 0x16L);

    /** The type of a value of which nothing is known. */
    static SourceType unknown(int addressBytes) {
        return new NumberType("unsigned long", addressBytes, SourceType.Kind.UNSIGNED, false);
    }

    /**
     * The type of what a function returns.
     *
     * @throws ProbeException when it returns nothing, or not in that register
     */
    SourceType of(DebugEntry function) throws MalformedInputException, ProbeException {
        DebugEntry entry = function.type();
        if (entry == null) {
            if (SAY_NOTHING.contains(
                    function.unit().root().constant(DwarfAttribute.LANGUAGE, 0) & 0xffff)) {
                return unknown(function.unit().addressBytes());
            }
            throw fault("returns nothing");
        }
        SourceType type = types.type(entry);
        ParameterHome home = home(entry, type);
        if (home instanceof HomeRegisters found && found.count() == 1) {
            return type;
        }
        throw fault(
                "returns a "
                        + type.spelling()
                        + (home instanceof HomeUnread && type.sizeBytes() <= 8
                                ? " in a vector register, which no probe can read"
                                : ", which is in no single register"));
    }

    private ParameterHome home(DebugEntry entry, SourceType type) {
        if (machine != null) {
            return new CallingConvention(types.layout(), machine).result(entry);
        }
        boolean floating =
                type.plain() instanceof NumberType number
                        && number.kind() == SourceType.Kind.FLOATING;
        boolean single = !(type.plain() instanceof SourceType.Structure) && type.sizeBytes() <= 8;
        return floating ? new HomeUnread("") : new HomeRegisters(0, single ? 1 : 2);
    }

    private ProbeException fault(String what) {
        return ProbeException.at(text, at, spot.function() + " " + what);
    }
}
