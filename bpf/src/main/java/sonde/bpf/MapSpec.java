package sonde.bpf;

/**
 * What a map is to be.
 *
 * @param name at most 15 bytes of letters, digits, {@code _} and {@code .}
 * @param keyBytes 4 for arrays, 0 for ring buffers
 * @param valueBytes 4 for perf event arrays, 0 for ring buffers
 * @param maxEntries entries; bytes for ring buffers
 */
public record MapSpec(String name, MapType type, int keyBytes, int valueBytes, int maxEntries) {}
