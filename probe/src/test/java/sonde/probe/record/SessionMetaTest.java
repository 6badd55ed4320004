package sonde.probe.record;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import sonde.recording.bundle.RecordingMeta.CommandExit;

final class SessionMetaTest {
    /** A command of 2 MiB whose posix_spawn left a recorder of 118 MiB, and one of 300 MiB. */
    @Test
    void aResidentSetThatWasInheritedIsUnknown() {
        CommandExit small = new CommandExit(0, 1, 2, 118 << 20, 3, 4, 5, 6);
        assertThat(SessionMeta.own(small, 118 << 20))
                .isEqualTo(new CommandExit(0, 1, 2, -1, 3, 4, 5, 6));
        CommandExit large = new CommandExit(0, 1, 2, 300 << 20, 3, 4, 5, 6);
        assertThat(SessionMeta.own(large, 118 << 20)).isSameAs(large);
        assertThat(SessionMeta.own(null, 118 << 20)).isNull();
        assertThat(SessionMeta.peakRss()).isPositive();
    }
}
