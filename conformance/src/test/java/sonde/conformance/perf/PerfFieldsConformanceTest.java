package sonde.conformance.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import sonde.binary.Input;
import sonde.event.Recording;
import sonde.event.result.Listing.ListingForm;
import sonde.open.ReportSource;
import sonde.recording.ftrace.EventText.TimePrecision;
import sonde.recording.ftrace.ListedFields;
import sonde.recording.perfdata.PerfAbi;
import sonde.recording.perfdata.PerfDataReader;
import sonde.tools.report.ListingOptions;
import sonde.tools.report.NothingMatchesException;
import sonde.tools.report.ReportOptions;
import sonde.tools.report.ReportRecipe;
import sonde.tools.report.StackOptions;

/** {@code report --events --fields} lists what {@code perf script -F} lists. */
class PerfFieldsConformanceTest {
    /** What follows an address: names depend on the files that lie on this machine. */
    private static final Pattern NAMES = Pattern.compile("(?<=[0-9a-f]{3}) \\S.* \\(.*\\)$");

    private static final List<String> LISTS =
            List.of(
                    "comm,pid,tid,time,event,period",
                    "trace:tid,cpu,trace",
                    "pid,ip,sym,dso",
                    "+period,-symoff",
                    "comm,brstack",
                    "ip,iregs,uregs",
                    "comm,addr,weight,data_src,ins_lat,phys_addr");

    @TempDir Path folder;

    static List<Path> recordings() throws IOException {
        return PerfScriptConformanceTest.recordings();
    }

    @ParameterizedTest(allowZeroInvocations = true)
    @MethodSource("recordings")
    void columnsEqualPerfScript(Path file) throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/perf")), "no perf here");
        assumeTrue(!isPipe(file), "perf adds fields to those asked for of a pipe's file");
        boolean faults;
        try (Recording recording = PerfDataReader.open(Input.open(file))) {
            assumeTrue(!isUnwound(recording), "perf unwinds user stacks of this file");
            // The names of data that page faults touched are looked up by perf alone.
            faults =
                    PerfScriptConformanceTest.described(recording).attrs().stream()
                            .anyMatch(entry -> entry.name().contains("faults"));
        }
        for (String list : LISTS) {
            List<String> theirs = perf(file, list);
            if (!theirs.isEmpty() && !(faults && list.contains("addr"))) {
                compare(file, list, theirs);
            }
        }
    }

    /** perf leaves a column that no sample has empty, sonde says so. */
    private static void compare(Path file, String list, List<String> theirs) throws IOException {
        try {
            assertThat(withoutNames(lines(file, list))).as(list).isEqualTo(withoutNames(theirs));
        } catch (NothingMatchesException e) {
            assertThat(e).hasMessageStartingWith("no sample of this recording has ");
        }
    }

    /** A file as a pipe carries it has a header of 16 bytes. */
    private static boolean isPipe(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] head = in.readNBytes(16);
            return head.length == 16 && (head[8] == 16 || head[15] == 16);
        }
    }

    private static boolean isUnwound(Recording recording) {
        return PerfScriptConformanceTest.described(recording).attrs().stream()
                .anyMatch(entry ->
                        entry.attr().samples(PerfAbi.PERF_SAMPLE_STACK_USER)
                                || (entry.attr().branchSampleType()
                                                & PerfAbi.PERF_SAMPLE_BRANCH_CALL_STACK)
                                        != 0);
    }

    private static List<String> lines(Path file, String list) throws IOException {
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
                        ListedFields.parse(List.of(list)));
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
        try (ReportSource source = ReportSource.open(file)) {
            new ReportRecipe(options).events(source).rows().writeTo(out, ListingForm.TEXT);
        }
        return out.toString(StandardCharsets.ISO_8859_1).lines().toList();
    }

    private static List<String> withoutNames(List<String> lines) {
        return lines.stream().map(line -> NAMES.matcher(line).replaceFirst("")).toList();
    }

    private List<String> perf(Path file, String list) throws Exception {
        Path out = folder.resolve("out");
        ProcessBuilder perf =
                new ProcessBuilder(
                        "/usr/bin/perf", "script", "--no-inline", "--no-itrace", "-F", list, "-i");
        perf.command().add(file.toString());
        perf.redirectOutput(out.toFile()).redirectError(ProcessBuilder.Redirect.DISCARD);
        perf.redirectInput(Path.of("/dev/null").toFile());
        int status = perf.start().waitFor();
        return status == 0
                ? Files.readString(out, StandardCharsets.ISO_8859_1).lines().toList()
                : List.of();
    }
}
