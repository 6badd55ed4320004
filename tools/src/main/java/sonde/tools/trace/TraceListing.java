package sonde.tools.trace;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.bpf.usdt.UsdtArgument;
import sonde.event.Glob;
import sonde.event.result.Column;
import sonde.event.result.Result;
import sonde.event.result.RowStream;
import sonde.event.result.TextLayout;
import sonde.lang.bpftrace.syntax.Script;
import sonde.lang.bpftrace.syntax.Script.AttachPointText;
import sonde.lang.bpftrace.syntax.Script.ProbeBlock;
import sonde.lang.bpftrace.syntax.Script.ScriptItem;
import sonde.lang.bpftrace.syntax.ScriptParser;
import sonde.lang.bpftrace.syntax.TypeSyntax;
import sonde.lang.declare.DwarfTypes;
import sonde.lang.declare.FunctionSignature;
import sonde.lang.declare.KernelTypeSource;
import sonde.lang.declare.ScriptTypeText;
import sonde.lang.declare.TracepointTypes;
import sonde.lang.probes.AttachPoint;
import sonde.lang.probes.AttachPointParser;
import sonde.lang.probes.ExpanderOptions;
import sonde.lang.probes.ExpanderOptions.MissingPolicy;
import sonde.lang.probes.ParseSettings;
import sonde.lang.probes.Probe;
import sonde.lang.probes.Probe.FentryProbe;
import sonde.lang.probes.Probe.IteratorProbe;
import sonde.lang.probes.Probe.KernelProbe;
import sonde.lang.probes.Probe.TracepointProbe;
import sonde.lang.probes.Probe.UsdtProbe;
import sonde.lang.probes.Probe.UserProbe;
import sonde.lang.probes.ProbeExpander;
import sonde.lang.probes.ProbeListing;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceDiagnostic;
import sonde.lang.source.SourceText;
import sonde.lang.type.CompositeType;
import sonde.lang.type.ValueType.PointerSpace;
import sonde.probe.plan.Feature;
import sonde.probe.plan.FeatureFinding;
import sonde.probe.plan.FeatureFinding.FindingAnswer;
import sonde.probe.plan.KernelFeatureProbe;

/** {@code sonde trace -l}: probes by pattern or of a script, and types. */
public final class TraceListing {
    private final TraceRequest request;
    private final PrintWriter err;
    private final KernelTypeSource kernel = KernelTypeSource.shared();
    private boolean found = true;

    /** Lists what the request names. */
    public TraceListing(TraceRequest request, PrintWriter err) {
        this.request = request;
        this.err = err;
    }

    /** Whether every type that was named is there. */
    public boolean found() {
        return found;
    }

    /** A row for each probe or type. */
    public Result result() throws IOException {
        List<String> lines = new ArrayList<>();
        List<String> probes = new ArrayList<>();
        for (String part : request.script().fileOr("").split(",", -1)) {
            if (part.strip().matches("(struct|union|enum) .*")) {
                lines.addAll(types(part.strip()));
            } else {
                probes.add(part);
            }
        }
        if (!probes.isEmpty()) {
            lines.addAll(probes(String.join(",", probes)));
        }
        return new TextLayout(
                RowStream.of("", List.of(Column.text("probe")), () -> rows(lines)),
                out -> lines.forEach(out::println));
    }

    private static List<List<@Nullable Object>> rows(List<String> lines) {
        List<List<@Nullable Object>> rows = new ArrayList<>(lines.size());
        lines.forEach(line -> rows.add(List.of(line)));
        return rows;
    }

    private List<String> probes(String pattern) throws IOException {
        ExpanderOptions options =
                ExpanderOptions.USUAL.of(request.options().pid()).with(MissingPolicy.IGNORE);
        String functions = request.options().traceableFunctions();
        if (functions != null) {
            options = options.tracing(functions);
        }
        try (ProbeExpander expander = new ProbeExpander(options)) {
            ProbeListing listing =
                    new ProbeListing(
                            options,
                            expander,
                            request.messages().verbose() ? this::details : _ -> List.of());
            List<String> lines =
                    request.script().program().isPresent() || isScript(pattern)
                            ? script(listing, pattern)
                            : listing.list(pattern);
            if (lines.isEmpty()) {
                warn("nothing here matches '" + pattern + "'");
            }
            notHere(lines);
            return lines;
        }
    }

    private void warn(String message) {
        err.println("WARNING: " + message);
        err.flush();
    }

    /** The kernel's functions are listed also where they cannot be probed. */
    private void notHere(List<String> lines) {
        notHere(Feature.KPROBES, "(kprobe|kretprobe):.*", lines);
        notHere(Feature.FENTRY, "(fentry|fexit):.*", lines);
    }

