package sonde.lang.probes;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.event.Glob;
import sonde.event.NearestNames;
import sonde.lang.probes.AttachPoint.AttachTarget;
import sonde.lang.probes.AttachPoint.AttachTarget.NamedPlace;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceSpan;

/**
 * Reads attach points. Nothing of the machine is looked at: whether there is such a function or
 * file is for the {@link ProbeExpander}. The words of errors are bpftrace's.
 */
public final class AttachPointParser {
    /** Kinds that a pattern as the first part stands for, by what the second part is. */
    private static final Set<Kind> KERNEL_KINDS =
            Set.of(
                    Kind.KPROBE,
                    Kind.TRACEPOINT,
                    Kind.SOFTWARE,
                    Kind.HARDWARE,
                    Kind.FENTRY,
                    Kind.ITER,
                    Kind.RAWTRACEPOINT);

    private static final Set<Kind> USER_KINDS = Set.of(Kind.UPROBE, Kind.USDT);

    private static final List<String> KIND_NAMES =
            Arrays.stream(Kind.values()).map(Kind::longName).toList();

    private AttachPointParser() {}

    /**
     * Reads one.
     *
     * @return null after saying what is wrong, and for an empty text
     */
    public static @Nullable AttachPoint parse(
            SourceSpan span, String text, CompilerDiagnostics diagnostics) {
        return parse(span, text, ParseSettings.PLAIN, diagnostics);
    }

    /** {@link #parse(SourceSpan, String, CompilerDiagnostics)} with parameters and more. */
    public static @Nullable AttachPoint parse(
            SourceSpan span, String text, ParseSettings settings, CompilerDiagnostics diagnostics) {
        List<AttachPoint> all = parseEach(span, text, settings, diagnostics);
        return all.isEmpty() ? null : all.getFirst();
    }

    /** Reads one whose kind may be a pattern ({@code *:./program:*}): one point for each kind. */
    public static List<AttachPoint> parseEach(
            SourceSpan span, String text, ParseSettings settings, CompilerDiagnostics diagnostics) {
        try {
            List<String> parts = new ArrayList<>(AttachPointParts.of(text, settings));
            String front = parts.getFirst();
            if (front.isEmpty()) {
                return List.of();
            }
            String userName = "";
            int equals = front.indexOf('=');
            if (equals >= 0 && equals != front.length() - 1) {
                userName = front.substring(0, equals);
                front = front.substring(equals + 1);
            }
            List<Kind> kinds = kinds(front, parts, settings);
            List<AttachPoint> points = new ArrayList<>();
            for (Kind kind : kinds) {
                AttachTarget place = place(kind, parts, settings, kinds.size() > 1);
                if (place != null) {
                    points.add(new AttachPoint(span, kind, text, userName, place));
                }
            }
            if (points.isEmpty()) {
                throw new AttachPointException(
                        "No probe type matched for " + text, hint(text, parts));
            }
            return points;
        } catch (AttachPointException e) {
            diagnostics.error(span, e.text(), e.hint());
            return List.of();
        }
    }

    /** What kind may have been meant; for who names a function only, that one is missing. */
    private static String hint(String front, List<String> parts) {
        String near = NearestNames.question(front, KIND_NAMES);
        return near.isEmpty() && parts.size() == 1
                ? "say what kind of probe it is: kprobe:" + front
                : near;
    }

    private static @Nullable AttachTarget place(
            Kind kind, List<String> parts, ParseSettings settings, boolean oneOfMany)
            throws AttachPointException {
        PlaceParser parser = new PlaceParser(kind, parts, settings);
        if (oneOfMany && !parser.fits()) {
            return null;
        }
        AttachTarget place = parser.parse();
        PlaceCheck.check(kind, place, settings);
        return place;
    }

    private static List<Kind> kinds(String front, List<String> parts, ParseSettings settings)
            throws AttachPointException {
        if (!NamePattern.isPattern(front)) {
            Kind kind = Kind.of(front);
            if (kind == null) {
                throw new AttachPointException("Invalid probe type: " + front, hint(front, parts));
            }
            return List.of(kind);
        }
        boolean user =
                settings.pid().isPresent() || parts.size() >= 2 && parts.get(1).indexOf('/') >= 0;
        List<Kind> found = kindsLike(parts.size() == 1 ? "*" : front, user);
        if (found.isEmpty()) {
            throw new AttachPointException("No probe type matched for " + front);
        }
        return found;
    }

    /** Kinds that can be listed, by a pattern, in the order of their names. */
    static List<Kind> kindsLike(String pattern, boolean user) {
        Glob glob = Glob.of(pattern);
        return (user ? USER_KINDS : KERNEL_KINDS)
                .stream()
                        .filter(kind -> glob.matches(kind.longName()))
                        .sorted((a, b) -> a.longName().compareTo(b.longName()))
                        .toList();
    }

    /**
     * Says what is wrong with the points of a script together: two tests or benches of one name, a
     * probe with an iterator and another point.
     *
     * @param probes the points of each probe, in the order of the script
     */
    public static void checkTogether(
            List<List<AttachPoint>> probes, CompilerDiagnostics diagnostics) {
        Map<String, AttachPoint> named = new HashMap<>();
        for (List<AttachPoint> points : probes) {
            boolean iterator = false;
            for (AttachPoint point : points) {
                if (point.kind() == Kind.ITER && iterator) {
                    diagnostics.error(point.span(), "iter probe only supports one attach point.");
                }
                iterator |= point.kind() == Kind.ITER;
                if (point.place() instanceof NamedPlace(String name)) {
                    checkName(point, name, named, diagnostics);
                }
            }
        }
    }

    private static void checkName(
            AttachPoint point,
            String name,
            Map<String, AttachPoint> named,
            CompilerDiagnostics out) {
        String kind = point.kind().name();
        AttachPoint other = named.putIfAbsent(kind + ":" + name, point);
        if (other != null) {
            out.error(
                    point.span(),
                    "\"" + name + "\" was used as the name for more than one " + kind + " probe");
            out.error(other.span(), "this is the other instance");
        }
    }
}
