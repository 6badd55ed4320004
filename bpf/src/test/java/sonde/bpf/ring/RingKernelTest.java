package sonde.bpf.ring;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static sonde.bpf.insn.BpfRegister.R0;
import static sonde.bpf.insn.BpfRegister.R1;
import static sonde.bpf.insn.BpfRegister.R10;
import static sonde.bpf.insn.BpfRegister.R2;
import static sonde.bpf.insn.BpfRegister.R3;
import static sonde.bpf.insn.BpfRegister.R4;
import static sonde.bpf.insn.BpfRegister.R5;
import static sonde.bpf.insn.BpfRegister.R6;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import sonde.bpf.BpfMap;
import sonde.bpf.Leaks;
import sonde.bpf.MapSpec;
import sonde.bpf.MapType;
import sonde.bpf.Program;
import sonde.bpf.ProgramType;
import sonde.bpf.TestRun;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.Label;
import sonde.bpf.insn.Width;
import sonde.sys.MachineFacts;
import sonde.sys.NativeSyscall;
import sonde.sys.SyscallNames;

@Tag("kernel")
final class RingKernelTest {
    private static BpfMap ring(int bytes) throws Exception {
        return BpfMap.create(new MapSpec("t_ring", MapType.RING_BUFFER, 0, 0, bytes));
    }

    /** Many times round a small ring, with lengths that do not divide it. */
    @Test
    void everyRecordOnceAndInOrder() throws Exception {
        int page = MachineFacts.pageBytes();
        try (BpfMap map = ring(page);
                RingBuffer ring = RingBuffer.open(map);
                RingFiller filler = new RingFiller(map, 40, 10, 0)) {
            long[] next = {1};
            assertThat(ring.await(0)).isFalse();
            for (int i = 0; i < 100; i++) {
                filler.run(5);
                assertThat(ring.await(1_000_000_000L)).isTrue();
                ring.drain((memory, offset, bytes) -> {
                    assertThat(bytes).isEqualTo(40);
                    assertThat(memory.get(JAVA_LONG, offset)).isEqualTo(next[0]++);
                    assertThat(memory.get(JAVA_LONG, offset + 32)).isEqualTo(8);
                });
            }
            assertThat(next[0]).isEqualTo(5001);
            assertThat(filler.refused()).isZero();
            // Full: 4096 / 48 records fit.
            filler.run(20);
            assertThat(filler.refused()).isEqualTo(200 - page / 48);
            assertThat(ring.pendingBytes()).isEqualTo(page / 48 * 48L);
            assertThat(ring.drain((m, o, b) -> {}, 3)).isEqualTo(3);
            assertThat(ring.drain((m, o, b) -> {})).isEqualTo(page / 48 - 3);
            assertThat(ring.pendingBytes()).isZero();
        }
    }

    /**
     * The part that is mapped at first, the whole, and round again: in blocks that end anywhere.
     */
    @Test
    void aRingLargerThanWhatIsMappedAtFirst() throws Exception {
        try (BpfMap map = ring(1 << 21);
                RingBuffer ring = RingBuffer.open(map);
                RingFiller filler = new RingFiller(map, 400, 10, 0)) {
            long[] next = {1};
            while (ring.readBytes() < 5 << 20) {
                filler.run(150);
                ring.drain((memory, offset, bytes) -> {
                    assertThat(bytes).isEqualTo(400);
                    assertThat(memory.get(JAVA_LONG, offset)).isEqualTo(next[0]++);
                });
                assertThat(next[0] % 1500).isEqualTo(1);
            }
            assertThat(filler.refused()).isZero();
        }
    }

    /** A reader that throws keeps what it has not read. */
    @Test
    void aFailingVisitorLosesNothingButItsRecord() throws Exception {
        try (BpfMap map = ring(1 << 16);
                RingBuffer ring = RingBuffer.open(map);
                RingFiller filler = new RingFiller(map, 16, 10, 0)) {
            filler.run(1);
            assertThatThrownBy(() ->
                            ring.drain((memory, offset, bytes) -> {
                                if (memory.get(JAVA_LONG, offset) == 4) {
                                    throw new IllegalStateException("four");
                                }
                            }))
                    .hasMessage("four");
            List<Long> rest = new ArrayList<>();
            ring.drain((memory, offset, bytes) -> rest.add(memory.get(JAVA_LONG, offset)));
            assertThat(rest).containsExactly(5L, 6L, 7L, 8L, 9L, 10L);
        }
    }

    /** Reserved and discarded records are passed over. */
    @Test
    void discardedRecordsAreSkipped() throws Exception {
        try (BpfMap map = ring(1 << 16);
                RingBuffer ring = RingBuffer.open(map)) {
            Label out = new Label("out");
            Label second = new Label("second");
            CodeBuilder code = new CodeBuilder();
            for (Label none : new Label[] {second, out}) {
                code.map(R1, map.fd())
                        .move(R2, 24)
                        .move(R3, 0)
                        .call(131) // ringbuf_reserve
                        .ifZero(R0, none)
                        .store(Width.U64, R0, 0, 11)
                        .move(R1, R0)
                        .move(R2, 0)
                        .call(none == second ? 133 : 132) // discard, submit
                        .at(none);
            }
            try (Program program =
                    Program.load("t_drop", ProgramType.SOCKET_FILTER, code.exit(0).build())) {
                program.run(TestRun.packet(new byte[14], 7));
                assertThat(ring.drain((m, o, b) -> assertThat(b).isEqualTo(24))).isEqualTo(7);
                assertThat(ring.discarded()).isEqualTo(7);
            }
        }
    }

