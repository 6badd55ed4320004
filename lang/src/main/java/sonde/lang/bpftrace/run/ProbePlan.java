package sonde.lang.bpftrace.run;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import sonde.lang.bpftrace.check.Clause;
import sonde.lang.bpftrace.expand.Configuration;
import sonde.lang.bpftrace.syntax.Script;
import sonde.lang.declare.KernelTypeSource;
import sonde.lang.probes.AttachPoint;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.probes.AttachPointParser;
import sonde.lang.probes.Expander;
import sonde.lang.probes.ExpanderOptions;
import sonde.lang.probes.ParseSettings;
import sonde.lang.probes.Probe;
import sonde.lang.probes.ProbeGroup;
import sonde.lang.source.Diagnostics;
import sonde.lang.source.Span;

/** The pass that looks up attach points on this machine and shares them among programs. */
final class ProbePlan {
    private ProbePlan() {}

    /** Puts blocks at begin and return of the same functions together. */
    private static List<Planned> joined(
            List<Planned> planned, Expander expander, KernelTypeSource kernel) {
        List<ProbeGroup> groups = planned.stream().map(Planned::group).toList();
        List<Planned> all = new ArrayList<>(planned);
        List<Planned> gone = new ArrayList<>();
        for (Sessions.Pair pair :
                Sessions.pairs(
                        groups,
                        () ->
                                kernel.function("", Sessions.IS_RETURN) != null
                                        && expander.hasKprobeSession())) {
            Planned begin = planned.get(pair.begin());
            all.set(
                    pair.begin(),
                    new Planned(
                            begin.clause(),
                            begin.group().atReturnToo(),
                            null,
                            planned.get(pair.atReturn())));
            gone.add(planned.get(pair.atReturn()));
        }
        all.removeAll(gone);
        return all;
    }

    /** What programs a script needs, and what each is attached to. */
    static List<Planned> of(
            Script script,
            TraceOptions options,
            Configuration configuration,
            boolean portable,
            Diagnostics diagnostics) {
        List<Planned> planned = new ArrayList<>();
        Sites sites = new Sites(KernelTypeSource.shared(), options.debugFolders());
        ParseSettings settings =
                new ParseSettings(
                        options.parameters().positional(), options.pid(), options.unsafe());
        List<List<AttachPoint>> together = new ArrayList<>();
        ExpanderOptions how = expansion(options, configuration, script, diagnostics);
        try (Expander expander = new Expander(how)) {
            for (Script.Item item : script.items()) {
                if (!(item instanceof Script.Probe probe)) {
                    continue;
                }
                List<AttachPoint> points = new ArrayList<>();
                for (Script.AttachPoint point : probe.attachPoints()) {
                    points.addAll(
                            AttachPointParser.parseEach(
                                    point.span(), point.text(), settings, diagnostics));
                }
                together.add(points);
                points.removeIf(point -> !isRun(point.kind(), options.mode()));
                if (portable) {
                    Attachments ways = new Attachments(expander, settings, diagnostics);
                    for (Attachments.Way way : ways.of(probe, points, nextPlace(planned))) {
                        planned.add(
                                new Planned(
                                        new Clause(probe, way.site(sites)),
                                        way.group(),
                                        way.attachment()));
                    }
                } else if (!points.isEmpty()) {
                    planned.addAll(plan(probe, points, expander, sites, diagnostics));
                }
            }
            if (!portable) {
                planned = joined(planned, expander, KernelTypeSource.shared());
            }
        }
        AttachPointParser.checkTogether(together, diagnostics);
        return planned;
    }

    private static int nextPlace(List<Planned> planned) {
        return planned.stream()
                .map(Planned::attachment)
                .mapToInt(attachment -> attachment == null ? 0 : attachment.place() + 1)
                .max()
                .orElse(0);
    }

    private static boolean isRun(Kind kind, TraceOptions.Mode mode) {
        return switch (kind) {
            case TEST -> mode == TraceOptions.Mode.TEST;
            case BENCH -> mode == TraceOptions.Mode.BENCH;
            default -> true;
        };
    }

    private static List<Planned> plan(
            Script.Probe probe,
            List<AttachPoint> points,
            Expander expander,
            Sites sites,
            Diagnostics diagnostics) {
        List<Probe> found = expander.expandProbe(probe.span(), points, diagnostics);
        Uses uses = Uses.of(probe);
        List<Planned> planned = new ArrayList<>();
        List<ProbeGroup> groups =
                expander.group(
                        probe.attachPoints().getFirst().span(),
                        found,
                        uses.probe() || uses.arguments(),
                        diagnostics);
        for (ProbeGroup group : groups) {
            for (ProbeGroup part : Markers.split(group, uses.markers())) {
                Clause clause =
                        new Clause(
                                probe, sites.of(part.first(), uses.arguments() || uses.context()));
                planned.add(new Planned(clause, part, null));
            }
        }
        return planned;
    }

    private static ExpanderOptions expansion(
            TraceOptions options,
            Configuration configuration,
            Script script,
            Diagnostics diagnostics) {
        Pattern filter = null;
        String text = options.probeFilter();
        if (text != null) {
            try {
                filter = Pattern.compile(text);
            } catch (PatternSyntaxException e) {
                Span start = new Span(script.source(), 0, 0);
                diagnostics.error(start, "Invalid --probe-filter regex: " + e.getDescription());
            }
        }
        return new ExpanderOptions(
                options.pid(),
                options.unsafe(),
                (int) configuration.maxProbes(),
                (int) configuration.maxPrograms(),
                ExpanderOptions.Missing.valueOf(configuration.missingProbes().name()),
                filter,
                options.traceableFunctions(),
                options.disabledFeatures(),
                options.debugFolders());
    }
}
