package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A recording of a program that writes its own stack into a file, and then asks for its parent
 * (getppid) in the same function: the file's lines are what the user stacks of the calls should be.
 */
final class ParentCalls {
    private static final String CALL = "syscalls:sys_enter_getppid";
    private static final Pattern HIT = Pattern.compile("\\s*(\\d+)\\s+" + CALL + ".*");
    private static final Pattern FRAME = Pattern.compile("\\s+([0-9a-f]+) (.*) \\([^()]*\\)");
    private static final Pattern LINE = Pattern.compile("  \\S.*:(\\d+)");

    /** Addresses of frames of run times are above. */
    private static final long FIRST = 1L << 56;

    private final Path folder;
    private final Path bundle;

    /** What the program says of its stacks, a line each. */
    final List<String> told;

    private ParentCalls(Path folder, Path bundle, List<String> told) {
        this.folder = folder;
        this.bundle = bundle;
        this.told = told;
    }

    /** Programs below a folder of the user, or of the machine. */
    static List<Path> programs(String pattern, Path... places) throws Exception {
        List<Path> found = new ArrayList<>();
        for (Path place : places) {
            if (Files.isDirectory(place)) {
                try (Stream<Path> files =
                        Files.find(place, 3, (path, _) -> path.toString().matches(pattern))) {
                    for (Path path : files.toList()) {
                        found.add(path.toRealPath());
                    }
                }
            }
        }
        return found.stream().distinct().sorted().toList();
    }

    /**
     * Records a program of the test's sources.
     *
     * @param runTime that runs it
     */
    static ParentCalls record(Path folder, Path runTime, String source) throws Exception {
        assumeTrue(Files.isExecutable(runTime), () -> "needs " + runTime);
        assumeTrue(Files.isWritable(Path.of("/proc/1/oom_score_adj")), "needs root");
        Path said = folder.resolve("said");
        // On a busy machine the tables of a library may come after the program.
        for (int round = 0; ; round++) {
            Recorded recorded =
                    Recorded.record(
                            folder,
                            "calls" + round,
                            "-e",
                            CALL,
                            "-T",
                            "--",
                            runTime.toString(),
                            TargetProgram.source(source).toString(),
                            said.toString());
            boolean late = recorded.meta().texts("notes").toString().contains("met a file before");
            if (!late || round == 4) {
                return new ParentCalls(folder, recorded.bundle, Files.readAllLines(said));
            }
        }
    }

    /** A frame of a run time; the line is empty when it is not known. */
    record CallFrame(String name, String line) {}

    /** Frames of run times of a call, innermost first. */
    record ParentCall(String thread, List<CallFrame> frames) {
        List<String> names() {
            return new ArrayList<>(frames.stream().map(CallFrame::name).toList());
        }
    }

    List<ParentCall> calls() throws Exception {
        Sonde.Outcome listed =
                Sonde.in(folder)
                        .run(
                                "report",
                                bundle.toString(),
                                "--events",
                                "--event",
                                "*getppid*",
                                "-F",
                                "tid,event,ip,sym,dso,srcline");
        assertThat(listed.status()).as("%s", listed.err()).isZero();
        List<ParentCall> calls = new ArrayList<>();
        boolean isRunTime = false;
        for (String text : listed.out().lines().toList()) {
            Matcher hit = HIT.matcher(text);
            Matcher frame = FRAME.matcher(text);
            Matcher place = LINE.matcher(text);
            if (hit.matches()) {
                calls.add(new ParentCall(hit.group(1), new ArrayList<>()));
            } else if (frame.matches()) {
                isRunTime = Long.parseUnsignedLong(frame.group(1), 16) >= FIRST;
                if (isRunTime) {
                    calls.getLast().frames().add(new CallFrame(frame.group(2), ""));
                }
            } else if (isRunTime && place.matches()) {
                List<CallFrame> frames = calls.getLast().frames();
                frames.addLast(new CallFrame(frames.removeLast().name(), place.group(1)));
            }
        }
        return calls;
    }
}
