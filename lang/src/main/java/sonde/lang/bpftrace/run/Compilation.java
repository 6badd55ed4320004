package sonde.lang.bpftrace.run;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.ahead.ScriptFile;
import sonde.lang.bpftrace.check.Check;
import sonde.lang.bpftrace.check.Clause;
import sonde.lang.bpftrace.check.MapSymbol;
import sonde.lang.bpftrace.expand.Configuration;
import sonde.lang.bpftrace.expand.Expansion;
import sonde.lang.bpftrace.expand.FileImports;
import sonde.lang.bpftrace.expand.Folding;
import sonde.lang.bpftrace.expand.Option;
import sonde.lang.bpftrace.expand.Parameters;
import sonde.lang.bpftrace.lower.Addresses;
import sonde.lang.bpftrace.lower.Lowering;
import sonde.lang.bpftrace.lower.Options;
import sonde.lang.bpftrace.lower.ProgramSite;
import sonde.lang.bpftrace.lower.Unit;
import sonde.lang.bpftrace.lower.UnportableException;
import sonde.lang.bpftrace.syntax.Parser;
import sonde.lang.bpftrace.syntax.Script;
import sonde.lang.bpftrace.syntax.TypeSyntax;
import sonde.lang.declare.Declarations;
import sonde.lang.declare.KernelTypeSource;
import sonde.lang.ir.Assembly;
import sonde.lang.ir.CompilationException;
import sonde.lang.ir.Function;
import sonde.lang.probes.AttachPoint;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.probes.AttachPointParser;
import sonde.lang.probes.Expander;
import sonde.lang.probes.ExpanderOptions;
import sonde.lang.probes.ParseSettings;
import sonde.lang.probes.Probe;
import sonde.lang.probes.ProbeGroup;
import sonde.lang.source.Diagnostics;
import sonde.lang.source.SourceText;
import sonde.lang.source.Span;
import sonde.lang.type.Type;

/**
 * A script as programs, ready to be loaded. The passes, in order: parse; configuration; imports,
 * macros and parameters; folding; declarations; probes; types; lowering; and for each program
 * optimising, registers, encoding.
 */
public final class Compilation implements Prepared {
    private final Script script;
    private final Configuration configuration;
    private final Unit unit;
    private final List<CompiledProgram> programs;
    private final Optional<Parameters.Problem> problem;
    private final ScriptEnvironment environment;
    private final List<Expansion.Use> uses;
    private final List<ScriptFile.Asked> options;
    private final List<Attachment> attachments;

    private Compilation(
            Script script,
            Configuration configuration,
            Unit unit,
            List<CompiledProgram> programs,
            Optional<Parameters.Problem> problem,
            ScriptEnvironment environment,
            Expansion.Expanded expanded,
            TraceOptions options,
            List<Attachment> attachments) {
        this.uses = expanded.uses();
        this.options =
                expanded.options().stream()
                        .map(option -> asked(option, expanded.late(), options.parameters()))
                        .toList();
        this.attachments = attachments;
        this.script = script;
        this.configuration = configuration;
        this.unit = unit;
        this.programs = programs;
        this.problem = problem;
        this.environment = environment;
    }

    /** The script after its macros were expanded. */
    public Script script() {
        return script;
    }

    @Override
    public Configuration configuration() {
        return configuration;
    }

    @Override
    public Unit unit() {
        return unit;
    }

    /** Its programs, in the order of the script. */
    public List<CompiledProgram> programs() {
        return programs;
    }

    /** What is wrong with the options that were given to it. */
    public Optional<Parameters.Problem> problem() {
        return problem;
    }

    @Override
    public List<List<CompiledProgram>> ranked() {
        return programs.stream().map(List::of).toList();
    }

    private static ScriptFile.Asked asked(Option option, Set<String> late, Parameters parameters) {
        return new ScriptFile.Asked(
                option, late.contains(option.name()) ? null : parameters.value(option));
    }

