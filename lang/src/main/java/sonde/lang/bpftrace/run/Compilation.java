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
import sonde.bpf.object.FunctionLibrary;
import sonde.lang.bpftrace.ahead.AotFile.RequestedOption;
import sonde.lang.bpftrace.check.MapSymbol;
import sonde.lang.bpftrace.check.TypeCheck;
import sonde.lang.bpftrace.code.ImportedCode;
import sonde.lang.bpftrace.expand.CodeFile;
import sonde.lang.bpftrace.expand.ConstantFolding;
import sonde.lang.bpftrace.expand.FileImports;
import sonde.lang.bpftrace.expand.ScriptConfig;
import sonde.lang.bpftrace.expand.ScriptExpansion;
import sonde.lang.bpftrace.expand.ScriptExpansion.ExpandedScript;
import sonde.lang.bpftrace.expand.ScriptExpansion.MacroUse;
import sonde.lang.bpftrace.expand.ScriptOption;
import sonde.lang.bpftrace.expand.ScriptParameters;
import sonde.lang.bpftrace.expand.TreeText;
import sonde.lang.bpftrace.expand.WatchedFilter;
import sonde.lang.bpftrace.expand.WatchedFilter.WatchedProcesses;
import sonde.lang.bpftrace.lower.ClauseLowering;
import sonde.lang.bpftrace.lower.LoweringOptions;
import sonde.lang.bpftrace.lower.ProgramSite;
import sonde.lang.bpftrace.lower.ScriptUnit;
import sonde.lang.bpftrace.lower.SymbolAddresses;
import sonde.lang.bpftrace.lower.UnportableException;
import sonde.lang.bpftrace.syntax.Script;
import sonde.lang.bpftrace.syntax.Script.ProbeBlock;
import sonde.lang.bpftrace.syntax.ScriptParser;
import sonde.lang.bpftrace.syntax.TypeSyntax;
import sonde.lang.declare.CDeclarations;
import sonde.lang.declare.KernelTypeSource;
import sonde.lang.ir.Assembly;
import sonde.lang.ir.Assembly.InstructionSet;
import sonde.lang.ir.Assembly.Stage;
import sonde.lang.ir.CompilationException;
import sonde.lang.ir.IrFunction;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.probes.Probe;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceSpan;
import sonde.lang.source.SourceText;
import sonde.lang.type.ValueType;

/** A script as programs, ready to be loaded: what the passes make of it ({@link CompilerPass}). */
public final class Compilation implements PreparedScript {
    private final ScriptConfig configuration;
    private final ScriptUnit unit;
    private final List<CompiledProgram> programs;
    private final Optional<ScriptParameters.Problem> problem;
    private final ScriptEnvironment environment;
    private final @Nullable FunctionLibrary library;
    private final List<MacroUse> uses;
    private final List<RequestedOption> options;
    private final List<PortableAttachment> attachments;

    private Compilation(
            ScriptConfig configuration,
            ScriptUnit unit,
            List<CompiledProgram> programs,
            Optional<ScriptParameters.Problem> problem,
            ScriptEnvironment environment,
            @Nullable FunctionLibrary library,
            ExpandedScript expanded,
            TraceOptions options,
            List<PortableAttachment> attachments) {
        this.uses = expanded.uses();
        this.options =
                expanded.options().stream()
                        .map(option -> asked(option, expanded.late(), options.parameters()))
                        .toList();
        this.attachments = attachments;
        this.configuration = configuration;
        this.unit = unit;
        this.programs = programs;
        this.problem = problem;
        this.environment = environment;
        this.library = library;
    }

    @Override
    public ScriptConfig configuration() {
        return configuration;
    }

    @Override
    public ScriptUnit unit() {
        return unit;
    }

    /** Its programs, in the order of the script. */
    public List<CompiledProgram> programs() {
        return programs;
    }

    /** What is wrong with the options that were given to it. */
    public Optional<ScriptParameters.Problem> problem() {
        return problem;
    }

    @Override
    public List<List<CompiledProgram>> ranked() {
        return programs.stream().map(List::of).toList();
    }

    private static RequestedOption asked(
            ScriptOption option, Set<String> late, ScriptParameters parameters) {
        return new RequestedOption(
                option, late.contains(option.name()) ? null : parameters.value(option));
    }

