package sonde.tools.explain;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.tools.explain.ExplainRecipe.ExplainOptions;
import sonde.tools.symbolize.SymbolizeRecipe.LogCopy;

/** What the lines of one report say. */
final class IncidentReader {
    private static final int MOST_VALUE = 300;
    private static final int MOST_TEXT = 1024;
    private static final int MOST_REPORTING = 8;

    private static final LinePattern LATER_OOPS =
            new LinePattern(": [0-9a-f]{4} \\[#(?:[2-9]|\\d{2,})\\]");

    private static final Pattern SUMMARY =
            Pattern.compile("(?:RIP|Code|[RE][A-Z0-9]{2}|FS|CS|CR\\d|DR\\d|PKRU): ?");

    private static final Pattern FIELD = Pattern.compile("\\{(\\w+)(\\*)?(?::(\\w+))?\\}");

    private static final Pattern NUMBER = Pattern.compile("0x[0-9a-f]+|\\d+");

    private static final List<LinePattern> MACHINE =
            List.of(
                    new LinePattern(
                            "^(?:CPU: (?<cpu>\\d+) )?(?:UID: \\d+ )?P[Ii][Dd]: (?<pid>\\d+),? "
                                    + "[Cc]omm: (?<task>.+?)"
                                    + " (?:Tainted: (?<taint>\\[?[A-Z][^0-9]*?)|Not tainted) +(?"
                                    + "<kernel>\\d+\\.\\S+)"
                                    + "(?: (?<build>#\\d\\S*))?(?: +(?<buildid>[0-9a-f]{40}))?"),
                    new LinePattern("^Hardware name: (?<hardware>.+)"),
                    new LinePattern("^Workqueue: (?<workqueue>.+)"),
                    new LinePattern("^Modules linked in: (?<modules>.+)"),
                    new LinePattern("^Kernel Offset: (?<offset>0x[0-9a-f]+) from"),
                    new LinePattern("^Code: (?<code>[0-9a-f<>() ]{8,}.*)"));

    /** What %p prints since Linux 4.15 begins with them: a hash of the address. */
    private static final String ZEROS = "00000000";

    private static final String HEX = "0123456789abcdef";

    private static final int MOST_HASHED = 1 << 14;

    private final BlameRules rules;
    private final LockGraph locks;
    private final Map<String, Integer> hashed = new LinkedHashMap<>();
    private final @Nullable LogCopy symbols;
    private final ExplainOptions options;
    private String otherRelease = "";

    IncidentReader(BlameRules rules, @Nullable LogCopy symbols, ExplainOptions options) {
        this.rules = rules;
        this.locks = new LockGraph(rules);
        this.symbols = symbols;
        this.options = options;
    }

    /** Whether the log says that another kernel printed it than the image that was given. */
    private boolean isOtherBuild(LogCopy symbols, List<LogLine> lines) throws IOException {
        Map<String, String> machine = new LinkedHashMap<>();
        for (LogLine line : lines) {
            take(MACHINE, line.text(), machine);
        }
        String other =
                symbols.otherBuild(
                        machine.getOrDefault("kernel", ""),
                        machine.getOrDefault("build", ""),
                        machine.getOrDefault("buildid", ""),
                        lines.stream().map(LogLine::text).toList());
        otherRelease = other.isEmpty() ? otherRelease : other;
        return !other.isEmpty() && !options.force();
    }

    /** The kernel of a report that was not decoded, because the image is of another; else empty. */
    String otherRelease() {
        return otherRelease;
    }

    /** Lines with the places of their addresses. */
    private static List<LogLine> decoded(List<LogLine> lines, LogCopy symbols) throws IOException {
        List<LogLine> decoded = new ArrayList<>();
        for (LogLine line : lines) {
            decoded.add(
                    new LogLine(
                            line.number(),
                            line.seconds(),
                            line.context(),
                            symbols.decoded(line.text())));
        }
        return decoded;
    }

    /** The blame for a report. */
    record Blame(@Nullable LogFrame frame, List<LogFrame> candidates, List<String> why) {}

