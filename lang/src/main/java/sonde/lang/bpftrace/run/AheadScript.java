package sonde.lang.bpftrace.run;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import sonde.binary.btf.BtfType;
import sonde.bpf.link.KernelTypes;
import sonde.lang.bpftrace.ahead.AotFile;
import sonde.lang.bpftrace.ahead.AotFile.AotProgramEntry;
import sonde.lang.bpftrace.ahead.AotFile.MissingNumber.NamedNumber;
import sonde.lang.bpftrace.ahead.AotFile.NumberSlot;
import sonde.lang.bpftrace.ahead.AotFile.RequestedOption;
import sonde.lang.bpftrace.expand.ScriptConfig;
import sonde.lang.bpftrace.expand.ScriptOption;
import sonde.lang.bpftrace.expand.ScriptParameters;
import sonde.lang.bpftrace.lower.EventAction.SystemAction;
import sonde.lang.bpftrace.lower.PortableReference;
import sonde.lang.bpftrace.lower.PortableReference.VariableReference;
import sonde.lang.bpftrace.lower.ScriptUnit;
import sonde.lang.bpftrace.run.TraceOptions.ProbeSelection;
import sonde.lang.bpftrace.syntax.ScriptParser;
import sonde.lang.probes.AttachOptions;
import sonde.lang.probes.AttachPoint;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.probes.AttachPointParser;
import sonde.lang.probes.ExpanderOptions;
import sonde.lang.probes.ExpanderOptions.MissingPolicy;
import sonde.lang.probes.ParseSettings;
import sonde.lang.probes.Probe;
import sonde.lang.probes.ProbeExpander;
import sonde.lang.probes.ProbeGroup;
import sonde.lang.probes.TrialAttach;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceDiagnostic;
import sonde.lang.source.SourceSpan;

/** A compiled script on this kernel: its references answered, its alternatives chosen. */
public final class AheadScript implements PreparedScript {
    private static final int LOAD_WIDE = 0x18;
    private static final int CALL = 0x85;
    private static final long OF_BTF_ID = 3L << 12;

    private final AotFile file;
    private final ScriptConfig configuration;
    private final ScriptUnit unit;
    private final List<List<AheadProgram>> ranked = new ArrayList<>();
    private final List<String> passedOver = new ArrayList<>();

    private AheadScript(AotFile file, ScriptConfig configuration, int cpuMask) {
        this.file = file;
        this.configuration = configuration;
        long frames = (long) file.frameBytes() * (cpuMask + 1);
        this.unit =
                ScriptUnit.of(
                        file.maps(),
                        file.actions(),
                        file.texts(),
                        file.zeroBytes(),
                        (int) Math.min(frames, Integer.MAX_VALUE & ~7),
                        file.programCount());
    }

    /**
     * Prepares a script of a file; what this kernel lacks is told at the script's place.
     *
     * @param diagnostics has errors when the script cannot be run
     */
    public static AheadScript of(
            AotFile file,
            TraceOptions options,
            TargetMachine machine,
            CompilerDiagnostics diagnostics)
            throws IOException {
        ScriptConfig configuration =
                ScriptConfig.of(
                        ScriptParser.parse(file.sources().getFirst(), diagnostics).config(),
                        options.environment(),
                        diagnostics);
        AheadScript script = new AheadScript(file, configuration, machine.cpuMask());
        script.checkSafety(options, diagnostics);
        if (!diagnostics.hasErrors()) {
            script.choose(options, new AotResolver(file, options, machine), diagnostics);
        }
        return script;
    }

