package sonde.lang.probes;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Stream;
import sonde.event.Glob;
import sonde.lang.probes.AttachPoint.AttachTarget;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.probes.CounterTable.PerfCounter;
import sonde.lang.probes.Probe.IteratorProbe;
import sonde.lang.probes.Probe.PerfEventProbe;
import sonde.lang.probes.Probe.TimerProbe;
import sonde.lang.probes.Probe.UserProbe;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceSpan;
import sonde.lang.source.SourceText;

/**
 * Lists the probes that this machine has, one a line, as {@code -l} does; with {@code -lv} each is
 * followed by lines that begin with four blanks.
 */
public final class ProbeListing {
    private static final String INDENT = "    ";

    private final ProbeExpander expander;
    private final ExpanderOptions options;
    private final Function<Probe, List<String>> details;

    /** Names alone. */
    public ProbeListing(ExpanderOptions options, ProbeExpander expander) {
        this(options, expander, _ -> List.of());
    }

    /** With lines below each probe. */
    public ProbeListing(
            ExpanderOptions options,
            ProbeExpander expander,
            Function<Probe, List<String>> details) {
        this.options = options;
        this.expander = expander;
        this.details = details;
    }

    /**
     * Lines of all probes that patterns name; each once.
     *
     * @param pattern {@code "kprobe:vfs_*"}, several with commas between them, or empty for all
     */
    public List<String> list(String pattern) throws IOException {
        Set<String> lines = new LinkedHashSet<>();
        List<String> out = new ArrayList<>();
        for (String one : (pattern.isEmpty() ? "*" : pattern).split(",", -1)) {
            String whole = whole(one.strip());
            for (Kind kind : kinds(whole)) {
                add(kind, whole, lines, out);
            }
        }
        return out;
    }

    /** Lines of the probes of a script. */
    public List<String> list(List<AttachPoint> points, CompilerDiagnostics diagnostics) {
        Set<String> lines = new LinkedHashSet<>();
        List<String> out = new ArrayList<>();
        for (AttachPoint point : points) {
            boolean listed = point.kind().compareTo(Kind.SELF) > 0;
            for (Probe probe : listed ? expander.expand(point, diagnostics) : List.<Probe>of()) {
                add(probe, shown(probe), lines, out);
            }
        }
        return out;
    }

    /** A pattern without a kind is looked for in the names of all kinds. */
    private static String whole(String pattern) {
        boolean name = pattern.indexOf(':') < 0 && NamePattern.isPattern(pattern);
        return name && !pattern.equals("*") ? "*:" + pattern : pattern;
    }

    /** Those that can be listed; of users' files only where a file, or a process, is meant. */
    private List<Kind> kinds(String pattern) {
        int colon = pattern.indexOf(':');
        String front = colon < 0 ? pattern : pattern.substring(0, colon);
        Kind named = Kind.of(front);
        if (named != null) {
            return List.of(named);
        }
        if (colon < 0 && !NamePattern.isPattern(front)) {
            return List.of();
        }
        String rest = pattern.substring(colon + 1);
        int end = rest.indexOf(':');
        String target = end < 0 ? rest : rest.substring(0, end);
        boolean file =
                colon >= 0 && !NamePattern.isPattern(target) && BinaryPaths.isProgram(target);
        boolean user = options.pid().isPresent() || file;
        return Stream.concat(
                        AttachPointParser.kindsLike(front, false).stream(),
                        user ? AttachPointParser.kindsLike(front, true).stream() : Stream.empty())
                .sorted((a, b) -> a.longName().compareTo(b.longName()))
                .toList();
    }

