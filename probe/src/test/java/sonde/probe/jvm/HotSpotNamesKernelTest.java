package sonde.probe.jvm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import sonde.event.result.Frame;
import sonde.probe.jvm.HotSpotVm.CodeHeap;
import sonde.probe.snapshot.ProcessMemory;

/** Names of compiled code, beside what the JVM itself says. */
@Tag("kernel")
final class HotSpotNamesKernelTest {
    /** {@code 0x7f… 0x58 int Target.leaf(int)}, with the method's type and parameters. */
    private static final Pattern METHOD =
            Pattern.compile("(?:0x)?(\\p{XDigit}+) \\S+ \\S+ ([^ (]+)\\(.*\\)");

    @TempDir Path folder;

    @BeforeEach
    void onlyAsRoot() {
        assumeTrue(Files.isWritable(Path.of("/proc/1/oom_score_adj")), "needs root");
    }

    static List<Path> launchers() throws Exception {
        return JavaTarget.launchers();
    }

    @ParameterizedTest
    @MethodSource("launchers")
    void methodsAreThoseOfThePerfMap(Path java) throws Exception {
        try (JavaTarget target = JavaTarget.start(folder, java);
                ProcessMemory memory = new ProcessMemory(target.pid());
                HotSpotNames names = HotSpotNames.open(target.pid())) {
            HotSpotVm vm = names.vm();
            byte[] map = JvmAttach.perfMap(target.pid(), Duration.ofSeconds(30));
            int same = 0;
            int all = 0;
            for (String line : new String(map, StandardCharsets.UTF_8).split("\n")) {
                Matcher method = METHOD.matcher(line);
                if (method.matches()) {
                    all++;
                    long start = Long.parseUnsignedLong(method.group(1), 16);
                    long blob = blob(vm, memory, start);
                    CompiledCode code = names.code(blob);
                    assertThat(code).as(line).isNotNull();
                    // Where it begins nothing is inlined.
                    Frame outer = code.frames((int) (start - blob)).getLast();
                    same += outer.name().equals(method.group(2)) ? 1 : 0;
                }
            }
            assertThat(all).isGreaterThan(20);
            // Code that was freed meanwhile.
            assertThat(same).isGreaterThanOrEqualTo(all * 95 / 100);
        }
    }

    @ParameterizedTest
    @MethodSource("launchers")
    void inlinedCallsHaveTheirLines(Path java) throws Exception {
        try (JavaTarget target = JavaTarget.start(folder, java);
                ProcessMemory memory = new ProcessMemory(target.pid());
                HotSpotNames names = HotSpotNames.open(target.pid())) {
            HotSpotVm vm = names.vm();
            boolean found = false;
            long deadline = System.nanoTime() + 60_000_000_000L;
            while (!found && System.nanoTime() < deadline) {
                byte[] map = JvmAttach.perfMap(target.pid(), Duration.ofSeconds(30));
                for (String line : new String(map, StandardCharsets.UTF_8).split("\n")) {
                    found |= line.contains("Target.") && hasChain(vm, memory, names, line);
                }
            }
            assertThat(found).as("leaf inlined in inner").isTrue();
        }
    }

    private static boolean hasChain(
            HotSpotVm vm, ProcessMemory memory, HotSpotNames names, String line) {
        String[] words = line.replace("0x", "").split(" ", 3);
        long start = Long.parseUnsignedLong(words[0], 16);
        long blob = blob(vm, memory, start);
        CompiledCode code = names.code(blob);
        for (int at = 0; code != null && at < Integer.parseInt(words[1], 16); at++) {
            if (isChain(code.frames((int) (start - blob) + at))) {
                return true;
            }
        }
        return false;
    }

    /** leaf in one of its lines, inlined in inner at the line of its call. */
    private static boolean isChain(List<Frame> frames) {
        if (frames.size() < 2) {
            return false;
        }
        Frame leaf = frames.getFirst();
        Frame inner = frames.get(1);
        return leaf.name().equals("Target.leaf")
                && leaf.inlined()
                && leaf.file().equals("Target.java")
                && leaf.line() >= 6
                && leaf.line() <= 11
                && inner.name().equals("Target.inner")
                && inner.line() == 14;
    }

    @Test
    void aProcessWithoutJvmIsRefused() throws Exception {
        Process sleep = new ProcessBuilder("sleep", "60").start();
        try {
            int pid = (int) sleep.pid();
            assertThat(JvmAttach.hasLibjvm(pid)).isFalse();
            assertThatIOException()
                    .isThrownBy(() -> HotSpotVm.read(pid))
                    .withMessageContaining("no libjvm.so");
        } finally {
            sleep.destroyForcibly();
        }
    }

    /** As HotSpot finds it: src/hotspot/share/memory/heap.cpp. */
    private static long blob(HotSpotVm vm, ProcessMemory memory, long pc) {
        for (CodeHeap heap : vm.heaps()) {
            if (pc >= heap.start() && pc < heap.end()) {
                long segment = pc - heap.start() >> vm.segmentBits();
                for (int back = -1; back != 0; segment -= back) {
                    back = memory.read(heap.segments() + segment, 1).get() & 0xff;
                    assertThat(back).isNotEqualTo(0xff);
                }
                return heap.start() + (segment << vm.segmentBits()) + vm.blockBytes();
            }
        }
        throw new AssertionError(Long.toHexString(pc));
    }
}
