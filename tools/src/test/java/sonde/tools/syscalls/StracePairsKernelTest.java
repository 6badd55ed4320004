package sonde.tools.syscalls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import sonde.event.result.Listing.ListingForm;
import sonde.event.result.Table;
import sonde.probe.launch.CommandWords;
import sonde.probe.launch.InheritedState;
import sonde.testkit.Shard;
import sonde.tools.option.CommandModel;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.OptionWords;

/** Options beside the installed strace's: the same lines but for numbers that differ each time. */
@Tag("kernel")
final class StracePairsKernelTest {
    private static final CommandModel MODEL = CommandModel.parse(SyscallsArguments.MODEL);

    /** Options; the command is always the same. */
    private static final String OPTIONS =
            """
            -y
            -yy -e trace=%desc
            -y -P /etc/hostname
            -P /etc/hostname -e trace=!read
            -X raw
            -X verbose
            -e raw=all
            -e verbose=none
            -e abbrev=none -e trace=!execve
            -v -E SHOWN=yes -E HOME -e trace=%file
            -e read=0,3 -e write=1 -e trace=read,write
            --strings-in-hex=non-ascii-chars -e read
            -xx -e trace=%file -a 20
            -qq -z
            -Z --quiet=exit
            -e status=unfinished
            -e trace=/^open,?nosuchcall,%memory@64 -n -qq
            --argv0=other -e execve
            -e trace=!all -e signal=none
            """;

    @TempDir private Path folder = Path.of("");

    private static List<String> options() {
        return Shard.of(OPTIONS.lines().toList());
    }

    @ParameterizedTest
    @MethodSource("options")
    void linesAreThoseOfStrace(String options) throws Exception {
        String[] command = {"/usr/bin/dd", "if=/etc/hostname", "of=/dev/null", "status=none"};
        assumeTrue(Files.exists(Path.of("/usr/bin/strace")), "strace is not installed");
        boolean isNew = options.contains("argv0"); // since strace 6.3
        List<String> own = sonde(options, command);
        assertThat(own).isNotEmpty();
        if (isNew) {
            assertThat(own.getFirst()).startsWith("execve(\"/usr/bin/dd\", [\"other\", ");
        } else {
            List<String> theirs = strace(options, command);
            assertThat(without(own, theirs)).isEqualTo(without(theirs, own));
            assertThat(own).hasSameSizeAs(theirs);
        }
    }

    private static List<String> without(List<String> lines, List<String> others) {
        List<String> left = new ArrayList<>(lines);
        others.forEach(left::remove);
        return left;
    }

    private static SyscallsRequest request(String options, String... command) throws Exception {
        GivenOptions given = OptionWords.read(MODEL, words(options, command));
        given.check();
        return SyscallsArguments.request(given, InheritedState.capture(), CommandWords.of(command));
    }

    private List<String> sonde(String options, String... command) throws Exception {
        SyscallsRequest request = request(options, command);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (SyscallsRun run = new SyscallsRun(request)) {
            run.lines().rows().writeTo(out, ListingForm.TEXT);
        }
        return masked(out.toString(StandardCharsets.ISO_8859_1));
    }

    private static List<String> words(String options, String... command) {
        List<String> words = new ArrayList<>(List.of(options.split(" ")));
        words.addAll(List.of(command));
        return words;
    }

    private List<String> strace(String options, String... command) throws Exception {
        Path file = folder.resolve("strace");
        List<String> words = words(options, command);
        words.addAll(0, List.of("/usr/bin/strace", "-o", file.toString()));
        Process strace =
                new ProcessBuilder(words)
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start();
        assertThat(strace.waitFor()).isZero();
        return masked(Files.readString(file, StandardCharsets.ISO_8859_1));
    }

    /** Addresses, the environment, random numbers and descriptors that are inherited differ. */
    private static List<String> masked(String text) {
        return text.lines()
                .map(line ->
                        line.replaceAll("\\b0x[0-9a-f]{5,}\\b", "ADDRESS")
                                .replaceAll("ADDRESS /\\* \\d+ vars \\*/", "ENVIRONMENT")
                                .replaceAll(
                                        "\"\\], \\[\"[A-Za-z_].*?(SHOWN=yes)?.*\\]", "\"], [$1]")
                                .replaceAll("getrandom\\(\"[^\"]*\"", "getrandom(RANDOM")
                                .replaceAll("(set_tid_address\\(ADDRESS\\) += ).*", "$1PID")
                                .replaceAll("<(pipe|socket|/dev|UNIX|/).*?>+", "<FILE>")
                                .replaceAll(" +=", " ="))
                .collect(Collectors.toCollection(ArrayList::new));
    }

    @Test
    void optionsThatNeedATracerSayWhatToDo() {
        assertThat(refusal("-D")).contains("in the background");
        assertThat(refusal("--kill-on-exit")).contains("it runs on");
        assertThat(refusal("-e quiet=nothing")).contains("'nothing' is none of attach, exit");
        assertThat(refusal("-X odd")).contains("'odd' is none of raw, abbrev, verbose");
        assertThat(refusal("--decode-fds=odd")).contains("'odd' is none of dev, path");
        assertThat(refusal("-e read=x")).contains("'x' is not a descriptor");
        assertThat(refusal("-c -U odd")).contains("'odd' is none of time-percent");
    }

    private static String refusal(String options) {
        try {
            GivenOptions given = OptionWords.read(MODEL, words(options, "true"));
            given.check();
            SyscallsArguments.request(given, InheritedState.capture(), CommandWords.of("true"));
            return "";
        } catch (sonde.tools.option.OptionException e) {
            return String.valueOf(e.getMessage());
        } catch (sonde.sys.SyscallException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void aPathIsFoundThroughEachDescriptor() throws Exception {
        Path file = Files.writeString(folder.resolve("known"), "words\n");
        String script =
                "exec 5<" + file + "; cd " + folder + "; cat <&5; cat known; exec 6<&5; read x <&6";
        List<String> lines = sonde("-f -y -P " + file, "/bin/sh", "-c", script);
        Stream<String> calls = lines.stream().filter(line -> !line.contains("+++"));
        assertThat(calls.filter(line -> !line.contains("---")))
                .isNotEmpty()
                .anyMatch(line -> line.contains("openat(") && line.contains("\"known\""))
                .anyMatch(line -> line.contains("dup2("))
                .anyMatch(line -> line.contains("read(0"));
    }

    @Test
    void slowCallsAndALimit() throws Exception {
        List<String> slow = sonde("--slower 50ms -T", "/bin/sleep", "0.1");
        assertThat(slow).hasSize(2);
        assertThat(slow.getFirst()).matches("clock_nanosleep\\(.*<0\\.1\\d+>");
        SyscallsRequest counted = request("-c -Z -e openat", "/bin/cat", "/no/such/file");
        try (SyscallsRun run = new SyscallsRun(counted)) {
            run.lines().rows().writeTo(OutputStream.nullOutputStream(), ListingForm.TEXT);
            Table table = run.table().orElseThrow();
            assertThat(table.rows().getFirst()).endsWith("openat");
            assertThat(table.rows())
                    .allSatisfy(row -> assertThat(row.get(5)).isEqualTo(row.get(6)));
        }
        List<String> few = sonde("--syscall-limit 3 -qq", "/bin/true");
        assertThat(few).hasSize(3);
    }
}
