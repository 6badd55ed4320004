package sonde.testkit.guest;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import sonde.testkit.guest.GuestTests.Result;
import sonde.testkit.guest.GuestTests.Status;

/**
 * The guest's side: runs the tests named on the command line and writes a line for each test as
 * soon as it ends, so that a crash leaves what was done before.
 */
public final class GuestMain {
    private GuestMain() {}

    /**
     * Runs.
     *
     * @param arguments the file for results, then classes or {@code class#method}, run in order
     */
    public static void main(String[] arguments) throws IOException {
        try (Writer out = Files.newBufferedWriter(Path.of(arguments[0]))) {
            Listener listener = new Listener(out);
            Launcher launcher = LauncherFactory.create();
            // One request each keeps the order: what a test does to the kernel may stay.
            for (String name : List.of(arguments).subList(1, arguments.length)) {
                launcher.execute(
                        LauncherDiscoveryRequestBuilder.request().selectors(selector(name)).build(),
                        listener);
            }
        }
    }

    private static DiscoverySelector selector(String name) {
        return name.indexOf('#') < 0
                ? DiscoverySelectors.selectClass(name)
                : DiscoverySelectors.selectMethod(name);
    }

    private static final class Listener implements TestExecutionListener {
        private final Writer out;
        private final Map<String, Long> started = new HashMap<>();

        Listener(Writer out) {
            this.out = out;
        }

        @Override
        public void executionStarted(TestIdentifier test) {
            started.put(test.getUniqueId(), System.nanoTime());
        }

        @Override
        public void executionSkipped(TestIdentifier test, String reason) {
            write(new Result(name(test), Status.SKIPPED, 0, reason));
        }

        @Override
        public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            long begin = started.getOrDefault(test.getUniqueId(), System.nanoTime());
            Status status =
                    switch (result.getStatus()) {
                        case SUCCESSFUL -> Status.PASSED;
                        case ABORTED -> Status.SKIPPED;
                        case FAILED -> Status.FAILED;
                    };
            // A container counts when something outside its tests went wrong.
            if (test.isTest() || status == Status.FAILED) {
                long millis = (System.nanoTime() - begin) / 1_000_000;
                String detail =
                        result.getThrowable()
                                .map(e -> status == Status.FAILED ? trace(e) : e.getMessage())
                                .orElse("");
                write(new Result(name(test), status, millis, detail));
            }
        }

        private static String name(TestIdentifier test) {
            return test.getUniqueId().replaceAll("\\[engine:[^]]*\\]/|\\[\\w+(-\\w+)*:|\\]", "");
        }

        private void write(Result result) {
            try {
                out.write(format(result) + "\n");
                out.flush();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static String trace(Throwable e) {
        StringWriter text = new StringWriter();
        e.printStackTrace(new PrintWriter(text));
        return text.toString();
    }

    static String format(Result result) {
        return result.status()
                + "\t"
                + result.millis()
                + "\t"
                + escape(result.name())
                + "\t"
                + escape(result.detail());
    }

    static Result parse(String line) {
        String[] parts = line.split("\t", 4);
        return new Result(
                unescape(parts[2]),
                Status.valueOf(parts[0]),
                Long.parseLong(parts[1]),
                unescape(parts[3]));
    }

    private static String escape(String text) {
        return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t");
    }

    private static String unescape(String text) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c != '\\' || i + 1 == text.length()) {
                out.append(c);
                continue;
            }
            char escaped = text.charAt(++i);
            out.append(escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped);
        }
        return out.toString();
    }
}
