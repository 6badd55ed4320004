package sonde.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Result;
import sonde.probe.dynamic.NamedProbes;
import sonde.probe.dynamic.NamedProbes.ListedProbe;
import sonde.probe.launch.CommandWords;
import sonde.probe.launch.ExecException;
import sonde.probe.launch.InheritedState;
import sonde.probe.launch.ReadyDescriptor;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.OptionException;
import sonde.tools.probe.NamedProbeRecipe;
import sonde.tools.record.RecordArguments;
import sonde.tools.record.RecordOrder;
import sonde.tools.record.RecordOutcome;
import sonde.tools.record.RecordRecipe;
import sonde.tools.record.ReportHandover;
import sonde.tools.report.section.ReportSections;

/** {@code sonde record}. */
final class RecordCommand {
    static final String MODEL =
            """
            sonde record [OPTIONS] [--] COMMAND [ARG...]
            sonde record [OPTIONS] -p PID[,PID...]
            sonde record [OPTIONS] -u USER
            sonde record [OPTIONS] -a [[--] COMMAND [ARG...]]

            Record where time goes: CPU samples and scheduler switches with call chains, wake-ups,
            system calls, block I/O, page faults, signals, the life of processes.

            The recording is a folder NAME.sonde with trace.dat, perf.data and meta.json. A summary
            is printed at the end.

            Arguments:
              -- [COMMAND...]

            What is recorded:
              -p, --pid PID,...
                              record running processes, with their threads and future children
              -u, --user USER
                              record all processes of this user, a name or a number, and those that
                              become the user's while recording
              -a, --all       record the whole machine; with a command until that ends
              -C, --cpu CPUS  record only on these CPUs: 0,2-3
              -e, --event EVENT
                              record these events in addition to the default ones: tracepoints by
                              name or glob, perf events; see 'sonde list' (repeatable)
              -f, --filter FILTER
                              record the events of the -e before it only where FILTER holds; the
                              kernel tests it: 'prev_pid == 0 && next_comm ~ "sh*"', with names of
                              functions for addresses, and of values as the event prints them
                              (repeatable)
              -T, -g, --stacks[=EVENT]
                              record the kernel and user stack with each event of -e, or with these
                              events only (repeatable)
              -F, --frequency HZ
                              take this many CPU samples per second on each CPU
                              (1..100000, default 997)
              --call-graph bpf|fp|dwarf[,BYTES]|none
                              unwind user stacks in the kernel by the unwind tables of the
                              programs (bpf), by frame pointers (fp), or later from registers and
                              BYTES of stack stored with each sample (dwarf; 8192 bytes, at most
                              65528), or do not record them (default bpf)
              --no-cpu        do not record CPU samples
              --no-sched      do not record switches and wake-ups
              --no-syscalls   do not record system calls
              --no-block      do not record block I/O
              --no-faults     do not record page faults
              --no-signals    do not record signals
              --no-names      do not record file names and socket addresses
              --no-jvm        do not ask JVMs for their compiled code and locks
              --jvm           with -p and -a: ask JVMs for their compiled code and locks
              --jvm-map exit  the command's JVMs also write a map of compiled code when they end,
                              through JAVA_TOOL_OPTIONS; the JVM reports that on standard error

            Options:
              -o, --output PATH
                              write the recording to PATH.sonde; if that exists, the next free
                              number is appended to PATH. A PATH that ends in .dat implies --format
                              trace.dat
              --format bundle|trace.dat
                              write a folder NAME.sonde, or one file NAME.dat that trace-cmd and
                              KernelShark show whole; it has no CPU samples (default bundle)
              --duration TIME
                              stop recording after this time: 5 (seconds), 500ms, 10s, 5m, 1h
              --flight-recorder
                              when the ring buffers are full, overwrite the oldest events instead of
                              dropping new ones
              --ring-memory MIB
                              use at most this much kernel memory for all ring buffers; without it
                              5 % of RAM, at most 512 MiB (1..1048576)
              --ready-fd N    write the line 'ready' to file descriptor N and close it once all
                              event sources are armed, just before the command starts. The command
                              does not inherit N. If the recording cannot start, N is closed without
                              the line
              --live          print events while they are recorded: those of -e, or all without -e;
                              one line each as 'sonde report --events' prints them, with the
                              milliseconds since the first event in front; with --json one object
                              each and no summary
              --plan          print what would be recorded, from which source, and why
              --no-summary    do not print a summary; 'sonde report' prints it later
              --print-path    print the path of the recording on standard output
              --json          print the summary or the plan as JSON on standard output

            Examples:
              sonde record -- make -j2
              sonde record -o slow -- ./server --port 8080
              sonde record -p 1234 --duration 10s
              sonde record -a --duration 5s
              sonde record -a -e 'timer:*' -- sleep 0.1        the machine while the command runs
              sonde record -e timer:hrtimer_start -f 'function != tick_nohz_handler' -- ls
              sonde record -T -e kmem:kmalloc -f 'bytes_req > 1000' -- ls
              sonde record -o ls.dat -- ls                     for trace-cmd and KernelShark
              sonde record -e 'skb:*' -e cycles -- curl -s localhost
              sonde record --live -e 'net:*' -- ping -c 1 localhost
              sonde record --plan -- true         what would be recorded, and why

            Exit status:
              that of the command (128+N for signal N, 127 not found, 126 not executable);
              3 when sonde cannot record, or not to the end (full disk) though the command gave 0
            """;

