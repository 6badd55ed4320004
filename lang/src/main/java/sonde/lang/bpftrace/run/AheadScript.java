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
import sonde.lang.bpftrace.ahead.ScriptFile;
import sonde.lang.bpftrace.ahead.ScriptFile.Piece;
import sonde.lang.bpftrace.ahead.ScriptFile.Want;
import sonde.lang.bpftrace.ahead.ScriptFile.Wish;
import sonde.lang.bpftrace.expand.Configuration;
import sonde.lang.bpftrace.expand.Option;
import sonde.lang.bpftrace.expand.Parameters;
import sonde.lang.bpftrace.lower.Action;
import sonde.lang.bpftrace.lower.Reference;
import sonde.lang.bpftrace.lower.Unit;
import sonde.lang.bpftrace.syntax.Parser;
import sonde.lang.probes.AttachOptions;
import sonde.lang.probes.AttachPoint;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.probes.AttachPointParser;
import sonde.lang.probes.Expander;
import sonde.lang.probes.ExpanderOptions;
import sonde.lang.probes.ParseSettings;
import sonde.lang.probes.Probe;
import sonde.lang.probes.ProbeGroup;
import sonde.lang.probes.Trial;
import sonde.lang.source.Diagnostic;
import sonde.lang.source.Diagnostics;
import sonde.lang.source.Span;

/** A compiled script on this kernel: its references answered, its alternatives chosen. */
public final class AheadScript implements Prepared {
    private static final int LOAD_WIDE = 0x18;
    private static final int CALL = 0x85;
    private static final long OF_BTF_ID = 3L << 12;

    private final ScriptFile file;
    private final Configuration configuration;
    private final Unit unit;
    private final List<List<AheadProgram>> ranked = new ArrayList<>();
    private final List<String> passedOver = new ArrayList<>();

