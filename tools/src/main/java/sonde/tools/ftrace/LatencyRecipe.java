package sonde.tools.ftrace;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.probe.launch.CommandLauncher;
import sonde.probe.launch.CommandWords;
import sonde.probe.launch.InheritedState;
import sonde.probe.launch.LaunchedCommand;
import sonde.probe.launch.Leftovers;
import sonde.probe.tracefs.InstanceName;
import sonde.probe.tracefs.TraceInstance;
import sonde.probe.tracefs.Tracefs;
import sonde.probe.tracefs.TracerRefusedException;
import sonde.sys.SyscallException;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.OptionException;

/** Runs a tracer that measures latencies, and keeps its text. */
public final class LatencyRecipe {
    /** Of {@code sonde ftrace latency}. */
    public static final String MODEL =
            """
            sonde ftrace latency --tracer TRACER [OPTIONS] [[--] COMMAND [ARG...]]

            Find the longest time with interrupts or preemption off, or from wake-up to running, on
            the whole machine, while the command runs or until Ctrl-C. The kernel's text is kept in
            a file that 'sonde report' reads.

            Arguments:
              -- [COMMAND...]

            Options:
              --tracer TRACER
                              one of irqsoff, preemptoff, preemptirqsoff (sections with these off),
                              wakeup, wakeup_rt, wakeup_dl (from wake-up to running), hwlat,
                              osnoise, timerlat (what hardware, interrupts and threads take)
              --threshold TIME
                              keep each latency of at least this long, not only the longest
              --set FILE=VALUE
                              set this file of tracefs meanwhile, as in osnoise/period_us=500000
                              (repeatable)
              -o, --output PATH
                              write the text to this file (default TRACER.txt)
              --duration TIME
                              stop after this time: 5 (seconds), 500ms, 10s, 5m, 1h
              --json          print the result as JSON

            Examples:
              sonde ftrace latency --tracer irqsoff --duration 10s
              sonde ftrace latency --tracer wakeup_rt -- cyclictest -D 10 -p 80
              sonde ftrace latency --tracer timerlat --set osnoise/stop_tracing_us=100

            Exit status:
              that of the command; 3 when the kernel does not have the tracer
            """;

    private static final List<String> TRACERS =
            List.of(
                    "irqsoff",
                    "preemptoff",
                    "preemptirqsoff",
                    "wakeup",
                    "wakeup_rt",
                    "wakeup_dl",
                    "hwlat",
                    "osnoise",
                    "timerlat");

    private static final Pattern SETTABLE =
            Pattern.compile(
                    "(osnoise|hwlat_detector|options)/\\w[\\w-]*|buffer_size_kb|tracing_cpumask");

    private final GivenOptions given;
    private final List<String> words;
    private int status;

    /** Reads nothing yet. */
    public LatencyRecipe(GivenOptions given) {
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

    /** Measures, and returns the file with the text. */
    public Path run(@Nullable CommandWords command, InheritedState origin)
            throws IOException, InterruptedException {
        String tracer = given.text("--tracer", "");
        if (!TRACERS.contains(tracer)) {
            throw new OptionException("--tracer takes one of " + String.join(", ", TRACERS));
        }
        Tracefs tracefs =
                Tracefs.find()
                        .orElseThrow(
                                () -> new IOException("tracefs cannot be read: it needs root"));
        if (!tracefs.tracers().contains(tracer)) {
            throw TracerRefusedException.missing(tracer, tracefs);
        }
        Leftovers.remove();
        Path file = Path.of(given.text("--output", tracer + ".txt"));
        try (TraceInstance instance = place(tracefs, tracer);
                LaunchedCommand child =
                        command == null ? null : CommandLauncher.prepare(command, origin)) {
            if (instance.has("tracing_max_latency")) {
                instance.set("tracing_max_latency", "0", false);
            }
            if (given.has("--threshold")) {
                long micros = Math.max(given.nanos("--threshold").orElse(0) / 1000, 1);
                instance.set("tracing_thresh", Long.toString(micros), false);
            }
            for (String setting : given.texts("--set")) {
                set(instance, setting, tracefs);
            }
            instance.tracer(tracer);
            instance.on();
            long nanos = given.nanos("--duration").orElse(Long.MAX_VALUE);
            status = CommandWait.await(child, nanos);
            instance.off();
            Files.writeString(
                    file,
                    instance.text("trace"),
                    StandardCharsets.UTF_8,
                    StandardOpenOption.CREATE,
                    StandardOpenOption.TRUNCATE_EXISTING,
                    StandardOpenOption.WRITE);
        }
        return file;
    }

    private static TraceInstance place(Tracefs tracefs, String tracer) throws SyscallException {
        TraceInstance own = TraceInstance.create(tracefs, InstanceName.ofThisProcess("latency"));
        if (own.hasTracer(tracer)) {
            return own;
        }
        own.close();
        return TraceInstance.top(tracefs);
    }

    private static void set(TraceInstance instance, String setting, Tracefs tracefs)
            throws SyscallException {
        int equals = setting.indexOf('=');
        String file = equals < 0 ? "" : setting.substring(0, equals);
        if (!SETTABLE.matcher(file).matches()) {
            throw new OptionException(
                    "--set takes FILE=VALUE with a file of osnoise/, hwlat_detector/ or options/,"
                            + " not '"
                            + setting
                            + "'");
        }
        try {
            instance.set(file, setting.substring(equals + 1), false);
        } catch (SyscallException e) {
            throw TracerRefusedException.setting(file, setting, e, tracefs);
        }
    }
}
