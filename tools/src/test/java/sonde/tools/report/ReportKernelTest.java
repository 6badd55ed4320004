package sonde.tools.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.event.result.Listing.ListingForm;
import sonde.open.ReportSource;
import sonde.recording.ftrace.EventText.TimePrecision;
import sonde.recording.ftrace.ListedFields;
import sonde.symbol.files.GivenPlaces;
import sonde.testkit.Json;
import sonde.testkit.PerfDataBytes;
import sonde.tools.convert.ConvertRecipe;
import sonde.tools.convert.ConvertTarget;
import sonde.tools.convert.ConvertTarget.StreamTarget;
import sonde.tools.query.OutputFormat;
import sonde.tools.query.QueryRecipe;
import sonde.tools.report.StackOptions.SortKey;
import sonde.tools.report.StackOptions.StackOrder;
import sonde.tools.report.section.ReportSections;
import sonde.view.TerminalStyle;
import sonde.view.TextRenderer;

/**
 * Samples in a kernel of another machine, whose image is a program that was built here; the
 * compiler says where its lines are.
 */
final class ReportKernelTest {
    private static final long SHIFT = 0xffffffff93400000L;
    private static final int BUILD_ID = 2;
    private static final int OSRELEASE = 4;
    private static final int MMAP = 1;
    private static final int SAMPLE = 9;
    private static final int MISC_KERNEL = 1;

    private static final String SOURCE =
            """
            static inline __attribute__((always_inline)) int mix(int n)
            {
                __asm__ volatile("in_mix: nop"); return n * 3;
            }
            __attribute__((noinline)) int work(int n)
            {
                return mix(n);
            }
            int main(int argc, char **argv)
            {
                return work(argc);
            }
            """;

    @TempDir Path folder;

    private final Map<String, Long> at = new HashMap<>();

    @BeforeEach
    void build() throws IOException, InterruptedException {
        Assumptions.assumeTrue(
                Files.isExecutable(Path.of("/usr/bin/gcc"))
                        && Files.isExecutable(Path.of("/usr/bin/readelf")),
                "no gcc");
        Files.writeString(folder.resolve("k.c"), SOURCE);
        run("gcc", "-g", "-O1", "-no-pie", "-fno-pie", "-Wl,--build-id", "-o", "vmlinux", "k.c");
        for (String line : run("nm", "vmlinux").split("\n")) {
            String[] words = line.strip().split(" +");
            if (words.length == 3) {
                at.put(words[2], Long.parseUnsignedLong(words[0], 16) + SHIFT);
            }
        }
    }

    private String run(String... command) throws IOException, InterruptedException {
        Process process =
                new ProcessBuilder(command)
                        .directory(folder.toFile())
                        .redirectErrorStream(true)
                        .start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(text).isZero();
        return text;
    }

    private String buildId() throws IOException, InterruptedException {
        String notes = run("readelf", "-n", "vmlinux");
        return notes.substring(notes.indexOf("Build ID: ") + 10).split("\\s")[0];
    }

    /** A perf.data of a kernel that moved, with two samples in what was inlined. */
    private Path recording(String buildId) throws IOException {
        PerfDataBytes file = new PerfDataBytes(ByteOrder.LITTLE_ENDIAN);
        file.event(file.attr(1, 0, 1 | 2 | 4, 0, 0), 1);
        long main = at.get("main");
        PerfDataBytes.Fields map = file.fields().u32(-1L).u32(0).u64(0xffffffff81000000L);
        map.u64(0x7effffff).u64(main).text("[kernel.kallsyms]main", 24);
        file.record(MMAP, MISC_KERNEL, map);
        file.record(3, 0, file.fields().u32(5).u32(5).text("busy", 8));
        for (int i = 0; i < 2; i++) {
            long time = 1_000_000L * (i + 1);
            file.record(
                    SAMPLE,
                    MISC_KERNEL,
                    file.fields().u64(at.get("in_mix")).u32(5).u32(5).u64(time));
        }
        byte[] id = HexFormat.of().parseHex(buildId);
        PerfDataBytes.Fields one = file.fields().u32(0).u16(MISC_KERNEL).u16(36 + 24);
        one.u32(-1L).raw(id).raw(new byte[24 - id.length]).text("[kernel.kallsyms]", 24);
        file.feature(BUILD_ID, one.toArray());
        file.feature(OSRELEASE, file.headerString("4.4.4-elsewhere"));
        return Files.write(folder.resolve("perf.data"), file.file());
    }

