package sonde.lang.bpftrace.run;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.check.ProbeSite;
import sonde.lang.bpftrace.syntax.Script.ProbeBlock;
import sonde.lang.declare.FunctionSignature;
import sonde.lang.declare.KernelTypeSource;
import sonde.lang.probes.AttachPoint;
import sonde.lang.probes.AttachPoint.AttachTarget.KernelFunctionPlace;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.probes.AttachPointParser;
import sonde.lang.probes.ParseSettings;
import sonde.lang.probes.Probe;
import sonde.lang.probes.ProbeExpander;
import sonde.lang.probes.ProbeGroup;
import sonde.lang.source.CompilerDiagnostics;

/**
 * The ways in which a block can be attached on machines that are not known yet: a begin or end of a
 * function by its types first, then by a kprobe, where the block reads nothing that only one has.
 */
final class PortableAttachments {
    /** What a block finds at one kind of place alone. */
    private static final List<String> OF_ONE_KIND =
            List.of("ctx", "probetype", "reg()", "override()", "func", "skboutput()");

    private static final int REGISTERS = 6;

    private final ProbeExpander expander;
    private final ParseSettings settings;
    private final CompilerDiagnostics diagnostics;

    PortableAttachments(
            ProbeExpander expander, ParseSettings settings, CompilerDiagnostics diagnostics) {
        this.expander = expander;
        this.settings = settings;
        this.diagnostics = diagnostics;
    }

    /**
     * A program to make.
     *
     * @param name what the builtin {@code probe} says; empty for the probe's own
     * @param arguments whether their types are wanted
     */
    record AttachmentVariant(
            ProbeGroup group, PortableAttachment attachment, String name, boolean arguments) {
        ProbeSite site(ProbeContexts sites) {
            return name.isEmpty()
                    ? sites.of(group.first(), arguments)
                    : sites.standIn(group.first(), name, arguments);
        }
    }

    /** All ways of a block, each attach point at a place of its own from {@code firstPlace} on. */
    List<AttachmentVariant> of(ProbeBlock probe, List<AttachPoint> points, int firstPlace) {
        ClauseUses uses = ClauseUses.of(probe);
        List<AttachmentVariant> ways = new ArrayList<>();
        int place = firstPlace;
        for (AttachPoint point : points) {
            AttachPoint other = other(point, uses);
            String name = other == null ? "" : point.text();
            boolean otherFirst = point.kind() == Kind.KPROBE || point.kind() == Kind.KRETPROBE;
            List<AttachmentVariant> found = new ArrayList<>();
            if (other != null && otherFirst) {
                found.addAll(one(probe, other, uses, place, name, new CompilerDiagnostics()));
            }
            List<AttachmentVariant> own = one(probe, point, uses, place, "", diagnostics);
            found.addAll(own);
            if (other != null && !otherFirst) {
                found.addAll(one(probe, other, uses, place, name, new CompilerDiagnostics()));
            }
            ways.addAll(found);
            for (AttachmentVariant way : found) {
                place = Math.max(place, way.attachment().place() + 1);
            }
        }
        return ways;
    }

    private List<AttachmentVariant> one(
            ProbeBlock probe,
            AttachPoint point,
            ClauseUses uses,
            int place,
            String name,
            CompilerDiagnostics said) {
        List<Probe> found = expander.expandProbe(probe.span(), List.of(point), said);
        if (found.isEmpty()) {
            return List.of();
        }
        List<ProbeGroup> groups = new ArrayList<>();
        for (ProbeGroup group :
                expander.group(point.span(), found, uses.probe() || uses.arguments(), said)) {
            groups.addAll(UsdtSites.split(group, uses.markers()));
        }
        boolean types = uses.arguments() || uses.context();
        boolean together = groups.size() == 1 && point.text().indexOf('$') < 0;
        List<AttachmentVariant> ways = new ArrayList<>();
        for (ProbeGroup group : groups) {
            List<String> texts =
                    together
                            ? List.of(point.text())
                            : group.probes().stream().map(Probe::name).toList();
            int at = place + ways.size();
            ways.add(
                    new AttachmentVariant(
                            group,
                            new PortableAttachment(at, groups.size() > 1, texts),
                            name,
                            types));
        }
        return ways;
    }

    /** The same function by another means; null where the block would not find the same there. */
    private @Nullable AttachPoint other(AttachPoint point, ClauseUses uses) {
        if (!(point.place() instanceof KernelFunctionPlace at)
                || point.isPattern()
                || at.offset() != 0
                || at.address() != 0
                || !point.userName().isEmpty()
                || OF_ONE_KIND.stream().anyMatch(uses.names()::contains)) {
            return null;
        }
        FunctionSignature signature =
                KernelTypeSource.shared().function(at.module(), at.function());
        if (signature == null || !fits(point.kind(), signature, uses)) {
            return null;
        }
        String kind =
                switch (point.kind()) {
                    case KPROBE -> "fentry";
                    case KRETPROBE -> "fexit";
                    case FENTRY -> "kprobe";
                    case FEXIT -> "kretprobe";
                    default -> "";
                };
        String module = at.module().isEmpty() ? "" : at.module() + ":";
        return kind.isEmpty()
                ? null
                : AttachPointParser.parse(
                        point.span(),
                        kind + ":" + module + at.function(),
                        settings,
                        new CompilerDiagnostics());
    }

    /** Arguments lie one in a register each; at returns those of the entry are gone. */
    private static boolean fits(Kind kind, FunctionSignature signature, ClauseUses uses) {
        int count = signature.parameters().size();
        boolean plain =
                count <= REGISTERS
                        && signature.parameters().stream().allMatch(p -> p.type().sizeBytes() <= 8);
        boolean args = uses.names().contains("args");
        boolean numbered =
                uses.names().stream()
                        .filter(name -> name.matches("arg[0-9]"))
                        .mapToInt(name -> name.charAt(3) - '0')
                        .allMatch(index -> index < count);
        return switch (kind) {
            case KPROBE, FENTRY -> plain && numbered;
            case KRETPROBE, FEXIT -> plain && !args && !uses.markers();
            default -> false;
        };
    }
}