    private AheadScript(ScriptFile file, Configuration configuration, int cpuMask) {
        this.file = file;
        this.configuration = configuration;
        long frames = (long) file.frameBytes() * (cpuMask + 1);
        this.unit =
                Unit.of(
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
            ScriptFile file, TraceOptions options, Machine machine, Diagnostics diagnostics)
            throws IOException {
        Configuration configuration =
                Configuration.of(
                        Parser.parse(file.sources().getFirst(), diagnostics).config(),
                        options.environment(),
                        diagnostics);
        AheadScript script = new AheadScript(file, configuration, machine.cpuMask());
        script.checkSafety(options, diagnostics);
        if (!diagnostics.hasErrors()) {
            script.choose(options, new Answers(file, options, machine), diagnostics);
        }
        return script;
    }

    /**
     * What is wrong with what a file is given; empty for nothing.
     *
     * @param parameters of the command line
     */
    public static Optional<Parameters.Problem> problem(ScriptFile file, Parameters parameters) {
        if (!parameters.positional().isEmpty()) {
            return Optional.of(
                    new Parameters.Problem(
                            "parameters ($1, …) are put in when a script is compiled",
                            "give them behind --compile FILE.bt -o FILE.sbt"));
        }
        List<Option> free = new ArrayList<>();
        for (ScriptFile.Asked asked : file.options()) {
            String name = asked.option().name();
            String fixed = asked.fixed();
            if (fixed == null) {
                free.add(asked.option());
            } else if (parameters.named().containsKey(name)) {
                return Optional.of(
                        new Parameters.Problem(
                                "--" + name + " was fixed to " + fixed + " when this was compiled",
                                "the compiler needs texts, and numbers that change what it writes;"
                                        + " give them behind --compile FILE.bt -o FILE.sbt --"));
            }
        }
        return parameters.problem(free);
    }

    private void checkSafety(TraceOptions options, Diagnostics diagnostics) {
        Span start = new Span(file.sources().getFirst(), 0, 0);
        boolean commands = file.actions().stream().anyMatch(Action.System.class::isInstance);
        boolean changes = file.pieces().stream().anyMatch(AheadScript::changes);
        if (!options.unsafe() && (commands || changes)) {
            diagnostics.error(
                    start,
                    (commands ? "system()" : "a function of this script")
                            + " is unsafe. To use you need the --unsafe flag");
        }
    }

    private static boolean changes(Piece piece) {
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

    private void choose(TraceOptions options, Answers answers, Diagnostics diagnostics)
            throws IOException {
        Map<Integer, List<Piece>> places =
                file.pieces().stream()
                        .filter(piece -> isRun(piece.kind(), options.mode()))
                        .collect(
                                Collectors.groupingBy(
                                        Piece::place, LinkedHashMap::new, Collectors.toList()));
        ParseSettings settings = new ParseSettings(List.of(), options.pid(), options.unsafe());
        ExpanderOptions how =
                new ExpanderOptions(
                        options.pid(),
                        options.unsafe(),
                        (int) configuration.maxProbes(),
                        (int) configuration.maxPrograms(),
                        ExpanderOptions.Missing.ERROR,
                        null,
                        options.traceableFunctions(),
                        options.disabledFeatures());
        try (Expander expander = new Expander(how)) {
            for (List<Piece> pieces : places.values()) {
                choose(pieces, expander, settings, answers, diagnostics);
            }
        }
    }

    private static boolean isRun(Kind kind, TraceOptions.Mode mode) {
        return switch (kind) {
            case TEST -> mode == TraceOptions.Mode.TEST;
            case BENCH -> mode == TraceOptions.Mode.BENCH;
            default -> true;
        };
    }

    private record Refusal(Span span, String why) {}

    /** What makes an alternative impossible here. */
    private static final class RefusedException extends Exception {
        private static final long serialVersionUID = 1;

        private final transient Refusal refusal;

        RefusedException(Span span, String why) {
            super(why);
            this.refusal = new Refusal(span, why);
        }
    }

    private void choose(
            List<Piece> pieces,
            Expander expander,
            ParseSettings settings,
            Answers answers,
            Diagnostics diagnostics)
            throws IOException {
        List<AheadProgram> taken = new ArrayList<>();
        Refusal last = null;
        for (Piece piece : pieces) {
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

    private boolean isOptional(List<Piece> pieces) {
        return pieces.stream().allMatch(Piece::optional)
                || configuration.missingProbes() != Configuration.MissingProbes.ERROR;
    }

    private static ProbeGroup group(Piece piece, Expander expander, ParseSettings settings)
            throws RefusedException {
        Diagnostics said = new Diagnostics();
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
                            .filter(d -> d.severity() == Diagnostic.Severity.ERROR)
                            .map(Diagnostic::message)
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
        var markers = Markers.of(group.first());
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

    private static long[] words(Piece piece, Answers answers) throws RefusedException, IOException {
        long[] words = piece.code().clone();
        for (Wish wish : piece.wishes()) {
            try {
                long number = answers.answer(wish.want());
                int slot = wish.slot();
                boolean variable =
                        wish.want() instanceof Want.Named(Reference reference)
                                && reference instanceof Reference.Variable;
                words[slot] =
                        words[slot] & 0xffff_ffffL
                                | (variable ? OF_BTF_ID : 0)
                                | (number & 0xffff_ffffL) << 32;
                words[slot + 1] =
                        words[slot + 1] & 0xffff_ffffL | (variable ? 0 : number >>> 32) << 32;
            } catch (Answers.MissingException e) {
                Span span = wish.span();
                throw new RefusedException(
                        span == null ? piece.span() : span, String.valueOf(e.getMessage()));
            }
        }
        return words;
    }

    /** Attaches a program that does nothing, for a moment. */
    private static void tryOut(Piece piece, ProbeGroup group) throws RefusedException {
        Optional<String> why = Trial.refusal(group, AttachOptions.EVERYWHERE);
        if (why.isPresent()) {
            throw new RefusedException(piece.span(), why.get());
        }
    }

    @Override
    public Configuration configuration() {
        return configuration;
    }

    @Override
    public Unit unit() {
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
    public List<Span> places(Span span) {
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