    /** What the script asks for behind {@code --}. */
    List<ScriptFile.Asked> options() {
        return options;
    }

    /** Of a script for any machine: how each of its programs is attached. */
    List<Attachment> attachments() {
        return attachments;
    }

    @Override
    public List<Span> places(Span span) {
        List<Span> places = new ArrayList<>();
        places.add(span);
        for (Expansion.Use use : uses) {
            Span body = use.macro().span();
            Span last = places.getLast();
            if (body.source().equals(last.source())
                    && body.from() <= last.from()
                    && last.to() <= body.to()) {
                places.add(use.call());
            }
        }
        return places;
    }

    @Override
    public int kernelFunction(String name) {
        return environment.kernelFunction(name);
    }

    /**
     * Compiles; null after saying what is wrong.
     *
     * @param machine facts of this machine that programs depend on
     */
    public static @Nullable Compilation of(
            SourceText text, TraceOptions options, Machine machine, Diagnostics diagnostics) {
        return of(text, options, machine, false, diagnostics);
    }

    /**
     * As {@link #of}, for other machines too; such a compilation is not run, but written to a file.
     */
    public static @Nullable Compilation portable(
            SourceText text, TraceOptions options, Machine machine, Diagnostics diagnostics) {
        return of(text, options, machine, true, diagnostics);
    }

    private static @Nullable Compilation of(
            SourceText text,
            TraceOptions options,
            Machine machine,
            boolean portable,
            Diagnostics diagnostics) {
        Script parsed = Parser.parse(text, diagnostics);
        Configuration configuration =
                Configuration.of(parsed.config(), options.environment(), diagnostics);
        if (diagnostics.hasErrors()) {
            return null;
        }
        Expansion.Expanded expanded =
                Expansion.expandWithUses(
                        parsed,
                        options.parameters(),
                        portable,
                        new FileImports(options.directory()),
                        diagnostics);
        Script script = Folding.fold(expanded.script(), diagnostics);
        KernelTypeSource kernel = KernelTypeSource.shared();
        Declarations declarations =
                Declarations.parse(
                        text, parsed.definitions(), options.includes(), kernel, diagnostics);
        if (diagnostics.hasErrors()) {
            return null;
        }
        ScriptEnvironment environment =
                new ScriptEnvironment(declarations, kernel, configuration, options, machine.cpus());
        List<Planned> planned = plan(script, options, configuration, portable, diagnostics);
        if (diagnostics.hasErrors()) {
            return null;
        }
        environment.look(
                planned.stream().map(one -> one.group().first()).toList(), options.debugFolders());
        Map<String, MapSymbol> maps =
                Check.of(
                        script,
                        planned.stream().flatMap(Planned::parts).map(Planned::clause).toList(),
                        environment,
                        diagnostics);
        if (diagnostics.hasErrors()) {
            return null;
        }
        boolean exits =
                script.items().stream()
                        .anyMatch(item -> item instanceof Script.Probe p && Uses.of(p).exits());
        Options lowering = lowering(configuration, options, machine);
        if (portable) {
            lowering = lowering.portable(new KernelStructures(declarations, kernel)::isKernels);
        }
        Unit unit = new Unit(lowering, maps, exits);
        // Reading the kernel's types costs more than all else of a small script.
        Supplier<@Nullable Type> task =
                () -> environment.type(TypeSyntax.Kind.STRUCT, "task_struct");
        Addresses addresses = new HostAddresses(environment.maxText());
        Machine target = portable ? machine.oldest() : machine;
        List<CompiledProgram> programs = lower(planned, unit, task, addresses, target, diagnostics);
        return diagnostics.hasErrors()
                ? null
                : new Compilation(
                        script,
                        configuration,
                        unit,
                        programs,
                        options.parameters().problem(expanded.options()),
                        environment,
                        expanded,
                        options,
                        planned.stream()
                                .map(Planned::attachment)
                                .filter(Objects::nonNull)
                                .toList());
    }

