package sonde.binary.elf;

/**
 * {@code .gnu_debuglink}: where the symbols went that were stripped (gdb manual, "Separate Debug
 * Files").
 *
 * @param fileName base name, without any slash
 * @param crc32 of the whole debug file (the zlib polynomial)
 */
public record DebugLink(String fileName, int crc32) {}
