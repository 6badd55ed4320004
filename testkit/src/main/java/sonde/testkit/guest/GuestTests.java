package sonde.testkit.guest;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Runs test classes in a guest, all in one JVM. */
public final class GuestTests {
    /** Compilation by C1 only: C2 never pays under emulation. */
    private static final List<String> JVM_OPTIONS =
            List.of(
                    "-XX:TieredStopAtLevel=1",
                    "-XX:+UseSerialGC",
                    "-XX:-UsePerfData",
                    "-Xshare:auto",
                    "-XX:+UnlockDiagnosticVMOptions",
                    "-XX:-BytecodeVerificationRemote",
                    "-Xmx512m",
                    "-Djunit.jupiter.execution.timeout.testable.method.default=90 s",
                    "-Djunit.jupiter.execution.timeout.threaddump.enabled=true",
                    "-Dsonde.inguest=true",
                    "--enable-native-access=ALL-UNNAMED");

    /** How a test ended. */
    public enum Status {
        PASSED,
        FAILED,
        SKIPPED
    }

    /**
     * One test in the guest.
     *
     * @param detail the failure's stack trace or the reason for skipping
     */
    public record Result(String name, Status status, long millis, String detail) {}

    /**
     * A list that was run.
     *
     * @param results in the order of their ends
     * @param step the JVM as a whole; its output when it broke
     */
    public record Outcome(Guest.Outcome guest, List<Result> results, Step.Result step) {}

    private GuestTests() {}

    /**
     * Boots and runs.
     *
     * @param classpath of the host, seen by the guest at the same places
     * @param properties system properties for the tests
     * @param classes names of test classes
     */
    public static Outcome run(
            GuestKernel kernel,
            String classpath,
            Map<String, String> properties,
            List<String> classes,
            int timeoutSeconds)
            throws IOException, InterruptedException {
        try (Guest guest = new Guest(kernel)) {
            List<String> command = new ArrayList<>();
            command.add(guest.java().toString());
            command.addAll(JVM_OPTIONS);
            properties.forEach((key, value) -> command.add("-D" + key + "=" + value));
            command.addAll(List.of("-cp", classpath, GuestMain.class.getName(), "/mnt/results"));
            command.addAll(classes);
            Guest.Outcome outcome = guest.run(List.of(new Step("tests", command, timeoutSeconds)));
            List<Result> results = new ArrayList<>();
            var file = guest.work().resolve("results");
            if (Files.exists(file)) {
                for (String line : Files.readAllLines(file)) {
                    results.add(GuestMain.parse(line));
                }
            }
            if (outcome.steps().isEmpty()) {
                throw new IOException(
                        "guest %s ended before the tests did; done: %s%n%s"
                                .formatted(
                                        kernel.release(),
                                        results.stream().map(Result::name).toList(),
                                        outcome.console()));
            }
            return new Outcome(outcome, results, outcome.steps().getFirst());
        }
    }
}