    /** What the script asks for behind {@code --}. */
    List<RequestedOption> options() {
        return options;
    }

    /** Of a script for any machine: how each of its programs is attached. */
    List<PortableAttachment> attachments() {
        return attachments;
    }

    @Override
    public @Nullable FunctionLibrary library() {
        return library;
    }

    @Override
    public List<SourceSpan> places(SourceSpan span) {
        List<SourceSpan> places = new ArrayList<>();
        places.add(span);
        for (MacroUse use : uses) {
            SourceSpan body = use.macro().span();
            SourceSpan last = places.getLast();
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
            SourceText text,
            TraceOptions options,
            TargetMachine machine,
            CompilerDiagnostics diagnostics) {
        return of(text, options, machine, diagnostics, PassListener.NONE);
    }

    /**
     * As {@link #of(SourceText, TraceOptions, TargetMachine, CompilerDiagnostics)}.
     *
     * @param passes sees what each pass makes
     */
    public static @Nullable Compilation of(
            SourceText text,
            TraceOptions options,
            TargetMachine machine,
            CompilerDiagnostics diagnostics,
            PassListener passes) {
        return of(text, options, machine, false, diagnostics, passes);
    }

    /**
     * As {@link #of(SourceText, TraceOptions, TargetMachine, CompilerDiagnostics)}, for other
     * machines too; such a compilation is not run, but written to a file.
     */
    public static @Nullable Compilation portable(
            SourceText text,
            TraceOptions options,
            TargetMachine machine,
            CompilerDiagnostics diagnostics) {
        return of(text, options, machine, true, diagnostics, PassListener.NONE);
    }

    private static @Nullable Compilation of(
            SourceText text,
            TraceOptions options,
            TargetMachine machine,
            boolean portable,
            CompilerDiagnostics diagnostics,
            PassListener passes) {
        Script parsed = ScriptParser.parse(text, diagnostics);
        passes.made(CompilerPass.PARSE, () -> TreeText.of(parsed));
        ScriptConfig configuration =
                ScriptConfig.of(parsed.config(), options.environment(), diagnostics);
        if (diagnostics.hasErrors()) {
            return null;
        }

        ExpandedScript expanded =
                ScriptExpansion.expandWithUses(
                        parsed,
                        options.parameters(),
                        portable,
                        new FileImports(options.directory()),
                        diagnostics);
        Script script =
                ConstantFolding.fold(
                        watched(expanded, options, machine, portable, diagnostics), diagnostics);
        passes.made(CompilerPass.EXPAND, () -> TreeText.of(script));
        KernelTypeSource kernel = KernelTypeSource.shared();
        CDeclarations declarations =
                CDeclarations.parse(
                        text, script.definitions(), options.includes(), kernel, diagnostics);
        ImportedCode code = imported(expanded.code(), options, portable, diagnostics);
        if (diagnostics.hasErrors()) {
            return null;
        }

        List<PlannedClause> planned =
                ProbePlan.of(script, options, configuration, portable, diagnostics);
        passes.made(CompilerPass.PROBES, () -> PassTexts.probes(planned));
        if (diagnostics.hasErrors()) {
            return null;
        }

        ScriptEnvironment environment =
                new ScriptEnvironment(declarations, kernel, configuration, options, code);
        environment.look(
                planned.stream().map(one -> one.group().first()).toList(), options.debugFolders());
        Map<String, MapSymbol> maps = checked(script, planned, environment, diagnostics);
        passes.made(CompilerPass.TYPES, () -> PassTexts.types(maps, planned));
        if (diagnostics.hasErrors()) {
            return null;
        }

        LoweringOptions lowering = lowering(configuration, options, machine);
        if (portable) {
            lowering = lowering.portable(new KernelStructures(declarations, kernel)::isKernels);
        }
        ScriptUnit unit = new ScriptUnit(lowering, maps, exits(script));
        // Reading the kernel's types costs more than all else of a small script.
        Supplier<@Nullable ValueType> task =
                () -> environment.type(TypeSyntax.Kind.STRUCT, "task_struct");
        SymbolAddresses addresses = new HostAddresses(environment.maxText());
        TargetMachine target = portable ? machine.oldest() : machine;
        List<CompiledProgram> programs = lower(planned, unit, task, addresses, target, diagnostics);
        if (diagnostics.hasErrors()) {
            return null;
        }
        tell(passes, programs, unit);
        return new Compilation(
                configuration,
                unit,
                programs,
                options.parameters().problem(expanded.options()),
                environment,
                code.library(),
                expanded,
                options,
                planned.stream().map(PlannedClause::attachment).filter(Objects::nonNull).toList());
    }

    private static Map<String, MapSymbol> checked(
            Script script,
            List<PlannedClause> planned,
            ScriptEnvironment environment,
            CompilerDiagnostics diagnostics) {
        return TypeCheck.of(
                script,
                planned.stream().flatMap(PlannedClause::parts).map(PlannedClause::clause).toList(),
                environment,
                diagnostics);
    }

    private static ImportedCode imported(
            List<CodeFile> files,
            TraceOptions options,
            boolean portable,
            CompilerDiagnostics diagnostics) {
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
            ExpandedScript expanded,
            TraceOptions options,
            TargetMachine machine,
            boolean portable,
            CompilerDiagnostics diagnostics) {
        // In a name space of its own the tracer knows processes by other numbers than the kernel.
        boolean first = machine.pidSpaceInode() == 0;
        WatchedProcesses whom =
                first
                        ? new WatchedProcesses(
                                options.pid().orElse(0), options.child(), options.hidden())
                        : WatchedProcesses.ALL;
        return WatchedFilter.expand(expanded.script(), portable ? null : whom, diagnostics);
    }

    private static boolean exits(Script script) {
        return script.items().stream()
                .anyMatch(item -> item instanceof ProbeBlock probe && ClauseUses.of(probe).exits());
    }

    private static void tell(PassListener passes, List<CompiledProgram> programs, ScriptUnit unit) {
        passes.made(CompilerPass.IR, () -> PassTexts.programs(programs, a -> a.dump(Stage.IR)));
        passes.made(CompilerPass.RESOURCES, () -> PassTexts.resources(unit));
        passes.made(
                CompilerPass.OPTIMISED,
                () -> PassTexts.programs(programs, a -> a.dump(Stage.OPTIMISED)));
        passes.made(
                CompilerPass.ALLOCATED,
                () -> PassTexts.programs(programs, a -> a.dump(Stage.ALLOCATED)));
        passes.made(CompilerPass.CODE, () -> PassTexts.programs(programs, PassTexts::code));
    }

    private static LoweringOptions lowering(
            ScriptConfig configuration, TraceOptions options, TargetMachine machine) {
        return new LoweringOptions(
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
            List<PlannedClause> planned,
            ScriptUnit unit,
            Supplier<@Nullable ValueType> task,
            SymbolAddresses addresses,
            TargetMachine machine,
            CompilerDiagnostics diagnostics) {
        List<CompiledProgram> programs = new ArrayList<>();
        Map<String, Integer> names = new HashMap<>();
        InstructionSet target = new InstructionSet(machine.hasVersion(6, 6));
        for (PlannedClause one : planned) {
            try {
                int number = unit.programs();
                ProgramSite site = site(one, task, addresses);
                IrFunction function = ClauseLowering.of(unit, one.clause(), site, name(one, names));
                List<Integer> numbers = List.of(number);
                PlannedClause last = one.atReturn();
                if (last != null) {
                    ProgramSite other = site(last, task, addresses);
                    IrFunction atReturn =
                            ClauseLowering.of(unit, last.clause(), other, name(last, names));
                    function = SessionPairs.joined(function.name() + "_both", function, atReturn);
                    numbers = List.of(number, number + 1);
                }
                Assembly assembly = Assembly.of(function, target);
                programs.add(
                        new CompiledProgram(numbers, one.group(), one.clause(), site, assembly));
            } catch (UnportableException e) {
                diagnostics.error(e.span(), String.valueOf(e.getMessage()));
            } catch (CompilationException e) {
                SourceSpan span = e.span();
                diagnostics.error(
                        span == null ? one.clause().probe().span() : span,
                        String.valueOf(e.getMessage()));
            }
        }
        return programs;
    }

    private static ProgramSite site(
            PlannedClause one, Supplier<@Nullable ValueType> task, SymbolAddresses addresses) {
        Probe first = one.group().first();
        return new ProgramSite(
                first,
                one.clause().site().name(),
                success(first.kind()),
                UsdtSites.of(first),
                task,
                addresses);
    }

    private static String name(PlannedClause one, Map<String, Integer> names) {
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
