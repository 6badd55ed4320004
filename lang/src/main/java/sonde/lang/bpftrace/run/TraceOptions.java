package sonde.lang.bpftrace.run;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.expand.ScriptParameters;
import sonde.lang.declare.IncludeFolders;
import sonde.symbol.files.GivenPlaces;

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
 * @param places where debug files and the image of the kernel may be, besides the usual places
 * @param stacks whose stacks {@code dw_ustack} copies
 * @param hidden the process that {@code watched()} leaves out: the tracer; 0 for none
 */
public record TraceOptions(
        ScriptParameters parameters,
        OptionalInt pid,
        int child,
        boolean unsafe,
        ProbeSelection mode,
        boolean helperErrors,
        IncludeFolders includes,
        Map<String, String> environment,
        Path directory,
        boolean warnings,
        @Nullable String probeFilter,
        @Nullable String traceableFunctions,
        Set<String> disabledFeatures,
        GivenPlaces places,
        StackCopying stacks,
        int hidden) {
    /** All processes, nothing unsafe, with warnings; an empty environment. */
    public static final TraceOptions USUAL =
            new TraceOptions(
                    ScriptParameters.NONE,
                    OptionalInt.empty(),
                    0,
                    false,
                    ProbeSelection.TRACE,
                    false,
                    IncludeFolders.NONE,
                    Map.of(),
                    Path.of("."),
                    true,
                    null,
                    null,
                    Set.of(),
                    GivenPlaces.NONE,
                    StackCopying.NONE,
                    0);

    /** Which probes of a script are run. */
    public enum ProbeSelection {
        TRACE,
        TEST,
        BENCH
    }

    /** Where debug files of programs may be, besides the usual places. */
    public List<Path> debugFolders() {
        return places.folders().stream().map(Path::of).toList();
    }

    /** With these parameters instead. */
    public TraceOptions with(ScriptParameters some) {
        return copy(some, child, unsafe, hidden);
    }

    /**
     * The same options for other processes.
     *
     * @param command the process that is started for it; 0 for none
     * @param tracer what {@code watched()} leaves out; 0 for none
     */
    public TraceOptions watching(int command, int tracer) {
        return copy(parameters, command, unsafe, tracer);
    }

    /** With functions that change more than the trace, or without. */
    public TraceOptions unsafe(boolean allowed) {
        return copy(parameters, child, allowed, hidden);
    }

    private TraceOptions copy(ScriptParameters some, int command, boolean allowed, int tracer) {
        return new TraceOptions(
                some,
                pid,
                command,
                allowed,
                mode,
                helperErrors,
                includes,
                environment,
                directory,
                warnings,
                probeFilter,
                traceableFunctions,
                disabledFeatures,
                places,
                stacks,
                tracer);
    }
}
