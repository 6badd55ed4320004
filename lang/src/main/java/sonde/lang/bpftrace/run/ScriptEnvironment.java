package sonde.lang.bpftrace.run;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.binary.btf.BtfType;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.link.KernelTypes;
import sonde.lang.bpftrace.check.ImportedFunction;
import sonde.lang.bpftrace.check.TypeEnvironment;
import sonde.lang.bpftrace.code.ImportedCode;
import sonde.lang.bpftrace.expand.ScriptConfig;
import sonde.lang.bpftrace.lower.UserVariable;
import sonde.lang.bpftrace.syntax.TypeSyntax;
import sonde.lang.declare.CDeclarations;
import sonde.lang.declare.DwarfTypes;
import sonde.lang.declare.FunctionSignature;
import sonde.lang.declare.KernelTypeSource;
import sonde.lang.declare.LinuxConstants;
import sonde.lang.declare.ScriptTypeText;
import sonde.lang.probes.Probe;
import sonde.lang.probes.Probe.TracerProbe;
import sonde.lang.probes.Probe.UserProbe;
import sonde.lang.type.StructType;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.EnumType;
import sonde.lang.type.ValueType.PointerType;
import sonde.lang.type.ValueType.StackMode;

/** Types and constants of a script, in the order of its declarations, the kernel, the table. */
final class ScriptEnvironment implements TypeEnvironment {
    /** Helpers that change more than the trace: probe_write_user, override_return, send_signal. */
    static final Set<Integer> UNSAFE_HELPERS = Set.of(36, 58, 109, 117);

    private static final Set<String> UNSAFE =
            Set.of("system", "signal", "signal_thread", "override", "write_user");

    private final CDeclarations declarations;
    private final KernelTypeSource kernel;
    private final ScriptConfig configuration;
    private final TraceOptions options;
    private final ImportedCode code;
    private final Map<String, Integer> functions = new HashMap<>();
    private @Nullable Map<String, ImportedFunction> imported;
    private List<String> programs = List.of();
    private List<Path> debugFolders = List.of();
    private boolean programsFirst;

    ScriptEnvironment(
            CDeclarations declarations,
            KernelTypeSource kernel,
            ScriptConfig configuration,
            TraceOptions options,
            ImportedCode code) {
        this.declarations = declarations;
        this.kernel = kernel;
        this.configuration = configuration;
        this.options = options;
        this.code = code;
    }

    @Override
    public @Nullable ValueType type(TypeSyntax.Kind kind, String name) {
        if (kind == TypeSyntax.Kind.PLAIN) {
            ValueType word = ScriptTypeText.word(name);
            if (word != null) {
                return word;
            }
        }
        ValueType own = declarations.type(kind, name);
        if (own != null) {
            return own;
        }
        ValueType known = programsFirst ? ofPrograms(kind, name) : kernel.type(kind, name);
        if (known == null) {
            known = programsFirst ? kernel.type(kind, name) : ofPrograms(kind, name);
        }
        if (known == null) {
            known = code.type(kind, name);
        }
        if (known != null || kind != TypeSyntax.Kind.PLAIN) {
            return known;
        }
        return ScriptTypeText.type(name, kernel);
    }

    /** Types of the programs that are probed count too, first of all if nothing else is probed. */
    void look(List<Probe> probes, List<Path> folders) {
        programs =
                probes.stream()
                        .filter(UserProbe.class::isInstance)
                        .map(probe -> ((UserProbe) probe).path())
                        .distinct()
                        .toList();
        programsFirst =
                probes.stream()
                        .allMatch(probe ->
                                probe instanceof UserProbe || probe instanceof TracerProbe);
        debugFolders = folders;
    }

    private @Nullable ValueType ofPrograms(TypeSyntax.Kind kind, String name) {
        if (name.equals("task_struct")) {
            // The builtins are of the kernel's.
            return null;
        }
        for (String program : programs) {
            DwarfTypes types = DwarfTypes.shared(program, debugFolders);
            ValueType type = types == null ? null : types.type(kind, name);
            if (type != null) {
                return type;
            }
        }
        return null;
    }

    @Override
    public @Nullable Long constant(String name) {
        Long own = declarations.constant(name);
        if (own != null) {
            return own;
        }
        Long known = LinuxConstants.value(name);
        return known != null ? known : kernel.constant(name);
    }

