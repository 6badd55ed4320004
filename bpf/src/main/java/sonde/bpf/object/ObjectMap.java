package sonde.bpf.object;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A map that an object defines in {@code .maps}.
 *
 * @param type number of enum bpf_map_type
 * @param keyBytes 0 where nothing is said
 * @param keyType BTF id in the object, 0 for none
 * @param numaNode -1 for none
 * @param pinned whether its name is looked for, and put, below the folder of pins
 * @param inner what the maps in it are like; null for other maps
 * @param initial what its slots hold at the beginning
 * @param offset in {@code .maps}
 */
public record ObjectMap(
        String name,
        int type,
        int keyBytes,
        int valueBytes,
        int maxEntries,
        int flags,
        long extra,
        int numaNode,
        int keyType,
        int valueType,
        boolean pinned,
        @Nullable ObjectMap inner,
        List<InitialSlot> initial,
        int offset) {
    /**
     * A slot with something in it from the beginning.
     *
     * @param name of a map, in a map of maps, or a program, in a program array
     */
    public record InitialSlot(int index, String name) {}

    ObjectMap with(List<InitialSlot> slots) {
        return new ObjectMap(
                name,
                type,
                keyBytes,
                valueBytes,
                maxEntries,
                flags,
                extra,
                numaNode,
                keyType,
                valueType,
                pinned,
                inner,
                List.copyOf(slots),
                offset);
    }
}
