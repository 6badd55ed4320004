package sonde.probe.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static sonde.recording.perfdata.PerfAbi.FLAG_DISABLED;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import sonde.probe.tracefs.Tracefs;
import sonde.recording.perfdata.PerfAttr;
import sonde.sys.Fd;
import sonde.sys.PerfEventOpen;

@Tag("kernel")
class EventKeeperKernelTest {
    private static Optional<ProcessHandle> keeper() {
        return ProcessHandle.current()
                .children()
                .filter(one -> one.info().commandLine().orElse("").endsWith("read _"))
                .findFirst();
    }

    private static TreeSet<String> files(long pid) throws IOException {
        TreeSet<String> files = new TreeSet<>();
        try (Stream<Path> all = Files.list(Path.of("/proc/" + pid + "/fd"))) {
            for (Path one : all.toList()) {
                files.add(Files.readSymbolicLink(one).toString().replaceAll("\\d+", "N"));
            }
        }
        return files;
    }

    @Test
    void aShellHasTheEventsAndNothingElseUntilItMayEnd() throws Exception {
        assumeTrue(Files.isWritable(Path.of("/proc/1/oom_score_adj")), "needs root");
        int id = Tracefs.find().orElseThrow().eventId("sched:sched_process_exit");
        byte[] attr = PerfAttr.tracepoint(id).flags(FLAG_DISABLED).build().encode();
        int event;
        try (Arena arena = Arena.ofConfined()) {
            var bytes = arena.allocateFrom(ValueLayout.JAVA_BYTE, attr);
            event = PerfEventOpen.open(bytes, -1, 0, -1, 0, "exit");
        }
        Fd.Pipe users = Fd.pipe2(0); // as a shell hands it down
        try (EventKeeper _ = EventKeeper.start(List.of(event))) {
            Fd.discard(event);
            long until = System.nanoTime() + 20_000_000_000L;
            while (keeper().isEmpty()) {
                assertThat(System.nanoTime()).isLessThan(until);
                Thread.onSpinWait();
            }
            assertThat(files(keeper().orElseThrow().pid()))
                    .containsExactly("/dev/null", "anon_inode:[perf_event]", "pipe:[N]");
        }
        Fd.discard(users.readEnd());
        Fd.discard(users.writeEnd());
        long deadline = System.nanoTime() + 20_000_000_000L;
        while (keeper().filter(ProcessHandle::isAlive).isPresent()) {
            assertThat(System.nanoTime()).isLessThan(deadline);
            Thread.onSpinWait();
        }
    }
}
