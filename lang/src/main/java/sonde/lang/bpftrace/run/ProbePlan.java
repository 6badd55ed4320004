package sonde.lang.bpftrace.run;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import sonde.lang.bpftrace.check.ScriptClause;
import sonde.lang.bpftrace.expand.ScriptConfig;
import sonde.lang.bpftrace.run.PortableAttachments.AttachmentVariant;
import sonde.lang.bpftrace.run.TraceOptions.ProbeSelection;
import sonde.lang.bpftrace.syntax.Script;
import sonde.lang.bpftrace.syntax.Script.AttachPointText;
import sonde.lang.bpftrace.syntax.Script.ProbeBlock;
import sonde.lang.bpftrace.syntax.Script.ScriptItem;
import sonde.lang.declare.KernelTypeSource;
import sonde.lang.probes.AttachPoint;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.probes.AttachPointParser;
import sonde.lang.probes.ExpanderOptions;
import sonde.lang.probes.ExpanderOptions.MissingPolicy;
import sonde.lang.probes.ParseSettings;
import sonde.lang.probes.Probe;
import sonde.lang.probes.ProbeExpander;
import sonde.lang.probes.ProbeGroup;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceSpan;

/** The pass that looks up attach points on this machine and shares them among programs. */
final class ProbePlan {
    private ProbePlan() {}

    /** Puts blocks at begin and return of the same functions together. */
    private static List<PlannedClause> joined(
            List<PlannedClause> planned, ProbeExpander expander, KernelTypeSource kernel) {
        List<ProbeGroup> groups = planned.stream().map(PlannedClause::group).toList();
        List<PlannedClause> all = new ArrayList<>(planned);
        List<PlannedClause> gone = new ArrayList<>();
        for (SessionPairs.Pair pair :
                SessionPairs.pairs(
                        groups,
                        () ->
                                kernel.function("", SessionPairs.IS_RETURN) != null
                                        && expander.hasKprobeSession())) {
            PlannedClause begin = planned.get(pair.begin());
            all.set(
                    pair.begin(),
                    new PlannedClause(
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
    static List<PlannedClause> of(
            Script script,
            TraceOptions options,
            ScriptConfig configuration,
            boolean portable,
            CompilerDiagnostics diagnostics) {
        List<PlannedClause> planned = new ArrayList<>();
        ProbeContexts sites = new ProbeContexts(KernelTypeSource.shared(), options.debugFolders());
        ParseSettings settings =
                new ParseSettings(
                        options.parameters().positional(), options.pid(), options.unsafe());
        List<List<AttachPoint>> together = new ArrayList<>();
        ExpanderOptions how = expansion(options, configuration, script, diagnostics);
        try (ProbeExpander expander = new ProbeExpander(how)) {
            for (ScriptItem item : script.items()) {
                if (!(item instanceof ProbeBlock probe)) {
                    continue;
                }
                List<AttachPoint> points = new ArrayList<>();
                for (AttachPointText point : probe.attachPoints()) {
                    points.addAll(
                            AttachPointParser.parseEach(
                                    point.span(), point.text(), settings, diagnostics));
                }
                together.add(points);
                points.removeIf(point -> !isRun(point.kind(), options.mode()));
                if (portable) {
                    PortableAttachments ways =
                            new PortableAttachments(expander, settings, diagnostics);
                    for (AttachmentVariant way : ways.of(probe, points, nextPlace(planned))) {
                        planned.add(
                                new PlannedClause(
                                        new ScriptClause(probe, way.site(sites)),
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

    private static int nextPlace(List<PlannedClause> planned) {
        return planned.stream()
                .map(PlannedClause::attachment)
                .mapToInt(attachment -> attachment == null ? 0 : attachment.place() + 1)
                .max()
                .orElse(0);
    }

    private static boolean isRun(Kind kind, ProbeSelection mode) {
        return switch (kind) {
            case TEST -> mode == ProbeSelection.TEST;
            case BENCH -> mode == ProbeSelection.BENCH;
            default -> true;
        };
    }

    private static List<PlannedClause> plan(
            ProbeBlock probe,
            List<AttachPoint> points,
            ProbeExpander expander,
            ProbeContexts sites,
            CompilerDiagnostics diagnostics) {
        List<Probe> found = expander.expandProbe(probe.span(), points, diagnostics);
        ClauseUses uses = ClauseUses.of(probe);
        List<PlannedClause> planned = new ArrayList<>();
        List<ProbeGroup> groups =
                expander.group(
                        probe.attachPoints().getFirst().span(),
                        found,
                        uses.probe() || uses.arguments(),
                        diagnostics);
        for (ProbeGroup group : groups) {
            for (ProbeGroup part : UsdtSites.split(group, uses.markers())) {
                ScriptClause clause =
                        new ScriptClause(
                                probe, sites.of(part.first(), uses.arguments() || uses.context()));
                planned.add(new PlannedClause(clause, part, null));
            }
        }
        return planned;
    }

    private static ExpanderOptions expansion(
            TraceOptions options,
            ScriptConfig configuration,
            Script script,
            CompilerDiagnostics diagnostics) {
        Pattern filter = null;
        String text = options.probeFilter();
        if (text != null) {
            try {
                filter = Pattern.compile(text);
            } catch (PatternSyntaxException e) {
                SourceSpan start = new SourceSpan(script.source(), 0, 0);
                diagnostics.error(start, "Invalid --probe-filter regex: " + e.getDescription());
            }
        }
        return new ExpanderOptions(
                options.pid(),
                options.unsafe(),
                (int) configuration.maxProbes(),
                (int) configuration.maxPrograms(),
                MissingPolicy.valueOf(configuration.missingProbes().name()),
                filter,
                options.traceableFunctions(),
                options.disabledFeatures(),
                options.debugFolders());
    }
}
