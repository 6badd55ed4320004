package sonde.lang.bpftrace.expand;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.Script;
import sonde.lang.source.CompilerDiagnostics;

/**
 * The settings of a script: of its config block, over which the environment ({@code
 * BPFTRACE_MAX_STRLEN}) goes.
 *
 * @param userSymbols how symbols of processes are kept
 * @param cppDemangle whether C++ names are shown as in the source
 * @param lazySymbols whether symbols are looked up when they are first needed
 * @param license of the programs that are loaded
 * @param logBytes room for the verifier's log
 * @param maxPrograms that may be generated
 * @param maxCatBytes that {@code cat()} shows
 * @param maxMapKeys of a map that is not declared
 * @param maxProbes that may be attached
 * @param maxStringBytes of {@code str()}, {@code buf()} and {@code path()}, its last 0 included
 * @param missingProbes what happens where a probe cannot be attached
 * @param stackLimitBytes of a value that may be kept on the stack of a program
 * @param ringPages of the ring that events come through; 0: by the memory of the machine
 * @param showDebugInfo whether stacks have files and lines
 * @param stackMode how stacks are shown where the call does not say
 * @param truncationTrailer put behind a string that was cut
 * @param printMapsOnExit whether maps are printed at the end
 * @param tseries whether {@code tseries()} may be used
 * @param dwarfStacks whether {@code dw_ustack()} may be used
 */
public record ScriptConfig(
        UserSymbols userSymbols,
        boolean cppDemangle,
        boolean lazySymbols,
        String license,
        long logBytes,
        long maxPrograms,
        long maxCatBytes,
        long maxMapKeys,
        long maxProbes,
        long maxStringBytes,
        MissingProbes missingProbes,
        long stackLimitBytes,
        long ringPages,
        boolean showDebugInfo,
        ConfiguredStackMode stackMode,
        String truncationTrailer,
        boolean printMapsOnExit,
        UnstableUse tseries,
        UnstableUse dwarfStacks) {

    /** Nothing set. */
    public static final ScriptConfig DEFAULT = of(null, Map.of(), new CompilerDiagnostics());

    /** How symbols of processes are kept. */
    public enum UserSymbols {
        /** By program with {@code -c} or without address randomisation, else by process. */
        AUTOMATIC,
        PER_PROGRAM,
        PER_PID,
        NONE
    }

    /** What happens where a probe cannot be attached. */
    public enum MissingProbes {
        ERROR,
        WARN,
        IGNORE
    }

    /** How stacks are shown. */
    public enum ConfiguredStackMode {
        BPFTRACE,
        PERF,
        RAW,
        BUILD_ID
    }

    /** Whether something that may still change may be used. */
    public enum UnstableUse {
        ERROR,
        WARN,
        ENABLE
    }

    /**
     * The settings of a config block and the environment; errors for keys that are none and values
     * that a key does not have, warnings for those of old.
     *
     * @param environment variables that are none of ours are passed over
     */
    public static ScriptConfig of(
            Script.@Nullable Config config,
            Map<String, String> environment,
            CompilerDiagnostics diagnostics) {
        ConfigSettings settings = new ConfigSettings(diagnostics);
        if (config != null) {
            config.settings().forEach(settings::set);
        }
        settings.environment(environment);
        return new ScriptConfig(
                settings.one("cache_user_symbols", UserSymbols.class),
                settings.truth("cpp_demangle"),
                settings.truth("lazy_symbolication"),
                settings.text("license"),
                settings.number("log_size"),
                settings.number("max_bpf_progs"),
                settings.number("max_cat_bytes"),
                settings.number("max_map_keys"),
                settings.number("max_probes"),
                settings.number("max_strlen"),
                settings.one("missing_probes", MissingProbes.class),
                settings.number("on_stack_limit"),
                settings.number("perf_rb_pages"),
                settings.truth("show_debug_info"),
                settings.one("stack_mode", ConfiguredStackMode.class),
                settings.text("str_trunc_trailer"),
                settings.truth("print_maps_on_exit"),
                settings.one("unstable_tseries", UnstableUse.class),
                settings.one("unstable_dw_ustack", UnstableUse.class));
    }
}
