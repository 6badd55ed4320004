package sonde.bpf.map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
    void arraysAndArenasAreMapped() throws Exception {
        MapSpec spec = new MapSpec("t_mapped", MapType.ARRAY, 4, 12, 100);
        try (BpfMap map = BpfMap.create(spec.with(MapSpec.MAPPABLE));
                MappedValues values = MappedValues.of(map, true)) {
            assertThat(values.strideBytes()).isEqualTo(16);
            values.add(3, 0, 40);
            values.add(3, 0, 2);
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
