package sonde.testkit;

import static org.junit.platform.engine.discovery.ClassNameFilter.STANDARD_INCLUDE_PATTERN;

import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.platform.commons.support.HierarchyTraversalMode;
import org.junit.platform.commons.support.ReflectionSupport;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.ClassNameFilter;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TagFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Runs tests of one module for {@code ./test}, prints what failed, and writes JUnit's XML. */
public final class TestRun implements TestExecutionListener {
    private static final int MOST_LINES = 60;
    private static final int MOST_FRAMES = 5;

    /** How a test ended. */
    private enum Status {
        PASSED,
        FAILED,
        SKIPPED
    }

    /** One test; {@code detail} is the stack of a failure or the reason for skipping. */
    private record Result(String name, Status status, long nanos, String detail) {}

    private final PrintStream out = System.out;
    private final Map<String, Long> began = new ConcurrentHashMap<>();
    private final Map<String, List<Result>> results = new TreeMap<>();

    /** Of whole classes, with what runs before and after all of their tests. */
    private final Map<String, Long> classNanos = new TreeMap<>();

    private TestRun() {}

    /**
     * Runs; the exit code is 1 when a test failed.
     *
     * @param arguments the folder for reports, the file for the counts, then {@code --with TAGS
     *     FOLDER} or {@code --without TAGS FOLDER} for the classes in a folder by tag, or classes
     *     and {@code class#method}
     */
    public static void main(String[] arguments) throws IOException {
        TestRun run = new TestRun();
        List<String> words = List.of(arguments).subList(2, arguments.length);
        LauncherFactory.create().execute(request(words), run);
        run.report(Path.of(arguments[0]));
        long failed = run.count(Status.FAILED);
        String counts = run.count(Status.PASSED) + " " + failed + " " + run.count(Status.SKIPPED);
        Files.writeString(Path.of(arguments[1]), counts);
        // Threads that a test left behind do not hold up the end.
        System.exit(failed > 0 ? 1 : 0);
    }

    private static LauncherDiscoveryRequest request(List<String> words) {
        LauncherDiscoveryRequestBuilder builder = LauncherDiscoveryRequestBuilder.request();
        String first = words.getFirst();
        if (first.startsWith("--")) {
            List<String> tags = List.of(words.get(1).split(","));
            String besides = first.equals("--without") ? "true" : "false";
            builder.configurationParameter("junit.jupiter.execution.parallel.enabled", besides);
            builder.selectors(
                    DiscoverySelectors.selectClasspathRoots(Set.of(Path.of(words.get(2)))));
            builder.filters(
                    first.equals("--with")
                            ? TagFilter.includeTags(tags)
                            : TagFilter.excludeTags(tags),
                    ClassNameFilter.includeClassNamePatterns(STANDARD_INCLUDE_PATTERN));
        } else {
            for (String word : words) {
                builder.selectors(selectors(word));
            }
        }
        return builder.build();
    }

    /** A class, or the methods of that name; JUnit itself wants the types of their parameters. */
    static List<? extends DiscoverySelector> selectors(String word) {
        String[] parts = word.split("#", 2);
        if (parts.length < 2) {
            return List.of(DiscoverySelectors.selectClass(word));
        }
        Class<?> type = ReflectionSupport.tryToLoadClass(parts[0]).toOptional().orElse(null);
        List<Method> methods =
                type == null
                        ? List.of()
                        : ReflectionSupport.findMethods(
                                type,
                                method -> method.getName().equals(parts[1]),
                                HierarchyTraversalMode.BOTTOM_UP);
        return methods.isEmpty()
                ? List.of(DiscoverySelectors.selectMethod(word)) // says what is missing
                : methods.stream()
                        .map(method -> DiscoverySelectors.selectMethod(type, method))
                        .toList();
    }

    @Override
    public void executionStarted(TestIdentifier test) {
        began.put(test.getUniqueId(), System.nanoTime());
    }

    @Override
    public synchronized void executionSkipped(TestIdentifier test, String reason) {
        add(test, Status.SKIPPED, reason);
        out.println("skipped " + className(test) + "." + name(test) + ": " + reason);
    }

