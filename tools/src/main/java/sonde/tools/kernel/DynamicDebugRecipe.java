package sonde.tools.kernel;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Column;
import sonde.event.result.Listing;
import sonde.event.result.Listing.ListingForm;
import sonde.event.result.Report;
import sonde.event.result.Result;
import sonde.event.result.TableBuilder;
import sonde.event.result.TextLayout;
import sonde.probe.launch.CommandLauncher;
import sonde.probe.launch.CommandWords;
import sonde.probe.launch.EndSignals;
import sonde.probe.launch.InheritedState;
import sonde.probe.launch.LaunchedCommand;
import sonde.probe.printk.DynamicDebug;
import sonde.probe.printk.KernelLog;
import sonde.probe.printk.KernelLog.LogRecord;
import sonde.probe.printk.PrintLease;
import sonde.probe.printk.PrintSite;
import sonde.sys.ProcessCalls;
import sonde.sys.SyscallException;
import sonde.tools.option.OptionException;
import sonde.view.JsonRenderer;
import sonde.view.TextEscape;

/** Lists the kernel's debug messages, and switches them on and off, for good or for a while. */
public final class DynamicDebugRecipe {
    private static final long LOOK_NANOS = 20_000_000;
    private static final int DEBUG = 7;

    /**
     * What is asked for.
     *
     * @param words which messages, as {@link PrintSelection} reads them
     * @param on whether flags are set, or removed
     * @param flags letters of {@link DynamicDebug#FLAGS}
     */
    public record PrintRequest(List<String> words, boolean on, String flags) {
        public PrintRequest {
            words = List.copyOf(words);
            if (!flags.matches("[" + DynamicDebug.FLAGS + "]+")) {
                throw new OptionException(
                        "--flags takes letters of '"
                                + DynamicDebug.FLAGS
                                + "', not '"
                                + flags
                                + "'");
            }
        }
    }

    /** An answer, and whether any message matched. */
    public record PrintAnswer(Result result, boolean found) {}

    /** How long messages stay switched; a command and its inherited state, or a time. */
    public record PrintSpan(
            long nanos, @Nullable String command, @Nullable InheritedState origin) {}

    private DynamicDebugRecipe() {}

    /** The messages of a selection, and why one may not be seen. */
    public static PrintAnswer list(List<String> words) throws IOException {
        PrintSelection selection = PrintSelection.of(words);
        List<PrintSite> all = debug().sites();
        List<PrintSite> matching = all.stream().filter(selection.test()).toList();
        return new PrintAnswer(
                shown(matching, notes(KernelFiles.HERE, all, matching, selection)),
                !matching.isEmpty());
    }

    private static DynamicDebug debug() throws IOException {
        return DynamicDebug.find()
                .orElseThrow(() -> {
                    KernelConfig config = KernelFiles.HERE.config();
                    String known =
                            config.isKnown() && !config.isSet("DYNAMIC_DEBUG")
                                    ? " (" + config.source() + " says so)"
                                    : "";
                    return new IOException(
                            "/proc/dynamic_debug/control is missing: the kernel is built without"
                                    + " CONFIG_DYNAMIC_DEBUG"
                                    + known
                                    + "; a pr_debug() of it is printed only where its file was"
                                    + " compiled with DEBUG");
                });
    }

    static List<String> notes(
            KernelFiles files,
            List<PrintSite> all,
            List<PrintSite> matching,
            PrintSelection selection) {
        List<String> notes = new ArrayList<>();
        long on = matching.stream().filter(PrintSite::isOn).count();
        notes.add(
                "%d of %d debug messages match, %d of them are on"
                        .formatted(matching.size(), all.size(), on));
        String module = selection.module().replace('-', '_');
        if (matching.isEmpty()) {
            boolean named = module.matches("\\w+");
            boolean loaded = named && files.has("/sys/module/" + module);
            notes.add(
                    !named
                            ? "a pr_debug() that is not listed is in a module that is not loaded,"
                                    + " or was compiled out"
                            : loaded
                                    ? "module "
                                            + module
                                            + " is there without such a message: it is"
                                            + " compiled out, or was built with DEBUG and is always"
                                            + " printed"
                                    : "no module "
                                            + module
                                            + " is loaded; modprobe "
                                            + module
                                            + " dyndbg=+p switches its messages on from the start");
        } else if (on < matching.size()) {
            notes.add("'sonde kernel dyndbg on " + selection.text() + "' switches them on");
        }
        if (LogCheck.ignoresLevel(files)) {
            notes.add("messages that are on reach dmesg and the console (ignore_loglevel)");
        } else {
            LogCheck.consoleLevel(files)
                    .ifPresent(level ->
                            notes.add(
                                    "messages that are on have level 7 (debug): they reach dmesg,"
                                            + (level > DEBUG
                                                    ? " and the console"
                                                    : " and not the console, whose level is "
                                                            + level
                                                            + "; dmesg -n 8 shows them there")));
        }
        return notes;
    }

    static Result shown(List<PrintSite> sites, List<String> notes) {
        Report report =
                new Report(
                        "dynamic debug",
                        notes,
                        List.of(
                                new TableBuilder<PrintSite>("messages")
                                        .text("file", PrintSite::file)
                                        .count("line", one -> (long) one.line())
                                        .text("module", PrintSite::module)
                                        .text("function", PrintSite::function)
                                        .text("flags", PrintSite::flags)
                                        .text("format", PrintSite::format)
                                        .table(sites)));
        return new TextLayout(
                report,
                out -> {
                    notes.forEach(note -> out.println("# " + TextEscape.line(note)));
                    for (PrintSite one : sites) {
                        String flags = one.flags().isEmpty() ? "_" : one.flags();
                        String place =
                                "%s:%d [%s]%s =%s \"%s\""
                                        .formatted(
                                                one.file(),
                                                one.line(),
                                                one.module(),
                                                one.function(),
                                                flags,
                                                one.format());
                        out.println(TextEscape.line(place));
                    }
                });
    }

