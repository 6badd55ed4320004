package sonde.sys;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.SAME_THREAD)
class FdTest {
    @Test
    void splicesFromPipeToFile() throws Exception {
        Fd.Pipe pipe = Fd.pipe2(FileCalls.O_NONBLOCK);
        int file = FileCalls.memfd("spliced");
        try (Arena arena = Arena.ofConfined()) {
            Fd.writeFully(pipe.writeEnd(), arena.allocate(10_000));
            assertThat(Fd.splice(pipe.readEnd(), file, 1 << 16, Fd.SPLICE_F_MOVE))
                    .isEqualTo(10_000);
            assertThat(Fd.splice(pipe.readEnd(), file, 1 << 16, Fd.SPLICE_F_NONBLOCK))
                    .as("nothing left")
                    .isEqualTo(-1);
            assertThat(Fd.read(pipe.readEnd(), arena.allocate(8))).isEqualTo(-1);
            assertThat(Fd.fcntl(pipe.readEnd(), Fd.F_SETPIPE_SZ, 1 << 18)).isEqualTo(1 << 18);
            Fd.close(pipe.writeEnd());
            assertThat(Fd.splice(pipe.readEnd(), file, 1 << 16, 0)).as("end").isZero();
            assertThat(FileCalls.fstat(file).sizeBytes()).isEqualTo(10_000);

            int copy = FileCalls.memfd("copied");
            MemorySegment from = arena.allocate(JAVA_LONG);
            from.set(JAVA_LONG, 0, 4000);
            assertThat(Fd.copyFileRange(file, from, copy, MemorySegment.NULL, 1 << 20))
                    .isEqualTo(6000);
            assertThat(from.get(JAVA_LONG, 0)).isEqualTo(10_000);
            Fd.close(copy);
        } finally {
            Fd.discard(pipe.readEnd());
            Fd.discard(file);
        }
    }

    @Test
    void pollTellsWhichIsReady() throws Exception {
        int first = Fd.eventfd(0, FileCalls.O_CLOEXEC);
        int second = Fd.eventfd(0, FileCalls.O_CLOEXEC);
        try (Arena arena = Arena.ofConfined()) {
            PollSet set = new PollSet(arena, 2);
            set.add(first, PollSet.POLLIN);
            set.add(second, PollSet.POLLIN);
            long before = Clocks.nanos(Clocks.CLOCK_MONOTONIC);
            assertThat(set.await(20_000_000)).isZero();
            assertThat(Clocks.nanos(Clocks.CLOCK_MONOTONIC) - before).isGreaterThan(19_000_000);
            Fd.signal(second, 1);
            assertThat(set.await(-1)).isEqualTo(1);
            assertThat(set.ready(0)).isZero();
            assertThat(set.ready(1)).isEqualTo(PollSet.POLLIN);
            set.remove(1);
            assertThat(set.await(0)).isZero();
        } finally {
            Fd.close(first);
            Fd.close(second);
        }
    }

    @Test
    void locksExcludeOtherOpenFiles() throws Exception {
        int one = FileCalls.open("/proc/self/exe", FileCalls.O_RDONLY);
        int two = FileCalls.open("/proc/self/exe", FileCalls.O_RDONLY);
        try {
            assertThat(Fd.flock(one, Fd.LOCK_EX | Fd.LOCK_NB)).isTrue();
            assertThat(Fd.flock(two, Fd.LOCK_EX | Fd.LOCK_NB)).isFalse();
            assertThat(Fd.flock(one, Fd.LOCK_UN)).isTrue();
            assertThat(Fd.flock(two, Fd.LOCK_EX | Fd.LOCK_NB)).isTrue();
        } finally {
            Fd.close(one);
            Fd.close(two);
        }
    }

    @Test
    void mapsAFileForReadingAndWriting() throws Exception {
        int file = FileCalls.memfd("mapped");
        Fd.ftruncate(file, 3L * MachineFacts.pageBytes());
        MemorySegment map =
                MemoryMappings.map(
                        file,
                        MachineFacts.pageBytes(),
                        MachineFacts.pageBytes(),
                        MemoryMappings.PROT_READ | MemoryMappings.PROT_WRITE,
                        MemoryMappings.MAP_SHARED);
        try (Arena arena = Arena.ofConfined()) {
            map.set(JAVA_LONG, 8, 0x1234);
            MemorySegment back = arena.allocate(JAVA_LONG);
            Fd.pread(file, back, MachineFacts.pageBytes() + 8L);
            assertThat(back.get(JAVA_LONG, 0)).isEqualTo(0x1234);
        } finally {
            MemoryMappings.unmap(map);
            Fd.close(file);
        }
        FileCallsTest.assertErrno(
                Errno.EBADF,
                () ->
                        MemoryMappings.map(
                                -1, 0, 4096, MemoryMappings.PROT_READ, MemoryMappings.MAP_SHARED));
    }

    /** A recorder that made garbage per page would disturb what it watches. */
    @Test
    void theHotCallsAllocateNothing() throws Exception {
        Fd.Pipe pipe = Fd.pipe2(FileCalls.O_NONBLOCK);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment cell = arena.allocate(8);
            PollSet set = new PollSet(arena, 1);
            set.add(pipe.readEnd(), PollSet.POLLIN);
            for (int i = 0; i < 300_000; i++) {
                step(pipe, cell, set);
            }
            Runtime runtime = Runtime.getRuntime();
            System.gc();
            long before = runtime.freeMemory();
            for (int i = 0; i < 1_000_000; i++) {
                step(pipe, cell, set);
            }
            // The smallest object has 16 bytes; free memory falls by a TLAB (1 MB) at a time.
            assertThat(before - runtime.freeMemory()).isLessThan(8_000_000);
        } finally {
            Fd.close(pipe.readEnd());
            Fd.close(pipe.writeEnd());
        }
    }

    private static void step(Fd.Pipe pipe, MemorySegment cell, PollSet set)
            throws SyscallException {
        Fd.write(pipe.writeEnd(), cell);
        set.await(0);
        Fd.read(pipe.readEnd(), cell);
        Fd.read(pipe.readEnd(), cell);
    }
}
