package sonde.probe.names;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.bpf.TaskTree;
import sonde.bpf.TracepointCounter;
import sonde.bpf.TracepointCounter.CounterTarget;
import sonde.probe.names.NamesProgram.Counters;
import sonde.recording.names.NamedCall;
import sonde.recording.names.NamedCall.Kind;

/** A program that opens and connects to known names, seen through the rings. */
@Tag("kernel")
final class NamesProgramKernelTest {
    /** Prints the port it listened on. */
    private static final String PROGRAM =
            """
            import os, socket, sys, threading, ctypes
            d = sys.argv[1]
            f = os.open(d + "/plain", os.O_CREAT | os.O_WRONLY)
            try:
                os.open(d + "/absent", os.O_RDONLY)
            except FileNotFoundError:
                pass
            df = os.open(d, os.O_RDONLY)
            os.open("relative", os.O_CREAT | os.O_WRONLY, dir_fd=df)
            libc = ctypes.CDLL(None)
            libc.syscall(2, (d + "/old-open").encode(), os.O_CREAT | os.O_WRONLY, 0o600)
            libc.creat((d + "/created").encode(), 0o600)
            libc.syscall(257, -100, ctypes.c_void_p(16), 0, 0)
            s = socket.socket()
            s.bind(("127.0.0.1", 0))
            s.listen()
            port = s.getsockname()[1]
            def accept():
                c, peer = s.accept()
                c.recv(1)
                c.close()
            t = threading.Thread(target=accept)
            t.start()
            c = socket.create_connection(("127.0.0.1", port))
            local = c.getsockname()[1]
            c.send(b"x")
            t.join()
            u = socket.socket(socket.AF_UNIX)
            u.bind(d + "/listening")
            a = socket.socket(socket.AF_UNIX)
            a.bind("\\0sonde-test-" + str(os.getpid()))
            pid = os.fork()
            if pid == 0:
                try:
                    os.execv(d + "/no-such-program", ["x"])
                except FileNotFoundError:
                    os.execv("/bin/true", ["true"])
            os.waitpid(pid, 0)
            print(f, port, local, os.getpid())
            """;

    @Test
    void namesWhatAKnownProgramOpensAndMeets(@TempDir Path dir) throws Exception {
        Path script = Files.writeString(dir.resolve("known.py"), PROGRAM);
        Process program = start(script, dir);
        List<NamedCall> calls;
        String[] printed;
        Counters counters;
        try (OutputRings rings = new OutputRings(128);
                NamesProgram names = NamesProgram.ofTree(rings::fd, Set.of((int) program.pid()))) {
            printed = finish(program).split(" ");
            counters = names.counters();
            calls = rings.calls();
            assertThat(names.syscalls()).contains("openat", "execve", "connect", "accept4");
        }
        int pid = Integer.parseInt(printed[3]);
        String port = printed[1];
        assertThat(counters.dropped()).isZero();
        assertThat(counters.unfollowed()).isZero();
        assertThat(counters.sent()).isEqualTo(told(calls).size());
        assertThat(only(calls, Kind.OPEN, dir + "/plain").namedDescriptor())
                .isEqualTo(Integer.parseInt(printed[0]));
        assertThat(only(calls, Kind.OPEN, dir + "/absent").result()).isEqualTo(-2);
        assertThat(only(calls, Kind.OPEN, "relative").descriptor())
                .isEqualTo(only(calls, Kind.OPEN, dir.toString()).namedDescriptor());
        assertThat(only(calls, Kind.OPEN, dir + "/old-open").syscall()).isEqualTo(2);
        assertThat(only(calls, Kind.OPEN, dir + "/created").succeeded()).isTrue();
        NamedCall peer = only(calls, Kind.CONNECT, "127.0.0.1:" + port);
        assertThat(peer.pid()).isEqualTo(pid);
        NamedCall accepted = only(calls, Kind.ACCEPT, "127.0.0.1:" + printed[2]);
        assertThat(accepted.tid()).isNotEqualTo(pid);
        assertThat(accepted.pid()).isEqualTo(pid);
        assertThat(only(calls, Kind.BIND, "127.0.0.1:0").descriptor())
                .isEqualTo(accepted.descriptor());
        assertThat(only(calls, Kind.BIND, "unix:" + dir + "/listening").result()).isZero();
        assertThat(only(calls, Kind.BIND, "unix:@sonde-test-" + pid).result()).isZero();
        assertThat(only(calls, Kind.EXECUTE, dir + "/no-such-program").result()).isEqualTo(-2);
        NamedCall done = only(calls, Kind.EXECUTE, "/bin/true");
        assertThat(done.result()).isZero();
        assertThat(done.pid()).isNotEqualTo(pid);
        List<NamedCall> bad = calls.stream().filter(call -> call.result() == -14).toList();
        assertThat(bad).hasSize(1);
        assertThat(bad.getFirst().name()).isEmpty();
        assertThat(counters.unreadable()).isEqualTo(1);
    }

    @Test
    void everyCallIsSentOrCountedAsDropped(@TempDir Path dir) throws Exception {
        Path script =
                Files.writeString(
                        dir.resolve("many.py"),
                        """
                        import os
                        for i in range(3000):
                            os.close(os.open("/etc/hostname", os.O_RDONLY))
                        print("done")
                        """);
        // One page holds some fifty records: most are lost, and the counts must say so.
        Process program = start(script, dir);
        Set<Integer> root = Set.of((int) program.pid());
        try (OutputRings rings = new OutputRings(1);
                TaskTree tree = TaskTree.open(root);
                NamesProgram names = NamesProgram.ofTree(rings::fd, root);
                TracepointCounter truth = TracepointCounter.open(exits(names), tree)) {
            finish(program);
            Counters counters = names.counters();
            long expected = 0;
            for (CounterTarget call : exits(names)) {
                expected += truth.count(call.name());
            }
            assertThat(counters.dropped()).isGreaterThan(2_000);
            assertThat(counters.sent()).isPositive().isEqualTo(told(rings.calls()).size());
            assertThat(counters.sent() + counters.dropped()).isEqualTo(expected);
        }
    }

