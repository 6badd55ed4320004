package sonde.bpf;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import sonde.sys.Machine;
import sonde.sys.SyscallException;

@Tag("kernel")
final class BpfMapKernelTest {
    @Test
    void hashesKeepWhatIsPut() throws Exception {
        try (BpfMap map = BpfMap.create(new MapSpec("t_hash", MapType.HASH, 4, 4, 100))) {
            map.put(7, 70);
            map.put(8, 80);
            assertThat(map.contains(7)).isTrue();
            assertThat(map.delete(7)).isTrue();
            assertThat(map.delete(7)).isFalse();
            assertThat(map.contains(7)).isFalse();
            assertThat(map.contains(8)).isTrue();
        }
    }

    @Test
    void batchesSeeEveryEntryOnce() throws Exception {
        int entries = 10_000;
        try (BpfMap map = BpfMap.create(new MapSpec("t_batch", MapType.HASH, 4, 4, entries))) {
            for (int i = 0; i < entries; i++) {
                map.put(i, i * 3);
            }
            Map<Integer, Integer> seen = new HashMap<>();
            map.forEach((key, value) -> seen.put(key.get(JAVA_INT, 0), value.get(JAVA_INT, 0)));
            assertThat(seen).hasSize(entries).containsEntry(9_999, 29_997);
        }
    }

    @Test
    void perCpuValuesHaveAPlacePerPossibleCpu() throws Exception {
        int cpus = Machine.possibleCpus().length();
        try (BpfMap map = BpfMap.create(new MapSpec("t_cpu", MapType.PER_CPU_ARRAY, 4, 8, 2));
                Arena arena = Arena.ofConfined()) {
            assertThat(map.valueBytes()).isEqualTo(8 * cpus);
            MemorySegment values = arena.allocate(map.valueBytes(), 8);
            for (int cpu = 0; cpu < cpus; cpu++) {
                values.set(JAVA_LONG, 8L * cpu, cpu + 1L);
            }
            map.put(arena.allocateFrom(JAVA_INT, 1), values);
            assertThat(map.sum(1)).isEqualTo((long) cpus * (cpus + 1) / 2);
            assertThat(map.sum(0)).isZero();
        }
    }

    @Test
    void everyKindCanBeMade() throws Exception {
        for (MapType type : MapType.values()) {
            int key = type == MapType.RING_BUFFER ? 0 : 4;
            int entries = type == MapType.RING_BUFFER ? 1 << 16 : 4;
            try (BpfMap map = BpfMap.create(new MapSpec("t_kind", type, key, key, entries))) {
                assertThat(map.fd()).as(type.name()).isPositive();
            }
        }
    }

    @Test
    void lruHashesForgetInsteadOfRefusing() throws Exception {
        try (BpfMap map = BpfMap.create(new MapSpec("t_lru", MapType.LRU_HASH, 4, 4, 512))) {
            for (int i = 0; i < 5_000; i++) {
                map.put(i, i);
            }
            assertThat(map.contains(4_999)).isTrue();
            assertThat(map.contains(0)).isFalse();
        }
    }

    @Test
    void badSizesAndFullMapsAreTold() throws Exception {
        assertThatThrownBy(() -> BpfMap.create(new MapSpec("t", MapType.ARRAY, 3, 8, 1)))
                .isInstanceOf(SyscallException.class)
                .hasMessageContaining("map t")
                .hasMessageContaining("EINVAL");
        try (BpfMap map = BpfMap.create(new MapSpec("t_full", MapType.HASH, 4, 4, 1))) {
            map.put(1, 1);
            assertThatThrownBy(() -> map.put(2, 2)).hasMessageContaining("E2BIG");
        }
    }
}
