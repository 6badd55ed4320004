package sonde.analysis.file;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import sonde.analysis.CountedThreads;
import sonde.analysis.Engine;
import sonde.analysis.Script;
import sonde.analysis.ThreadTable;
import sonde.analysis.TimeWindow;
import sonde.analysis.file.ObjectWaits.ObjectWait;
import sonde.analysis.sched.ThreadState;
import sonde.analysis.sched.ThreadStates;
import sonde.analysis.sched.ThreadsNow;
import sonde.analysis.stack.FrameSymbols;
import sonde.analysis.stack.StackTable;
import sonde.recording.names.FutexWords;
import sonde.recording.names.NamedCall;
import sonde.recording.names.NamedCall.Kind;

/** One wait of thread 10 each, from 1100 to 1500, on CPU 0; thread 20 wakes it on CPU 1. */
final class ObjectWaitsTest {
    private static final int S = 1;
    private static final int R = 0;

    // arch/x86/entry/syscalls/syscall_64.tbl
    private static final Map<String, Integer> NUMBERS =
            Map.ofEntries(
                    Map.entry("read", 0),
                    Map.entry("poll", 7),
                    Map.entry("mmap", 9),
                    Map.entry("connect", 42),
                    Map.entry("wait4", 61),
                    Map.entry("fsync", 74),
                    Map.entry("futex", 202),
                    Map.entry("semtimedop", 220),
                    Map.entry("mq_open", 240),
                    Map.entry("mq_timedreceive", 243),
                    Map.entry("openat", 257),
                    Map.entry("epoll_wait", 232),
                    Map.entry("epoll_ctl", 233));

    private final ThreadTable threads = new ThreadTable(CountedThreads.everything());
    private final StackTable stacks = new StackTable(FrameSymbols.none());
    private final Script script = new Script();
    private List<OpenFiles> listed = List.of();

    private static int number(String name) {
        return NUMBERS.getOrDefault(name, -1);
    }

    private static ByteBuffer record(
            int tid, Kind kind, int descriptor, long result, ByteBuffer bytes) {
        ByteBuffer record =
                ByteBuffer.allocate(NamedCall.BYTES + bytes.limit()).order(ByteOrder.nativeOrder());
        record.putInt(NamedCall.TID, tid).putInt(NamedCall.PID, tid);
        record.putInt(NamedCall.DESCRIPTOR, descriptor).putLong(NamedCall.RESULT, result);
        record.putShort(NamedCall.LENGTH, (short) bytes.limit());
        record.putShort(NamedCall.KIND, (short) kind.ordinal());
        return record.put(NamedCall.BYTES, bytes.array());
    }

