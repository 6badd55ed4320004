package sonde.bpf;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import sonde.bpf.BpfMap.UpdateMode;
import sonde.bpf.MapException.MapFailure;
import sonde.bpf.call.KernelObject;
import sonde.bpf.feature.BpfFeatureProbe;
import sonde.sys.Fd;
import sonde.sys.MachineFacts;
import sonde.sys.NativeSyscall;
import sonde.sys.SyscallException;
import sonde.sys.SyscallNames;
import sonde.testkit.BpfFolder;

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
        int cpus = MachineFacts.possibleCpus().length();
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
    void everyCommonKindCanBeMade() throws Exception {
        try (BpfMap inner = BpfMap.create(new MapSpec("t_inner", MapType.HASH, 4, 8, 4))) {
            for (MapType type : MapType.values()) {
                MapSpec spec = sizes(type);
                if (spec == null || !BpfFeatureProbe.mapType(type).isYes()) {
                    // Those newer than Linux 6.1, and inodes' where BPF is no security module.
                    assertThat(spec == null || type.code() >= 28 && type.code() != 30)
                            .as(type.name())
                            .isTrue();
                    continue;
                }
                boolean ofMaps = type == MapType.ARRAY_OF_MAPS || type == MapType.HASH_OF_MAPS;
                try (BpfMap map = BpfMap.create(ofMaps ? spec.withInner(inner) : spec)) {
                    MapFacts facts = map.facts();
                    assertThat(facts.type()).as(type.name()).isEqualTo(type.code());
                    assertThat(facts.name()).isEqualTo("t_kind");
                    assertThat(BpfMap.ids()).contains(facts.id());
                }
            }
        }
    }

    /** Null for types that need more than sizes, or more than this kernel has. */
    private static @Nullable MapSpec sizes(MapType type) {
        int page = MachineFacts.pageBytes();
        return switch (type) {
            case RING_BUFFER, USER_RING_BUFFER -> new MapSpec("t_kind", type, 0, 0, 16 * page);
            case QUEUE, STACK, BLOOM_FILTER -> new MapSpec("t_kind", type, 0, 8, 16);
            case STACK_TRACE -> new MapSpec("t_kind", type, 4, 8 * 127, 16);
            case LPM_TRIE -> new MapSpec("t_kind", type, 8, 8, 16);
            case SK_STORAGE, TASK_STORAGE, CGROUP_LOCAL_STORAGE, INODE_STORAGE ->
                    new MapSpec("t_kind", type, 4, 12, 0);
            case ARENA -> new MapSpec("t_kind", type, 0, 0, 4);
            case ARRAY_OF_MAPS, HASH_OF_MAPS, PERF_EVENT_ARRAY, PROG_ARRAY, CGROUP_ARRAY ->
                    new MapSpec("t_kind", type, 4, 4, 4);
            case HASH, ARRAY, PER_CPU_HASH, PER_CPU_ARRAY, LRU_HASH, LRU_PER_CPU_HASH ->
                    new MapSpec("t_kind", type, 4, 8, 64);
            case DEVMAP, SOCKMAP, CPUMAP, XSKMAP, SOCKHASH, DEVMAP_HASH, STRUCT_OPS -> null;
            case CGROUP_STORAGE, REUSEPORT_SOCKARRAY, PER_CPU_CGROUP_STORAGE -> null;
        };
    }

    @Test
    void queuesStacksAndFiltersHaveNoKeys() throws Exception {
        try (BpfMap queue = BpfMap.create(new MapSpec("t_q", MapType.QUEUE, 0, 8, 4));
                BpfMap stack = BpfMap.create(new MapSpec("t_s", MapType.STACK, 0, 8, 4));
                BpfMap bloom = BpfMap.create(new MapSpec("t_b", MapType.BLOOM_FILTER, 0, 8, 64));
                Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(JAVA_LONG);
            for (BpfMap map : new BpfMap[] {queue, stack, bloom}) {
                for (long i = 1; i <= 3; i++) {
                    value.set(JAVA_LONG, 0, i);
                    map.put(MemorySegment.NULL, value);
                }
            }
            assertThat(queue.take(MemorySegment.NULL, value)).isTrue();
            assertThat(value.get(JAVA_LONG, 0)).isEqualTo(1);
            assertThat(stack.take(MemorySegment.NULL, value)).isTrue();
            assertThat(value.get(JAVA_LONG, 0)).isEqualTo(3);
            assertThat(stack.get(MemorySegment.NULL, value)).isTrue();
            assertThat(value.get(JAVA_LONG, 0)).isEqualTo(2);
            assertThat(bloom.get(MemorySegment.NULL, value)).isTrue();
            value.set(JAVA_LONG, 0, 99);
            assertThat(bloom.get(MemorySegment.NULL, value)).isFalse();
            queue.take(MemorySegment.NULL, value);
            queue.take(MemorySegment.NULL, value);
            assertThat(queue.take(MemorySegment.NULL, value)).isFalse();
        }
    }

    @Test
    void modesOfPuttingAndTaking() throws Exception {
        try (BpfMap map = BpfMap.create(new MapSpec("t_modes", MapType.HASH, 4, 4, 10));
                Arena arena = Arena.ofConfined()) {
            MemorySegment key = arena.allocateFrom(JAVA_INT, 5);
            MemorySegment value = arena.allocateFrom(JAVA_INT, 50);
            assertThat(reasonOf(() -> map.put(key, value, UpdateMode.IF_PRESENT)))
                    .isEqualTo(MapFailure.MISSING);
            map.put(key, value, UpdateMode.IF_ABSENT);
            assertThat(reasonOf(() -> map.put(key, value, UpdateMode.IF_ABSENT)))
                    .isEqualTo(MapFailure.EXISTS);
            value.set(JAVA_INT, 0, 0);
            assertThat(map.take(key, value)).isTrue();
            assertThat(value.get(JAVA_INT, 0)).isEqualTo(50);
            assertThat(map.take(key, value)).isFalse();
        }
    }

    private static MapFailure reasonOf(ThrowableAssert.ThrowingCallable call) {
        MapException e = catchThrowableOfType(MapException.class, call);
        assertThat(e).isNotNull();
        return e.reason();
    }

    @Test
    void batchesPutAndDelete() throws Exception {
        int count = 1000;
        try (BpfMap map = BpfMap.create(new MapSpec("t_all", MapType.HASH, 4, 8, 2 * count));
                Arena arena = Arena.ofConfined()) {
            MemorySegment keys = arena.allocate(JAVA_INT, count);
            MemorySegment values = arena.allocate(JAVA_LONG, count);
            for (int i = 0; i < count; i++) {
                keys.setAtIndex(JAVA_INT, i, i * 2);
                values.setAtIndex(JAVA_LONG, i, i);
            }
            map.putAll(keys, values, count);
            assertThat(map.forEach((k, v) -> {}).entries()).isEqualTo(count);
            for (int i = 0; i < count; i++) {
                keys.setAtIndex(JAVA_INT, i, i * 3);
            }
            // Of 0, 3, 6 ... 2997 those below 2000 that are even are there: 334.
            assertThat(map.deleteAll(keys, count)).isEqualTo(334);
            long[] sum = new long[1];
            MapVisit visit = map.drain((k, v) -> sum[0] += v.get(JAVA_LONG, 0));
            assertThat(visit).isEqualTo(new MapVisit(count - 334, 0, true, true));
            assertThat(sum[0]).isEqualTo(499_500L - 3 * 333 * 334 / 2);
            assertThat(map.forEach((k, v) -> {}).entries()).isZero();
        }
    }

    /** The kernel starts anew when the key it stands at is gone. */
    @Test
    void deletingWhileGoingThroughIsSafe() throws Exception {
        for (MapType type : new MapType[] {MapType.HASH, MapType.LRU_HASH}) {
            int count = 3000;
            try (BpfMap map = BpfMap.create(new MapSpec("t_del", type, 4, 4, count))) {
                for (int i = 0; i < count; i++) {
                    map.put(i, i);
                }
                Set<Integer> seen = new HashSet<>();
                MapVisit visit =
                        map.forEach((key, value) -> {
                            int number = key.get(JAVA_INT, 0);
                            assertThat(seen.add(number)).isTrue();
                            if (number % 3 == 0) {
                                deleteNow(map, number);
                            }
                        });
                assertThat(visit.complete()).isTrue();
                assertThat(seen).hasSizeGreaterThan(count * 2 / 3);
            }
        }
    }

    private static void deleteNow(BpfMap map, int key) {
        try {
            map.delete(key);
        } catch (SyscallException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** From key to key: what kernels without batches do. */
    @Test
    void keyByKeyNoticesRestarts() throws Exception {
        int count = 500;
        try (BpfMap map = BpfMap.create(new MapSpec("t_key", MapType.HASH, 4, 4, count))) {
            for (int i = 0; i < count; i++) {
                map.put(i, i);
            }
            Set<Integer> seen = new HashSet<>();
            MapVisit calm =
                    new MapVisitor(map, (k, v) -> seen.add(k.get(JAVA_INT, 0))).keyByKey(false);
            assertThat(calm).isEqualTo(new MapVisit(count, 0, true, false));
            seen.clear();
            int[] previous = {-1};
            // Deletes what comes next but one as well as the key it stands at, now and then.
            MapVisitor visitor =
                    new MapVisitor(
                            map,
                            (k, v) -> {
                                int key = k.get(JAVA_INT, 0);
                                assertThat(seen.add(key)).isTrue();
                                if (seen.size() % 50 == 0) {
                                    for (int i = 0; i < count; i++) {
                                        if (i != previous[0] && i % 7 == seen.size() / 50) {
                                            deleteNow(map, i);
                                        }
                                    }
                                }
                                previous[0] = key;
                            });
            MapVisit visit = visitor.keyByKey(false);
            assertThat(visit.complete()).isTrue();
            Set<Integer> left = new HashSet<>();
            map.forEach((k, v) -> left.add(k.get(JAVA_INT, 0)));
            assertThat(seen).containsAll(left);
        }
    }

    @Test
    void localStorageIsKeyedByDescriptors() throws Exception {
        try (BpfMap map = BpfMap.create(new MapSpec("t_task", MapType.TASK_STORAGE, 4, 12, 0));
                Arena arena = Arena.ofConfined()) {
            int self =
                    (int)
                            NativeSyscall.syscall(
                                    SyscallNames.number("pidfd_open"),
                                    ProcessHandle.current().pid(),
                                    0,
                                    0);
            assertThat(self).isPositive();
            MemorySegment key = arena.allocateFrom(JAVA_INT, self);
            MemorySegment value = arena.allocate(12, 4);
            value.set(JAVA_INT, 8, 4711);
            assertThat(map.get(key, value)).isFalse();
            map.put(key, value);
            value.fill((byte) 0);
            assertThat(map.get(key, value)).isTrue();
            assertThat(value.get(JAVA_INT, 8)).isEqualTo(4711);
            assertThat(map.delete(key)).isTrue();
            Fd.close(self);
        }
    }

    @Test
    void mapsOfMapsHoldMaps() throws Exception {
        try (BpfMap inner = BpfMap.create(new MapSpec("t_inner", MapType.HASH, 4, 4, 8));
                BpfMap outer =
                        BpfMap.create(
                                new MapSpec("t_outer", MapType.HASH_OF_MAPS, 4, 4, 8)
                                        .withInner(inner));
                Arena arena = Arena.ofConfined()) {
            outer.put(1, inner.fd());
            MemorySegment id = arena.allocate(JAVA_INT);
            assertThat(outer.get(arena.allocateFrom(JAVA_INT, 1), id)).isTrue();
            assertThat(id.get(JAVA_INT, 0)).isEqualTo(inner.facts().id());
            inner.put(3, 33);
            try (BpfMap same = BpfMap.openId(id.get(JAVA_INT, 0))) {
                assertThat(same.contains(3)).isTrue();
                assertThat(same.spec().type()).isEqualTo(MapType.HASH);
            }
        }
    }

    @Test
    void triesFindTheLongestPrefix() throws Exception {
        try (BpfMap trie = BpfMap.create(new MapSpec("t_lpm", MapType.LPM_TRIE, 8, 4, 8));
                Arena arena = Arena.ofConfined()) {
            MemorySegment key = arena.allocate(8, 4);
            MemorySegment value = arena.allocate(4, 4);
            for (int bits : new int[] {8, 16}) {
                key.set(JAVA_INT, 0, bits);
                key.set(JAVA_INT, 4, 0x0000a80a); // 10.168.0.0 in memory order
                value.set(JAVA_INT, 0, bits);
                trie.put(key, value);
            }
            key.set(JAVA_INT, 0, 32);
            key.set(JAVA_INT, 4, 0x0101a80a);
            assertThat(trie.get(key, value)).isTrue();
            assertThat(value.get(JAVA_INT, 0)).isEqualTo(16);
            assertThat(trie.forEach((k, v) -> {}).entries()).isEqualTo(2);
        }
    }

    @Test
    void frozenMapsTakeNothingMore() throws Exception {
        try (BpfMap map = BpfMap.create(new MapSpec("t_frozen", MapType.ARRAY, 4, 4, 1))) {
            map.put(0, 7);
            map.freeze();
            assertThat(reasonOf(() -> map.put(0, 8))).isEqualTo(MapFailure.READ_ONLY);
            assertThat(map.facts().frozen()).isTrue();
        }
    }

    @Test
    void pinnedMapsOutliveTheirMaker() throws Exception {
        try (BpfFolder folder = new BpfFolder()) {
            String path = folder.path("numbers");
            try (BpfMap map = BpfMap.create(new MapSpec("t_pin", MapType.HASH, 4, 4, 4))) {
                map.put(1, 11);
                map.pin(path);
                assertThatThrownBy(() -> map.pin(path)).hasMessageContaining("EEXIST");
            }
            try (BpfMap again = BpfMap.openPinned(path)) {
                assertThat(again.contains(1)).isTrue();
                assertThat(again.spec().name()).isEqualTo("t_pin");
            }
            assertThatThrownBy(() -> Program.openPinned(path))
                    .hasMessageContaining("which is a bpf-map, no bpf-prog");
            KernelObject.unpin(path);
            assertThatThrownBy(() -> BpfMap.openPinned(path)).hasMessageContaining("ENOENT");
        }
    }

    @Test
    void failuresLeaveNothingOpen() throws Exception {
        try (BpfMap map = BpfMap.create(new MapSpec("t_warm", MapType.HASH, 4, 4, 4))) {
            map.facts();
        }
        Leaks before = Leaks.now();
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> BpfMap.create(new MapSpec("t", MapType.ARRAY, 3, 8, 1)));
            assertThatThrownBy(
                    () -> BpfMap.create(new MapSpec("t", MapType.TASK_STORAGE, 8, 8, 0)));
            assertThatThrownBy(() -> BpfMap.openId(Integer.MAX_VALUE));
            assertThatThrownBy(() -> BpfMap.openPinned("/proc/self/exe"));
            assertThatThrownBy(() -> BpfMap.adopt(0x7fff_fff0));
        }
        before.assertNothingLeftSince();
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
                .hasMessageContaining("map t (array, key 3, value 8, 1 entries)")
                .hasMessageContaining("EINVAL")
                .hasMessageContaining("keys of an array have 4 bytes");
        assertThat(
                        reasonOf(() ->
                                BpfMap.create(new MapSpec("t", MapType.HASH, 4, 4 << 20, 1 << 30))))
                .isEqualTo(MapFailure.TOO_LARGE);
        assertThat(
                        reasonOf(() ->
                                BpfMap.create(new MapSpec("t", MapType.RING_BUFFER, 0, 0, 12288))))
                .isEqualTo(MapFailure.BAD_SPEC);
        try (BpfMap map = BpfMap.create(new MapSpec("t_full", MapType.HASH, 4, 4, 1))) {
            map.put(1, 1);
            assertThat(reasonOf(() -> map.put(2, 2))).isEqualTo(MapFailure.FULL);
        }
    }
}
