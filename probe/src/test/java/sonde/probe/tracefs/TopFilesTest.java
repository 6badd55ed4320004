package sonde.probe.tracefs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** What a file of tracefs shows, as it is written back. */
final class TopFilesTest {
    @Test
    void valuesAreThoseThatWereWritten() {
        assertThat(TopFiles.values("local [global] counter uptime mono\n"))
                .containsExactly("global");
        assertThat(TopFiles.values("7 (expanded: 1408)\n")).containsExactly("1408");
        assertThat(TopFiles.values("1410\n")).containsExactly("1410");
        assertThat(TopFiles.values("#### all functions enabled ####\n")).isEmpty();
        assertThat(TopFiles.values("no pid\n")).isEmpty();
        assertThat(TopFiles.values("\n")).isEmpty();
        assertThat(TopFiles.values("do_sys_openat2\nnf_hook_slow [nf_tables]\n"))
                .containsExactly("do_sys_openat2", "nf_hook_slow");
        assertThat(TopFiles.values("vfs_read:traceoff:count=3\nvfs_write:stacktrace:unlimited\n"))
                .isEqualTo(List.of("vfs_read:traceoff:3", "vfs_write:stacktrace"));
    }
}
