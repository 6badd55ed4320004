package sonde.lang.probes;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import sonde.bpf.AttachType;
import sonde.bpf.feature.BpfFeatureProbe;
import sonde.event.NearestNames;
import sonde.lang.probes.AttachPoint.AttachTarget;
import sonde.lang.probes.AttachPoint.AttachTarget.CounterPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.EventPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.IteratorPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.KernelFunctionPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.MarkerPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.MemoryPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.NamedPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.NoPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.SignalPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.SourceLinePlace;
import sonde.lang.probes.AttachPoint.AttachTarget.TimePlace;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.probes.CounterTable.PerfCounter;
import sonde.lang.probes.ExpanderOptions.MissingPolicy;
import sonde.lang.probes.Probe.FentryProbe;
import sonde.lang.probes.Probe.IteratorProbe;
import sonde.lang.probes.Probe.KernelProbe;
import sonde.lang.probes.Probe.PerfEventProbe;
import sonde.lang.probes.Probe.TimerProbe;
import sonde.lang.probes.Probe.TracepointProbe;
import sonde.lang.probes.Probe.TracerProbe;
import sonde.lang.probes.Probe.UsdtProbe;
import sonde.lang.probes.Probe.UserProbe;
import sonde.lang.probes.Probe.WatchpointProbe;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceDiagnostic;
import sonde.lang.source.SourceSpan;

/**
 * From attach points to the probes that this machine has for them. Nothing is read that no point
 * asks for: a plain tracepoint costs one small file, a pattern of functions the list of them.
 *
 * <p>The words of errors and warnings are bpftrace's. What is not there is an error, a warning or
 * nothing, as {@link ExpanderOptions#missing} says; patterns that match nothing are said of the
 * probe as a whole by {@link #expandProbe}.
 */
public final class ProbeExpander implements AutoCloseable {
    private final ExpanderOptions options;
    private final KernelBtf types;
    private final boolean ownsTypes;
    private final KernelExpansion kernel;
    private @Nullable UserExpansion user;
    private @Nullable Boolean kprobeMulti;
    private @Nullable Boolean uprobeMulti;
    private int probes;
    private int programs;

    /** With types of its own. */
    public ProbeExpander(ExpanderOptions options) {
        this(options, new KernelBtf(), true);
    }

    /** With types that somebody else closes. */
    public ProbeExpander(ExpanderOptions options, KernelBtf types) {
        this(options, types, false);
    }

    private ProbeExpander(ExpanderOptions options, KernelBtf types, boolean ownsTypes) {
        this.options = options;
        this.types = types;
        this.ownsTypes = ownsTypes;
        this.kernel = new KernelExpansion(options, types);
    }

    /** All probes that a point means, by name; empty after saying why there are none. */
    public List<Probe> expand(AttachPoint point, CompilerDiagnostics diagnostics) {
        try {
            warnUntraceable(point, diagnostics);
            List<Probe> found = named(point, find(point, diagnostics));
            if (found.isEmpty() && !point.isPattern()) {
                sayMissing(point, diagnostics);
            }
            found = filtered(found);
            probes += found.size();
            return found;
        } catch (AttachPointException e) {
            diagnostics.error(point.span(), e.text(), e.hint(), e.front());
        } catch (IOException e) {
            diagnostics.error(point.span(), "" + e.getMessage());
        }
        return List.of();
    }

    /** The probes of all points of a probe of the script; says so where there are none. */
    public List<Probe> expandProbe(
            SourceSpan probe, List<AttachPoint> points, CompilerDiagnostics diagnostics) {
        List<Probe> all = new ArrayList<>();
        int before = diagnostics.all().size();
        for (AttachPoint point : points) {
            all.addAll(expand(point, diagnostics));
        }
        boolean failed =
                diagnostics.all().stream()
                        .skip(before)
                        .anyMatch(d -> d.severity() == SourceDiagnostic.Severity.ERROR);
        if (all.isEmpty() && !failed && options.filter() == null) {
            switch (options.missing()) {
                case ERROR ->
                        diagnostics.error(
                                probe, "Probe has no valid attach points.", lookedFor(points));
                case WARN ->
                        diagnostics.warning(
                                probe,
                                "Probe has no valid attach points. It is being removed which may"
                                        + " cause issues with program behavior.",
                                "");
                case IGNORE -> {}
            }
        }
        return all;
    }

