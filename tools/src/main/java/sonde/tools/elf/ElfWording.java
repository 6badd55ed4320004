package sonde.tools.elf;

import sonde.binary.elf.ElfFile;
import sonde.view.TextEscape;

/** How numbers and names are written. */
final class ElfWording {
    private static final int NAME_LIMIT = 16_384;

    private ElfWording() {}

    /** A name of a file, harmless and not endless. */
    static String name(String text) {
        return TextEscape.line(
                text.length() <= NAME_LIMIT ? text : text.substring(0, NAME_LIMIT) + "[...]");
    }

    /** With as many digits as the class has. */
    static String address(ElfFile elf, long value) {
        return elf.is64() ? "%016x".formatted(value) : "%08x".formatted(value & 0xffff_ffffL);
    }

    /** {@code 0x1f}. */
    static String hex(long value) {
        return "0x" + Long.toHexString(value);
    }

    static String entries(long count) {
        return Long.toUnsignedString(count) + (count == 1 ? " entry" : " entries");
    }
}
