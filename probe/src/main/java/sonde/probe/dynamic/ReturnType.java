package sonde.probe.dynamic;

import java.util.Set;
import sonde.format.MalformedInputException;
import sonde.format.dwarf.location.Attribute;
import sonde.format.dwarf.location.Entry;

/**
 * The type of {@code $retval}: the register for numbers and pointers at the return of a function.
 *
 * @param text of the whole expression, for the message
 */
record ReturnType(Spot spot, DwarfSourceTypes types, String text, int at) {
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
        if (type.sizeBytes() > 8 || type instanceof SourceType.Structure && NonTrivial.is(entry)) {
            throw fault("returns a " + type.spelling() + ", which is in no single register");
        }
        if (isFloating(type)) {
            throw fault(
                    "returns a "
                            + type.spelling()
                            + " in a vector register, which no probe can read");
        }
        return type;
    }

    private static boolean isFloating(SourceType type) {
        return switch (type) {
            case SourceType.Number number -> number.kind() == SourceType.Kind.FLOATING;
            case SourceType.Structure structure ->
                    structure.members().get().stream()
                            .anyMatch(member -> isFloating(member.type().get()));
            default -> false;
        };
    }

    private ProbeException fault(String what) {
        return ProbeException.at(text, at, spot.function() + " " + what);
    }
}