    /** What was looked for and where, and what is there that is like it. */
    private String lookedFor(List<AttachPoint> points) {
        return points.stream()
                .map(point -> near(point.place()))
                .filter(hint -> !hint.isEmpty())
                .distinct()
                .collect(Collectors.joining("; "));
    }

    private List<Probe> find(AttachPoint point, CompilerDiagnostics out)
            throws IOException, AttachPointException {
        Kind kind = point.kind();
        String name = kind.longName();
        return switch (point.place()) {
            case NoPlace _ -> List.of(new TracerProbe(kind, name, ""));
            case NamedPlace(String word) -> List.of(new TracerProbe(kind, name + ":" + word, word));
            case SignalPlace(String signal) ->
                    List.of(new TracerProbe(kind, "self:signal:" + signal, signal));
            case TimePlace time -> {
                long hertz = time.unit().equals("hz") ? time.count() : 0;
                String full = name + ":" + time.unit() + ":" + time.count();
                yield List.of(new TimerProbe(kind, full, time.nanos(), hertz));
            }
            case CounterPlace counter -> List.of(counter(kind, counter));
            case EventPlace event -> kernel.tracepoints(event);
            case AttachTarget.RawEvent event -> kernel.rawTracepoints(event);
            case KernelFunctionPlace place ->
                    kind == Kind.FENTRY || kind == Kind.FEXIT
                            ? kernel.typed(kind, place)
                            : kernel.kernel(kind, place);
            case AttachTarget.BpfFunction place -> KernelExpansion.programs(kind, place);
            case AttachTarget.UserFunction place -> user().functions(point, place, out);
            case SourceLinePlace place -> user().line(point, place, out);
            case MarkerPlace place -> user().markers(point, place, out);
            case MemoryPlace m -> {
                String full =
                        name
                                + ":"
                                + Long.toUnsignedString(m.address())
                                + ":"
                                + m.length()
                                + ":"
                                + m.mode();
                yield List.of(new WatchpointProbe(full, m.address(), m.length(), m.mode()));
            }
            case IteratorPlace place -> kernel.iterators(place);
        };
    }

    private static Probe counter(Kind kind, CounterPlace place) throws AttachPointException {
        PerfCounter counter = CounterTable.find(kind == Kind.HARDWARE, place.event());
        if (counter == null) {
            throw new AttachPointException(
                    place.event() + " is not a " + kind.longName() + " probe");
        }
        long count = place.count();
        String name = kind.longName() + ":" + place.event() + (count == 0 ? "" : ":" + count);
        return new PerfEventProbe(
                kind, name, counter.type(), counter.config(), count == 0 ? counter.every() : count);
    }

    private UserExpansion user() {
        UserExpansion known = user;
        if (known == null) {
            known = new UserExpansion(options);
            user = known;
        }
        return known;
    }

    private void warnUntraceable(AttachPoint point, CompilerDiagnostics out) throws IOException {
        boolean kprobe = point.kind() == Kind.KPROBE || point.kind() == Kind.KRETPROBE;
        if (kprobe
                && options.missing() != MissingPolicy.IGNORE
                && point.place() instanceof KernelFunctionPlace place
                && !place.function().isEmpty()
                && !NamePattern.isPattern(place.function())
                && !kernel.functions().contains(place.function())) {
            out.warning(
                    point.span(),
                    place.function()
                            + " is not traceable (either non-existing, inlined, or marked as"
                            + " \"notrace\"); attaching to it will likely fail",
                    kernel.near(place.function()));
        }
    }