    private void notHere(Feature feature, String probes, List<String> lines) {
        if (lines.stream().noneMatch(line -> line.matches(probes))) {
            return;
        }
        FeatureFinding finding = KernelFeatureProbe.probe().finding(feature);
        if (finding.answer() == FindingAnswer.NO) {
            warn("this kernel has no " + feature.title() + ": " + finding.reason());
        }
    }

    private boolean isScript(String pattern) {
        if (pattern.endsWith(".bt") && !Files.exists(Path.of(pattern))) {
            err.println(
                    "WARNING: It appears that '"
                            + pattern
                            + "' is a filename but the file does not exist. Treating '"
                            + pattern
                            + "' as a search pattern.");
            err.flush();
            return false;
        }
        return !pattern.isEmpty()
                && pattern.indexOf('*') < 0
                && pattern.indexOf(':') < 0
                && Files.isRegularFile(Path.of(pattern))
                && !pattern.startsWith("/bin");
    }

    private List<String> script(ProbeListing listing, String file) throws IOException {
        SourceText text =
                request.script().program().isPresent()
                        ? new SourceText("stdin", request.script().program().get())
                        : new SourceText(file, Files.readString(Path.of(file)));
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        Script script = ScriptParser.parse(text, diagnostics);
        List<AttachPoint> points = new ArrayList<>();
        for (ScriptItem item : script.items()) {
            if (item instanceof ProbeBlock probe) {
                for (AttachPointText point : probe.attachPoints()) {
                    points.addAll(
                            AttachPointParser.parseEach(
                                    point.span(),
                                    point.text(),
                                    new ParseSettings(List.of(), request.options().pid(), true),
                                    diagnostics));
                }
            }
        }
        List<String> lines = listing.list(points, diagnostics);
        for (SourceDiagnostic diagnostic : diagnostics.all()) {
            err.println(diagnostic.render());
        }
        err.flush();
        return lines;
    }

    private List<String> types(String pattern) {
        String[] words = pattern.split(" +", 2);
        TypeSyntax.Kind kind =
                switch (words[0]) {
                    case "union" -> TypeSyntax.Kind.UNION;
                    case "enum" -> TypeSyntax.Kind.ENUM;
                    default -> TypeSyntax.Kind.STRUCT;
                };
        List<String> lines = new ArrayList<>();
        for (String tag : kernel.tags()) {
            if (Glob.of(pattern).matches(tag)) {
                String definition = kernel.definition(kind, tag.substring(tag.indexOf(' ') + 1));
                boolean whole = request.messages().verbose() && definition != null;
                lines.add(whole ? definition : "vmlinux: " + tag);
            }
        }
        if (lines.isEmpty()) {
            warn("the kernel has no " + pattern);
            found = false;
        }
        return lines;
    }

    private List<String> details(Probe probe) {
        return switch (probe) {
            case TracepointProbe t -> {
                CompositeType arguments = TracepointTypes.arguments(t.subsystem(), t.event());
                yield arguments == null ? List.of() : ScriptTypeText.arguments(arguments);
            }
            case KernelProbe k -> signature(kernel.function("", k.function()), false);
            case Probe.RawTracepoint r ->
                    signature(kernel.rawTracepoint(r.event(), PointerSpace.KERNEL), false);
            case FentryProbe f ->
                    signature(
                            kernel.function(f.module(), f.function()),
                            f.kind() == AttachPoint.Kind.FEXIT);
            case IteratorProbe i -> {
                CompositeType context = kernel.iterator(i.iterator());
                yield context == null ? List.of() : ScriptTypeText.arguments(context);
            }
            case UserProbe u -> {
                DwarfTypes types =
                        u.function().isEmpty()
                                ? null
                                : DwarfTypes.shared(u.path(), request.options().debugFolders());
                FunctionSignature found = types == null ? null : types.function(u.function());
                yield found != null && u.kind() == AttachPoint.Kind.URETPROBE
                        ? ScriptTypeText.result(found)
                        : signature(found, false);
            }
            case UsdtProbe u -> markers(u);
            default -> List.of();
        };
    }

    /** What the note of a marker's first place says. */
    private static List<String> markers(UsdtProbe probe) {
        List<String> lines = new ArrayList<>();
        List<UsdtArgument> arguments =
                probe.locations().isEmpty() ? List.of() : probe.locations().getFirst().arguments();
        for (UsdtArgument argument : arguments) {
            int bits = argument.sizeBytes() * 8;
            String type =
                    argument.isFloat()
                            ? bits == 32 ? "float" : "double"
                            : (argument.isSigned() ? "int" : "uint") + bits + "_t";
            lines.add("    " + type + " arg" + lines.size());
        }
        return lines;
    }

    private static List<String> signature(@Nullable FunctionSignature signature, boolean result) {
        if (signature == null) {
            return List.of();
        }
        List<String> lines = new ArrayList<>(ScriptTypeText.arguments(signature));
        if (result) {
            lines.addAll(ScriptTypeText.result(signature));
        }
        return lines;
    }
}
