package sonde.analysis.file;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import sonde.analysis.CountedThreads;
import sonde.analysis.Engine;
import sonde.analysis.Script;
import sonde.analysis.ThreadTable;
import sonde.analysis.TimeWindow;
import sonde.analysis.file.FileAccesses.Entry;
import sonde.analysis.file.FileAccesses.Failure;
import sonde.recording.names.NamedCall;

final class FileAccessesTest {
    // arch/x86/entry/syscalls/syscall_64.tbl
    private static final Map<String, Integer> NUMBERS =
            Map.ofEntries(
                    Map.entry("read", 0),
                    Map.entry("write", 1),
                    Map.entry("close", 3),
                    Map.entry("mmap", 9),
                    Map.entry("pipe", 22),
                    Map.entry("msync", 26),
                    Map.entry("dup2", 33),
                    Map.entry("sendfile", 40),
                    Map.entry("socket", 41),
                    Map.entry("connect", 42),
                    Map.entry("accept", 43),
                    Map.entry("bind", 49),
                    Map.entry("clone", 56),
                    Map.entry("execve", 59),
                    Map.entry("fcntl", 72),
                    Map.entry("openat", 257),
                    Map.entry("timerfd_create", 283));
    private static final long O_CLOEXEC = 0x80000;
    private static final long CLONE_FILES = 0x400;

    private final ThreadTable threads = new ThreadTable(CountedThreads.everything());
    private final Script script = new Script();
    private List<OpenFiles> listed = List.of();
    private long now;

    @BeforeEach
    void beginAtOneThousand() {
        now = 1000;
    }

    private void call(int tid, String name, long result, long... arguments) {
        script.call(now, tid, number(name), result, arguments);
        now += 100;
    }

    /** 5 execs /bin/x with these descriptors. */
    private void execWith(Map<Integer, String> descriptors) {
        listed = List.of(new OpenFiles(5, 500, descriptors, true));
        script.exec(now, 0, 5, "/bin/x");
        now += 100;
    }

    private static int number(String name) {
        return NUMBERS.getOrDefault(name, -1);
    }

    private void open(int tid, String path, int result) {
        open(tid, path, result, 0);
    }

    /** As recorded: the name some microseconds after the return, or before it. */
    private void open(int tid, String path, int result, long flags) {
        boolean before = result % 2 == 0;
        byte[] bytes = path.getBytes(StandardCharsets.UTF_8);
        script.name(
                now + (before ? 9 : 12),
                tid,
                record(tid, NamedCall.Kind.OPEN, -100, result, bytes));
        call(tid, "openat", result, -100, 0, flags);
    }

    private static ByteBuffer record(
            int tid, NamedCall.Kind kind, int descriptor, long result, byte[] bytes) {
        ByteBuffer record =
                ByteBuffer.allocate(NamedCall.BYTES + bytes.length).order(ByteOrder.nativeOrder());
        record.putInt(NamedCall.TID, tid).putInt(NamedCall.PID, tid);
        record.putInt(NamedCall.DESCRIPTOR, descriptor).putLong(NamedCall.RESULT, result);
        record.putShort(NamedCall.LENGTH, (short) bytes.length);
        record.putShort(NamedCall.KIND, (short) kind.ordinal());
        return record.put(NamedCall.BYTES, bytes);
    }

    private void address(int tid, NamedCall.Kind kind, int fd, long result, int port) {
        byte[] bytes = {2, 0, (byte) (port >> 8), (byte) port, 127, 0, 0, 1};
        script.name(now - 88, tid, record(tid, kind, fd, result, bytes));
    }

    private FileAccesses run() throws IOException {
        FileAccesses files =
                new FileAccesses(threads, TimeWindow.ALL, FileAccessesTest::number, listed);
        Engine.run(script.recording(), List.of(threads, files));
        return files;
    }

    private Map<String, Entry> byName() throws IOException {
        Map<String, Entry> result = new java.util.TreeMap<>();
        run().entries(thread -> true).forEach(entry -> result.put(entry.name(), entry));
        return result;
    }