    private static ByteBuffer words(int... words) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * words.length).order(ByteOrder.nativeOrder());
        for (int word : words) {
            bytes.putInt(word);
        }
        return bytes;
    }

    private void waits(String call, long... arguments) {
        script.enter(1090, 0, 10, number(call), arguments)
                .switched(1100, 0, 10, S, 0, Script.KERNEL, -4096)
                .wake(1500, 1, 20, 10)
                .switched(1510, 0, 0, R, 10)
                .exit(1520, 0, 10, number(call), 0);
    }

    private List<ObjectWait> run() throws IOException {
        FileAccesses files =
                new FileAccesses(threads, TimeWindow.ALL, ObjectWaitsTest::number, listed);
        ThreadsNow looks = new ThreadsNow(threads, stacks);
        ObjectWaits waits = new ObjectWaits(threads, files, looks, ObjectWaitsTest::number);
        ThreadStates states =
                new ThreadStates(threads, stacks, TimeWindow.ALL, new ArrayList<>(List.of(waits)));
        Engine.run(script.recording(), List.of(threads, states, files, looks));
        return waits.waits().stream().filter(one -> one.thread() == threads.find(10)).toList();
    }

    private ObjectWait only() throws IOException {
        List<ObjectWait> all = run();
        assertThat(all).hasSize(1);
        assertThat(all.getFirst().nanos()).isEqualTo(400);
        assertThat(all.getFirst().state()).isEqualTo(ThreadState.SLEEPING);
        return all.getFirst();
    }

    private String object() throws IOException {
        return only().object();
    }

    @Test
    void aFileThatWasOpenBefore() throws IOException {
        listed = List.of(new OpenFiles(10, 500, Map.of(3, "/journal"), false));
        waits("fsync", 3);
        assertThat(object()).isEqualTo("/journal");
    }

    @Test
    void aSocketThatWasOpenBeforeHasItsPeer() throws IOException {
        listed = List.of(new OpenFiles(10, 500, Map.of(3, "socket:[7] 10.0.0.9:5432"), false));
        waits("read", 3, 0, 100);
        assertThat(object()).isEqualTo("10.0.0.9:5432");
    }

    @Test
    void aConnectionThatPollWaitsFor() throws IOException {
        ByteBuffer peer = ByteBuffer.wrap(new byte[] {2, 0, 0, 80, 127, 0, 0, 1});
        script.call(1000, 10, number("connect"), -115, 4, 0, 16);
        script.name(1012, 10, record(10, Kind.CONNECT, 4, -115, peer));
        script.name(1095, 10, record(10, Kind.POLL, 1, 0x7f00, words(4, 4)));
        waits("poll", 0x7f00, 1, 500);
        assertThat(object()).isEqualTo("127.0.0.1:80 (connecting)");
    }

    /** The array of another call says nothing of this one. */
    @Test
    void aPollOfAnotherArrayIsNotNamed() throws IOException {
        listed = List.of(new OpenFiles(10, 500, Map.of(3, "socket:[7] 10.0.0.9:53"), false));
        script.name(1095, 10, record(10, Kind.POLL, 1, 0x1f00, words(3, 4)));
        waits("poll", 0x7f00, 1, 500);
        assertThat(run()).isEmpty();
    }

    @Test
    void nameResolutionIsSaid() throws IOException {
        listed = List.of(new OpenFiles(10, 500, Map.of(3, "socket:[7] 10.0.0.9:53"), false));
        script.name(1095, 10, record(10, Kind.POLL, 1, 0x7f00, words(3, 1)));
        waits("poll", 0x7f00, 1, 5000);
        assertThat(object()).isEqualTo("10.0.0.9:53 (DNS)");
    }

    @Test
    void anEpollSetFromBeforeAndWhatIsAddedToIt() throws IOException {
        Map<Integer, String> targets =
                Map.of(
                        3, "anon_inode:[eventpoll] 4",
                        4, "socket:[7] at 0.0.0.0:80",
                        5, "socket:[8] 10.0.0.2:40000",
                        6, "socket:[9] 10.0.0.3:40000");
        listed = List.of(new OpenFiles(10, 500, targets, false));
        script.call(1000, 10, number("epoll_ctl"), 0, 3, 1, 5);
        script.call(1020, 10, number("epoll_ctl"), 0, 3, 1, 6);
        script.call(1040, 10, number("epoll_ctl"), 0, 3, 2, 6);
        waits("epoll_wait", 3, 0, 8, -1);
        assertThat(object()).isEqualTo("at 0.0.0.0:80, 10.0.0.2:40000");
    }

    @Test
    void theChildThatEndedTheWait() throws IOException {
        waits("wait4", -1, 0, 0);
        ObjectWait wait = only();
        assertThat(wait.object()).isEqualTo("child ? 20");
        assertThat(wait.holder()).isEqualTo(threads.find(20));
    }

    private void lock(int holder) {
        script.perfFork(900, 0, 10, holder, 10);
        int[] words = {0, 2, 2, 0, holder, 1, 0};
        script.name(1099, 10, record(10, Kind.FUTEX, 2, 0x55d7, words(words)));
        waits("futex", 0x55d7, 128, 2);
    }

    @Test
    void theHolderOfALockSleptWithThisStack() throws IOException {
        script.enter(1000, 1, 12, 35)
                .switched(1050, 1, 12, S, 0, Script.KERNEL, -8192, Script.USER, 0x400000)
                .wake(1450, 1, 30, 12);
        lock(12);
        ObjectWait wait = only();
        assertThat(wait.object()).isEqualTo("lock 0x55d7");
        assertThat(wait.holder()).isEqualTo(threads.find(12));
        assertThat(wait.holderCall()).isEqualTo(35);
        assertThat(stacks.location(wait.holderStack())).isEqualTo(-8192);
    }

    @Test
    void aHolderThatRanHasNoStack() throws IOException {
        script.switched(1050, 1, 0, R, 12);
        lock(12);
        ObjectWait wait = only();
        assertThat(wait.holder()).isEqualTo(threads.find(12));
        assertThat(wait.holderStack()).isEqualTo(StackTable.NONE);
    }

    /** A number that is not a thread of this process: of another pid namespace, or of no mutex. */
    @Test
    void aStrangerHoldsNoLock() throws IOException {
        script.perfFork(900, 0, 1, 13, 13);
        int[] words = {0, 2, 2, 0, 13, 1, 0};
        script.name(1099, 10, record(10, Kind.FUTEX, 2, 0x55d7, words(words)));
        waits("futex", 0x55d7, 128, 2);
        assertThat(only().object()).isEqualTo("futex 0x55d7");
        assertThat(only().holder()).isEqualTo(-1);
        FutexWords futex = new FutexWords(0, 2, new int[] {2, 0, 13, 1, 0});
        assertThat(futex.owner(own -> own == 13 ? 13 : 0)).isEqualTo(13);
        assertThat(futex.owner(own -> 0)).isZero();
    }

    /** mmap(2) with MAP_SHARED; what is mapped over it later is something else. */
    @Test
    void aFutexInSharedMemoryHasItsFile() throws IOException {
        listed = List.of(new OpenFiles(10, 500, Map.of(3, "/dev/shm/orders"), false));
        script.call(1000, 10, number("mmap"), 0x7000, 0, 0x2000, 3, 1, 3);
        waits("futex", 0x7ff8, 128, 2);
        assertThat(object()).isEqualTo("shared memory /dev/shm/orders");
    }

    @Test
    void privateMemoryIsNotShared() throws IOException {
        script.call(1000, 10, number("mmap"), 0x7000, 0, 0x2000, 3, 0x21, -1);
        script.call(1020, 10, number("mmap"), 0x7000, 0, 0x1000, 3, 0x32, -1);
        waits("futex", 0x7ff8, 128, 2);
        assertThat(object()).isEqualTo("futex 0x7ff8");
    }

    @Test
    void sharedMemoryWithoutAFileIsCalledSo() throws IOException {
        script.call(1000, 10, number("mmap"), 0x7000, 0, 0x2000, 3, 0x21, -1);
        waits("futex", 0x8ff8, 128, 2);
        assertThat(object()).isEqualTo("shared memory without a file");
    }

    @Test
    void queuesAndSemaphoresOfSystemVHaveTheirNumber() throws IOException {
        waits("semtimedop", 18, 0x7000, 1);
        assertThat(object()).isEqualTo("the semaphore set 18 (System V)");
    }

    @Test
    void aMessageQueueHasItsName() throws IOException {
        ByteBuffer name = ByteBuffer.wrap("jobs".getBytes(StandardCharsets.UTF_8));
        ByteBuffer opened = record(10, Kind.OPEN, -100, 3, name);
        script.name(1005, 10, opened.putInt(NamedCall.SYSCALL, number("mq_open")));
        script.call(1000, 10, number("mq_open"), 3, 0x7000, 2);
        waits("mq_timedreceive", 3, 0x7000, 100);
        assertThat(object()).isEqualTo("the message queue /jobs");
    }

    @Test
    void aWaitFromBeforeTheRecordingHasTheObjectThatTheRecorderSaw() throws IOException {
        String[] words = {"S", "accept(fd 3)", "tcp 0.0.0.0:80 (listening)"};
        script.looked(1100, false, 10, words, new long[] {10, 0, 43, 500})
                .wake(1500, 1, 20, 10)
                .switched(1510, 0, 0, R, 10);
        assertThat(object()).isEqualTo("tcp 0.0.0.0:80 (listening)");
    }

    @Test
    void bothEndsOfAPipeWhateverElseIsOpen() throws IOException {
        script.call(1000, 10, 22, 0, 0x7f00);
        script.name(1012, 10, record(10, Kind.PIPE, 0, 0, words(5, 9)));
        script.call(1020, 20, number("openat"), 7, -100);
        waits("read", 5, 0, 100);
        assertThat(object()).contains("pipe");
    }
}
