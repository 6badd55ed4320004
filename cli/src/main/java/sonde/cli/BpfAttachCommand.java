package sonde.cli;

import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import sonde.bpf.object.LoadedObject;
import sonde.tools.bpf.UnattachedPrograms;
import sonde.tools.report.NothingMatchesException;

/** {@code sonde bpf attach}. */
final class BpfAttachCommand {
    static final String MODEL =
            """
            sonde bpf attach [OPTIONS] OBJECT...

            Load objects and attach their programs. Each program is attached as its section says,
            until Ctrl-C, or permanently with --pin. Programs whose section does not say where need
            --dev, --cgroup or --netns; without these they stay loaded without an attachment.
            """
                    + BpfObjectArguments.MODEL
                    + """

                    Attachment:
                      --pin DIR       keep the programs under their names in this folder of a bpffs
                      --duration TIME
                                      end after this time: 500ms, 10s, 2m

                    Old spellings:
                      --for = --duration

                    Examples:
                      sonde bpf attach switches.bpf.o
                      sonde bpf attach drop.bpf.o --dev eth0
                      sonde bpf attach switches.bpf.o --pin /sys/fs/bpf/sw
                      sonde bpf attach probes.bpf.o --only on_open --duration 10s

                    Exit status:
                      0 done, 1 nothing to attach, 3 this kernel or user cannot, 4 OBJECT is none
                    """;

    private BpfAttachCommand() {}

    static int run(CommandCall call) throws Exception {
        Path pin = call.given().path("--pin");
        OptionalLong time = call.given().nanos("--duration");
        long nanos = time.orElse(Long.MAX_VALUE);
        CountDownLatch end = new CountDownLatch(1);
        CountDownLatch closed = new CountDownLatch(1);
        Thread hook = Thread.ofPlatform().unstarted(() -> end(end, closed));
        try (LoadedObject object = BpfObjectArguments.recipe(call).load()) {
            object.attach(BpfObjectArguments.places(call).targets());
            if (object.links().isEmpty()) {
                throw new NothingMatchesException(
                        "nothing of %s is attached; %s"
                                .formatted(
                                        object.object().name(),
                                        String.join("; ", UnattachedPrograms.of(object))));
            }
            List<Path> pins = pin == null ? List.of() : object.pin(pin);
            BpfObjectArguments.show(call, object, pins);
            UnattachedPrograms.of(object).forEach(one -> call.say("not attached: " + one));
            if (pin == null) {
                Runtime.getRuntime().addShutdownHook(hook);
                if (time.isEmpty()) {
                    call.say("attached until Ctrl-C");
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
