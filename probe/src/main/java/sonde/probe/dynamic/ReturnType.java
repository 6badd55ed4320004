package sonde.probe.dynamic;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.location.Attribute;
import sonde.binary.dwarf.location.Entry;
import sonde.symbol.ctype.CallingConvention;
import sonde.symbol.ctype.CallingConvention.Home;
import sonde.symbol.ctype.CallingConvention.Machine;
import sonde.symbol.ctype.DwarfSourceTypes;
import sonde.symbol.ctype.SourceType;

/**
 * The type of {@code $retval}: the register for numbers and pointers at the return of a function.
 *
 * @param machine null where no calling convention is known
 * @param text of the whole expression, for the message
 */
record ReturnType(
        Spot spot, DwarfSourceTypes types, @Nullable Machine machine, String text, int at) {
    /** DW_LANG_Mips_Assembler, DW_LANG_Go: results are not said, or are parameters. */
    private static final Set<Long> SAY_NOTHING = Set.of(0x8001L, 0x16L);

    /** Of what nothing is known. */
    static SourceType unknown(int addressBytes) {
        return new SourceType.Number(
                "unsigned long", addressBytes, SourceType.Kind.UNSIGNED, false);
    }

    /**
     * Of a function.
     *
     * @throws ProbeException when it returns nothing, or not in that register
     */
    SourceType of(Entry function) throws MalformedInputException, ProbeException {
        Entry entry = function.type();
        if (entry == null) {
            if (SAY_NOTHING.contains(
                    function.unit().root().constant(Attribute.LANGUAGE, 0) & 0xffff)) {
                return unknown(function.unit().addressBytes());
            }
            throw fault("returns nothing");
        }
        SourceType type = types.type(entry);
        Home home = home(entry, type);
        if (home instanceof Home.Registers found && found.count() == 1) {
            return type;
        }
        throw fault(
                "returns a "
                        + type.spelling()
                        + (home instanceof Home.Unread && type.sizeBytes() <= 8
                                ? " in a vector register, which no probe can read"
                                : ", which is in no single register"));
    }

    private Home home(Entry entry, SourceType type) {
        if (machine != null) {
            return new CallingConvention(types.layout(), machine).result(entry);
        }
        boolean floating =
                type.plain() instanceof SourceType.Number number
                        && number.kind() == SourceType.Kind.FLOATING;
        boolean single = !(type.plain() instanceof SourceType.Structure) && type.sizeBytes() <= 8;
        return floating ? new Home.Unread("") : new Home.Registers(0, single ? 1 : 2);
    }

    private ProbeException fault(String what) {
        return ProbeException.at(text, at, spot.function() + " " + what);
    }
}