    /**
     * What is wrong with what a file is given; empty for nothing.
     *
     * @param parameters of the command line
     */
    public static Optional<ScriptParameters.Problem> problem(
            AotFile file, ScriptParameters parameters) {
        if (!parameters.positional().isEmpty()) {
            return Optional.of(
                    new ScriptParameters.Problem(
                            "parameters ($1, …) are put in when a script is compiled",
                            "give them behind --compile FILE.bt -o FILE.sbt"));
        }
        List<ScriptOption> free = new ArrayList<>();
        for (RequestedOption asked : file.options()) {
            String name = asked.option().name();
            String fixed = asked.fixed();
            if (fixed == null) {
                free.add(asked.option());
            } else if (parameters.named().containsKey(name)) {
                return Optional.of(
                        new ScriptParameters.Problem(
                                "--" + name + " was fixed to " + fixed + " when this was compiled",
                                "the compiler needs texts, and numbers that change what it writes;"
                                        + " give them behind --compile FILE.bt -o FILE.sbt --"));
            }
        }
        return parameters.problem(free);
    }

    private void checkSafety(TraceOptions options, CompilerDiagnostics diagnostics) {
        SourceSpan start = new SourceSpan(file.sources().getFirst(), 0, 0);
        boolean commands = file.actions().stream().anyMatch(SystemAction.class::isInstance);
        boolean changes = file.pieces().stream().anyMatch(AheadScript::changes);
        if (!options.unsafe() && (commands || changes)) {
            diagnostics.error(
                    start,
                    (commands ? "system()" : "a function of this script")
                            + " is unsafe. To use you need the --unsafe flag");
        }
    }

    private static boolean changes(AotProgramEntry piece) {
        for (int at = 0; at < piece.code().length; at++) {
            long word = piece.code()[at];
            int operation = (int) word & 0xff;
            if (operation == CALL
                    && (word >>> 12 & 0xf) == 0
                    && ScriptEnvironment.UNSAFE_HELPERS.contains((int) (word >>> 32))) {
                return true;
            }
            at += operation == LOAD_WIDE ? 1 : 0;
        }
        return false;
    }

    private void choose(TraceOptions options, AotResolver answers, CompilerDiagnostics diagnostics)
            throws IOException {
        Map<Integer, List<AotProgramEntry>> places =
                file.pieces().stream()
                        .filter(piece -> isRun(piece.kind(), options.mode()))
                        .collect(
                                Collectors.groupingBy(
                                        AotProgramEntry::place,
                                        LinkedHashMap::new,
                                        Collectors.toList()));
        ParseSettings settings = new ParseSettings(List.of(), options.pid(), options.unsafe());
        ExpanderOptions how =
                new ExpanderOptions(
                        options.pid(),
                        options.unsafe(),
                        (int) configuration.maxProbes(),
                        (int) configuration.maxPrograms(),
                        MissingPolicy.ERROR,
                        null,
                        options.traceableFunctions(),
                        options.disabledFeatures());
        try (ProbeExpander expander = new ProbeExpander(how)) {
            for (List<AotProgramEntry> pieces : places.values()) {
                choose(pieces, expander, settings, answers, diagnostics);
            }
        }
    }

    private static boolean isRun(Kind kind, ProbeSelection mode) {
        return switch (kind) {
            case TEST -> mode == ProbeSelection.TEST;
            case BENCH -> mode == ProbeSelection.BENCH;
            default -> true;
        };
    }

    private record LoadRefusal(SourceSpan span, String why) {}

    /** What makes an alternative impossible here. */
    private static final class RefusedException extends Exception {
        private static final long serialVersionUID = 1;

        private final transient LoadRefusal refusal;

        RefusedException(SourceSpan span, String why) {
            super(why);
            this.refusal = new LoadRefusal(span, why);
        }
    }

    private void choose(
            List<AotProgramEntry> pieces,
            ProbeExpander expander,
            ParseSettings settings,
            AotResolver answers,
            CompilerDiagnostics diagnostics)
            throws IOException {
        List<AheadProgram> taken = new ArrayList<>();
        LoadRefusal last = null;
        for (AotProgramEntry piece : pieces) {
            try {
                ProbeGroup group = group(piece, expander, settings);
                long[] words = words(piece, answers);
                if (pieces.size() > 1) {
                    tryOut(piece, group);
                }
                taken.add(new AheadProgram(piece, group, words));
            } catch (RefusedException e) {
                last = e.refusal;
                passedOver.add(piece.points().getFirst() + ": " + e.refusal.why());
            }
        }
        if (!taken.isEmpty()) {
            ranked.add(taken);
        } else if (last != null && !isOptional(pieces)) {
            diagnostics.error(last.span(), last.why());
        }
    }

