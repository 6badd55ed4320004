package sonde.tools.trace;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.run.CompilerPass;
import sonde.lang.bpftrace.run.TraceOptions;
import sonde.lang.output.MapRows.MapOrder;
import sonde.lang.output.MapRows.RowForm;
import sonde.lang.output.RowStyle;

/**
 * What a user wants of a script.
 *
 * @param script where its text is
 * @param options how it is compiled; the process of {@code end} is not in there
 * @param print how its output is printed
 * @param end when it ends
 * @param messages what is said besides
 * @param dumps passes of the compiler whose results are the output; none to run the script
 * @param plan whether the output is how its programs would be attached
 * @param dryRun whether it ends as soon as all is attached
 * @param comm name of the tracer's process, as probes of the script see it
 */
public record TraceRequest(
        ScriptChoice script,
        TraceOptions options,
        PrintStyle print,
        TraceEnd end,
        MessageStyle messages,
        Set<CompilerPass> dumps,
        boolean plan,
        boolean dryRun,
        String comm) {
    /**
     * A script.
     *
     * @param program its text, where it is not read from a file
     * @param name of that text in messages
     * @param file a path, {@code "-"} for standard input, or a text with braces; null for none
     */
    public record ScriptChoice(Optional<String> program, String name, @Nullable String file) {
        String fileOr(String other) {
            return file == null ? other : file;
        }
    }

    /**
     * How output is printed.
     *
     * @param order of maps
     * @param form of maps, where the output is text
     * @param folded how keys of maps are folded
     * @param rows of lines below a head line; empty where the script prints none
     * @param fullBlocks whether output is written by 64 KiB, not as it comes
     * @param everyNanos at which interval the maps are the output, and nothing else; 0 for never
     */
    public record PrintStyle(
            MapOrder order,
            RowForm form,
            List<String> folded,
            Optional<RowStyle> rows,
            boolean fullBlocks,
            long everyNanos) {}

    /**
     * When a script ends that does not end itself.
     *
     * @param command that is started with it, whose end is its own
     * @param watched a process whose end is its own
     * @param durationNanos after this time; {@link Long#MAX_VALUE} for never
     */
    public record TraceEnd(Optional<String> command, OptionalInt watched, long durationNanos) {}

    /**
     * What is said besides the output.
     *
     * @param tool whose script this is, so that messages are about the tool; empty for none
     * @param toolProbe that the user gave to the tool; empty where it takes none
     * @param quiet whether the number of probes is left out
     */
    public record MessageStyle(String tool, String toolProbe, boolean verbose, boolean quiet) {
        boolean isOfTool() {
            return !tool.isEmpty();
        }

        /** Whether the lines of the script mean something to the user. */
        boolean showsScript() {
            return tool.isEmpty() || verbose;
        }
    }
}
