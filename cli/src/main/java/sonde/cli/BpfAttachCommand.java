package sonde.cli;

import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import sonde.bpf.object.LoadedObject;
import sonde.tools.bpf.Unattached;
import sonde.tools.report.NothingMatchesException;

/** {@code sonde bpf attach}. */
@Command(
        name = "attach",
        mixinStandardHelpOptions = true,
        description = {
            "Loads objects and attaches each program as its section says, until Ctrl-C, or for"
                    + " good with --pin. Programs whose section does not say where need --dev,"
                    + " --cgroup or --netns, or stay loaded without an attachment."
        },
        footer = {
            "",
            "Examples:",
            "  sonde bpf attach switches.bpf.o",
            "  sonde bpf attach drop.bpf.o --dev eth0",
            "  sonde bpf attach switches.bpf.o --pin /sys/fs/bpf/sw",
            "  sonde bpf attach probes.bpf.o --only on_open --for 10s",
            "",
            "Exit status: 0 done, 1 nothing to attach, 3 this kernel or user cannot, 4 OBJECT is"
                    + " none."
        })
final class BpfAttachCommand implements Callable<Integer> {
    @Spec private CommandSpec spec;

    @Mixin private @Nullable BpfObjectArguments arguments;

    @Option(names = "--pin", paramLabel = "DIR", description = "a folder in a bpffs for the names")
    private @Nullable Path pin;

    @Option(names = "--for", paramLabel = "TIME", description = "end after that: 500ms, 10s, 2min")
    private @Nullable String time;

    @SuppressWarnings("NullAway.Init") // picocli fills it in
    BpfAttachCommand() {}

    @Override
    public Integer call() throws Exception {
        var line = spec.commandLine();
        BpfObjectArguments given = Objects.requireNonNull(arguments);
        long nanos = time == null ? Long.MAX_VALUE : Durations.nanos(time, line);
        CountDownLatch end = new CountDownLatch(1);
        CountDownLatch closed = new CountDownLatch(1);
        Thread hook = Thread.ofPlatform().unstarted(() -> end(end, closed));
        try (LoadedObject object = given.recipe().load()) {
            object.attach(given.places().targets());
            if (object.links().isEmpty()) {
                throw new NothingMatchesException(
                        "nothing of %s is attached; %s"
                                .formatted(
                                        object.object().name(),
                                        String.join("; ", Unattached.of(object))));
            }
            List<Path> pins = pin == null ? List.of() : object.pin(pin);
            given.show(object, pins);
            Unattached.of(object)
                    .forEach(one -> Failures.say(line.getErr(), "not attached: " + one));
            if (pin == null) {
                Runtime.getRuntime().addShutdownHook(hook);
                if (time == null) {
                    Failures.say(line.getErr(), "attached until Ctrl-C");
                }
                boolean ended = end.await(nanos, TimeUnit.NANOSECONDS);
                if (!ended) {
                    Runtime.getRuntime().removeShutdownHook(hook);
                }
            }
        } finally {
            closed.countDown();
        }
        return ExitCode.DONE;
    }

    /** Waits until everything is detached: the JVM ends with its hooks. */
    private static void end(CountDownLatch end, CountDownLatch closed) {
        end.countDown();
        try {
            closed.await(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
