package sonde.probe.launch;

import java.nio.file.Path;
import sonde.sys.Fd;
import sonde.sys.WaitStatus;

/** What a test starts as a JVM of its own: the recorder's part of a launch, and nothing else. */
final class LaunchMain {
    private LaunchMain() {}

    /**
     * Mode, then the command: {@code run}, {@code tell} to print its status, {@code hold} never to
     * release it; or {@code folder} with parent and name.
     */
    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("folder")) {
            try (OutputFolder folder = OutputFolder.next(Path.of(arguments[1]), arguments[2])) {
                Fd.close(folder.file("file"));
                folder.giveToCaller();
            }
            return;
        }
        InheritedState origin = InheritedState.capture();
        CommandWords command = CommandWords.lastArguments(arguments.length - 1);
        WaitStatus status;
        try (LaunchedCommand target = CommandLauncher.prepare(command, origin);
                EndSignals signals = EndSignals.listen(signal -> {})) {
            if (arguments[0].equals("hold")) {
                System.out.println(target.pid());
                Thread.sleep(60_000);
            }
            target.release();
            status = target.await();
        } catch (ExecException e) {
            System.err.println(e.getMessage());
            Runtime.getRuntime().halt(e.exitCode());
            return;
        }
        if (arguments[0].equals("tell")) {
            System.out.println("recorded " + status.shellCode());
        }
        System.exit(status.shellCode());
    }
}