    /**
     * Switches messages until somebody switches them back.
     *
     * @param dryRun whether the queries are only shown
     */
    public static PrintAnswer set(PrintRequest request, boolean dryRun) throws IOException {
        DynamicDebug debug = debug();
        List<PrintSite> matching = matching(debug, request);
        List<String> queries = DynamicDebug.queries(matching, request.on(), request.flags());
        if (dryRun) {
            return new PrintAnswer(
                    new TextLayout(
                            new TableBuilder<String>("queries")
                                    .text("query", q -> q)
                                    .table(queries),
                            out -> queries.forEach(q -> out.println(TextEscape.line(q)))),
                    !matching.isEmpty());
        }
        debug.write(queries);
        List<PrintSite> after = matching(debug, request);
        long refused = changing(after, request);
        List<String> notes = new ArrayList<>();
        String flags = (request.on() ? "+" : "-") + request.flags();
        notes.add(
                "%d of %d messages were changed (%s), the others were so before"
                        .formatted(changing(matching, request) - refused, matching.size(), flags));
        if (refused > 0) {
            notes.add("the kernel did not change " + refused + " of them");
        }
        return new PrintAnswer(shown(after, notes), !matching.isEmpty());
    }

    private static long changing(List<PrintSite> sites, PrintRequest request) {
        return sites.stream()
                .filter(site -> !site.changed(request.on(), request.flags()).isEmpty())
                .count();
    }

    private static List<PrintSite> matching(DynamicDebug debug, PrintRequest request)
            throws IOException {
        PrintSelection selection = PrintSelection.of(request.words());
        return debug.sites().stream().filter(selection.test()).toList();
    }

    /** Switches messages for a while, and prints what they say. */
    public static final class PrintRun {
        private final PrintRequest request;
        private final PrintSpan span;
        private volatile boolean ended;
        private volatile int status;

        /** Nothing is switched before its result is written. */
        public PrintRun(PrintRequest request, PrintSpan span) {
            this.request = request;
            this.span = span;
        }

        /** The messages as they come. */
        public Result result() {
            return new Listing(
                    "",
                    List.of(Column.count("time us"), Column.text("caller"), Column.text("message")),
                    this::write);
        }

        /** The command's own; 1 where no message matches. */
        public int status() {
            return status;
        }

        private void write(OutputStream stream, ListingForm form) throws IOException {
            DynamicDebug debug = debug();
            List<PrintSite> matching = matching(debug, request);
            if (matching.isEmpty()) {
                throw new IOException(
                        "no debug message matches '"
                                + String.join(" ", request.words())
                                + "'; 'sonde kernel dyndbg list' shows them");
            }
            PrintLease.removeLeftovers();
            List<String> queries = DynamicDebug.queries(matching, request.on(), request.flags());
            List<String> undo = DynamicDebug.undo(matching, request.on(), request.flags());
            PrintWriter out = new PrintWriter(stream, false, StandardCharsets.UTF_8);
            boolean json = form == ListingForm.JSON_LINES;
            int[] pid = {0};
            try (EndSignals _ = EndSignals.listen(kind -> end(kind, pid[0]));
                    LaunchedCommand child = prepared();
                    KernelLog log = KernelLog.open(true);
                    PrintLease _ = PrintLease.begin(debug, queries, undo)) {
                if (child != null) {
                    pid[0] = child.pid();
                    child.release();
                    watch(child);
                }
                long from = System.nanoTime();
                boolean last = false;
                while (!last) {
                    last = ended || System.nanoTime() - from >= span.nanos() || out.checkError();
                    print(log, out, json);
                    if (!last) {
                        LockSupport.parkNanos(LOOK_NANOS);
                    }
                }
            }
        }

        private @Nullable LaunchedCommand prepared() throws IOException {
            String command = span.command();
            InheritedState origin = span.origin();
            return command == null || origin == null
                    ? null
                    : CommandLauncher.prepare(CommandWords.of("/bin/sh", "-c", command), origin);
        }

        /** Ctrl-C reaches the command by itself; other signals are passed on. */
        private void end(EndSignals.Kind kind, int pid) {
            boolean hasCommand = pid != 0;
            if (hasCommand && kind != EndSignals.Kind.INTERRUPT) {
                try {
                    ProcessCalls.kill(pid, kind.number());
                } catch (SyscallException e) {
                    // It has ended by itself.
                }
            }
            ended |= !hasCommand || kind != EndSignals.Kind.INTERRUPT;
        }

        private void watch(LaunchedCommand child) {
            Thread.ofPlatform()
                    .daemon()
                    .name("command")
                    .start(() -> {
                        try {
                            status = child.await().shellCode();
                        } catch (SyscallException e) {
                            status = 1; // somebody else has waited for it
                        }
                        ended = true;
                    });
        }

        private static void print(KernelLog log, PrintWriter out, boolean json) throws IOException {
            Optional<LogRecord> next = log.next();
            for (; next.isPresent(); next = log.next()) {
                LogRecord one = next.get();
                if (one.level() == DEBUG) {
                    out.println(json ? JsonRenderer.text(tree(one)) : TextEscape.line(one.line()));
                }
            }
            out.flush();
        }

        private static Map<String, Object> tree(LogRecord one) {
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("time_us", one.micros());
            tree.put("caller", one.caller());
            tree.put("message", one.text());
            return tree;
        }
    }
}
