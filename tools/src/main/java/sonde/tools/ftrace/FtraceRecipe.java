package sonde.tools.ftrace;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import sonde.event.result.Report;
import sonde.event.result.TableBuilder;
import sonde.probe.launch.Leftovers;
import sonde.probe.launch.Leftovers.Leftover;
import sonde.probe.tracefs.TopSetting;
import sonde.probe.tracefs.TraceInstance;
import sonde.probe.tracefs.Tracefs;

/** Shows and resets what others left in tracefs, and writes marks into what is recorded. */
public final class FtraceRecipe {
    /** Of {@code sonde ftrace reset}. */
    public static final String RESET =
            """
            sonde ftrace reset [OPTIONS]

            Show what is switched on at the top of tracefs, which all tracers share, and who has
            instances. With --yes reset the top as trace-cmd reset does.

            Options:
              --yes           reset what is shown; instances of other programs stay
              --json          print JSON

            Examples:
              sonde ftrace reset
              sonde ftrace reset --yes

            Exit status:
              0 nothing is on, or it was reset; 1 something is on
            """;

    /** Of {@code sonde ftrace mark}. */
    public static final String MARK =
            """
            sonde ftrace mark TEXT...

            Write a line into every trace that is recorded now, by sonde or another program: what
            happened when, as seen from outside.

            Arguments:
              TEXT...

            Examples:
              sonde ftrace mark begin of the slow phase

            Exit status:
              0 done, 1 nothing is being recorded
            """;

    /** An answer, and whether it is the good one. */
    public record FtraceAnswer(Report report, boolean isGood) {}

    private FtraceRecipe() {}

    private static Tracefs tracefs() throws IOException {
        return Tracefs.find()
                .orElseThrow(() ->
                        new IOException(
                                "tracefs cannot be read: it needs root, and a kernel that has and"
                                        + " permits it; 'sonde doctor' says more"));
    }

    /** What is on, and whether nothing is, or all of it was reset. */
    public static FtraceAnswer reset(boolean really) throws IOException {
        Tracefs tracefs = tracefs();
        List<Leftover> instances =
                Leftovers.examine().stream().filter(one -> !one.removed()).toList();
        List<TopSetting> found = TopSetting.changed(tracefs);
        List<String> notes = new ArrayList<>();
        if (really) {
            List<TopSetting> left = found;
            // What was on may have changed something while it was reset.
            for (int pass = 0; pass < 2 && !left.isEmpty(); pass++) {
                for (TopSetting one : left) {
                    one.reset(tracefs);
                }
                left = TopSetting.changed(tracefs);
            }
            List<String> files = left.stream().map(TopSetting::file).toList();
            notes.add(
                    found.isEmpty()
                            ? "nothing was on at the top of tracefs"
                            : files.isEmpty()
                                    ? "all of this was reset"
                                    : "not reset: " + String.join(", ", files));
            return new FtraceAnswer(report(found, instances, notes), files.isEmpty());
        }
        notes.add(
                found.isEmpty()
                        ? "nothing is on at the top of tracefs"
                        : "'sonde ftrace reset --yes' resets this, also for whoever uses it now");
        return new FtraceAnswer(report(found, instances, notes), found.isEmpty());
    }

    private static Report report(
            List<TopSetting> found, List<Leftover> instances, List<String> notes) {
        return new Report(
                "tracefs",
                notes,
                List.of(
                        new TableBuilder<TopSetting>("top")
                                .text("file", TopSetting::file)
                                .text("value", TopSetting::value)
                                .text("usual", TopSetting::usual)
                                .table(found),
                        new TableBuilder<Leftover>("instances")
                                .text("name", Leftover::name)
                                .text("whose", Leftover::why)
                                .table(instances)));
    }

    /** Writes a line into every ring that records. */
    public static FtraceAnswer mark(List<String> words) throws IOException {
        Tracefs tracefs = tracefs();
        List<String> marked = TraceInstance.mark(tracefs, String.join(" ", words));
        return new FtraceAnswer(
                new Report(
                        "mark",
                        List.of(
                                marked.isEmpty()
                                        ? "nothing is being recorded by ftrace: no mark was written"
                                        : "marked in " + String.join(", ", marked)),
                        List.of()),
                !marked.isEmpty());
    }
}
