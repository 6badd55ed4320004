package sonde.probe.stack;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.bpf.BpfMap;
import sonde.bpf.Link;
import sonde.bpf.MapSpec;
import sonde.bpf.MapType;
import sonde.bpf.ProgramSpec;
import sonde.bpf.link.KernelTypes;
import sonde.bpf.link.PerfEvents;
import sonde.bpf.ring.PerfBuffer;
import sonde.bpf.ring.RingBuffer;
import sonde.sys.MappedRange;

/** User stacks that the program in the kernel unwinds, of code without frame pointers. */
@Tag("kernel")
final class UserStackKernelTest {
    private static final int DEPTH = 25;
    private static final int EVENT = 7;
    private static final int ENOUGH = 200;

    @TempDir Path folder;

    /** A stack as it came. */
    record Stack(UserStackEnd end, long guessed, long[] frames) {}

    @Test
    void framesOfADeepProgramWithoutFramePointers() throws Exception {
        StringBuilder source = new StringBuilder("#define N __attribute__((noinline))\n");
        source.append(
                "volatile long x; N long f0(long a)"
                        + " { for (long i = 0; i < 100000; i++) x += i ^ a; return x; }\n");
        for (int i = 1; i <= DEPTH; i++) {
            source.append(
                    "N long f%d(long a) { long r = f%d(a + %d); x++; return r + 1; }\n"
                            .formatted(i, i - 1, i));
        }
        source.append("int main(void) { for (;;) f%d(1); }\n".formatted(DEPTH));
        List<Stack> stacks = sample(compiled("deep", source.toString()));
        // f0 to f25, main, __libc_start_call_main, __libc_start_main, _start
        assertThat(stacks)
                .filteredOn(stack -> stack.frames().length == DEPTH + 5)
                .allSatisfy(stack -> {
                    assertThat(stack.end()).isEqualTo(UserStackEnd.OUTERMOST);
                    assertThat(stack.guessed()).isZero();
                })
                .hasSizeGreaterThan(stacks.size() * 99 / 100);
    }

    @Test
    void throughTheLibraryAStackAlignmentAndASignalHandler() throws Exception {
        String source =
                """
                #include <stdlib.h>
                #include <signal.h>
                #include <string.h>
                volatile long x;
                __attribute__((noinline)) void handler(int s) { for (long i = 0; i < 30000000; i++) x += i; }
                __attribute__((noinline)) int compare(const void *a, const void *b)
                { double v[4] __attribute__((aligned(64))); memset(v, 1, sizeof v); raise(SIGUSR1);
                  x += (long) v[1]; return *(int *) a - *(int *) b; }
                int main(void) { signal(SIGUSR1, handler); int v[16] = {3, 1, 2};
                  for (;;) qsort(v, 16, sizeof *v, compare); }
                """;
        List<Stack> stacks = sample(compiled("signals", source));
        // handler, its trampoline, raise, compare, msort, qsort, main, …, _start
        assertThat(stacks)
                .filteredOn(stack ->
                        stack.end() == UserStackEnd.OUTERMOST
                                && stack.guessed() == 0
                                && stack.frames().length >= 10)
                .hasSizeGreaterThan(stacks.size() * 98 / 100);
    }

    private List<String> compiled(String name, String source) throws Exception {
        Path text = Files.writeString(folder.resolve(name + ".c"), source);
        Path program = folder.resolve(name);
        run("gcc", "-O2", "-fomit-frame-pointer", "-o", program.toString(), text.toString());
        return List.of(program.toString());
    }

    /** Samples of a command until there are enough; its tables are made before. */
    private static List<Stack> sample(List<String> command) throws Exception {
        Process target = new ProcessBuilder(command).start();
        // Until exec and the loader are done.
        while (MappedRange.of((int) target.pid()).stream()
                .noneMatch(range -> range.path().contains("libc.so"))) {
            Thread.onSpinWait();
        }
        try {
            return sample((int) target.pid(), (int) target.pid(), ENOUGH);
        } finally {
            target.destroyForcibly().waitFor();
        }
    }

    /** Samples of a thread until there are enough; the tables of its process are made before. */
    static List<Stack> sample(int pid, int tid, int enough) throws Exception {
        List<Stack> stacks = new ArrayList<>();
        try (KernelTypes types = KernelTypes.open();
                UnwindTables tables = UnwindTables.open();
                BpfMap outputs =
                        BpfMap.create(new MapSpec("out", MapType.PERF_EVENT_ARRAY, 4, 4, 64));
                PerfBuffer buffer = PerfBuffer.open(outputs, 1 << 20);
                RingBuffer reports = RingBuffer.open(tables.reports());
                RuntimeReader java = RuntimeReader.start(tables.jvms(), RuntimeNames.of(tables));
                UserStackProgram program =
                        UserStackProgram.load(
                                new UserStackProgram.Surroundings(
                                        KernelFields.of(types.btf()), tables, outputs, null, 0),
                                new StackPrograms.EventKind(EVENT, "", HitSource.SAMPLE, false),
                                ProgramSpec.Log.STATISTICS)) {
            assertThat(instructions(program.program().log())).isBetween(1000L, 300_000L);
            UnwindFiles files = new UnwindFiles(tables);
            files.vdso();
            files.process(pid);
            long deadline = System.nanoTime() + 60_000_000_000L;
            try (Link link =
                    PerfEvents.attach(
                            program.program(), PerfEvents.CountedEvent.clock(997), tid, -1, 0)) {
                while (stacks.size() < enough && System.nanoTime() < deadline) {
                    buffer.await(100_000_000);
                    buffer.drain((memory, offset, bytes) ->
                            stack(memory.asSlice(offset, bytes))
                                    .filter(one -> one.end() != UserStackEnd.NO_TABLE)
                                    .ifPresent(stacks::add));
                    // Where a file system numbers its inodes in another way than stat(2).
                    List<byte[]> unknown = new ArrayList<>();
                    reports.drain((memory, offset, bytes) ->
                            unknown.add(memory.asSlice(offset, bytes).toArray(JAVA_BYTE)));
                    for (byte[] report : unknown) {
                        files.reported(files.open(MemorySegment.ofArray(report)));
                    }
                }
            }
        }
        assertThat(stacks.size()).isGreaterThanOrEqualTo(enough);
        return stacks;
    }

    /** "processed 3157 insns (limit 1000000) …" */
    private static long instructions(String log) {
        Matcher matcher = Pattern.compile("processed (\\d+) insns").matcher(log);
        assertThat(matcher.find()).as(log).isTrue();
        return Long.parseLong(matcher.group(1));
    }

    /** Empty for the copy of a stack. */
    private static Optional<Stack> stack(MemorySegment bytes) {
        UserStackRecord record = new UserStackRecord(bytes);
        if (record.isCopy()) {
            return Optional.empty();
        }
        assertThat(record.isStack()).isTrue();
        assertThat(record.event()).isEqualTo(EVENT);
        long[] frames = new long[UserStackRecord.MOST_FRAMES];
        return Optional.of(
                new Stack(
                        record.end(),
                        record.guessed(),
                        Arrays.copyOf(frames, record.copy(frames))));
    }

    private static void run(String... words) throws Exception {
        Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
    }
}