    private static Entry file(String name, long opens, long calls, long read, long written) {
        return new Entry(false, name, opens, calls, read, written, 10 * calls);
    }

    @Test
    void readsAndWritesCountForTheNameWhetherItComesBeforeOrAfterTheReturn() throws IOException {
        open(5, "/a", 3);
        open(5, "/b", 4);
        call(5, "read", 100, 3);
        call(5, "read", 0, 3);
        call(5, "write", 70, 4);
        call(5, "read", -11, 4);
        assertThat(byName())
                .isEqualTo(Map.of("/a", file("/a", 1, 2, 100, 0), "/b", file("/b", 1, 2, 0, 70)));
    }

    @Test
    void aNumberUsedAgainIsAnotherFile() throws IOException {
        open(5, "/a", 3);
        call(5, "read", 10, 3);
        call(5, "close", 0, 3);
        open(5, "/b", 3);
        call(5, "read", 20, 3);
        Map<String, Entry> found = byName();
        assertThat(found.get("/a").readBytes()).isEqualTo(10);
        assertThat(found.get("/b").readBytes()).isEqualTo(20);
        // close took its time, too
        assertThat(found.get("/a").calls()).isEqualTo(1);
        assertThat(found.get("/a").nanos()).isEqualTo(20);
    }

    @Test
    void duplicatesChildrenAndThreadsShareTheFileAndExecDropsSome() throws IOException {
        open(5, "/kept", 3);
        open(5, "/closed", 4, O_CLOEXEC);
        call(5, "dup2", 7, 4, 7);
        call(5, "fcntl", 9, 3, 1030, 9);
        script.fork(now, 0, 5, 6);
        script.exec(now + 50, 0, 6, "/bin/x");
        now += 100;
        call(6, "read", 1, 3);
        call(6, "read", 2, 7);
        call(6, "read", -9, 4);
        call(6, "read", -9, 9);
        call(5, "write", 4, 9);
        assertThat(byName())
                .isEqualTo(
                        Map.of(
                                "/kept", file("/kept", 1, 2, 1, 4),
                                "/closed", file("/closed", 1, 1, 2, 0)));
    }

    @Test
    void aTableSharedByThreadsIsOne() throws IOException {
        script.enter(now, 0, 5, number("clone"));
        script.perfFork(now + 5, 0, 5, 6, 6);
        now += 100;
        script.call(now, 5, number("clone"), 7, CLONE_FILES);
        script.fork(now + 5, 0, 5, 7);
        now += 100;
        open(5, "/a", 3);
        call(7, "read", 5, 3);
        call(6, "read", 5, 3);
        Map<String, Entry> found = byName();
        assertThat(found.get("/a").readBytes()).isEqualTo(5);
        assertThat(found.get("fd 3 of 6").readBytes()).isEqualTo(5);
    }

    @Test
    void socketsAreCalledByTheirPeer() throws IOException {
        call(5, "socket", 3, 2, 1, 0);
        call(5, "connect", 0, 3);
        address(5, NamedCall.Kind.CONNECT, 3, 0, 8080);
        call(5, "write", 500, 3);
        call(6, "socket", 3, 2, 1, 0);
        call(6, "bind", 0, 3);
        address(6, NamedCall.Kind.BIND, 3, 0, 8080);
        call(6, "accept", 4, 3);
        address(6, NamedCall.Kind.ACCEPT, 3, 4, 40001);
        call(6, "read", 500, 4);
        call(6, "accept", 5, 3);
        call(6, "read", 1, 5);
        Map<String, Entry> found = byName();
        assertThat(found.keySet())
                .containsExactly("127.0.0.1:40001", "127.0.0.1:8080", "at 127.0.0.1:8080");
        assertThat(found.get("127.0.0.1:8080").writtenBytes()).isEqualTo(500);
        assertThat(found.get("127.0.0.1:8080").opens()).isEqualTo(1);
        assertThat(found.get("127.0.0.1:40001").readBytes()).isEqualTo(500);
        assertThat(found.get("at 127.0.0.1:8080").readBytes()).isEqualTo(1);
        assertThat(found.values()).allMatch(Entry::peer);
    }

