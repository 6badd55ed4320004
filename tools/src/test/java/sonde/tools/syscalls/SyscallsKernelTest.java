package sonde.tools.syscalls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.event.result.Listing.ListingForm;
import sonde.event.result.Table;
import sonde.probe.launch.CommandWords;
import sonde.probe.launch.ExecException;
import sonde.probe.launch.InheritedState;
import sonde.recording.syscall.CallStyle;
import sonde.recording.syscall.CallTable;
import sonde.recording.syscall.LineStyle;
import sonde.recording.syscall.LineStyle.LineFilter;
import sonde.recording.syscall.LineStyle.PidForm;
import sonde.recording.syscall.LineStyle.TimeStyle;
import sonde.tools.syscalls.SyscallsRequest.CountForm;

/** Calls of real programs; what they must be is known from the programs' texts. */
@Tag("kernel")
final class SyscallsKernelTest {
    private final CallTable table = CallTable.read();
    private final CallSelection selection = new CallSelection(table);
    private int status;
    private @Nullable Path separate;
    private ListingForm listing = ListingForm.TEXT;
    private Table counts = new Table("", List.of(), List.of());

    private List<String> lines(boolean follow, CountForm form, String... command) throws Exception {
        LineFilter filter =
                new LineFilter(
                        selection.calls(),
                        selection.signals(),
                        selection.statuses(),
                        Set.of(),
                        null,
                        0,
                        true,
                        true);
        LineStyle style = new LineStyle(PidForm.NONE, TimeStyle.NONE, false, false, filter);
        SyscallsRequest request =
                new SyscallsRequest(
                        InheritedState.capture(),
                        CommandWords.of(command),
                        Set.of(),
                        follow,
                        table,
                        CallStyle.DEFAULT,
                        style,
                        form,
                        separate,
                        Long.MAX_VALUE,
                        false);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (SyscallsRun run = new SyscallsRun(request)) {
            run.lines().rows().writeTo(out, listing);
            assertThat(run.notes()).isEmpty();
            status = run.status();
            counts = run.table().orElse(counts);
        }
        return out.toString(StandardCharsets.ISO_8859_1).lines().toList();
    }

    @Test
    void aCommandFromItsExecToItsEnd(@TempDir Path dir) throws Exception {
        Path file = Files.writeString(dir.resolve("known"), "some words\n");
        List<String> all = lines(false, null, "sh", "-c", "exec cat " + file + " >/dev/null");
        assertThat(all.getFirst()).startsWith("execve(\"/").contains("[\"sh\", \"-c\", \"exec ");
        assertThat(all)
                .contains("write(1, \"some words\\n\", 11)            = 11")
                .anyMatch(line -> line.startsWith("openat(AT_FDCWD, \"" + file + "\", O_RDONLY)"))
                .endsWith("exit_group(0)                           = ?", "+++ exited with 0 +++");
        assertThat(status).isZero();
    }

    @Test
    void memoryThatIsNotPresentAtTheEntry(@TempDir Path dir) throws Exception {
        Path file = Files.writeString(dir.resolve("names"), "/no/such/file\0");
        String program =
                "import ctypes, mmap, sys; f = open(sys.argv[1], 'r+b');"
                        + " m = mmap.mmap(f.fileno(), 0);"
                        + " a = ctypes.addressof(ctypes.c_char.from_buffer(m));"
                        + " ctypes.CDLL(None).syscall(257, -100, ctypes.c_void_p(a), 0)";
        selection.trace("openat");
        assertThat(lines(false, null, "/usr/bin/python3", "-c", program, file.toString()))
                .anyMatch(line -> line.startsWith("openat(AT_FDCWD, \"/no/such/file\", O_RDONLY)"));
    }

    @Test
    void childrenAreFollowedOnlyWhenAsked() throws Exception {
        selection.trace("execve");
        assertThat(lines(true, null, "sh", "-c", "/bin/true; /bin/false"))
                .anyMatch(line -> line.contains("\"/bin/true\""))
                .anyMatch(line -> line.startsWith("--- SIGCHLD {si_signo=SIGCHLD"));
        assertThat(status).isOne();
        assertThat(lines(false, null, "sh", "-c", "/bin/true; :"))
                .noneMatch(line -> line.contains("\"/bin/true\""));
    }

    @Test
    void aSignalThatKills() throws Exception {
        assertThat(lines(false, null, "sh", "-c", "kill -TERM $$"))
                .anyMatch(line -> line.matches("kill\\(\\d+, SIGTERM\\) += 0"))
                .anyMatch(line -> line.startsWith("--- SIGTERM {si_signo=SIGTERM, si_code=SI_USER"))
                .endsWith("+++ killed by SIGTERM +++");
        assertThat(status).isEqualTo(128 + 15);
    }

