package sonde.lang.bpftrace.run;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import sonde.bpf.object.Library;
import sonde.lang.bpftrace.ahead.ScriptFile;
import sonde.lang.bpftrace.check.Check;
import sonde.lang.bpftrace.check.MapSymbol;
import sonde.lang.bpftrace.code.ImportedCode;
import sonde.lang.bpftrace.expand.CodeFile;
import sonde.lang.bpftrace.expand.Configuration;
import sonde.lang.bpftrace.expand.Expansion;
import sonde.lang.bpftrace.expand.FileImports;
import sonde.lang.bpftrace.expand.Folding;
import sonde.lang.bpftrace.expand.Option;
import sonde.lang.bpftrace.expand.Parameters;
import sonde.lang.bpftrace.expand.TreeText;
import sonde.lang.bpftrace.expand.Watching;
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
import sonde.lang.ir.Assembly.Stage;
import sonde.lang.ir.CompilationException;
import sonde.lang.ir.Function;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.probes.Probe;
import sonde.lang.source.Diagnostics;
import sonde.lang.source.SourceText;
import sonde.lang.source.Span;
import sonde.lang.type.Type;

/** A script as programs, ready to be loaded: what the passes make of it ({@link Pass}). */
public final class Compilation implements Prepared {
    private final Script script;
    private final Configuration configuration;
    private final Unit unit;
    private final List<CompiledProgram> programs;
    private final Optional<Parameters.Problem> problem;
    private final ScriptEnvironment environment;
    private final @Nullable Library library;
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
            @Nullable Library library,
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
        this.library = library;
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
    public @Nullable Library library() {
        return library;
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
        return of(text, options, machine, diagnostics, PassListener.NONE);
    }

    /**
     * As {@link #of(SourceText, TraceOptions, Machine, Diagnostics)}.
     *
     * @param passes sees what each pass makes
     */
    public static @Nullable Compilation of(
            SourceText text,
            TraceOptions options,
            Machine machine,
            Diagnostics diagnostics,
            PassListener passes) {
        return of(text, options, machine, false, diagnostics, passes);
    }

    /**
     * As {@link #of(SourceText, TraceOptions, Machine, Diagnostics)}, for other machines too; such
     * a compilation is not run, but written to a file.
     */
    public static @Nullable Compilation portable(
            SourceText text, TraceOptions options, Machine machine, Diagnostics diagnostics) {
        return of(text, options, machine, true, diagnostics, PassListener.NONE);
    }

    private static @Nullable Compilation of(
            SourceText text,
            TraceOptions options,
            Machine machine,
            boolean portable,
            Diagnostics diagnostics,
            PassListener passes) {
        Script parsed = Parser.parse(text, diagnostics);
        passes.made(Pass.PARSE, () -> TreeText.of(parsed));
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
        Script script =
                Folding.fold(
                        watched(expanded, options, machine, portable, diagnostics), diagnostics);
        passes.made(Pass.EXPAND, () -> TreeText.of(script));
        KernelTypeSource kernel = KernelTypeSource.shared();
        Declarations declarations =
                Declarations.parse(
                        text, script.definitions(), options.includes(), kernel, diagnostics);
        ImportedCode code = imported(expanded.code(), options, portable, diagnostics);
        if (diagnostics.hasErrors()) {
            return null;
        }

        List<Planned> planned = ProbePlan.of(script, options, configuration, portable, diagnostics);
        passes.made(Pass.PROBES, () -> PassTexts.probes(planned));
        if (diagnostics.hasErrors()) {
            return null;
        }

        ScriptEnvironment environment =
                new ScriptEnvironment(
                        declarations, kernel, configuration, options, code, machine.cpus());
        environment.look(
                planned.stream().map(one -> one.group().first()).toList(), options.debugFolders());
        Map<String, MapSymbol> maps = checked(script, planned, environment, diagnostics);
        passes.made(Pass.TYPES, () -> PassTexts.types(maps, planned));
        if (diagnostics.hasErrors()) {
            return null;
        }

        Options lowering = lowering(configuration, options, machine);
        if (portable) {
            lowering = lowering.portable(new KernelStructures(declarations, kernel)::isKernels);
        }
        Unit unit = new Unit(lowering, maps, exits(script));
        // Reading the kernel's types costs more than all else of a small script.
        Supplier<@Nullable Type> task =
                () -> environment.type(TypeSyntax.Kind.STRUCT, "task_struct");
        Addresses addresses = new HostAddresses(environment.maxText());
        Machine target = portable ? machine.oldest() : machine;
        List<CompiledProgram> programs = lower(planned, unit, task, addresses, target, diagnostics);
        if (diagnostics.hasErrors()) {
            return null;
        }
        tell(passes, programs, unit);
        return new Compilation(
                script,
                configuration,
                unit,
                programs,
                options.parameters().problem(expanded.options()),
                environment,
                code.library(),
                expanded,
                options,
                planned.stream().map(Planned::attachment).filter(Objects::nonNull).toList());
    }

    private static Map<String, MapSymbol> checked(
            Script script,
            List<Planned> planned,
            ScriptEnvironment environment,
            Diagnostics diagnostics) {
        return Check.of(
                script,
                planned.stream().flatMap(Planned::parts).map(Planned::clause).toList(),
                environment,
                diagnostics);
    }

    private static ImportedCode imported(
            List<CodeFile> files, TraceOptions options, boolean portable, Diagnostics diagnostics) {
        if (portable && !files.isEmpty()) {
            diagnostics.error(
                    files.getFirst().span(),
                    "a compiled script cannot have functions in C",
                    "run the script itself where it is needed");
        }
        return diagnostics.hasErrors()
                ? ImportedCode.NONE
                : ImportedCode.of(
                        files, options.environment(), options.includes().folders(), diagnostics);
    }

    private static Script watched(
            Expansion.Expanded expanded,
            TraceOptions options,
            Machine machine,
            boolean portable,
            Diagnostics diagnostics) {
        // In a name space of its own the tracer knows processes by other numbers than the kernel.
        boolean first = machine.pidSpaceInode() == 0;
        Watching.Whom whom =
                first
                        ? new Watching.Whom(
                                options.pid().orElse(0), options.child(), options.hidden())
                        : Watching.Whom.ALL;
        return Watching.expand(expanded.script(), portable ? null : whom, diagnostics);
    }

    private static boolean exits(Script script) {
        return script.items().stream()
                .anyMatch(item -> item instanceof Script.Probe probe && Uses.of(probe).exits());
    }

    private static void tell(PassListener passes, List<CompiledProgram> programs, Unit unit) {
        passes.made(Pass.IR, () -> PassTexts.programs(programs, a -> a.dump(Stage.IR)));
        passes.made(Pass.RESOURCES, () -> PassTexts.resources(unit));
        passes.made(
                Pass.OPTIMISED, () -> PassTexts.programs(programs, a -> a.dump(Stage.OPTIMISED)));
        passes.made(
                Pass.ALLOCATED, () -> PassTexts.programs(programs, a -> a.dump(Stage.ALLOCATED)));
        passes.made(Pass.CODE, () -> PassTexts.programs(programs, PassTexts::code));
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