    private void sayMissing(AttachPoint point, CompilerDiagnostics out) {
        String where =
                switch (point.place()) {
                    case EventPlace(String subsystem, String event) -> subsystem + ":" + event;
                    case AttachTarget.RawEvent(String module, String event) -> module + ":" + event;
                    case KernelFunctionPlace f -> prefixed(f.module(), f.function());
                    case AttachTarget.BpfFunction f -> "bpf:" + f.function();
                    case AttachTarget.UserFunction f -> prefixed(f.path(), f.function());
                    case MarkerPlace m -> prefixed(m.path(), m.name());
                    case NoPlace _,
                            NamedPlace _,
                            SignalPlace _,
                            TimePlace _,
                            CounterPlace _,
                            SourceLinePlace _,
                            MemoryPlace _,
                            IteratorPlace _ ->
                            point.text();
                };
        String message = "No matches for " + point.kind().longName() + " " + where + ".";
        switch (options.missing()) {
            case ERROR -> out.error(point.span(), message, near(point.place()));
            case WARN -> out.warning(point.span(), message + " Skipping.", "");
            case IGNORE -> {}
        }
    }

    /** What may have been meant instead of a place that there is not. */
    private String near(AttachTarget place) {
        return switch (place) {
            case EventPlace(String subsystem, String event) -> {
                List<String> groups = AlternativeHint.tracepointGroups();
                yield groups.contains(subsystem)
                        ? NearestNames.question(event, AlternativeHint.tracepoints(subsystem))
                        : NearestNames.question(subsystem, groups);
            }
            case AttachTarget.UserFunction f
                    when !NamePattern.isPattern(f.path() + f.function()) -> {
                String question =
                        NearestNames.question(f.function(), user().functionNames(f.path()));
                yield question.isEmpty() ? inLibc(f) : question;
            }
            case KernelFunctionPlace f when !NamePattern.isPattern(f.function()) ->
                    kernel.near(f.function());
            case MarkerPlace marker -> user().near(marker);
            default -> "";
        };
    }

    /** Since glibc 2.34 the functions of libpthread, libdl and librt are in libc. */
    private static String inLibc(AttachTarget.UserFunction wanted) {
        Path libc = Path.of(wanted.path()).resolveSibling("libc.so.6");
        return UserBinary.functionNames(libc.toString()).contains(wanted.function())
                ? "it is in " + libc
                : "";
    }

    private static String prefixed(String before, String name) {
        return before.isEmpty() ? name : before + ":" + name;
    }

    /** With the name that the script gives, where it gives one. */
    private static List<Probe> named(AttachPoint point, List<Probe> found) {
        String name = point.userName();
        if (name.isEmpty()) {
            return found;
        }
        return found.stream().map(probe -> ProbeNames.with(probe, name)).toList();
    }

    private List<Probe> filtered(List<Probe> found) {
        Pattern filter = options.filter();
        if (filter == null) {
            return found;
        }
        return found.stream()
                .filter(p -> p.kind().isSpecial() || filter.matcher(p.name()).find())
                .toList();
    }

    /**
     * Puts probes together that one program and, where the kernel can, one link are enough for;
     * none where that is more than allowed.
     *
     * @param place for the error that there are more programs than allowed
     * @param needsOwnProgram whether each must have a program of its own: it asks for its name, or
     *     has arguments of its own
     */
    public List<ProbeGroup> group(
            SourceSpan place,
            List<Probe> all,
            boolean needsOwnProgram,
            CompilerDiagnostics diagnostics) {
        List<ProbeGroup> groups = new ArrayList<>();
        if (needsOwnProgram) {
            all.forEach(probe -> groups.add(ProbeGroup.of(probe)));
        } else {
            Map<Object, List<Probe>> byMeans = new LinkedHashMap<>();
            for (Probe probe : all) {
                byMeans.computeIfAbsent(means(probe), _ -> new ArrayList<>()).add(probe);
            }
            for (List<Probe> together : byMeans.values()) {
                boolean one = together.size() == 1;
                groups.add(new ProbeGroup(together, !one, !one && hasMulti(together.getFirst())));
            }
        }
        programs += groups.size();
        if (programs > options.maxPrograms()) {
            diagnostics.error(
                    place,
                    "Your program is trying to generate more than "
                            + programs
                            + " BPF programs, which exceeds the current limit of "
                            + options.maxPrograms(),
                    "You can increase the limit through the BPFTRACE_MAX_BPF_PROGS environment"
                            + " variable.");
            return List.of();
        }
        return groups;
    }