    private final CommandCall call;
    private final GivenOptions given;
    private final RecordArguments arguments;

    private RecordCommand(CommandCall call) {
        this.call = call;
        this.given = call.given();
        this.arguments = new RecordArguments(given);
    }

    static int run(CommandCall call) throws Exception {
        return new RecordCommand(call).run();
    }

    private int run() throws Exception {
        InheritedState origin = InheritedState.capture();
        List<String> command = arguments.command();
        RecordOrder order =
                new RecordOrder(
                        arguments.spec(),
                        Main.VERSION,
                        origin,
                        command.isEmpty() ? null : CommandWords.lastArguments(command.size()),
                        arguments.pids(),
                        given.text("--user"),
                        given.text("--output"),
                        arguments.jvmMaps(),
                        given.has("--live")
                                ? events -> ResultPrinter.onOut(events, call.json())
                                : null,
                        ready(origin));
        if (given.has("--plan")) {
            return ResultPrinter.onOut(RecordRecipe.plan(order), call.json());
        }
        return record(order);
    }

    private @Nullable ReadyDescriptor ready(InheritedState origin) {
        OptionalLong fd = given.number("--ready-fd");
        if (fd.isEmpty() || given.has("--plan")) {
            return null;
        }
        try {
            return ReadyDescriptor.of((int) fd.getAsLong(), origin);
        } catch (IllegalArgumentException e) {
            throw new OptionException("--ready-fd " + fd.getAsLong() + ": " + e.getMessage(), e);
        }
    }

    /** Named probes of a file that was built anew record nothing of it. */
    private void sayChanged() {
        try {
            for (ListedProbe one : NamedProbes.open().changed(given.texts("--event"))) {
                call.say(one.event() + ": " + NamedProbeRecipe.changed(one));
            }
        } catch (IOException e) {
            // Whether probes can be recorded at all is said by the plan.
            return;
        }
    }

    private int record(RecordOrder order) throws Exception {
        if (given.has("--event")) {
            sayChanged();
        }
        ProgressLine line = new ProgressLine(order.command() != null);
        RecordOutcome outcome;
        try {
            boolean watched = line.isVisible() && !given.has("--live");
            outcome = new RecordRecipe(order, watched ? line : null).run();
        } catch (ExecException e) {
            call.say(String.valueOf(e.getMessage()));
            return e.exitCode();
        } finally {
            line.clear();
        }
        try {
            return summary(order, outcome);
        } finally {
            call.say(outcome.removed().get());
        }
    }

    private int summary(RecordOrder order, RecordOutcome outcome) throws Exception {
        boolean failed = !outcome.failure().isEmpty();
        if (failed) {
            call.say(outcome.failure());
        }
        sayOtherName(outcome.bundle());
        if (given.has("--print-path")) {
            call.out().println(outcome.bundle());
            call.out().flush();
        }
        int status = failed && outcome.exitCode() == 0 ? ExitCode.IMPOSSIBLE : outcome.exitCode();
        if (given.has("--no-summary") || given.has("--live") && call.json()) {
            call.say(outcome.meta().notes());
            sayNext(outcome.bundle(), call.err());
            return status;
        }
        ReportHandover handover = new ReportHandover(outcome.bundle(), status);
        if (handover.isWanted()) {
            call.say(outcome.removed().get()); // no thread outlives what follows
            handover.become(order.origin(), call.json());
        }
        return summary(outcome.bundle(), status, call);
    }

    /** Prints the summary of a recording; one that fails does not hide how the command ended. */
    static int summary(Path bundle, int status, CommandCall call) {
        try {
            Result summary = ReportSections.summary(bundle);
            if (call.json()) {
                ResultPrinter.onOut(summary, true);
            } else {
                ResultPrinter.onErr(summary);
                sayNext(bundle, call.err());
            }
            return status;
        } catch (IOException | RuntimeException e) {
            int failed = FailureMessages.execution(e, "report", false, call.err());
            return status == ExitCode.DONE ? failed : status;
        }
    }

    private static void sayNext(Path bundle, PrintWriter err) {
        String called = System.getenv().getOrDefault("SONDE_CALLED", "sonde");
        String name = bundle.toString();
        String word = name.matches("[\\w./+-]+") ? name : "'" + name.replace("'", "'\\''") + "'";
        err.println("\nrecorded into " + bundle + "; next:");
        err.println("  " + called + " report " + word + " --threads --oncpu --offcpu");
        err.println("  " + called + " report " + word + " --html report.html");
    }

    /** An existing recording is kept, and the new one has a number behind the name asked for. */
    private void sayOtherName(Path bundle) {
        String asked = given.text("--output", "").replaceFirst("/+$", "");
        String suffix = arguments.isTraceDat() ? ".dat" : ".sonde";
        String name = asked.endsWith(suffix) ? asked : asked + suffix;
        if (!asked.isEmpty() && !Path.of(name).getFileName().equals(bundle.getFileName())) {
            call.say(name + " exists; this recording is " + bundle);
        }
    }
}
