package sonde.probe.stack;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.bpf.BpfMap;
import sonde.bpf.Link;
import sonde.bpf.MapSpec;
import sonde.bpf.MapType;
import sonde.bpf.ProgramSpec;
import sonde.bpf.ProgramType;
import sonde.bpf.link.KernelTypes;
import sonde.bpf.link.PerfEvents;
import sonde.bpf.ring.PerfBuffer;

/** User stacks that the program in the kernel unwinds, of code without frame pointers. */
@Tag("kernel")
final class UserStackKernelTest {
    private static final int DEPTH = 25;

    @TempDir Path folder;

    /** A stack as it came. */
    private record Stack(UserStackEnd end, long guessed, long[] frames) {}

    @Test
    void framesOfADeepProgram() throws Exception {
        StringBuilder source = new StringBuilder("#include <time.h>\n#define N __attribute__((noinline))\n");
        source.append("volatile long x; N long f0(long a) { for (long i = 0; i < 100000; i++) x += i ^ a; return x; }\n");
        for (int i = 1; i <= DEPTH; i++) {
            source.append(
                    "N long f%d(long a) { long r = f%d(a + %d); x++; return r + 1; }\n"
                            .formatted(i, i - 1, i));
        }
        source.append("int main(void) { for (;;) f%d(1); }\n".formatted(DEPTH));
        Path text = Files.writeString(folder.resolve("deep.c"), source);
        Path program = folder.resolve("deep");
        run("gcc", "-O2", "-fomit-frame-pointer", "-o", program.toString(), text.toString());
        List<Stack> stacks = sample(List.of(program.toString()), 1);
        System.out.println(ends(stacks));
        Map<String, Integer> shapes = new TreeMap<>();
        for (Stack stack : stacks) {
            shapes.merge(stack.end() + " " + stack.frames().length, 1, Integer::sum);
        }
        System.out.println(shapes);
        assertThat(stacks.size()).isGreaterThan(50);
        long whole = stacks.stream().filter(s -> s.end() == UserStackEnd.OUTERMOST && s.frames().length >= DEPTH + 3).count();
        assertThat((double) whole / stacks.size()).isGreaterThan(0.99);
    }

    private static Map<UserStackEnd, Integer> ends(List<Stack> stacks) {
        Map<UserStackEnd, Integer> ends = new EnumMap<>(UserStackEnd.class);
        stacks.forEach(stack -> ends.merge(stack.end(), 1, Integer::sum));
        return ends;
    }

    private static List<Stack> sample(List<String> command, int seconds) throws Exception {
        Process target = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
        List<Stack> stacks = new ArrayList<>();
        try (KernelTypes types = KernelTypes.open();
                UnwindTables tables = UnwindTables.open();
                BpfMap outputs = BpfMap.create(new MapSpec("out", MapType.PERF_EVENT_ARRAY, 4, 4, 64));
                PerfBuffer buffer = PerfBuffer.open(outputs, 1 << 20);
                UserStackProgram program =
                        UserStackProgram.load(
                                ProgramType.PERF_EVENT,
                                7,
                                0,
                                null,
                                KernelFields.of(types.btf()),
                                tables,
                                outputs,
                                ProgramSpec.Log.STATISTICS)) {
            System.out.println(program.program().log().lines().filter(l -> l.contains("processed")).toList());
            Thread.sleep(200);
            UnwindFiles files = new UnwindFiles(tables);
            long began = System.nanoTime();
            files.vdso();
            files.process((int) target.pid());
            System.out.println("tables " + (System.nanoTime() - began) / 1000 + " us");
            try (Link link = PerfEvents.attach(program.program(), PerfEvents.CountedEvent.clock(997), (int) target.pid(), -1, 0)) {
                long end = System.nanoTime() + seconds * 1_000_000_000L;
                while (System.nanoTime() < end) {
                    buffer.await(100_000_000);
                    buffer.drain((memory, offset, bytes) -> stacks.add(stack(memory.asSlice(offset, bytes))));
                }
            }
        } finally {
            target.destroyForcibly().waitFor();
        }
        return stacks;
    }

    private static Stack stack(MemorySegment record) {
        assertThat(record.get(JAVA_INT_UNALIGNED, UserStackProgram.MAGIC)).isEqualTo(UserStackProgram.MAGIC_WORD);
        assertThat(record.get(JAVA_INT_UNALIGNED, UserStackProgram.EVENT)).isEqualTo(7);
        long[] frames = new long[(int) record.get(JAVA_LONG_UNALIGNED, UserStackProgram.COUNT)];
        for (int i = 0; i < frames.length; i++) {
            frames[i] = record.get(JAVA_LONG_UNALIGNED, UserStackProgram.HEAD_BYTES + 8L * i);
        }
        return new Stack(
                UserStackEnd.values()[(int) record.get(JAVA_LONG_UNALIGNED, UserStackProgram.END)],
                record.get(JAVA_LONG_UNALIGNED, UserStackProgram.GUESSED),
                frames);
    }

    private static void run(String... words) throws Exception {
        Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
    }
}