    Incident read(int number, OpenReport report, int after) throws IOException {
        IncidentKind kind = report.kind;
        LogCopy given = symbols;
        boolean isUsed = given != null && !isOtherBuild(given, report.lines);
        List<LogLine> whole = given != null && isUsed ? decoded(report.lines, given) : report.lines;
        List<LogLine> lines = withoutSummary(whole);
        Map<String, String> fields = new LinkedHashMap<>(report.fields);
        Map<String, String> machine = new LinkedHashMap<>();
        for (LogLine line : report.before) {
            take(kind.later(), line.text(), fields);
        }
        for (LogLine line : lines) {
            take(kind.later(), line.text(), fields);
            take(MACHINE, line.text(), machine);
        }
        if (kind.group().equals("warning")) {
            message(report.before, lines, fields);
        }
        List<LogStack> stacks = LogStack.of(lines);
        Blame blame = blame(kind, fields, stacks, lines);
        if (blame.frame() != null) {
            fields.put("frame", blame.frame().function());
        } else if (!kind.has("nostack")) {
            fields.put("frame", "corrupted");
        }
        boolean isNamed = kind.group().equals("panic") && report.fields.containsKey("function");
        List<String> damage =
                new ReportDamage(rules, kind, lines, stacks, machine, report.dropped)
                        .of(blame, isNamed);
        if (options.foreign() && !damage.isEmpty() && kind.group().equals("warning")) {
            fields.put("frame", "corrupted");
        }
        String file = file(kind, blame);
        if (!file.isEmpty()) {
            fields.put("blamed_file", file);
        }
        String identity = fill(kind.titles(), fields, kind.name()).strip();
        String type = fill(List.of(kind.type()), fields, "");
        List<String> same = sameObjects(number, lines);
        FaultCode code = FaultCode.of(fields, lines, isUsed ? given : null);
        if (kind.group().equals("hung-task")) {
            locks.note(number, fields, blame.frame(), stacks, lines.getFirst().seconds());
        }
        List<String> details =
                new IncidentDetails(rules, locks).of(kind, fields, stacks, lines, code);
        details.addAll(same);
        return new Incident(
                number,
                kind,
                report.stamp,
                identity,
                type,
                fields,
                machine,
                blame.frame(),
                blame.why(),
                stacks,
                details,
                new IncidentPicture(rules, locks).of(kind, fields, machine, blame, stacks, lines),
                code,
                damage,
                report.panicked,
                after,
                whole);
    }

    /**
     * What a WARN() prints of its own: the line behind {@code [ cut here ]}, or before Linux 4.16
     * the line behind the first one.
     */
    private static void message(
            List<LogLine> before, List<LogLine> lines, Map<String, String> fields) {
        String text = "";
        for (int i = 0; i < before.size() - 1; i++) {
            boolean isCut = before.get(i).text().contains("[ cut here ]");
            text = isCut ? before.get(i + 1).text() : text;
        }
        if (text.isEmpty() && lines.size() > 2) {
            boolean isBefore = lines.get(2).text().startsWith("Modules linked in:");
            text = isBefore ? lines.get(1).text() : "";
        }
        String message = text.strip();
        if (!message.isEmpty() && !message.startsWith("CPU:") && !message.contains("+0x")) {
            fields.putIfAbsent(
                    "message", message.substring(0, Math.min(message.length(), MOST_VALUE)));
        }
    }

    /**
     * Without the registers of the boot's first oops, which the kernel prints again behind it and
     * each later one (oops_end() of arch/x86/kernel/dumpstack.c).
     */
    private static List<LogLine> withoutSummary(List<LogLine> lines) {
        List<LogLine> own = new ArrayList<>();
        boolean hasOwn = false;
        boolean isBehind = false;
        for (LogLine line : lines) {
            String text = line.text();
            hasOwn |= text.startsWith("RIP: ") || LATER_OOPS.match(text) != null;
            isBehind |= hasOwn && text.startsWith("---[ end trace");
            if (!isBehind || !SUMMARY.matcher(text).lookingAt()) {
                own.add(line);
            }
        }
        return own;
    }

    /** The kernel hashes an address to the same value as long as it runs. */
    private List<String> sameObjects(int number, List<LogLine> lines) {
        Map<String, Integer> own = new LinkedHashMap<>();
        List<String> same = new ArrayList<>();
        for (LogLine line : lines) {
            String text = line.text();
            List<String> found = new ArrayList<>();
            for (int at = text.indexOf(ZEROS); at >= 0; at = text.indexOf(ZEROS, at + 1)) {
                int end = at + 16;
                boolean isHash = end <= text.length() && !isWord(text, end) && !isNumber(text, at);
                for (int i = at + 8; isHash && i < end; i++) {
                    isHash = HEX.indexOf(text.charAt(i)) >= 0;
                }
                if (isHash) {
                    found.add(text.substring(at, end));
                }
            }
            // Registers and words of stacks come in rows; a small number is a value.
            if (found.size() == 1 && found.getFirst().charAt(8) != '0') {
                own.putIfAbsent(found.getFirst(), number);
            }
        }
        for (String value : own.keySet()) {
            Integer earlier = hashed.get(value);
            if (earlier != null) {
                same.add(
                        "the object at the hashed address %s is in #%d too"
                                .formatted(value, earlier));
            } else if (hashed.size() < MOST_HASHED) {
                hashed.put(value, number);
            }
        }
        return same;
    }

