/**
 * Views of maps: keys and values as bytes without copies per call, and mapped into memory.
 *
 * {@snippet :
 * MapSpec spec = new MapSpec("hits", MapType.ARRAY, 4, 8, 1024).with(MapSpec.MAPPABLE);
 * try (BpfMap map = BpfMap.create(spec); MappedValues values = MappedValues.of(map, true)) {
 *     long hits = values.acquire(3, 0);
 * }
 * }
 */
package sonde.bpf.map;