    private void add(Kind kind, String pattern, Set<String> lines, List<String> out)
            throws IOException {
        int colon = pattern.indexOf(':');
        String rest =
                colon < 0 || colon == pattern.length() - 1 ? "*" : pattern.substring(colon + 1);
        switch (kind) {
            case BEGIN, END, TEST, BENCH, WATCHPOINT -> {}
            case SELF -> fixed("self", PlaceCheck.SIGNALS, "signal:", "", rest, lines, out);
            case INTERVAL, PROFILE ->
                    fixed(kind.longName(), PlaceCheck.UNITS, "", ":", rest, lines, out);
            case SOFTWARE, HARDWARE -> counters(kind, rest, lines, out);
            case ITER -> iterators(rest, lines, out);
            case TRACEPOINT,
                    RAWTRACEPOINT,
                    KPROBE,
                    KRETPROBE,
                    FENTRY,
                    FEXIT,
                    UPROBE,
                    URETPROBE,
                    USDT -> {
                for (Probe probe : found(kind, rest)) {
                    add(probe, shown(probe), lines, out);
                }
            }
        }
    }

    private List<Probe> found(Kind kind, String rest) {
        List<String> parts = List.of(rest.split(":", -1));
        boolean two = parts.size() >= 2;
        String text =
                switch (kind) {
                    case TRACEPOINT, FENTRY, FEXIT, RAWTRACEPOINT -> two ? rest : "*:" + rest;
                    case UPROBE, URETPROBE -> two ? rest : "*:" + rest;
                    case USDT -> two ? rest : "*:*:" + rest;
                    default -> rest;
                };
        SourceText source = new SourceText("list", kind.longName() + ":" + text);
        SourceSpan span = new SourceSpan(source, 0, source.text().length());
        // What is wrong with a pattern, or not there, lists nothing.
        CompilerDiagnostics quiet = new CompilerDiagnostics();
        ParseSettings settings = new ParseSettings(List.of(), options.pid(), true);
        List<Probe> probes = new ArrayList<>();
        for (AttachPoint point :
                AttachPointParser.parseEach(span, source.text(), settings, quiet)) {
            boolean everywhere =
                    point.place() instanceof AttachTarget.UserFunction f
                            && f.path().equals("*")
                            && options.pid().isEmpty();
            if (!everywhere) {
                probes.addAll(expander.expand(point, quiet));
            }
        }
        return probes;
    }

    /** Puts names of C++ functions in quotes, so that they can be used as they are. */
    private static String shown(Probe probe) {
        if (probe instanceof UserProbe user && user.name().contains(":cpp:")) {
            return user.kind().longName()
                    + ":"
                    + user.path()
                    + ":cpp:\""
                    + sonde.symbol.demangle.Demangler.demangle(user.function())
                    + "\"";
        }
        return switch (probe) {
            case PerfEventProbe p -> p.kind().longName() + ":" + counterName(p) + ":";
            case TimerProbe p -> p.kind().longName() + ":" + p.name().split(":", -1)[1] + ":";
            default -> probe.name();
        };
    }

    private static String counterName(PerfEventProbe probe) {
        String[] parts = probe.name().split(":", -1);
        return parts.length > 1 ? parts[1] : probe.name();
    }

    private void add(Probe probe, String line, Set<String> lines, List<String> out) {
        if (lines.add(line)) {
            out.add(line);
            for (String detail : details.apply(probe)) {
                out.add(INDENT + detail);
            }
        }
    }

    private static void fixed(
            String kind,
            List<String> words,
            String before,
            String after,
            String pattern,
            Set<String> lines,
            List<String> out) {
        Glob glob = Glob.of(pattern);
        for (String word : words) {
            String name = before + word + after;
            if ((glob.matches(name) || glob.matches(before + word))
                    && lines.add(kind + ":" + name)) {
                out.add(kind + ":" + name);
            }
        }
    }

    private void counters(Kind kind, String pattern, Set<String> lines, List<String> out) {
        TreeSet<String> names = new TreeSet<>();
        for (PerfCounter counter : CounterTable.all(kind == Kind.HARDWARE)) {
            names.add(counter.name());
            if (!counter.alias().isEmpty()) {
                names.add(counter.alias());
            }
        }
        fixed(kind.longName(), List.copyOf(names), "", ":", pattern, lines, out);
    }

    private void iterators(String pattern, Set<String> lines, List<String> out) throws IOException {
        Glob glob = Glob.of(pattern);
        for (String name : expander.kernel().iteratorNames()) {
            if (glob.matches(name)) {
                add(new IteratorProbe("iter:" + name, name, "", 0), "iter:" + name, lines, out);
            }
        }
    }
}
