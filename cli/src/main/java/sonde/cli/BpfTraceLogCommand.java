package sonde.cli;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import sonde.bpf.TraceLog;
import sonde.view.Escape;

/** {@code sonde bpf tracelog}. */
@Command(
        name = "tracelog",
        mixinStandardHelpOptions = true,
        description = {
            "Prints what programs write by bpf_trace_printk, as it comes, until interrupted. It"
                    + " switches nothing on: the kernel did when the program was loaded. Each line"
                    + " goes to one reader of the pipe only."
        },
        footer = {
            "",
            "Examples:",
            "  sonde bpf tracelog",
            "  sonde bpf tracelog --duration 10s --count 100"
        })
final class BpfTraceLogCommand implements Callable<Integer> {
    private static final long LOOK_MILLIS = 20;

    /** {@code " bash-17 [000] d..21 5.25: bpf_trace_printk: text"}. */
    private static final Pattern LINE =
            Pattern.compile(
                    "\\s*(.{1,16})-(\\d{1,9})\\s+\\[(\\d{1,6})]\\s+\\S+\\s+(\\d+\\.\\d+):"
                            + " bpf_trace_printk: (.*)");

    @Spec private CommandSpec spec;

    @Option(names = "--duration", paramLabel = "TIME", description = "end after that time")
    private @Nullable String duration;

    @Option(names = "--count", paramLabel = "N", description = "end after so many lines")
    private long count = Long.MAX_VALUE;

    @Option(names = "--json", description = "a JSON object a line")
    private boolean json;

    BpfTraceLogCommand() {
        // picocli fills the options
    }

    @Override
    public Integer call() throws Exception {
        String wanted = duration;
        long end =
                wanted == null
                        ? System.nanoTime() + Long.MAX_VALUE / 2
                        : System.nanoTime() + Durations.nanos(wanted, spec.commandLine());
        PrintWriter out = spec.commandLine().getOut();
        long lines = 0;
        StringBuilder begun = new StringBuilder();
        try (TraceLog log = TraceLog.open()) {
            while (lines < count && System.nanoTime() - end < 0) {
                byte[] bytes = log.read();
                if (bytes.length == 0) {
                    Thread.sleep(LOOK_MILLIS);
                    continue;
                }
                begun.append(new String(bytes, StandardCharsets.UTF_8));
                int feed = begun.indexOf("\n");
                while (feed >= 0 && lines < count) {
                    String text = begun.substring(0, feed);
                    out.println(json ? BpfJson.of(tree(text)).strip() : Escape.line(text));
                    begun.delete(0, feed + 1);
                    lines++;
                    feed = begun.indexOf("\n");
                }
                out.flush();
            }
        }
        return ExitCode.DONE;
    }

    /** Parts of a line; one that has another form is only text. */
    private static Map<String, Object> tree(String line) {
        Map<String, Object> tree = new LinkedHashMap<>();
        Matcher matcher = LINE.matcher(line);
        if (matcher.matches()) {
            tree.put("comm", matcher.group(1));
            tree.put("pid", Long.parseLong(matcher.group(2)));
            tree.put("cpu", Long.parseLong(matcher.group(3)));
            tree.put("time", matcher.group(4));
            tree.put("text", matcher.group(5));
        } else {
            tree.put("text", line);
        }
        return tree;
    }
}
