package sonde.probe.record;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import sonde.recording.bundle.Meta;

final class SessionMetaTest {
    /** A command of 2 MiB whose posix_spawn left a recorder of 118 MiB, and one of 300 MiB. */
    @Test
    void aResidentSetThatWasInheritedIsUnknown() {
        Meta.Exit small = new Meta.Exit(0, 1, 2, 118 << 20, 3, 4, 5, 6);
        assertThat(SessionMeta.own(small, 118 << 20))
                .isEqualTo(new Meta.Exit(0, 1, 2, -1, 3, 4, 5, 6));
        Meta.Exit large = new Meta.Exit(0, 1, 2, 300 << 20, 3, 4, 5, 6);
        assertThat(SessionMeta.own(large, 118 << 20)).isSameAs(large);
        assertThat(SessionMeta.own(null, 118 << 20)).isNull();
        assertThat(SessionMeta.peakRss()).isPositive();
    }
}