    private static boolean isWord(String text, int at) {
        return at < text.length()
                && (Character.isLetterOrDigit(text.charAt(at)) || text.charAt(at) == '_');
    }

    /** Whether it is a part of a number, an address of code, or the value of a register. */
    private static boolean isNumber(String text, int at) {
        char last = at < 1 ? ' ' : text.charAt(at - 1);
        char name = at < 3 ? ' ' : text.charAt(at - 3);
        return (HEX + "x<").indexOf(last) >= 0
                || text.startsWith(": ", at - 2)
                        && (name >= '0' && name <= '9' || name >= 'A' && name <= 'Z');
    }

    /** The source file to blame, where the log or symbols name files; empty for none. */
    private String file(IncidentKind kind, Blame blame) {
        LogFrame blamed = blame.frame();
        if (blamed != null && rules.isAlias(blamed.function())) {
            return blamed.file();
        }
        String first = "";
        String own = "";
        String worker = "";
        LogFrame last = null;
        for (LogFrame frame : blame.candidates()) {
            String file = frame.file();
            boolean isWork = frame.function().equals("process_one_work");
            worker = isWork && last != null ? last.file() : worker;
            last = frame;
            if (file.isEmpty() || !rules.skips(frame.function(), kind.skips()).isEmpty()) {
                continue;
            }
            if (!own.isEmpty()) {
                // The core of a subsystem serves its parts, whose folders are in its own.
                String folder = own.substring(0, own.lastIndexOf('/') + 1);
                if (!file.startsWith(folder)) {
                    break;
                }
                if (file.indexOf('/', folder.length()) > 0) {
                    return file;
                }
            } else if (!rules.serves(file)) {
                own = file;
            }
            boolean isBelow = file.startsWith("include/") || file.startsWith("lib/");
            first = first.isEmpty() && !isBelow ? file : first;
        }
        return !own.isEmpty() ? own : worker.isEmpty() ? first : worker;
    }

    private static void take(List<LinePattern> patterns, String text, Map<String, String> fields) {
        if (text.length() > MOST_TEXT) {
            return;
        }
        for (LinePattern pattern : patterns) {
            Matcher matcher = pattern.match(text);
            if (matcher != null) {
                put(matcher, fields);
            }
        }
    }

    /** Takes named groups; what is known stays. */
    static void put(Matcher matcher, Map<String, String> fields) {
        for (Map.Entry<String, Integer> group : matcher.namedGroups().entrySet()) {
            String value = matcher.group(group.getValue());
            if (value != null) {
                String kept = value.length() > MOST_VALUE ? value.substring(0, MOST_VALUE) : value;
                fields.putIfAbsent(group.getKey(), kept.strip());
            }
        }
    }

    private Blame blame(
            IncidentKind kind,
            Map<String, String> fields,
            List<LogStack> stacks,
            List<LogLine> lines) {
        List<String> why = new ArrayList<>();
        if (kind.has("stall") || kind.has("entry")) {
            return stalled(kind, stacks, lines, why);
        }
        List<LogFrame> candidates = new ArrayList<>();
        List<LogStack> traces = traces(stacks);
        LogStack main = traces.isEmpty() ? null : traces.getFirst();
        String named = fields.get("function");
        if (named != null) {
            String plain = LogFrame.plain(named);
            LogFrame same = main == null ? null : LogFrame.find(main.frames(), plain);
            candidates.add(same == null ? new LogFrame(plain, "", "", "", true, true, "") : same);
        } else if (!kind.has("norip")) {
            LogFrame top = top(main == null ? lines : lines.subList(0, main.line()));
            if (top != null) {
                candidates.add(top);
            }
        }
        if (main != null) {
            candidates.addAll(LogFrame.sure(main.frames()));
        }
        for (LogFrame frame : candidates) {
            if (kind.skips().contains("hang") && rules.has("alias", frame.function())) {
                return new Blame(frame.named(rules.alias(frame.function())), candidates, why);
            }
            String rule = rules.skips(frame.function(), kind.skips());
            if (rule.isEmpty()) {
                return new Blame(frame, candidates, why);
            }
            why.add(frame.function() + ": " + rule);
        }
        return new Blame(null, candidates, why);
    }