    /** The address is read when the call begins to wait, and once more at its end. */
    @Test
    void aConnectThatHasNotReturnedHasItsPeer() throws IOException {
        call(5, "socket", 3, 2, 1, 0);
        script.enter(now, 0, 5, number("connect"), 3, 0, 16);
        address(5, NamedCall.Kind.CONNECT, 3, NamedCall.WAITING, 8080);
        now += 900;
        call(6, "close", 0, 9);
        FileAccesses found = run();
        assertThat(found.entries(thread -> true).getFirst().name()).isEqualTo("127.0.0.1:8080");
        assertThat(found.failures(thread -> true)).isEmpty();
    }

    @Test
    void whatMakesDescriptorsWithoutNamesNamesThem() throws IOException {
        call(5, "timerfd_create", 3, 1, 0);
        call(5, "read", 8, 3);
        assertThat(byName().keySet()).containsExactly("timerfd, fd 3 of 5");
    }

    @Test
    void descriptorsThatWereOpenAtOnceAreCounted() throws IOException {
        for (int fd = 3; fd < 13; fd++) {
            open(5, "/a", fd);
        }
        for (int fd = 3; fd < 13; fd++) {
            call(5, "close", 0, fd);
        }
        open(5, "/a", 3);
        assertThat(run().mostOpen(5)).isEqualTo(10);
    }

    @Test
    void msyncIsOfTheFileThatLiesThere() throws IOException {
        open(5, "/data/index", 4);
        call(5, "mmap", 0x8000000, 0, 1 << 16, 3, 1, 4);
        call(5, "close", 0, 4);
        call(5, "msync", 0, 0x8001000, 4096, 4);
        call(5, "msync", 0, 0x7000000, 4096, 4);
        List<String> synced = new ArrayList<>();
        run().forEachUse(use -> {
            if (use.number() == number("msync")) {
                synced.add(use.name() + " " + use.calls());
            }
        });
        assertThat(synced).containsExactly("/data/index 1");
    }

    @Test
    void whatFailedIsCountedByNameAndErrno() throws IOException {
        open(5, "/no", -2);
        open(5, "/no", -2);
        open(5, "/secret", -13);
        call(5, "connect", -111, 3);
        address(5, NamedCall.Kind.CONNECT, 3, -111, 1);
        assertThat(run().failures(thread -> true))
                .containsExactly(
                        new Failure("/no", 2, 2),
                        new Failure("/secret", 13, 1),
                        new Failure("127.0.0.1:1", 111, 1));
    }

    @Test
    void pathsOfCallsWithoutDescriptorAreNamesAndNoUses() throws IOException {
        open(5, "/folder", 3);
        byte[] path = "job".getBytes(StandardCharsets.UTF_8);
        for (int result : new int[] {0, -2}) {
            script.name(now, 5, record(5, NamedCall.Kind.PATH, 3, result, path));
            now += 100;
        }
        script.name(now, 5, record(5, NamedCall.Kind.PATH, 3, 0, new byte[0]));
        FileAccesses files = run();
        Map<String, Long> paths = new java.util.TreeMap<>();
        files.forEachPath((thread, number, name, told) -> paths.merge(name, told, Long::sum));
        assertThat(paths).isEqualTo(Map.of("/folder/job", 2L, "/folder", 1L));
        // So many may not have been told: they are no counts.
        assertThat(files.failures(thread -> true)).isEmpty();
        assertThat(files.entries(thread -> true)).extracting(Entry::name).containsOnly("/folder");
    }

    @Test
    void aPipeThatNobodyReadSaysWhoWrote() throws IOException {
        execWith(Map.of(0, "/dev/null", 1, "/dev/null"));
        call(5, "pipe", 0, 0);
        call(5, "write", 9, 3);
        assertThat(byName().get("pipe written by x").writtenBytes()).isEqualTo(9);
    }