    /** Writer and reader at the same time on a ring that is often full. */
    @Test
    void liveReadingNeverTearsRecords() throws Exception {
        try (BpfMap map = ring(1 << 16);
                RingBuffer ring = RingBuffer.open(map);
                RingFiller filler = new RingFiller(map, 64, 16, 0)) {
            AtomicBoolean done = new AtomicBoolean();
            Thread writer =
                    Thread.ofPlatform()
                            .start(() -> {
                                try {
                                    for (int i = 0; i < 2000; i++) {
                                        filler.run(10);
                                    }
                                } catch (java.io.IOException e) {
                                    throw new java.io.UncheckedIOException(e);
                                } finally {
                                    done.set(true);
                                }
                            });
            long[] last = {0};
            long read = 0;
            boolean end = false;
            while (!end) {
                end = done.get();
                ring.await(10_000_000L, 100_000L);
                read +=
                        ring.drain((memory, offset, bytes) -> {
                            long number = memory.get(JAVA_LONG, offset);
                            assertThat(number > last[0]).isTrue();
                            last[0] = number;
                        });
            }
            writer.join();
            assertThat(filler.written()).isEqualTo(320_000);
            assertThat(read + filler.refused()).isEqualTo(320_000);
        }
    }

    /** The reading side of bpf_perf_event_output, with a ring too small for all. */
    @Test
    void perfBuffersCountWhatIsLostOnEachCpu() throws Exception {
        // On one CPU: what is lost on one that nothing runs on any more is never told.
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment before = arena.allocate(128, 8);
            MemorySegment one = arena.allocate(128, 8);
            NativeSyscall.syscall(
                    SyscallNames.number("sched_getaffinity"), 0, 128, before.address());
            one.set(JAVA_LONG, 0, Long.lowestOneBit(before.get(JAVA_LONG, 0)));
            NativeSyscall.syscall(SyscallNames.number("sched_setaffinity"), 0, 128, one.address());
            try {
                perfBufferOfOneCpu();
            } finally {
                NativeSyscall.syscall(
                        SyscallNames.number("sched_setaffinity"), 0, 128, before.address());
            }
        }
    }

    private static void perfBufferOfOneCpu() throws Exception {
        int cpus = MachineFacts.possibleCpus().length();
        try (BpfMap map =
                        BpfMap.create(new MapSpec("t_perf", MapType.PERF_EVENT_ARRAY, 4, 4, cpus));
                PerfBuffer buffer = PerfBuffer.open(map, 1 << 14)) {
            CodeBuilder code = new CodeBuilder().move(R6, R1);
            for (int at = 24; at > 0; at -= 8) {
                code.store(Width.U64, R10, -at, at);
            }
            // BPF_F_CURRENT_CPU: the lower 32 bits set.
            code.move(R1, R6)
                    .map(R2, map.fd())
                    .move(R3, 0xffff_ffffL)
                    .move(R4, R10)
                    .add(R4, -24)
                    .move(R5, 24)
                    .call(HelperFunctionId.PERF_EVENT_OUTPUT)
                    .exit();
            try (Program program =
                    Program.load("t_perf", ProgramType.SOCKET_FILTER, code.build())) {
                int[] seen = new int[1];
                for (int i = 0; i < 1000; i++) {
                    program.run(new TestRun(new byte[14], new byte[0], 10, 0));
                    if (i < 100) {
                        buffer.drain((cpu, memory, offset, bytes) -> {
                            assertThat(bytes).isEqualTo(28);
                            assertThat(memory.get(JAVA_INT_UNALIGNED, offset)).isEqualTo(24);
                            assertThat(cpu).isBetween(0, cpus - 1);
                            seen[0]++;
                        });
                    }
                }
                assertThat(seen[0]).isEqualTo(1000);
                assertThat(buffer.await(0)).isTrue();
                long rest = buffer.drain((cpu, memory, offset, bytes) -> {});
                // What is lost last is told with the next record that fits.
                program.run(new TestRun(new byte[14], new byte[0], 1, 0));
                long last = buffer.drain((cpu, memory, offset, bytes) -> {});
                for (int i = 0; i < 50 && seen[0] + rest + last + buffer.lost() < 10_001; i++) {
                    program.run(new TestRun(new byte[14], new byte[0], 1, 0));
                    rest++;
                    last += buffer.drain((cpu, memory, offset, bytes) -> {}) - 1;
                }
                assertThat(rest).isPositive();
                assertThat(buffer.lost()).isPositive();
                assertThat(seen[0] + rest + last + buffer.lost()).isEqualTo(10_001);
            }
        }
    }

    @Test
    void failuresLeaveNothingMappedOrOpen() throws Exception {
        try (BpfMap hash = BpfMap.create(new MapSpec("t", MapType.HASH, 4, 4, 4))) {
            Leaks before = Leaks.now();
            assertThatThrownBy(() -> RingBuffer.open(hash)).hasMessageContaining("EINVAL");
            assertThatThrownBy(() -> PerfBuffer.open(hash, 12345));
            // A ring larger than a process may lock is not refused to root; a bad map is.
            try (BpfMap small =
                    BpfMap.create(new MapSpec("t", MapType.PERF_EVENT_ARRAY, 4, 4, 1))) {
                if (MachineFacts.onlineCpus().length() > 1) {
                    Leaks inside = Leaks.now();
                    assertThatThrownBy(() -> PerfBuffer.open(small, 1 << 14))
                            .hasMessageContaining("E2BIG");
                    inside.assertNothingLeftSince();
                }
            }
            before.assertNothingLeftSince();
        }
    }
}
