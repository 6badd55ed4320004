package sonde.tools.heap;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.event.heap.HeapFault;
import sonde.event.heap.HeapMoment;
import sonde.event.heap.HeapProfile;
import sonde.event.heap.HeapStack;
import sonde.event.heap.HeapSums;
import sonde.probe.heap.AllocatorCall;
import sonde.probe.heap.HeapProbes.HeapLimits;
import sonde.probe.launch.CommandWords;
import sonde.probe.launch.InheritedState;
import sonde.symbol.files.GivenPlaces;
import sonde.testkit.BuiltPrograms;
import sonde.tools.option.CommandModel;
import sonde.tools.option.GivenOptions;

/** Programs whose allocations are known to the byte. */
@Tag("kernel")
final class HeapWatchKernelTest {
    @TempDir static Path folder;

    private static Path program;

    @BeforeAll
    static void build() throws Exception {
        program = folder.resolve("heap");
        String source;
        try (InputStream text = HeapWatchKernelTest.class.getResourceAsStream("heap.c")) {
            source = "# 1 \"heap.c\"\n" + new String(text.readAllBytes(), StandardCharsets.UTF_8);
        }
        List<String> command =
                List.of("gcc", "-g", "-O1", "-w", "-fno-builtin", "-x", "c", "-", "-pthread", "-o");
        BuiltPrograms.copy(program, source, command, to -> compile(source, command, to));
    }

    private static void compile(String source, List<String> command, Path to)
            throws IOException, InterruptedException {
        List<String> words = new ArrayList<>(command);
        words.add(to.toString());
        Process compiler = new ProcessBuilder(words).redirectErrorStream(true).start();
        try (var in = compiler.getOutputStream()) {
            in.write(source.getBytes(StandardCharsets.UTF_8));
        }
        if (compiler.waitFor() != 0) {
            throw new IOException(new String(compiler.getInputStream().readAllBytes()));
        }
    }

    private static HeapRequest request(int pid, HeapLimits limits, String... command)
            throws Exception {
        return new HeapRequest(
                InheritedState.capture(),
                pid == 0 ? CommandWords.of(command) : null,
                pid,
                Long.MAX_VALUE,
                null,
                Map.of("pool_get", AllocatorCall.FIRST),
                limits,
                GivenPlaces.NONE);
    }

    private static HeapProfile watch(String... command) throws Exception {
        try (HeapWatch watch = new HeapWatch(request(0, HeapLimits.USUAL, command))) {
            return watch.run();
        }
    }

    /** The sums of all stacks with a function. */
    private static HeapSums under(HeapProfile profile, String function) {
        return profile.stacks().stream()
                .filter(stack -> has(stack, function))
                .map(HeapStack::sums)
                .reduce(HeapSums.NONE, HeapSums::plus);
    }

    private static boolean has(HeapStack stack, String function) {
        return stack.frames().stream().anyMatch(frame -> frame.name().equals(function));
    }

    private static void is(HeapSums sums, long calls, long bytes, long blocks, long live) {
        assertThat(List.of(sums.calls(), sums.bytes(), sums.liveBlocks(), sums.liveBytes()))
                .containsExactly(calls, bytes, blocks, live);
    }

    @Test
    void everyBlockIsCounted() throws Exception {
        HeapProfile profile = watch(program.toString(), "all");
        is(under(profile, "lose"), 200, 8000, 200, 8000);
        is(under(profile, "brief"), 1000, 1_000_000, 0, 0);
        is(under(profile, "chain"), 50, 1_275_000, 0, 0);
        is(under(profile, "large"), 3, (2L << 30) + (1 << 20) + 16, 1, 16);
        is(under(profile, "aligned"), 4, 12345 + 6400 + 3200 + 700, 0, 0);
        HeapSums all = profile.totals();
        long bytes = 8000 + 1_000_000 + 1_275_000 + (2L << 30) + (1 << 20) + 16 + 22645;
        is(all, 1257, bytes, 201, 8016);
        assertThat(all.peakBytes()).isEqualTo((2L << 30) + 8000);
        assertThat(profile.curve())
                .extracting(HeapMoment::liveBytes)
                .contains((2L << 30) + 8000)
                .allMatch(live -> live <= (2L << 30) + 8000);
        assertThat(all.peakBlocks()).isEqualTo(201);
        assertThat(under(profile, "large").peakBytes()).isEqualTo(2L << 30);
        assertThat(under(profile, "lose").peakBytes()).isEqualTo(8000);
        assertThat(under(profile, "chain").peakBytes()).isZero();
        assertThat(under(profile, "brief").temporary()).isEqualTo(1000);
        assertThat(under(profile, "lose").oldestNanos()).isPositive();
        assertThat(profile.faults()).isEmpty();
        assertThat(profile.notes()).containsExactly("1 calls failed");
        assertThat(profile.stacks().stream().filter(one -> has(one, "lose")).findFirst())
                .hasValueSatisfying(stack ->
                        assertThat(stack.frames())
                                .extracting(frame -> frame.name() + " " + frame.place())
                                .startsWith("lose heap.c:17", "main heap.c:94"));
    }

