package sonde.lang.probes;

import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What an {@link ProbeExpander} keeps to.
 *
 * @param pid the process whose files are meant; empty for all
 * @param unsafe whether functions that seem not to be traceable are tried all the same
 * @param maxProbes most probes of a script (bpftrace's {@code max_probes}, 1024)
 * @param maxPrograms most programs of a script ({@code max_bpf_progs}, 1024)
 * @param filter probes whose name it is not found in are left out; null for none
 * @param traceableFunctions file with a function a line, instead of the kernel's; null for none
 * @param disabledFeatures {@code "kprobe_multi"}, {@code "uprobe_multi"}, as if the kernel lacked
 *     them
 * @param debugFolders where debug files of programs may be, besides the usual places
 */
public record ExpanderOptions(
        OptionalInt pid,
        boolean unsafe,
        int maxProbes,
        int maxPrograms,
        MissingPolicy missing,
        @Nullable Pattern filter,
        @Nullable String traceableFunctions,
        Set<String> disabledFeatures,
        List<Path> debugFolders) {
    /** What bpftrace does where it is told nothing. */
    public static final ExpanderOptions USUAL =
            new ExpanderOptions(
                    OptionalInt.empty(),
                    false,
                    1024,
                    1024,
                    MissingPolicy.ERROR,
                    null,
                    null,
                    Set.of());

    /** What becomes of places that are not there: {@code missing_probes}. */
    public enum MissingPolicy {
        /** They are errors. */
        ERROR,
        /** They are left out with a warning. */
        WARN,
        /** They are left out. */
        IGNORE
    }

    public ExpanderOptions {
        disabledFeatures = Set.copyOf(disabledFeatures);
        debugFolders = List.copyOf(debugFolders);
    }

    /** With debug files in the usual places. */
    public ExpanderOptions(
            OptionalInt pid,
            boolean unsafe,
            int maxProbes,
            int maxPrograms,
            MissingPolicy missing,
            @Nullable Pattern filter,
            @Nullable String traceableFunctions,
            Set<String> disabledFeatures) {
        this(
                pid,
                unsafe,
                maxProbes,
                maxPrograms,
                missing,
                filter,
                traceableFunctions,
                disabledFeatures,
                List.of());
    }

    /** For a process. */
    public ExpanderOptions of(OptionalInt process) {
        return new ExpanderOptions(
                process,
                unsafe,
                maxProbes,
                maxPrograms,
                missing,
                filter,
                traceableFunctions,
                disabledFeatures,
                debugFolders);
    }

    /** With another way with what is missing. */
    public ExpanderOptions with(MissingPolicy other) {
        return new ExpanderOptions(
                pid,
                unsafe,
                maxProbes,
                maxPrograms,
                other,
                filter,
                traceableFunctions,
                disabledFeatures,
                debugFolders);
    }

    /** With a file of functions. */
    public ExpanderOptions tracing(String functions) {
        return new ExpanderOptions(
                pid,
                unsafe,
                maxProbes,
                maxPrograms,
                missing,
                filter,
                functions,
                disabledFeatures,
                debugFolders);
    }
}