    @Test
    void aPipeHasTheLowestFreeDescriptorsWhereAllAreKnown() throws IOException {
        execWith(Map.of(0, "/dev/null", 1, "pipe:[7]"));
        call(5, "pipe", 0, 0);
        call(5, "write", 9, 3);
        call(5, "write", 8, 1);
        call(5, "read", 9, 2);
        Map<String, Entry> found = byName();
        assertThat(found.get("pipe x → x").writtenBytes()).isEqualTo(9);
        assertThat(found.get("pipe x → x").readBytes()).isEqualTo(9);
        assertThat(found.get("pipe:[7]").peer()).isTrue();
    }

    @Test
    void aPipeIsNamedByThoseWhoWriteAndRead() throws IOException {
        execWith(Map.of(0, "/dev/null"));
        call(5, "pipe", 0, 0); // 1 to be read, 2 to be written
        call(5, "pipe", 0, 0); // 3 and 4
        script.enter(now, 0, 5, number("clone"));
        script.perfFork(now + 5, 0, 5, 6, 6);
        script.exec(now + 50, 0, 6, "/bin/seq");
        script.exit(now + 60, 0, 5, number("clone"), 6);
        now += 100;
        call(6, "write", 9, 2);
        call(5, "read", 9, 1);
        call(5, "write", 3, 4);
        call(6, "read", 3, 3);
        Map<String, Entry> found = byName();
        assertThat(found.keySet()).containsExactlyInAnyOrder("pipe seq → x", "pipe x → seq");
        assertThat(found.get("pipe seq → x").readBytes()).isEqualTo(9);
        assertThat(found.get("pipe x → seq").writtenBytes()).isEqualTo(3);
    }

    @Test
    void afterALossNoPipeIsGuessed() throws IOException {
        listed = List.of(new OpenFiles(5, 500, Map.of(0, "/dev/null"), true));
        script.exec(now, 0, 5, "/bin/x");
        script.lost(script.ftrace, now + 50, 0, 3);
        now += 100;
        call(5, "pipe", 0, 0);
        call(5, "write", 9, 2);
        FileAccesses files = run();
        assertThat(files.entries(thread -> true))
                .extracting(Entry::name)
                .containsExactly("fd 2 of 5");
        assertThat(files.losses()).isEqualTo(1);
        assertThat(files.sawNames()).isFalse();
    }

    @Test
    void whatProcShowsAtTheEndNamesWhatStillHasNone() throws IOException {
        listed =
                List.of(
                        new OpenFiles(5, 500, Map.of(0, "/dev/null"), false),
                        new OpenFiles(5, 1L << 40, Map.of(0, "/other", 3, "/late"), false));
        call(5, "openat", 3, -100, 0, 0);
        call(5, "read", 9, 3);
        call(5, "read", 9, 0);
        assertThat(byName())
                .isEqualTo(
                        Map.of(
                                "/late", file("/late", 1, 1, 9, 0),
                                "/dev/null", file("/dev/null", 0, 1, 9, 0)));
    }

    @Test
    void aCallBetweenTwoFilesCountsForBoth() throws IOException {
        open(5, "/from", 3);
        open(5, "/to", 4);
        call(5, "sendfile", 1000, 4, 3, 0);
        Map<String, Entry> found = byName();
        assertThat(found.get("/from").readBytes()).isEqualTo(1000);
        assertThat(found.get("/to").writtenBytes()).isEqualTo(1000);
    }

    @Test
    void hostileNumbersAreIgnored() throws IOException {
        call(5, "read", 10, Integer.MAX_VALUE);
        call(5, "read", 10, Long.MIN_VALUE);
        call(5, "openat", Integer.MAX_VALUE, -100, 0, 0);
        script.call(now, 5, Integer.MAX_VALUE, 3);
        script.name(now, 5, ByteBuffer.allocate(3));
        assertThat(run().entries(thread -> true)).extracting(Entry::calls).allMatch(c -> c <= 1);
    }
}
