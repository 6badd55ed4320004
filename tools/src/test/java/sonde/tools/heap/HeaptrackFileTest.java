package sonde.tools.heap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.binary.MalformedInputException;
import sonde.event.heap.HeapMoment;
import sonde.event.heap.HeapProfile;
import sonde.event.heap.HeapSize;
import sonde.event.heap.HeapStack;
import sonde.event.heap.HeapSums;
import sonde.event.result.Report;
import sonde.exchange.heap.HeapFile;
import sonde.exchange.heap.HeapFormat;

class HeaptrackFileTest {
    /** One block of 16 is left of two stacks, one was temporary; the peak is at 20 ms. */
    static final String TEXT =
            """
            v 10400 3
            X ./prog --all
            I 1000 100
            s 9 /bin/prog
            s 4 main
            s 6 prog.c
            s 4 grow
            s 5 inner
            s 1b operator new(unsigned long)
            s 6 _start
            i 1000 1 7 0 0
            t 1 0
            i 1100 1 2 3 14
            t 2 1
            i 1200 1 5 3 7 4 3 9
            t 3 2
            i 1300 1 6 0 0
            t 4 3
            a 10 3
            a 20 4
            a 30 2
            c a
            + 0
            - 0
            + 0
            R 5
            c 14
            + 1
            + 2
            R 9
            c 1e
            - 2
            - 1
            c 28
            """;