    @Test
    void aCommandThatThereIsNot() {
        assertThatThrownBy(() -> lines(false, null, "/no/such/command"))
                .isInstanceOfSatisfying(
                        ExecException.class, e -> assertThat(e.exitCode()).isEqualTo(127));
    }

    @Test
    void aFileForEachThread(@TempDir Path dir) throws Exception {
        separate = dir.resolve("calls");
        selection.trace("execve,exit_group");
        assertThat(lines(true, null, "sh", "-c", "/bin/true; /bin/false")).isEmpty();
        try (Stream<Path> files = Files.list(dir)) {
            List<String> first = new ArrayList<>();
            for (Path file : files.toList()) {
                assertThat(file.getFileName().toString()).matches("calls\\.\\d+");
                List<String> own = Files.readAllLines(file);
                first.add(own.getFirst().replaceFirst("\",.*", "\""));
                assertThat(own.getLast()).startsWith("+++ exited with ");
            }
            assertThat(first).hasSize(3).contains("execve(\"/bin/true\"", "execve(\"/bin/false\"");
        }
    }

    @Test
    void callsAsJson() throws Exception {
        listing = ListingForm.JSON_LINES;
        selection.trace("openat,exit_group");
        List<String> all = lines(false, null, "cat", "/no/such \"file");
        assertThat(all)
                .anyMatch(line ->
                        line.contains("\"call\": \"openat\"")
                                && line.contains("\"path\": \"\\\"/no/such \\\\\\\"file\\\"\"")
                                && line.contains("\"result\": -2, \"error\": \"ENOENT\""))
                .anyMatch(
                        line -> line.endsWith("\"args\": {\"status\": \"1\"}, \"result\": null}"));
        assertThat(all.getLast()).endsWith("\"end\": \"exited with 1\"}");
    }

    @Test
    void callsAreCounted() throws Exception {
        selection.trace("write,read");
        String program =
                "import os\nf = os.open('/dev/null', 1)\nfor i in range(1000): os.write(f, b'x')";
        List<String> none =
                lines(
                        false,
                        new CountForm(false, "calls", List.of()),
                        "/usr/bin/python3",
                        "-c",
                        program);
        assertThat(none).isEmpty();
        List<Object> writes =
                counts.rows().stream()
                        .filter(row -> row.contains("write"))
                        .findFirst()
                        .orElseThrow();
        assertThat(writes).contains(1000L);
        assertThat(counts.rows().getLast()).contains("total");
    }

    /** The kernel counts: children, errors, and an execve by a thread that is not the first. */
    @Test
    void countsAreThoseOfStrace(@TempDir Path dir) throws Exception {
        String program =
                "import os, threading\n"
                        + "if os.fork() == 0:\n"
                        + " for i in range(100):\n"
                        + "  try: os.stat('/no/such/file')\n"
                        + "  except OSError: os.getppid()\n"
                        + " threading.Thread(target=os.execv, args=('/bin/true', ['true'])).start()\n"
                        + " threading.Event().wait()\n"
                        + "os.wait()";
        String[] command = {"/usr/bin/python3", "-c", program};
        Path file = dir.resolve("counts");
        List<String> strace = new ArrayList<>(List.of("strace", "-f", "-c", "-o", "" + file));
        strace.addAll(List.of(command));
        assumeTrue(Files.exists(Path.of("/usr/bin/strace")), "strace is not installed");
        assertThat(new ProcessBuilder(strace).start().waitFor()).isZero();
        selection.trace("exit_group,newfstatat,execve,getppid,wait4,clone,openat,mprotect,close");
        lines(true, new CountForm(false, "name", List.of()), command);
        List<String> ours = new ArrayList<>();
        for (List<Object> row : counts.rows()) {
            ours.add(row.get(7) + " " + row.get(5) + " " + (row.get(6) == null ? 0 : row.get(6)));
        }
        ours.removeLast();
        List<String> theirs = new ArrayList<>();
        for (String line : Files.readAllLines(file)) {
            String[] words = line.strip().split(" +");
            String name = words[words.length - 1];
            if (selection.calls().get(Math.max(0, CallTable.number(name)))
                    && CallTable.number(name) > 0) {
                theirs.add(name + " " + words[3] + " " + (words.length == 6 ? words[4] : "0"));
            }
        }
        assertThat(ours).containsExactlyInAnyOrderElementsOf(theirs).hasSize(8);
        assertThat(ours).contains("getppid 100 0", "execve 2 0");
    }
}