    private boolean isOptional(List<AotProgramEntry> pieces) {
        return pieces.stream().allMatch(AotProgramEntry::optional)
                || configuration.missingProbes() != ScriptConfig.MissingProbes.ERROR;
    }

    private static ProbeGroup group(
            AotProgramEntry piece, ProbeExpander expander, ParseSettings settings)
            throws RefusedException {
        CompilerDiagnostics said = new CompilerDiagnostics();
        List<AttachPoint> points = new ArrayList<>();
        for (String point : piece.points()) {
            points.addAll(AttachPointParser.parseEach(piece.span(), point, settings, said));
        }
        List<Probe> found = expander.expandProbe(piece.span(), points, said);
        List<ProbeGroup> groups =
                found.isEmpty() ? List.of() : expander.group(piece.span(), found, false, said);
        if (said.hasErrors() || groups.isEmpty()) {
            String why =
                    said.all().stream()
                            .filter(d -> d.severity() == SourceDiagnostic.Severity.ERROR)
                            .map(SourceDiagnostic::message)
                            .findFirst()
                            .orElse("there is no " + piece.points().getFirst());
            throw new RefusedException(piece.span(), why);
        }
        ProbeGroup group = groups.getFirst();
        if (groups.size() > 1 || group.first().kind() != piece.kind()) {
            throw new RefusedException(
                    piece.span(),
                    piece.points().getFirst() + " means places that need programs of their own");
        }
        var markers = UsdtSites.of(group.first());
        if (!piece.markers().isEmpty()
                && (markers == null || !piece.markers().equals(markers.toString()))) {
            throw new RefusedException(
                    piece.span(),
                    "arguments of "
                            + group.first().name()
                            + " lie elsewhere in this file: compile the script here");
        }
        return group;
    }

    private static long[] words(AotProgramEntry piece, AotResolver answers)
            throws RefusedException, IOException {
        long[] words = piece.code().clone();
        for (NumberSlot wish : piece.wishes()) {
            try {
                long number = answers.answer(wish.want());
                int slot = wish.slot();
                boolean variable =
                        wish.want() instanceof NamedNumber(PortableReference reference)
                                && reference instanceof VariableReference;
                words[slot] =
                        words[slot] & 0xffff_ffffL
                                | (variable ? OF_BTF_ID : 0)
                                | (number & 0xffff_ffffL) << 32;
                words[slot + 1] =
                        words[slot + 1] & 0xffff_ffffL | (variable ? 0 : number >>> 32) << 32;
            } catch (AotResolver.MissingException e) {
                SourceSpan span = wish.span();
                throw new RefusedException(
                        span == null ? piece.span() : span, String.valueOf(e.getMessage()));
            }
        }
        return words;
    }

    /** Attaches a program that does nothing, for a moment. */
    private static void tryOut(AotProgramEntry piece, ProbeGroup group) throws RefusedException {
        Optional<String> why = TrialAttach.refusal(group, AttachOptions.EVERYWHERE);
        if (why.isPresent()) {
            throw new RefusedException(piece.span(), why.get());
        }
    }

    @Override
    public ScriptConfig configuration() {
        return configuration;
    }

    @Override
    public ScriptUnit unit() {
        return unit;
    }

    @Override
    public List<List<AheadProgram>> ranked() {
        return ranked;
    }

    /** Alternatives that were not taken, and why: {@code "fentry:vfs_read: …"}. */
    public List<String> passedOver() {
        return passedOver;
    }

    @Override
    public List<SourceSpan> places(SourceSpan span) {
        return List.of(span);
    }

    @Override
    public int kernelFunction(String name) {
        try (KernelTypes types = KernelTypes.open()) {
            return types.btf().find(name, BtfType.Func.class::isInstance);
        } catch (IOException e) {
            return 0;
        }
    }
}