    @Override
    public synchronized void executionFinished(TestIdentifier test, TestExecutionResult result) {
        if (test.getSource().orElse(null) instanceof ClassSource) {
            classNanos.merge(className(test), nanos(test), Math::max);
        }
        switch (result.getStatus()) {
            case SUCCESSFUL -> {
                if (test.isTest()) {
                    add(test, Status.PASSED, "");
                }
            }
            case ABORTED -> {
                executionSkipped(test, result.getThrowable().map(Throwable::getMessage).orElse(""));
            }
            case FAILED -> {
                StringWriter stack = new StringWriter();
                result.getThrowable().ifPresent(e -> e.printStackTrace(new PrintWriter(stack)));
                add(test, Status.FAILED, stack.toString());
                out.println("FAILED " + className(test) + "." + name(test));
                result.getThrowable().ifPresent(this::explain);
            }
        }
    }

    private synchronized void add(TestIdentifier test, Status status, String detail) {
        results.computeIfAbsent(className(test), type -> new ArrayList<>())
                .add(new Result(name(test), status, nanos(test), detail));
    }

    private long nanos(TestIdentifier test) {
        long now = System.nanoTime();
        return now - began.getOrDefault(test.getUniqueId(), now);
    }

    private long count(Status status) {
        return results.values().stream().mapToLong(tests -> count(tests, status)).sum();
    }

    private static long count(List<Result> tests, Status status) {
        return tests.stream().filter(one -> one.status() == status).count();
    }

    private void explain(Throwable failure) {
        List<String> lines = failure.toString().lines().toList();
        lines.stream().limit(MOST_LINES).forEach(line -> out.println("    " + line));
        if (lines.size() > MOST_LINES) {
            out.println("    … " + (lines.size() - MOST_LINES) + " more lines");
        }
        List.of(failure.getStackTrace()).stream()
                .filter(frame -> frame.getClassName().startsWith("sonde."))
                .filter(frame -> !frame.getClassName().equals(TestRun.class.getName()))
                .limit(MOST_FRAMES)
                .forEach(frame -> out.println("        at " + frame));
        if (failure.getCause() != null) {
            out.println("    caused by");
            explain(failure.getCause());
        }
    }

    /** The outermost class, by whose name the report is called. */
    private static String className(TestIdentifier test) {
        String name =
                switch (test.getSource().orElse(null)) {
                    case MethodSource method -> method.getClassName();
                    case ClassSource type -> type.getClassName();
                    case null, default -> test.getDisplayName();
                };
        return name.replaceFirst("\\$.*", "");
    }

    private static String name(TestIdentifier test) {
        String shown = test.getDisplayName();
        return switch (test.getSource().orElse(null)) {
            case MethodSource method when shown.startsWith(method.getMethodName()) ->
                    method.getMethodName();
            case MethodSource method -> method.getMethodName() + " " + shown;
            case null, default -> shown;
        };
    }

    private void report(Path folder) throws IOException {
        for (var one : results.entrySet()) {
            String type = one.getKey();
            List<Result> tests = one.getValue();
            StringBuilder text = new StringBuilder();
            text.append(
                    "<testsuite name=\"%s\" tests=\"%d\" failures=\"%d\" skipped=\"%d\" time=\"%s\">\n"
                            .formatted(
                                    escape(type),
                                    tests.size(),
                                    count(tests, Status.FAILED),
                                    count(tests, Status.SKIPPED),
                                    seconds(classNanos.getOrDefault(type, 0L))));
            for (Result test : tests) {
                text.append(
                        "  <testcase classname=\"%s\" name=\"%s\" time=\"%s\">"
                                .formatted(
                                        escape(type), escape(test.name()), seconds(test.nanos())));
                String detail = escape(test.detail());
                text.append(
                        switch (test.status()) {
                            case PASSED -> "";
                            case FAILED -> "<failure>" + detail + "</failure>";
                            case SKIPPED -> "<skipped message=\"" + detail + "\"/>";
                        });
                text.append("</testcase>\n");
            }
            text.append("</testsuite>\n");
            Files.writeString(folder.resolve("TEST-" + type + ".xml"), text);
        }
    }

    private static String seconds(long nanos) {
        return String.format(Locale.ROOT, "%.3f", nanos / 1e9);
    }

    private static String escape(String text) {
        StringBuilder out = new StringBuilder();
        for (char c : text.toCharArray()) {
            switch (c) {
                case '&' -> out.append("&amp;");
                case '<' -> out.append("&lt;");
                case '>' -> out.append("&gt;");
                case '"' -> out.append("&quot;");
                default -> out.append(c < ' ' && c != '\n' && c != '\t' ? '?' : c);
            }
        }
        return out.toString();
    }
}