    /** Equal for probes that may share a program; itself for one that may not. */
    private static Object means(Probe probe) {
        return switch (probe) {
            case TracepointProbe _ -> Kind.TRACEPOINT;
            case Probe.RawTracepoint _ -> Kind.RAWTRACEPOINT;
            case KernelProbe k ->
                    k.offset() == 0 && k.address() == 0 && k.module().isEmpty()
                            ? List.of(k.kind(), "")
                            : List.of(k.kind(), "single");
            case UserProbe u -> List.of(u.kind(), u.path());
            case TracerProbe _,
                    TimerProbe _,
                    PerfEventProbe _,
                    FentryProbe _,
                    UsdtProbe _,
                    WatchpointProbe _,
                    IteratorProbe _ ->
                    probe;
        };
    }

    private boolean hasMulti(Probe probe) {
        return switch (probe) {
            case KernelProbe k ->
                    k.offset() == 0 && k.address() == 0 && k.module().isEmpty() && hasKprobeMulti();
            case UserProbe _, UsdtProbe _ -> hasUprobeMulti();
            case TracerProbe _,
                    TimerProbe _,
                    PerfEventProbe _,
                    TracepointProbe _,
                    Probe.RawTracepoint _,
                    FentryProbe _,
                    WatchpointProbe _,
                    IteratorProbe _ ->
                    false;
        };
    }

    /** Whether many functions of the kernel can be probed by one link. */
    public boolean hasKprobeMulti() {
        Boolean known = kprobeMulti;
        if (known == null) {
            known =
                    !options.disabledFeatures().contains("kprobe_multi")
                            && BpfFeatureProbe.attachType(AttachType.TRACE_KPROBE_MULTI).isYes();
            kprobeMulti = known;
        }
        return known;
    }

    /** Whether one program and link do for begin and return of functions of the kernel. */
    public boolean hasKprobeSession() {
        return !options.disabledFeatures().contains("kprobe_session")
                && hasKprobeMulti()
                && BpfFeatureProbe.attachType(AttachType.TRACE_KPROBE_SESSION).isYes();
    }

    /** Whether many places of a file can be probed by one link. */
    public boolean hasUprobeMulti() {
        Boolean known = uprobeMulti;
        if (known == null) {
            known =
                    !options.disabledFeatures().contains("uprobe_multi")
                            && BpfFeatureProbe.attachType(AttachType.TRACE_UPROBE_MULTI).isYes();
            uprobeMulti = known;
        }
        return known;
    }

    /** Why no more probes may be attached; empty while they are few enough. */
    public String overLimit() {
        if (probes <= options.maxProbes()) {
            return "";
        }
        return "Can't attach to "
                + probes
                + " probes because it exceeds the current limit of "
                + options.maxProbes()
                + " probes.\nYou can increase the limit through the BPFTRACE_MAX_PROBES"
                + " environment variable, but BE CAREFUL since a high number of probes attached"
                + " can cause your system to crash.";
    }

    /** What of the kernel patterns are looked for in. */
    KernelExpansion kernel() {
        return kernel;
    }

    /** Gives back what was mapped. */
    @Override
    public void close() {
        if (ownsTypes) {
            types.close();
        }
    }
}
