package sonde.lang.bpftrace.run;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.expand.Parameters;
import sonde.lang.declare.Includes;

/**
 * How a script is compiled and run.
 *
 * @param parameters positional and named ones
 * @param pid the process that is looked at; empty for all
 * @param child the process that is started for it; 0 for none
 * @param unsafe whether functions may be used that change more than the trace
 * @param mode what is run
 * @param helperErrors whether failures of helpers are told
 * @param includes headers
 * @param environment of the tracer
 * @param directory relative imports are looked for in
 * @param warnings whether warnings of the script are printed
 * @param disabledFeatures {@code "uprobe_multi"}, as if the kernel lacked them
 * @param debugFolders where debug files of programs may be, besides the usual places
 */
public record TraceOptions(
        Parameters parameters,
        OptionalInt pid,
        int child,
        boolean unsafe,
        Mode mode,
        boolean helperErrors,
        Includes includes,
        Map<String, String> environment,
        Path directory,
        boolean warnings,
        @Nullable String probeFilter,
        @Nullable String traceableFunctions,
        Set<String> disabledFeatures,
        List<Path> debugFolders) {
    /** With debug files in the usual places. */
    public TraceOptions(
            Parameters parameters,
            OptionalInt pid,
            int child,
            boolean unsafe,
            Mode mode,
            boolean helperErrors,
            Includes includes,
            Map<String, String> environment,
            Path directory,
            boolean warnings,
            @Nullable String probeFilter,
            @Nullable String traceableFunctions,
            Set<String> disabledFeatures) {
        this(
                parameters,
                pid,
                child,
                unsafe,
                mode,
                helperErrors,
                includes,
                environment,
                directory,
                warnings,
                probeFilter,
                traceableFunctions,
                disabledFeatures,
                List.of());
    }

    /** With the warnings of the script. */
    public TraceOptions(
            Parameters parameters,
            OptionalInt pid,
            int child,
            boolean unsafe,
            Mode mode,
            boolean helperErrors,
            Includes includes,
            Map<String, String> environment,
            Path directory,
            @Nullable String probeFilter,
            @Nullable String traceableFunctions,
            Set<String> disabledFeatures) {
        this(
                parameters,
                pid,
                child,
                unsafe,
                mode,
                helperErrors,
                includes,
                environment,
                directory,
                true,
                probeFilter,
                traceableFunctions,
                disabledFeatures);
    }

    /** Which probes of a script are run. */
    public enum Mode {
        TRACE,
        TEST,
        BENCH
    }
}