    @Test
    void threadsThatEnd() throws Exception {
        HeapProfile profile = watch(program.toString(), "threads");
        is(under(profile, "one_thread"), 4000, 8 * 500 * 64, 8, 8 * 64);
        assertThat(profile.faults()).isEmpty();
        assertThat(profile.notes()).isEmpty();
    }

    @Test
    void aBlockIsFreedTwice() throws Exception {
        HeapProfile profile = watch(program.toString(), "twice");
        assertThat(profile.faults()).hasSize(1);
        HeapFault fault = profile.faults().getFirst();
        assertThat(fault.calls()).isEqualTo(1);
        assertThat(fault.frames().getFirst().name()).isEqualTo("twice");
        assertThat(fault.frames().getFirst().place()).isEqualTo("heap.c:75");
    }

    @Test
    void anAllocatorOfItsOwn() throws Exception {
        HeapProfile profile = watch(program.toString(), "pool");
        is(profile.totals(), 101, 6099, 1, 99);
        assertThat(profile.notes()).isEmpty();
        assertThat(profile.faults()).isEmpty();
    }

    @Test
    void aProgramAfterAnother() throws Exception {
        HeapProfile profile = watch("sh", "-c", "exec " + program + " threads");
        is(under(profile, "one_thread"), 4000, 8 * 500 * 64, 8, 8 * 64);
        assertThat(profile.stacks()).allMatch(one -> has(one, "_start") || has(one, "clone3"));
    }

    @Test
    void aChildChangesNothing() throws Exception {
        HeapProfile profile = watch(program.toString(), "fork");
        is(under(profile, "large"), 1, 777, 1, 777);
    }

    @Test
    void whatHasNoRoomIsTold() throws Exception {
        HeapRequest request = request(0, new HeapLimits(100, 1 << 10), program.toString(), "all");
        try (HeapWatch watch = new HeapWatch(request)) {
            HeapProfile profile = watch.run();
            assertThat(profile.totals().calls()).isEqualTo(1257);
            assertThat(profile.notes())
                    .anyMatch(note -> note.contains("blocks had no room in the kernel's table"));
        }
    }

    @Test
    void aRunningProcess() throws Exception {
        Process process = new ProcessBuilder(program.toString(), "server").start();
        try (HeapWatch watch = new HeapWatch(request((int) process.pid(), HeapLimits.USUAL))) {
            assertThat(process.getInputStream().read()).isEqualTo('r');
            FutureTask<HeapProfile> run = new FutureTask<>(watch::run);
            Thread.ofPlatform().start(run);
            for (byte c : "xxxf".getBytes(StandardCharsets.US_ASCII)) {
                process.getOutputStream().write(c);
                process.getOutputStream().flush();
                assertThat(process.getInputStream().read()).isEqualTo('d');
            }
            process.getOutputStream().close();
            HeapProfile profile = run.get();
            is(under(profile, "lose"), 4, 160, 4, 160);
            assertThat(profile.notes())
                    .containsExactly(
                            "1 frees were of blocks that the process had before the watch began");
        } finally {
            process.destroyForcibly();
        }
    }

