/**
 * Provides typed access to maps: by codecs, as numbers without allocation, and mapped into memory.
 *
 * {@snippet :
 * MapSpec spec = new MapSpec("names", MapType.LRU_HASH, 4, 16, 1024);
 * try (BpfMap map = BpfMap.create(spec)) {
 *     TypedMap<Integer, String> names = new TypedMap<>(map, Codec.INT, Codec.text(16));
 *     names.put(1, "init");
 *     names.forEach((pid, name) -> show(pid, name));
 * }
 * }
 */
package sonde.bpf.map;
