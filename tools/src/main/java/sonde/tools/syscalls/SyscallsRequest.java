package sonde.tools.syscalls;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.probe.launch.CommandWords;
import sonde.probe.launch.InheritedState;
import sonde.recording.syscall.CallStyle;
import sonde.recording.syscall.CallTable;
import sonde.recording.syscall.LineStyle;

/**
 * What is to be traced, and how it is shown.
 *
 * @param origin environment, directory and descriptors of the command
 * @param command null for running processes alone
 * @param pids running processes
 * @param follow whether children and all threads are traced, too
 * @param counts null for none
 * @param separate beginning of the names of files, one for each thread (-ff); null for one output
 * @param limit calls after which the trace ends
 * @param untilExec whether a process is traced until it executes another program (-b execve)
 */
public record SyscallsRequest(
        InheritedState origin,
        @Nullable CommandWords command,
        Set<Integer> pids,
        boolean follow,
        CallTable table,
        CallStyle style,
        LineStyle lines,
        @Nullable CountForm counts,
        @Nullable Path separate,
        long limit,
        boolean untilExec) {
    /**
     * How calls are counted.
     *
     * @param linesToo whether their lines are written as well (-C)
     * @param order name of the column by which rows are sorted
     * @param columns that are shown; the usual ones when empty
     */
    public record CountForm(boolean linesToo, String order, List<String> columns) {}

    public SyscallsRequest {
        pids = Set.copyOf(pids);
    }

    /** Columns of counts. */
    public static final List<String> COLUMNS =
            List.of(
                    "time-percent",
                    "total-time",
                    "avg-time",
                    "min-time",
                    "max-time",
                    "calls",
                    "errors",
                    "name");
}
