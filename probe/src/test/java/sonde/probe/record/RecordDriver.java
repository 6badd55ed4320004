package sonde.probe.record;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import sonde.probe.plan.KernelFeatureProbe;
import sonde.probe.plan.MachineSize;
import sonde.probe.plan.RecordPlan;
import sonde.probe.plan.RecordPlanner;
import sonde.probe.plan.RecordSpec;
import sonde.probe.plan.UnknownEventException;
import sonde.recording.bundle.RecordingMeta;
import sonde.recording.bundle.RecordingMeta.CommandExit;
import sonde.recording.bundle.RecordingMeta.TargetMode;
import sonde.sys.Clocks;
import sonde.sys.MachineFacts;
import sonde.sys.ProcessCalls;

/** Records a command without the command line: {@code RecordDriver FOLDER COMMAND…}. */
final class RecordDriver {
    private RecordDriver() {}

    /** Runs in a process of its own too, so that it can be killed. */
    public static void main(String[] args) throws Exception {
        long begin = System.nanoTime();
        List<String> command = List.of(args).subList(1, args.length);
        Stopped child = Stopped.start(command);
        RecordSpec asked =
                RecordSpec.of(TargetMode.COMMAND).withRingLimit(Long.getLong("rings", 0));
        RecordSpec spec = Boolean.getBoolean("flight") ? asked.keepingTheEnd() : asked;
        RecordingMeta meta;
        try (BundleFolder folder = folder(Path.of(args[0]));
                RecordSession session =
                        RecordSession.start(plan(spec), folder, request(command, child.pid()))) {
            long armed = System.nanoTime();
            child.go();
            session.released(Clocks.nanos(Clocks.CLOCK_MONOTONIC));
            int status = child.process().waitFor();
            long ended = System.nanoTime();
            System.out.println("progress " + session.progress());
            meta = session.stop(new CommandExit(status << 8, 0, 0, 0, 0, 0, 0, 0));
            System.out.printf(
                    "armed after %d ms, ran %d ms, finished in %d ms%n",
                    (armed - begin) / 1_000_000,
                    (ended - armed) / 1_000_000,
                    (System.nanoTime() - ended) / 1_000_000);
        }
        System.out.println("recorder " + meta.recorder());
        meta.losses().forEach(System.out::println);
        meta.notes().forEach(System.out::println);
    }

    static BundleFolder folder(Path path) throws IOException {
        Files.createDirectories(path);
        return BundleFolder.open(path.toString());
    }

    static RecordPlan plan(RecordSpec spec) throws IOException {
        try {
            MachineSize size =
                    new MachineSize(
                            MachineFacts.onlineCpus().cardinality(), MachineFacts.ramBytes());
            return RecordPlanner.plan(spec, KernelFeatureProbe.probe(), size);
        } catch (UnknownEventException e) {
            throw new IOException(e);
        }
    }

    static RecordRequest request(List<String> argv, int pid) {
        return new RecordRequest("0.1.0", TargetMode.COMMAND, argv, List.of(pid), false);
    }

    /** A command that waits before its exec. */
    record Stopped(Process process) {
        static Stopped start(List<String> command) throws Exception {
            List<String> shell =
                    new ArrayList<>(List.of("sh", "-c", "kill -STOP $$; exec \"$@\"", "sh"));
            shell.addAll(command);
            Process process =
                    new ProcessBuilder(shell)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .redirectError(ProcessBuilder.Redirect.DISCARD)
                            .start();
            Path stat = Path.of("/proc/" + process.pid() + "/stat");
            for (int i = 0; i < 1000; i++) {
                String text = Files.readString(stat, StandardCharsets.UTF_8);
                if (text.substring(text.lastIndexOf(')')).startsWith(") T")) {
                    return new Stopped(process);
                }
                TimeUnit.MILLISECONDS.sleep(2);
            }
            throw new IOException("did not stop");
        }

        int pid() {
            return (int) process.pid();
        }

        void go() throws IOException {
            ProcessCalls.kill(pid(), ProcessCalls.SIGCONT);
        }
    }
}