    /** The handler that a task, interrupt or worker was in when it was stuck. */
    private Blame stalled(
            IncidentKind kind, List<LogStack> stacks, List<LogLine> lines, List<String> why) {
        LogStack main = null;
        int from = 0;
        for (LogStack stack : traces(stacks)) {
            List<LogFrame> sure = LogFrame.sure(stack.frames());
            boolean isReport = kind.has("stall") || main == null && isWatchdog(sure);
            int begin = isReport ? interrupted(sure) : 0;
            boolean isWorker = LogFrame.find(stack.frames(), "rcu_gp_kthread") != null;
            if (begin > 0 || main == null && !isWorker) {
                main = stack;
                from = begin;
            }
            if (begin > 0) {
                break;
            }
        }
        List<LogFrame> frames = new ArrayList<>();
        if (main != null) {
            LogFrame top = from == 0 ? top(lines.subList(0, main.line())) : null;
            if (top != null) {
                frames.add(top);
            }
            frames.addAll(LogFrame.sure(main.frames()));
        } else {
            LogFrame top = top(lines);
            if (top != null) {
                frames.add(top);
            }
        }
        LogFrame last = null;
        LogFrame own = null;
        List<LogFrame> behind = frames.subList(from, frames.size());
        for (LogFrame frame : behind) {
            String function = frame.function();
            if (rules.has("alias", function)) {
                return new Blame(frame.named(rules.alias(function)), behind, why);
            }
            if (last != null && rules.has("anchor", function)) {
                why.add(last.function() + " is called by " + function);
                return new Blame(last, behind, why);
            }
            boolean passed =
                    !rules.skips(function, kind.skips()).isEmpty() || rules.has("anchor", function);
            last = passed ? last : frame;
            own = passed || own != null ? own : frame;
        }
        return new Blame(own, behind, why);
    }

    /** Whether the stack begins with the timer that made the report. */
    private static boolean isWatchdog(List<LogFrame> frames) {
        for (LogFrame frame : frames.subList(0, Math.min(frames.size(), MOST_REPORTING))) {
            if (frame.function().startsWith("watchdog_")) {
                return true;
            }
        }
        return false;
    }

    /** The frame behind the last entry of an interrupt; 0 for none. */
    private int interrupted(List<LogFrame> frames) {
        int from = 0;
        for (int i = 0; i < frames.size(); i++) {
            if (rules.has("interrupt", frames.get(i).function())) {
                from = i + 1;
            } else if (from > 0) {
                break;
            }
        }
        return from;
    }

    /** The stacks of what ran, without those of allocations and the like where there are others. */
    private static List<LogStack> traces(List<LogStack> stacks) {
        List<LogStack> all = new ArrayList<>();
        List<LogStack> traces = new ArrayList<>();
        for (LogStack stack : stacks) {
            if (!LogFrame.sure(stack.frames()).isEmpty()) {
                String heading = stack.heading().toLowerCase(Locale.ROOT);
                boolean isTrace = heading.startsWith("call trace") || heading.endsWith("backtrace");
                (isTrace ? traces : all).add(stack);
            }
        }
        return traces.isEmpty() ? all : traces;
    }

    private static @Nullable LogFrame top(List<LogLine> lines) {
        for (LogLine line : lines) {
            LogFrame top = LogFrame.top(line.text());
            if (top != null) {
                return top;
            }
        }
        return null;
    }

    /** The first template whose fields are all known. */
    static String fill(List<String> templates, Map<String, String> fields, String otherwise) {
        for (String template : templates) {
            int bar = template.indexOf('|');
            String filled =
                    bar < 0 || fields.containsKey(template.substring(bar + 1))
                            ? fill(bar < 0 ? template : template.substring(0, bar), fields)
                            : null;
            if (filled != null) {
                return filled;
            }
        }
        return otherwise;
    }

    private static @Nullable String fill(String template, Map<String, String> fields) {
        Matcher matcher = FIELD.matcher(template);
        StringBuilder text = new StringBuilder();
        while (matcher.find()) {
            String name = matcher.group(1);
            boolean capitals = Character.isUpperCase(name.charAt(0));
            String value = fields.getOrDefault(name.toLowerCase(Locale.ROOT), matcher.group(3));
            if (value == null) {
                return null;
            }
            if (matcher.group(2) != null) {
                value = NUMBER.matcher(value).replaceAll("NUM");
            }
            String shown = capitals ? value.toUpperCase(Locale.ROOT).replace(' ', '-') : value;
            matcher.appendReplacement(text, Matcher.quoteReplacement(shown));
        }
        return matcher.appendTail(text).toString();
    }
}