    /** Without those of which only some are told. */
    private static List<NamedCall> told(List<NamedCall> calls) {
        return calls.stream().filter(call -> call.kind() != Kind.PATH).toList();
    }

    @Test
    void ofManyPathsSomeAreTold(@TempDir Path dir) throws Exception {
        Path script =
                Files.writeString(
                        dir.resolve("looks.py"),
                        """
                        import os, sys, time
                        os.stat(sys.argv[1])
                        end = time.time() + 0.5
                        made = 0
                        while time.time() < end:
                            for i in range(100):
                                os.access("/planted/absent", os.R_OK)
                            made += 100
                        print(made)
                        """);
        Process program = start(script, dir);
        try (OutputRings rings = new OutputRings(128);
                NamesProgram names = NamesProgram.ofTree(rings::fd, Set.of((int) program.pid()))) {
            int made = Integer.parseInt(finish(program));
            List<NamedCall> calls = rings.calls();
            List<NamedCall> absent =
                    calls.stream().filter(call -> call.name().equals("/planted/absent")).toList();
            // One a millisecond and CPU: fewer on a busy machine, never more.
            assertThat(made).isGreaterThan(1_000);
            assertThat(absent).hasSizeBetween(2, 600 * Runtime.getRuntime().availableProcessors());
            assertThat(absent).allMatch(call -> call.kind() == Kind.PATH && call.result() == -2);
            assertThat(names.counters().dropped()).isZero();
        }
    }

    private static List<CounterTarget> exits(NamesProgram names) {
        // Of those that wait only some are told, by what they are about to wait for.
        Set<String> waits = Set.of("poll", "ppoll", "select", "pselect6", "futex");
        return names.syscalls().stream()
                .filter(call -> !waits.contains(call))
                .map(call -> new CounterTarget("syscalls", "sys_exit_" + call))
                .toList();
    }

    @Test
    void withAllProcessesWeAreLeftOut(@TempDir Path dir) throws Exception {
        Path own = Files.createFile(dir.resolve("own"));
        Path other = Files.createFile(dir.resolve("other"));
        try (OutputRings rings = new OutputRings(256);
                NamesProgram names = NamesProgram.ofAll(rings::fd)) {
            Files.readAllBytes(own);
            assertThat(new ProcessBuilder("cat", other.toString()).start().waitFor()).isZero();
            List<String> opened = told(rings.calls()).stream().map(NamedCall::name).toList();
            assertThat(opened).contains(other.toString()).doesNotContain(own.toString());
            assertThat(names.counters().sent()).isGreaterThanOrEqualTo(opened.size());
        }
    }

    @Test
    void nothingIsLeftInTheKernel(@TempDir Path dir) throws Exception {
        String before = kernelState();
        try (OutputRings rings = new OutputRings(8);
                NamesProgram names = NamesProgram.ofTree(rings::fd, Set.of())) {
            assertThat(names.syscalls()).hasSizeGreaterThanOrEqualTo(7);
            assertThat(kernelState()).isNotEqualTo(before);
        }
        // Programs and maps are freed after an RCU grace period.
        String after = kernelState();
        for (int i = 0; !after.equals(before) && i < 100; i++) {
            Thread.sleep(20);
            after = kernelState();
        }
        assertThat(after).isEqualTo(before);
    }

    /** Descriptors of ours, programs, maps and links of all. */
    private static String kernelState() throws IOException, InterruptedException {
        long descriptors;
        try (Stream<Path> fds = Files.list(Path.of("/proc/self/fd"))) {
            descriptors =
                    fds.map(NamesProgramKernelTest::target)
                            .filter(name -> name.contains("bpf") || name.contains("perf"))
                            .count();
        }
        StringBuilder state = new StringBuilder("fds " + descriptors);
        for (String kind : List.of("prog", "map", "link")) {
            Process bpftool = new ProcessBuilder("bpftool", kind, "show").start();
            String text = new String(bpftool.getInputStream().readAllBytes());
            bpftool.waitFor();
            state.append(", ").append(kind).append(' ');
            state.append(text.lines().filter(line -> line.contains("sonde_")).count());
        }
        return state.toString();
    }

    private static String target(Path fd) {
        try {
            return Files.readSymbolicLink(fd).toString();
        } catch (IOException e) {
            return "";
        }
    }

    private static NamedCall only(List<NamedCall> calls, Kind kind, String name) {
        List<NamedCall> found =
                calls.stream()
                        .filter(call -> call.kind() == kind && call.name().equals(name))
                        .filter(call -> call.result() != NamedCall.WAITING)
                        .toList();
        assertThat(found).as("%s %s in %s", kind, name, calls).hasSize(1);
        return found.getFirst();
    }

    /** Waits for a line before it becomes the program, so that everything is armed by then. */
    private static Process start(Path script, Path dir) throws IOException {
        return new ProcessBuilder(
                        "sh",
                        "-c",
                        "read go; exec python3 -I -S \"$@\"",
                        "sh",
                        script.toString(),
                        dir.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private static String finish(Process program) throws IOException, InterruptedException {
        program.outputWriter().append("go\n").close();
        String printed = new String(program.getInputStream().readAllBytes()).strip();
        assertThat(program.waitFor()).isZero();
        return printed;
    }
}