    @Override
    public ValueType.@Nullable EnumType enumeration(String enumerator) {
        EnumType own = declarations.enumerationOf(enumerator);
        if (own != null || declarations.constant(enumerator) != null) {
            return own;
        }
        return LinuxConstants.value(enumerator) != null ? null : kernel.enumerationOf(enumerator);
    }

    @Override
    public @Nullable String text(String name) {
        return declarations.text(name);
    }

    @Override
    public int maxText() {
        return (int) Math.clamp(configuration.maxStringBytes(), 1L, 1 << 20);
    }

    @Override
    public StackMode stackMode() {
        return StackMode.valueOf(configuration.stackMode().name());
    }

    @Override
    public boolean hasKernelFunction(String name) {
        return kernelFunction(name) != 0;
    }

    /** BTF id of a function of the kernel; 0 for none. */
    int kernelFunction(String name) {
        return functions.computeIfAbsent(
                name,
                n -> {
                    try (KernelTypes types = KernelTypes.open()) {
                        return types.btf().find(n, BtfType.Func.class::isInstance);
                    } catch (IOException e) {
                        return 0;
                    }
                });
    }

    @Override
    public Map<String, ImportedFunction> imported() {
        Map<String, ImportedFunction> known = imported;
        if (known == null) {
            known = new LinkedHashMap<>();
            for (Map.Entry<String, FunctionSignature> one : code.signatures().entrySet()) {
                FunctionSignature signature = one.getValue();
                known.put(
                        one.getKey(),
                        new ImportedFunction(
                                signature.parameters(),
                                pointing(signature.result()),
                                unsafe(one.getKey())));
            }
            imported = known;
        }
        return known;
    }

    @Override
    public Optional<String> fileOfStatic(String function) {
        return code.ofStatic(function);
    }

    /** What C declares of a structure of the kernel may be a part of it. */
    private ValueType pointing(ValueType type) {
        if (type instanceof PointerType p
                && p.to() instanceof StructType s
                && !s.name().isEmpty()
                && type(s.isUnion() ? TypeSyntax.Kind.UNION : TypeSyntax.Kind.STRUCT, s.name())
                        instanceof ValueType known) {
            return new PointerType(known, p.space());
        }
        return type;
    }

    /** A helper that a function in C calls, which changes more than the trace; empty for none. */
    private String unsafe(String function) {
        return code.helpers(function).stream()
                .filter(UNSAFE_HELPERS::contains)
                .map(HelperFunctionId::name)
                .findFirst()
                .orElse("");
    }

    @Override
    public boolean hasKernelSymbol(String name) {
        return HostAddresses.find(name) != 0;
    }

    @Override
    public boolean hasControlGroup(String path) {
        return ControlGroups.id(path) != 0;
    }

    @Override
    public long userSymbolBytes(String path, String name) {
        UserVariable found = UserVariables.find(path, name);
        return found == null ? -1 : found.sizeBytes();
    }

    @Override
    public Set<String> unsafe() {
        return UNSAFE;
    }

    @Override
    public boolean isUnsafeAllowed() {
        return options.unsafe();
    }

    @Override
    public @Nullable Object setting(String name) {
        return switch (name) {
            case "cpp_demangle" -> configuration.cppDemangle();
            case "lazy_symbolication" -> configuration.lazySymbols();
            case "license" -> configuration.license();
            case "log_size" -> configuration.logBytes();
            case "max_bpf_progs" -> configuration.maxPrograms();
            case "max_cat_bytes" -> configuration.maxCatBytes();
            case "max_map_keys" -> configuration.maxMapKeys();
            case "max_probes" -> configuration.maxProbes();
            case "max_strlen" -> configuration.maxStringBytes();
            case "missing_probes" -> word(configuration.missingProbes());
            case "on_stack_limit" -> configuration.stackLimitBytes();
            case "perf_rb_pages" -> configuration.ringPages();
            case "print_maps_on_exit" -> configuration.printMapsOnExit();
            case "show_debug_info" -> configuration.showDebugInfo();
            case "stack_mode" -> word(configuration.stackMode());
            case "str_trunc_trailer" -> configuration.truncationTrailer();
            default -> null;
        };
    }

    private static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    @Override
    public boolean hasUnwindTarget() {
        return options.stacks().isAny();
    }
}
