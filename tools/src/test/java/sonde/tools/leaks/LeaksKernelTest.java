package sonde.tools.leaks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.probe.launch.CommandWords;
import sonde.probe.launch.InheritedState;
import sonde.symbol.files.GivenPlaces;
import sonde.tools.leaks.UnfreedObjects.LeakVerdict;

/** What programs leave in the kernel is known from their texts. */
@Tag("kernel")
final class LeaksKernelTest {
    private static final long SECOND = 1_000_000_000L;
    private static final LeakFilter ALL = new LeakFilter(Set.of(), Set.of(), List.of(), List.of());

    /** Opens COUNT sockets, RATE a second, and keeps them until its input ends. */
    private static final String SOCKETS =
            """
            import socket, sys, time
            held = []
            for i in range(int(sys.argv[1])):
                held.append(socket.socket())
                time.sleep(1 / float(sys.argv[2]))
            open(sys.argv[3], 'w').close()
            sys.stdin.read()
            """;

    @TempDir Path folder;

    private static @Nullable CommandWords shell(String command) {
        return command.isEmpty() ? null : CommandWords.of("/bin/sh", "-c", command);
    }

    private static List<UnfreedObjects> unfreed(
            String alloc, long watchNanos, long settleNanos, LeakFilter filter) throws Exception {
        LeaksRequest request =
                new LeaksRequest(
                        shell(alloc),
                        alloc,
                        shell(alloc.isEmpty() ? "" : "true"),
                        0,
                        watchNanos > 0,
                        watchNanos,
                        settleNanos,
                        false,
                        true,
                        0,
                        filter,
                        GivenPlaces.NONE,
                        InheritedState.capture());
        try (LeaksRun run = new LeaksRun(request)) {
            run.result();
            return run.groups();
        }
    }

    private static List<UnfreedObjects> leaks(List<UnfreedObjects> all) {
        return all.stream().filter(one -> one.verdict() != LeakVerdict.KEPT).toList();
    }

    private Process sockets(int count, int rate) throws Exception {
        Path program = Files.writeString(folder.resolve("sockets.py"), SOCKETS);
        return new ProcessBuilder(
                        "python3",
                        program.toString(),
                        Integer.toString(count),
                        Integer.toString(rate),
                        folder.resolve("ready").toString())
                .start();
    }

    @Test
    void whatIsCachedOrFreedLateIsNoLeak() throws Exception {
        String work = "ls -R /usr/share/doc >/dev/null; for i in 1 2 3 4 5 6 7; do /bin/true; done";
        List<UnfreedObjects> all = unfreed(work, 0, 6 * SECOND, ALL);
        assertThat(leaks(all)).isEmpty();
    }

    /** "No leak" would be false: nothing was looked at. */
    @Test
    void aModuleThatIsNotLoadedIsRefused() {
        LeakFilter none = new LeakFilter(Set.of("no_such_module"), Set.of(), List.of(), List.of());
        assertThatThrownBy(() -> unfreed("true", 0, 0, none))
                .hasMessageContaining("--module no_such_module: no such module was loaded");
    }

    @Test
    void socketsThatAreLeftOpenAreCounted() throws Exception {
        // The program ends with the input of the shell that waits for it.
        Path program = Files.writeString(folder.resolve("sockets.py"), SOCKETS);
        Path ready = folder.resolve("ready");
        Path input = folder.resolve("input");
        new ProcessBuilder("mkfifo", input.toString()).start().waitFor();
        String alloc =
                "python3 %s 23 1000 %s <>%s >/dev/null 2>&1 & echo $! >%s.pid;"
                                .formatted(program, ready, input, ready)
                        + " while ! test -e %s; do sleep 0.05; done".formatted(ready);
        try {
            LeakFilter sockets =
                    new LeakFilter(
                            Set.of(), Set.of(), List.of(Pattern.compile("sk_alloc")), List.of());
            List<UnfreedObjects> leaks = leaks(unfreed(alloc, 0, SECOND / 10, sockets));
            assertThat(leaks)
                    .filteredOn(one -> one.cache().startsWith("TCP"))
                    .anySatisfy(one -> {
                        assertThat(one.objects()).isEqualTo(23);
                        assertThat(one.requested()).isEqualTo(23 * one.least());
                        assertThat(one.culprit()).startsWith("sk_prot_alloc");
                    });
        } finally {
            String pid = Files.readString(Path.of(ready + ".pid")).strip();
            ProcessHandle.of(Long.parseLong(pid)).ifPresent(ProcessHandle::destroyForcibly);
        }
    }

    @Test
    void aGrowingCacheIsNamedWithItsStack() throws Exception {
        Process program = sockets(10_000, 50);
        try {
            List<UnfreedObjects> leaks = leaks(unfreed("", 3 * SECOND, SECOND / 10, ALL));
            assertThat(leaks)
                    .anySatisfy(one -> {
                        assertThat(one.cache()).startsWith("TCP");
                        assertThat(one.objects()).isBetween(75L, 200L);
                        assertThat(one.culprit()).startsWith("sk_prot_alloc");
                    });
        } finally {
            program.destroyForcibly();
        }
    }
}