    private static HeapFile read(String text, long until) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return HeapFormat.read(new ByteArrayInputStream(bytes), until);
    }

    private static HeapProfile read(String text) throws IOException {
        return read(text, HeapSums.UNKNOWN).profile();
    }

    private static HeapSums of(HeapProfile profile, String leaf) {
        return profile.stacks().stream()
                .filter(stack -> stack.frames().getFirst().shown().equals(leaf))
                .map(HeapStack::sums)
                .reduce(HeapSums::plus)
                .orElseThrow();
    }

    @Test
    void everyNumberOfASmallFile() throws IOException {
        HeapProfile profile = read(TEXT);
        assertThat(profile.command()).isEqualTo("./prog --all");
        assertThat(profile.totals()).isEqualTo(new HeapSums(4, 112, 1, 16, 3, 96, 2, -1));
        assertThat(profile.peakNanos()).isEqualTo(20_000_000);
        assertThat(profile.peakResident()).isEqualTo(9 * 4096);
        assertThat(profile.nanos()).isEqualTo(41_000_000);
        assertThat(of(profile, "main prog.c:20"))
                .isEqualTo(new HeapSums(1, 48, 0, 0, 1, 48, 1, -1));
        // operator new is no frame of its own; both stacks end in the inlined function
        assertThat(of(profile, "inner prog.c:7 (inlined)"))
                .isEqualTo(new HeapSums(3, 64, 1, 16, 2, 48, 1, -1));
        assertThat(profile.stacks().getFirst().frames())
                .extracting(frame -> frame.name())
                .doesNotContain("_start");
        assertThat(profile.sizes())
                .containsExactly(
                        new HeapSize(16, 16, 2, 1),
                        new HeapSize(32, 32, 1, 0),
                        new HeapSize(48, 48, 1, 0));
        assertThat(profile.curve()).contains(new HeapMoment(20_000_000, 96, -1, 9 * 4096));
        assertThat(profile.notes()).isEmpty();
    }

    @Test
    void readingEndsAtATime() throws IOException {
        assertThat(read(TEXT, 20_000_000).profile().totals().liveBytes()).isEqualTo(96);
        assertThat(read(TEXT, 10_000_000).profile().totals().liveBytes()).isEqualTo(16);
        assertThat(read(TEXT, 30_000_000).profile().totals().liveBytes()).isEqualTo(16);
    }

    @Test
    void version0NamesBlocksByAddress() throws IOException {
        HeapProfile profile =
                read("v 10000\nX a\ni 1 0\nt 1 0\n+ 10 1 ff00\n+ 20 1 ff80\n- ff80\n- 1234\n");
        assertThat(profile.totals()).isEqualTo(new HeapSums(2, 48, 1, 16, 2, 48, 1, -1));
    }

    @Test
    void damageIsCountedAndTheRestIsRead() throws IOException {
        String damaged =
                TEXT.replace(
                        "c 28", "+ 77\n- 1\nt 99 88\na fffffffffffffffff 1\n+ zz\n?\nc 0\nc 28");
        HeapProfile profile = read(damaged);
        assertThat(profile.totals().liveBytes()).isEqualTo(16);
        assertThat(profile.notes())
                .containsExactly(
                        "4 lines could not be read.",
                        "1 frees of blocks that were not in use are not counted.",
                        "1 references to names or stacks lead nowhere.");
        assertThatThrownBy(() -> read(TEXT.replace("10400 3", "10400 9")))
                .isInstanceOf(MalformedInputException.class)
                .hasMessageContaining("version 9");
        assertThatThrownBy(() -> read("v 10400 3\nx a\n"))
                .hasMessageContaining("heaptrack --interpret");
        assertThatThrownBy(() -> read("no heap at all\n"))
                .isInstanceOf(MalformedInputException.class);
    }

    @Test
    void theSummaryNamesTheLeakAndThePeak() throws IOException {
        HeapView view = new HeapView("a", Set.of(), 10, 5, true, "", List.of());
        Report report = new HeapReport(read(TEXT, HeapSums.UNKNOWN), view).report();
        assertThat(report.answer())
                .containsExactly(
                        "inner at prog.c:7, called by grow at prog.c:9, allocated 16 bytes in 1"
                                + " block that was not freed (all that was left).",
                        "The heap was largest after 20.0 ms, with 96 bytes; 48 bytes in 2 blocks"
                                + " (50.0 %) were allocated by inner at prog.c:7, called by grow at"
                                + " prog.c:9.");
    }

    /**
     * {@code put} has 64 bytes by {@code resize} and 16 by a template with a type before its name,
     * {@code other} 48 by the same function of the library as {@code resize}.
     */
    @Test
    void theSummaryNamesTheProgramsFunctionNotTheLibrarys() throws IOException {
        String text =
                """
                v 10400 3
                X ./prog
                I 1000 100
                s 9 /bin/prog
                s 4 main
                s 7 prog.cc
                s f Cache::put(int)
                s 28 /usr/include/c++/12/bits/new_allocator.h
                s 3f std::__new_allocator<int>::allocate(unsigned long, void const*)
                s 3d std::vector<int, std::allocator<int> >::resize(unsigned long)
                s 4e void std::__fill<std::map<int, std::vector<int, std::allocator<int> > > >(int)
                s 1b operator new(unsigned long)
                s a other(int)
                i 1000 1 2 3 14
                i 1100 1 4 3 7
                i 1200 1 6 5 89 7 5 63
                i 1300 1 8 5 32
                i 1400 1 9 0 0
                i 1500 1 a 3 f
                t 1 0
                t 2 1
                t 3 2
                t 5 3
                t 4 2
                t 5 5
                t 6 1
                t 3 7
                t 5 8
                a 40 4
                a 10 6
                a 30 9
                c a
                + 0
                + 1
                + 2
                c 28
                """;
        HeapView view = new HeapView("a", Set.of(), 10, 5, true, "", List.of());
        assertThat(new HeapReport(read(text, HeapSums.UNKNOWN), view).report().answer())
                .first()
                .isEqualTo(
                        "Cache::put(int) at prog.cc:7, mostly through std::vector::resize,"
                                + " allocated 80 bytes in 2 blocks that were not freed (62.5 % of"
                                + " 128 bytes in 3 blocks).");
    }

    /** A program that was killed: what it wrote is shown, and nothing is called leaked. */
    @Test
    void aCutFileIsReadToItsEnd() throws IOException {
        Path file = dir.resolve("cut.gz");
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(packed, true)) {
            gzip.write(TEXT.getBytes(StandardCharsets.UTF_8));
            gzip.flush();
            gzip.write("c 50\n".getBytes(StandardCharsets.UTF_8));
        }
        byte[] bytes = packed.toByteArray();
        Files.write(file, Arrays.copyOf(bytes, bytes.length - 12));
        HeapFile cut = HeapFormat.read(file, HeapSums.UNKNOWN);
        assertThat(cut.profile().totals().calls()).isEqualTo(4);
        assertThat(cut.profile().notes())
                .containsExactly("The compressed file cannot be read to its end: it is cut short.");
        HeapView view = new HeapView("a", Set.of(), 10, 5, true, "", List.of());
        for (HeapFile one : List.of(cut, read(TEXT + "+ ", HeapSums.UNKNOWN))) {
            assertThat(new HeapReport(one, view).report().answer())
                    .first()
                    .asString()
                    .startsWith(
                            "inner at prog.c:7, called by grow at prog.c:9, allocated 16 bytes in 1"
                                    + " block that was in use when the profile was written (all that was left).");
        }
    }

    @TempDir Path dir;

    /** The six figures of heaptrack_print, of a program whose allocations are known. */
    @Test
    void figuresOfHeaptrackPrint() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/heaptrack")), "heaptrack is not installed");
        Path source = dir.resolve("known.c");
        Files.writeString(
                source,
                """
                #include <stdlib.h>
                #include <unistd.h>
                static void *keep[1000];
                static void *volatile sink;
                __attribute__((noinline)) void lose(void) { sink = malloc(40); }
                __attribute__((noinline)) void temp(void) { free(sink = calloc(1, 64)); }
                __attribute__((noinline)) void grow(int i) { keep[i] = malloc(10000 + i); }
                int main(void) {
                    for (int i = 0; i < 200; i++) lose();
                    for (int i = 0; i < 5000; i++) temp();
                    for (int i = 0; i < 1000; i++) grow(i);
                    usleep(30000);
                    for (int i = 0; i < 1000; i++) free(keep[i]);
                    return 0;
                }
                """);
        Path program = dir.resolve("known");
        run("gcc", "-g", "-O1", "-o", program.toString(), source.toString());
        Path data = dir.resolve("data");
        run("heaptrack", "-o", data.toString(), program.toString());
        Path file;
        try (var made = Files.list(dir)) {
            file = made.filter(one -> one.toString().contains("data.")).findFirst().orElseThrow();
        }
        String printed = run("heaptrack_print", file.toString());
        HeapProfile profile = HeapFormat.read(file, HeapSums.UNKNOWN).profile();
        HeapSums totals = profile.totals();
        Map<String, Double> peer = figures(printed);
        near(profile.nanos() / 1e9, peer.get("total runtime"), 0.01);
        near(totals.calls(), peer.get("calls to allocation functions"), 1);
        near(totals.temporary(), peer.get("temporary memory allocations"), 1);
        near(totals.peakBytes(), peer.get("peak heap memory consumption"), 1);
        near(profile.peakResident(), peer.get("peak RSS (including heaptrack overhead)"), 1);
        near(totals.liveBytes(), peer.get("total memory leaked"), 1);
        // equal to the byte by function and line
        assertThat(of(profile, "lose known.c:5").liveBytes()).isEqualTo(8000);
        assertThat(of(profile, "lose known.c:5").liveBlocks()).isEqualTo(200);
        assertThat(of(profile, "temp known.c:6").temporary()).isEqualTo(5000);
        assertThat(of(profile, "grow known.c:7").peakBytes()).isEqualTo(10_499_500);
        assertThat(of(profile, "grow known.c:7").liveBytes()).isEqualTo(0);
    }

    private static void near(double own, double peer, double step) {
        assertThat(own).isCloseTo(peer, within(Math.max(step, 0.01 * peer)));
    }

    private static Map<String, Double> figures(String printed) {
        Map<String, Double> figures = new HashMap<>();
        Map<String, Double> units = Map.of("K", 1e3, "M", 1e6, "G", 1e9, "B", 1.0, "s", 1.0);
        Matcher line =
                Pattern.compile("(?m)^([a-zA-Z ()]+): (-?[\\d.]+)([KMGBs]?).*$").matcher(printed);
        while (line.find()) {
            double scale = units.getOrDefault(line.group(3), 1.0);
            figures.put(line.group(1), Double.parseDouble(line.group(2)) * scale);
        }
        return figures;
    }

    private static String run(String... words) throws Exception {
        Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return output;
    }
}
