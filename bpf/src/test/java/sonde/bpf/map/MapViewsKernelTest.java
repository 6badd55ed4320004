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
import sonde.bpf.feature.BpfFeatureProbe;
import sonde.sys.MachineFacts;

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
    void perCpuValuesOneByOne() throws Exception {
        int cpus = MachineFacts.possibleCpus().length();
        try (BpfMap map = BpfMap.create(new MapSpec("t_cpu", MapType.PER_CPU_HASH, 8, 8, 10))) {
            TypedMap<Long, Long> typed = new TypedMap<>(map, Codec.LONG, Codec.LONG);
            typed.put(9L, 5L);
            assertThat(typed.getEach(9L)).hasSize(cpus).containsOnly(5L);
            typed.put(10L, 2L);
            Map<Long, Long> all = new TreeMap<>();
            typed.forEach(all::put);
            assertThat(all).containsExactly(Map.entry(9L, 5L), Map.entry(10L, 2L));
            assertThat(typed.delete(10L)).isTrue();
            assertThat(typed.get(10L)).isNull();
        }
    }

    @Test
    void arraysAndArenasAreMapped() throws Exception {
        MapSpec spec = new MapSpec("t_mapped", MapType.ARRAY, 4, 12, 100);
        try (BpfMap map = BpfMap.create(spec.with(MapSpec.MAPPABLE));
                MappedValues values = MappedValues.of(map, true)) {
            assertThat(values.strideBytes()).isEqualTo(16);
            values.add(3, 0, 40);
            values.add(3, 0, 2);
            assertThat(new TypedMap<>(map, Codec.INT, Codec.bytes(12)).get(3))
                    .startsWith(42, 0, 0, 0, 0, 0, 0, 0);
            assertThat(values.acquire(3, 0)).isEqualTo(42);
        }
        try (BpfMap plain = BpfMap.create(spec)) {
            assertThatThrownBy(() -> MappedValues.of(plain, true)).hasMessageContaining("mmap");
        }
        if (!BpfFeatureProbe.mapType(MapType.ARENA).isYes()) {
            return;
        }
        try (BpfMap arena = BpfMap.create(new MapSpec("t_arena", MapType.ARENA, 0, 0, 4));
                MappedValues pages = MappedValues.of(arena, true)) {
            assertThat(pages.segment().byteSize()).isEqualTo(4L * MachineFacts.pageBytes());
            // The first touch makes the page.
            pages.segment().set(java.lang.foreign.ValueLayout.JAVA_LONG, 4096, 7);
            assertThat(pages.segment().get(java.lang.foreign.ValueLayout.JAVA_LONG, 4096))
                    .isEqualTo(7);
        }
    }
}