    /**
     * A clause and the probes that share a program of it.
     *
     * @param attachment of a script for any machine; null for others
     * @param atReturn the block that runs when the group's functions return; null for none
     */
    private record Planned(
            Clause clause,
            ProbeGroup group,
            @Nullable Attachment attachment,
            @Nullable Planned atReturn) {
        Planned(Clause clause, ProbeGroup group, @Nullable Attachment attachment) {
            this(clause, group, attachment, null);
        }

        /** This and what was put together with it. */
        Stream<Planned> parts() {
            return Stream.concat(Stream.of(this), Stream.ofNullable(atReturn));
        }
    }

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

    private static List<Planned> plan(
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

    private static Options lowering(
            Configuration configuration, TraceOptions options, Machine machine) {
        return new Options(
                (int) configuration.stackLimitBytes(),
                (int) configuration.maxMapKeys(),
                machine.cpus(),
                options.helperErrors(),
                machine.bootNanos(),
                machine.taiOffsetNanos(),
                options.child(),
                machine.pidSpaceDevice(),
                machine.pidSpaceInode(),
                options.pid().orElse(0),
                options.stacks().all() ? Set.of() : options.stacks().pids(),
                options.environment().getOrDefault("BPFTRACE_DUMMY_TS_MAP", ""),
                null);
    }

    private static List<CompiledProgram> lower(
            List<Planned> planned,
            Unit unit,
            Supplier<@Nullable Type> task,
            Addresses addresses,
            Machine machine,
            Diagnostics diagnostics) {
        List<CompiledProgram> programs = new ArrayList<>();
        Map<String, Integer> names = new HashMap<>();
        Assembly.Target target = new Assembly.Target(machine.hasVersion(6, 6));
        for (Planned one : planned) {
            try {
                int number = unit.programs();
                ProgramSite site = site(one, task, addresses);
                Function function = Lowering.of(unit, one.clause(), site, name(one, names));
                List<Integer> numbers = List.of(number);
                Planned last = one.atReturn();
                if (last != null) {
                    ProgramSite other = site(last, task, addresses);
                    Function atReturn = Lowering.of(unit, last.clause(), other, name(last, names));
                    function = Sessions.joined(function.name() + "_both", function, atReturn);
                    numbers = List.of(number, number + 1);
                }
                Assembly assembly = Assembly.of(function, target);
                programs.add(
                        new CompiledProgram(numbers, one.group(), one.clause(), site, assembly));
            } catch (UnportableException e) {
                diagnostics.error(e.span(), String.valueOf(e.getMessage()));
            } catch (CompilationException e) {
                Span span = e.span();
                diagnostics.error(
                        span == null ? one.clause().probe().span() : span,
                        String.valueOf(e.getMessage()));
            }
        }
        return programs;
    }

    private static ProgramSite site(
            Planned one, Supplier<@Nullable Type> task, Addresses addresses) {
        Probe first = one.group().first();
        return new ProgramSite(
                first,
                one.clause().site().name(),
                success(first.kind()),
                Markers.of(first),
                task,
                addresses);
    }

    private static String name(Planned one, Map<String, Integer> names) {
        String plain = one.group().first().name().replaceAll("[^A-Za-z0-9_]+", "_");
        return plain + "_" + names.merge(plain, 1, Integer::sum);
    }

    /** 0 would hide the event from others that trace it (trace_call_bpf of the kernel). */
    private static int success(Kind kind) {
        return switch (kind) {
            case KPROBE,
                    KRETPROBE,
                    UPROBE,
                    URETPROBE,
                    USDT,
                    TRACEPOINT,
                    PROFILE,
                    INTERVAL,
                    SOFTWARE,
                    HARDWARE,
                    WATCHPOINT ->
                    1;
            default -> 0;
        };
    }
}
