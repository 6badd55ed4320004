package sonde.tools.ftrace;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Report;
import sonde.event.result.Result;
import sonde.probe.launch.CommandLauncher;
import sonde.probe.launch.CommandWords;
import sonde.probe.launch.InheritedState;
import sonde.probe.launch.LaunchedCommand;
import sonde.probe.launch.Leftovers;
import sonde.probe.tracefs.InstanceName;
import sonde.probe.tracefs.TraceInstance;
import sonde.probe.tracefs.Tracefs;
import sonde.sys.SyscallException;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.OptionException;

/** Counts events by their fields in the kernel, by hist triggers in an instance. */
public final class HistogramRecipe {
    /** Of {@code sonde ftrace hist}. */
    public static final String MODEL =
            """
            sonde ftrace hist [OPTIONS] -e EVENT [--] COMMAND [ARG...]
            sonde ftrace hist [OPTIONS] -e EVENT -a [[--] COMMAND [ARG...]]

            Count events by their fields in the kernel (hist triggers), without recording them.

            Arguments:
              -- [COMMAND...]

            Options:
              -e, --event EVENT
                              count this event, SYSTEM:NAME; 'sonde list -v EVENT' shows its fields
              --by FIELD,...
                              group by at most three fields: common_pid.execname, call_site.sym,
                              id.syscall, bytes_req.log2, latency.buckets=100, common_stacktrace
                              (stacktrace before Linux 6.3) (default common_pid.execname)
              --sum FIELD,...
                              add up these fields
              -f, --filter FILTER
                              count only events for which FILTER holds
              -a, --all       count for the whole machine; with a command until that ends
              --duration TIME
                              stop after this time: 5 (seconds), 500ms, 10s, 5m, 1h
              --rows N        print at most N rows (1..100000, default 40)
              --json          print JSON

            Examples:
              sonde ftrace hist -e kmem:kmalloc --by call_site.sym --sum bytes_req -- ls
              sonde ftrace hist -e raw_syscalls:sys_enter --by id.syscall -a --duration 2s
              sonde ftrace hist -e sched:sched_switch --by next_comm -f 'next_prio < 100' -- make

            Exit status:
              that of the command; 3 when the kernel refuses
            """;

    private final GivenOptions given;
    private final List<String> words;
    private int status;

    /** Reads nothing yet. */
    public HistogramRecipe(GivenOptions given) {
        this.given = given;
        List<String> all = given.words();
        boolean dashes = !all.isEmpty() && all.getFirst().equals("--");
        this.words = dashes ? all.subList(1, all.size()) : all;
    }

    /** The command to start, as the shell gave it; null without one. */
    public @Nullable CommandWords command() throws SyscallException {
        return words.isEmpty() ? null : CommandWords.lastArguments(words.size());
    }

    /** The command's own. */
    public int status() {
        return status;
    }

    /** The trigger as the kernel reads it. */
    static String trigger(String by, String sums, String filter) {
        return "hist:keys="
                + by
                + (sums.isEmpty() ? "" : ":vals=" + sums)
                + ":size=65536"
                + (filter.isEmpty() ? "" : " if " + filter);
    }

    /** Counts until the command has ended, the time is over, or a signal came. */
    public Result run(@Nullable CommandWords command, InheritedState origin)
            throws IOException, InterruptedException {
        String event = given.text("--event", "");
        boolean all = given.has("--all");
        if (!event.matches("[\\w.-]+:[\\w.-]+")) {
            throw new OptionException("-e takes one event, as in -e kmem:kmalloc");
        }
        if (command == null && !all) {
            throw new OptionException("count of what? Give a command or -a");
        }
        String by = one("--by", "common_pid.execname");
        String trigger = trigger(by, one("--sum", ""), given.text("--filter", ""));
        Tracefs tracefs =
                Tracefs.find()
                        .orElseThrow(
                                () -> new IOException("tracefs cannot be read: it needs root"));
        Leftovers.remove();
        try (TraceInstance instance =
                        TraceInstance.create(tracefs, InstanceName.ofThisProcess("hist"));
                LaunchedCommand child =
                        command == null ? null : CommandLauncher.prepare(command, origin)) {
            if (child != null && !all) {
                instance.follow(List.of(child.pid()));
            }
            instance.trigger(event, trigger);
            instance.on();
            status = CommandWait.await(child, given.nanos("--duration").orElse(Long.MAX_VALUE));
            instance.off();
            String text = instance.histogram(event);
            HistogramText histogram = HistogramText.parse(text);
            return report(event, by, histogram);
        }
    }

    private String one(String option, String usual) {
        String text = given.text(option, usual);
        if (!text.matches("[\\w.,=$-]*")) {
            throw new OptionException(option + " takes names of fields, not '" + text + "'");
        }
        return text;
    }

    private Report report(String event, String by, HistogramText found) {
        List<String> notes = new ArrayList<>();
        notes.add(
                String.format(
                        Locale.ROOT,
                        "%s fired %,d %s, with %,d different %s.",
                        event,
                        found.hits(),
                        found.hits() == 1 ? "time" : "times",
                        found.rows().size(),
                        by));
        if (found.dropped() > 0) {
            notes.add(
                    String.format(
                            Locale.ROOT,
                            "%,d of them are in no row: the kernel's table was full.",
                            found.dropped()));
        }
        int rows = (int) given.number("--rows").orElse(40);
        return new Report(event, notes, List.of(found.table(event + " by " + by, rows)));
    }
}
