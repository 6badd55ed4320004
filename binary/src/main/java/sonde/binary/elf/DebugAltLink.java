package sonde.binary.elf;

/**
 * {@code .gnu_debugaltlink}, or {@code .debug_sup} (DWARF 5 §7.3.6): the file with what dwz took
 * out of several debug files.
 *
 * @param fileName absolute, or relative to the folder of the file that names it
 * @param id build-id of that file, or the checksum of its {@code .debug_sup}; not copied
 */
public record DebugAltLink(String fileName, byte[] id) {}