    private String report(Path file, GivenPlaces given) throws IOException {
        StackOptions stacks =
                new StackOptions(
                        StackOrder.CALLER,
                        List.of(SortKey.FUNCTION, SortKey.MODULE, SortKey.LINE),
                        false,
                        true,
                        true);
        ReportOptions options =
                new ReportOptions(
                        ReportSections.named("oncpu"),
                        null,
                        null,
                        Set.of(),
                        List.of(),
                        List.of(),
                        40,
                        ListingOptions.ALL,
                        stacks);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (ReportSource source = ReportSource.open(file, given)) {
            new TextRenderer()
                    .render(new ReportRecipe(options).run(source), out, TerminalStyle.PLAIN);
        }
        return out.toString(StandardCharsets.UTF_8);
    }

    private static GivenPlaces vmlinux(Path file) {
        return new GivenPlaces(List.of(), Optional.of(file), Optional.empty());
    }

    @Test
    void functionsLinesAndInlinedCallsComeFromTheImage() throws IOException, InterruptedException {
        Path file = recording(buildId());
        GivenPlaces below =
                new GivenPlaces(List.of(folder.toString()), Optional.empty(), Optional.empty());
        for (GivenPlaces given : List.of(vmlinux(folder.resolve("vmlinux")), below)) {
            assertThat(report(file, given))
                    .containsPattern("work +\\[kernel\\] +k\\.c:3 +100\\.0 % +2")
                    .contains("work k.c:7 › mix k.c:3 (inlined)");
        }
    }

    @Test
    void listingsAndConversionsTakeThemFromTheImageToo() throws IOException, InterruptedException {
        Path file = recording(buildId());
        GivenPlaces given = vmlinux(folder.resolve("vmlinux"));
        assertThat(events(file, given, ListedFields.parse(List.of("ip,sym,dso,srcline"))))
                .contains(" work ([kernel.kallsyms])\n  k.c:3\n")
                .hasLineCount(4);
        ListedFields full = ListedFields.parse(List.of("srcline,ip")).withFullSourcePaths();
        assertThat(events(file, given, full)).contains("\n  " + folder.resolve("k.c") + ":3\n");
        assertThat(events(file, GivenPlaces.NONE, full)).doesNotContain("k.c");
        assertThat(new String(converted(file, given, "folded"), StandardCharsets.UTF_8))
                .contains("work_[k];mix_[k] 2");
    }

    private static Object json(byte[] text) {
        return Json.parse(new String(text, StandardCharsets.UTF_8));
    }

