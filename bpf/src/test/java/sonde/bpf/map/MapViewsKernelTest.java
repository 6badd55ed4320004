package sonde.bpf.map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import sonde.bpf.BpfMap;
import sonde.bpf.MapSpec;
import sonde.bpf.MapType;
import sonde.bpf.feature.FeatureProbe;
import sonde.sys.Machine;

@Tag("kernel")
final class MapViewsKernelTest {
    @Test
    void codecsGiveValuesTypes() throws Exception {
        try (BpfMap map = BpfMap.create(new MapSpec("t_typed", MapType.HASH, 4, 16, 10))) {
            TypedMap<Integer, String> names = new TypedMap<>(map, Codec.INT, Codec.text(16));
            names.put(1, "init");
            names.put(2, "sixteen bytes ok");
            assertThat(names.get(1)).isEqualTo("init");
            assertThat(names.get(2)).isEqualTo("sixteen bytes ok");
            assertThat(names.get(3)).isNull();
            assertThatThrownBy(() -> names.put(3, "seventeen bytes !"))
                    .isInstanceOf(IllegalArgumentException.class);
            Map<Integer, String> all = new TreeMap<>();
            names.forEach(all::put);
            assertThat(all).containsOnlyKeys(1, 2);
            assertThat(names.take(1)).isEqualTo("init");
            assertThat(names.delete(1)).isFalse();
            assertThatThrownBy(() -> new TypedMap<>(map, Codec.LONG, Codec.LONG))
                    .hasMessageContaining("keys of 8");
        }
    }

    @Test
    void perCpuValuesOneByOneAndSummed() throws Exception {
        int cpus = Machine.possibleCpus().length();
        try (BpfMap map = BpfMap.create(new MapSpec("t_cpu", MapType.PER_CPU_HASH, 8, 8, 10));
                MapAccess access = new MapAccess(map)) {
            TypedMap<Long, Long> typed = new TypedMap<>(map, Codec.LONG, Codec.LONG);
            typed.put(9L, 5L);
            assertThat(typed.getEach(9L)).hasSize(cpus).containsOnly(5L);
            assertThat(access.sum(9)).isEqualTo(5L * cpus);
            assertThat(access.sum(10)).isZero();
            access.put(10, 2);
            Map<Long, Long> all = new TreeMap<>();
            access.forEach(all::put);
            assertThat(all).containsExactly(Map.entry(9L, 5L * cpus), Map.entry(10L, 2L * cpus));
            assertThat(access.delete(10)).isTrue();
            assertThat(access.contains(10)).isFalse();
        }
    }

    @Test
    void arraysAndArenasAreMapped() throws Exception {
        MapSpec spec = new MapSpec("t_mapped", MapType.ARRAY, 4, 12, 100);
        try (BpfMap map = BpfMap.create(spec.with(MapSpec.MAPPABLE));
                MappedValues values = MappedValues.of(map, true);
                MapAccess access = new MapAccess(map)) {
            assertThat(values.strideBytes()).isEqualTo(16);
            values.add(3, 0, 40);
            values.add(3, 0, 2);
            access.key().set(java.lang.foreign.ValueLayout.JAVA_INT, 0, 3);
            assertThat(access.get()).isTrue();
            assertThat(access.value().get(java.lang.foreign.ValueLayout.JAVA_LONG, 0))
                    .isEqualTo(42);
            assertThat(values.acquire(3, 0)).isEqualTo(42);
        }
        try (BpfMap plain = BpfMap.create(spec)) {
            assertThatThrownBy(() -> MappedValues.of(plain, true)).hasMessageContaining("mmap");
        }
        if (!FeatureProbe.mapType(MapType.ARENA).isYes()) {
            return;
        }
        try (BpfMap arena = BpfMap.create(new MapSpec("t_arena", MapType.ARENA, 0, 0, 4));
                MappedValues pages = MappedValues.of(arena, true)) {
            assertThat(pages.segment().byteSize()).isEqualTo(4L * Machine.pageBytes());
            // The first touch makes the page.
            pages.segment().set(java.lang.foreign.ValueLayout.JAVA_LONG, 4096, 7);
            assertThat(pages.segment().get(java.lang.foreign.ValueLayout.JAVA_LONG, 4096))
                    .isEqualTo(7);
        }
    }
}
