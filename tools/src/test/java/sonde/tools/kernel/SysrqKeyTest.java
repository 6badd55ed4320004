package sonde.tools.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.event.result.Report;
import sonde.event.result.Table;
import sonde.tools.option.OptionException;

class SysrqKeyTest {
    /** Of Debian's 6.12.117. */
    private static final String HELP =
            "sysrq: HELP : loglevel(0-9) reboot(b) crash(c) terminate-all-tasks(e)"
                    + " memory-full-oom-kill(f) kill-all-tasks(i) thaw-filesystems(j) sak(k)"
                    + " show-backtrace-all-active-cpus(l) show-memory-usage(m) nice-all-RT-tasks(n)"
                    + " poweroff(o) show-registers(p) show-all-timers(q) unraw(r) sync(s)"
                    + " show-task-states(t) unmount(u) show-blocked-tasks(w) dump-ftrace-buffer(z)"
                    + " replay-kernel-logs(R) ";

    @Test
    void theKernelsHelpIsRead() {
        Map<Character, String> keys = SysrqKey.help(HELP);
        assertThat(keys).hasSize(21).containsEntry('w', "show-blocked-tasks");
        assertThat(keys).containsEntry('0', "loglevel").containsEntry('R', "replay-kernel-logs");
        assertThat(SysrqKey.help("sysrq: Show Blocked State (w)")).isEmpty();
        // A driver's own key is listed with what can be said of it.
        Report report = SysrqRecipe.keys(SysrqKey.help("HELP : mine(@)"), Optional.of(1L), true);
        Table table = (Table) report.sections().getFirst();
        assertThat(table.rows().getLast())
                .startsWith("@", "not a key of Linux itself", "is a driver's, or unknown", "mine");
    }

    @ParameterizedTest
    @ValueSource(strings = {"b", "c", "o", "e", "i", "u", "f", "k", "g", "j", "n", "z", "S", "@"})
    void keysThatDoMoreThanPrintNeedAConfirmation(String key) {
        assertThatThrownBy(() -> SysrqRecipe.press(key, false))
                .isInstanceOf(OptionException.class)
                .hasMessageContaining("--yes confirms it");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "ww", " ", "\n", "ä"})
    void onlyOneCharacterIsAKey(String word) {
        assertThatThrownBy(() -> SysrqRecipe.press(word, true))
                .isInstanceOf(OptionException.class)
                .hasMessageContaining("is not a key");
    }

    @Test
    void theMaskIsThatOfTheDocumentation() {
        // Debian's 438 = 2 + 4 + 16 + 32 + 128 + 256: no dumps, no signals.
        List<String> allowed =
                SysrqKey.all().stream()
                        .filter(key -> key.isAllowed(438))
                        .map(key -> "" + key.key())
                        .toList();
        assertThat(allowed).contains("0", "k", "s", "u", "b", "o", "n", "h");
        assertThat(allowed).doesNotContain("w", "t", "m", "l", "e", "f", "i", "c");
        assertThat(SysrqKey.describe(438)).contains("sync (s)").doesNotContain("signals");
        assertThat(SysrqKey.of('w').isAllowed(1)).isTrue();
        assertThat(SysrqKey.of('h').isAllowed(0)).isFalse();
    }
}