    /** The command line asks for no word with -p. All numbers are of one moment. */
    @Test
    void aProcessThatRunsOn() throws Exception {
        Process process = new ProcessBuilder(program.toString(), "busy").start();
        try {
            assertThat(process.getInputStream().read()).isEqualTo('r');
            CommandModel model = CommandModel.parse(HeapViewArguments.MODEL);
            GivenOptions given = new GivenOptions(model);
            given.add(model.option("-p").orElseThrow(), "-p", "" + process.pid());
            given.add(model.option("--duration").orElseThrow(), "--duration", "300ms");
            given.check();
            HeapProfile profile =
                    HeapArguments.watch(given, InheritedState.capture(), null).profile();
            assertThat(profile.source()).isEqualTo(HeapWatch.RUNNING);
            HeapSums all = profile.totals();
            is(under(profile, "main"), all.calls(), all.bytes(), all.liveBlocks(), all.liveBytes());
            assertThat(all.calls()).isPositive();
            assertThat(HeapViewArguments.report(profile, given).answer())
                    .noneMatch(sentence -> sentence.contains("freed"));
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void sizesAndTime() throws Exception {
        HeapProfile profile = watch(program.toString(), "threads");
        assertThat(profile.sizes())
                .anySatisfy(size ->
                        assertThat(List.of(size.from(), size.to(), size.calls()))
                                .containsExactly(64L, 127L, 4000L));
        assertThat(profile.peakNanos()).isBetween(0L, profile.nanos());
        assertThat(profile.curve()).isNotEmpty();
    }

    /** Compiled as the build does it. */
    private static HeapRequest sampled(long interval, String... command) throws Exception {
        Path library = folder.resolve("libsonde-heap.so");
        String source = Files.readString(Path.of("../probe/src/main/c/heap.c"));
        String options =
                "gcc -std=gnu11 -O2 -fPIC -shared -fvisibility=hidden -fno-builtin -nostdlib"
                        + " -ftls-model=initial-exec -Wall -Werror -Wno-attributes -x c - -o";
        if (Files.notExists(library)) {
            compile(source, List.of(options.split(" ")), library);
        }
        return new HeapRequest(
                InheritedState.capture(),
                CommandWords.of(command),
                0,
                Long.MAX_VALUE,
                new HeapRequest.Sampling(library, interval),
                Map.of(),
                HeapLimits.USUAL,
                GivenPlaces.NONE);
    }

    private static HeapProfile sample(long interval, String... command) throws Exception {
        try (HeapWatch watch = new HeapWatch(sampled(interval, command))) {
            HeapProfile profile = watch.run();
            assertThat(watch.status()).isZero();
            return profile;
        }
    }

    @Test
    void theLibraryTakesEveryBlockWhenAsked() throws Exception {
        HeapProfile profile = sample(1, program.toString(), "all");
        is(under(profile, "lose"), 200, 8000, 200, 8000);
        is(under(profile, "brief"), 1000, 1_000_000, 0, 0);
        is(under(profile, "chain"), 50, 1_275_000, 0, 0);
        is(under(profile, "large"), 3, (2L << 30) + (1 << 20) + 16, 0, 0);
        is(under(profile, "aligned"), 4, 12345 + 6400 + 3200 + 700, 0, 0);
        assertThat(profile.totals().calls()).isEqualTo(1257);
        // The block that a realloc could not enlarge is still there, from then on as its caller's.
        assertThat(profile.totals().liveBytes()).isEqualTo(8016);
        assertThat(profile.totals().peakBytes()).isEqualTo((2L << 30) + 8000);
        assertThat(profile.stacks().getFirst().frames().getFirst().module()).isEqualTo("heap");
        assertThat(profile.faults()).isEmpty();
    }

    @Test
    void samplesAreUnbiased() throws Exception {
        HeapProfile profile = sample(1 << 10, program.toString(), "threads");
        assertThat(profile.totals().calls()).isEqualTo(4000 + 8);
        assertThat(profile.notes()).anyMatch(note -> note.contains("samples, one each 1024 bytes"));
        // 250 samples on average: five standard errors.
        double bytes = under(profile, "one_thread").bytes();
        assertThat(bytes / (8 * 500 * 64)).isBetween(0.68, 1.32);
    }

    @Test
    void theLibraryIsNotInherited() throws Exception {
        HeapProfile profile =
                sample(
                        1 << 19,
                        "sh",
                        "-c",
                        "test -z \"$LD_PRELOAD$SONDE_HEAP\" && /bin/grep -c sonde-heap"
                                + " /proc/self/maps; test $? = 1");
        assertThat(profile.notes()).anyMatch(note -> note.startsWith("calls and bytes are exact"));
    }
}