    private static byte[] converted(Path file, GivenPlaces given, String to) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ConvertTarget target = ConvertTarget.named(to).orElseThrow();
        new ConvertRecipe(given).convert(file, out, ((StreamTarget) target).format());
        return out.toByteArray();
    }

    /** The inlined call is a frame of its own, deeper at the same place. */
    @Test
    void profilesHaveLinesAndInlinedCalls() throws IOException, InterruptedException {
        Path file = recording(buildId());
        GivenPlaces given = vmlinux(folder.resolve("vmlinux"));
        String source = folder.resolve("k.c").toString();
        Object scope = json(converted(file, given, "speedscope"));
        assertThat(Json.at(scope, "shared", "frames"))
                .isEqualTo(
                        List.of(
                                Map.of("name", "work", "file", source, "line", 7.0),
                                Map.of("name", "mix", "file", source, "line", 3.0)));
        Object firefox = json(converted(file, given, "firefox"));
        Object thread = ((List<?>) Json.at(firefox, "threads")).getLast();
        assertThat(Json.at(thread, "frameTable", "inlineDepth")).isEqualTo(List.of(0.0, 1.0));
        assertThat(Json.at(thread, "frameTable", "line")).isEqualTo(List.of(7.0, 3.0));
        List<?> strings = (List<?>) Json.at(thread, "stringArray");
        assertThat((List<?>) Json.at(thread, "funcTable", "fileName"))
                .hasSize(2)
                .allMatch(text -> strings.get(((Double) text).intValue()).equals(source));
    }

    @Test
    void pprofShowsThem() throws IOException, InterruptedException {
        Assumptions.assumeTrue(Files.isExecutable(Path.of("/usr/bin/go")), "no go tool pprof");
        GivenPlaces given = vmlinux(folder.resolve("vmlinux"));
        Files.write(folder.resolve("p.pb.gz"), converted(recording(buildId()), given, "pprof"));
        String source = folder.resolve("k.c").toString();
        assertThat(run("go", "tool", "pprof", "-raw", "p.pb.gz"))
                .containsPattern("M=1 mix " + source + ":3\\b.*\n +work " + source + ":7\\b")
                .contains("1: 0xffffffff", "[kernel] " + buildId());
        assertThat(run("go", "tool", "pprof", "-top", "-lines", "p.pb.gz"))
                .containsPattern("mix .*k\\.c:3 \\(inline\\)");
    }

    @Test
    void queriesHaveInlinedCalls() throws IOException, InterruptedException {
        Path file = recording(buildId());
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        GivenPlaces given = vmlinux(folder.resolve("vmlinux"));
        try (QueryRecipe recipe = QueryRecipe.open(List.of(file, file), given, null, false)) {
            String sql =
                    "SELECT trace_id AS t, callstack_text(callsite_id), count(*) FROM sample"
                            + " GROUP BY ALL ORDER BY 1";
            recipe.run(sql, OutputFormat.CSV, out);
            recipe.run("SELECT name, inlined FROM frame WHERE trace_id = 1", OutputFormat.CSV, out);
            recipe.run("SELECT depth, name FROM callstack(0)", OutputFormat.CSV, out);
        }
        assertThat(out.toString(StandardCharsets.UTF_8).lines())
                .containsSubsequence("0,work;mix,2", "1,work;mix,2")
                .contains("work,0", "mix,1")
                .containsSubsequence("1,mix", "0,work");
    }

    private static String events(Path file, GivenPlaces given, ListedFields fields)
            throws IOException {
        ListingOptions listing =
                new ListingOptions(
                        Set.of(),
                        -1,
                        -1,
                        List.of(),
                        TimePrecision.MICROS,
                        0,
                        false,
                        false,
                        false,
                        fields);
        ReportOptions options =
                new ReportOptions(
                        List.of(),
                        null,
                        null,
                        Set.of(),
                        List.of(),
                        List.of(),
                        40,
                        listing,
                        StackOptions.DEFAULT);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (ReportSource source = ReportSource.open(file, given)) {
            new ReportRecipe(options).events(source).rows().writeTo(out, ListingForm.TEXT);
        }
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void anImageOfAnotherBuildIsTold() throws IOException, InterruptedException {
        String other = "00112233445566778899aabbccddeeff00112233";
        String found = buildId();
        Path file = recording(other);
        assertThat(report(file, vmlinux(folder.resolve("vmlinux"))).replaceAll("\\s+", " "))
                .contains(
                        "vmlinux is of another build: wanted build-id "
                                + other
                                + ", found "
                                + found)
                .doesNotContain("k.c");
    }

    /** perf record --kcore: a folder with the data, and kallsyms as they were. */
    @Test
    void perfsFolderHasTheFunctionsOfItsKernel() throws IOException {
        Path perf = Files.createDirectories(folder.resolve("kcore.data/kcore_dir")).getParent();
        Files.move(recording("0011223344"), perf.resolve("data"));
        String line = HexFormat.of().toHexDigits(at.get("work")) + " t as_it_was\n";
        Files.writeString(perf.resolve("kcore_dir/kallsyms"), line);
        assertThat(report(perf, GivenPlaces.NONE)).contains("as_it_was");
    }
}
