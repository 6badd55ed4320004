package sonde.tools.explain;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One report of a log.
 *
 * @param stamp when and by whom its first line was written
 * @param identity one line that two reports of one fault have in common
 * @param fields what the lines say, by the names of {@code incidents.txt}
 * @param machine who and where: {@code task}, {@code pid}, {@code cpu}, {@code kernel}, {@code
 *     taint}, {@code hardware}, {@code modules}
 * @param blamed the frame to blame; null where no frame is left
 * @param why the frames before it, and which rule passed each
 * @param details sentences about owners, locks, registers and code
 * @param code the faulting instruction; null where the report has none that is sure
 * @param damage why the report cannot be trusted as a whole; empty when it can
 * @param panicked whether the machine stopped for it
 * @param after the number of the incident that may have caused it; 0 for none
 */
record Incident(
        int number,
        IncidentKind kind,
        LogStamp stamp,
        String identity,
        String type,
        Map<String, String> fields,
        Map<String, String> machine,
        @Nullable LogFrame blamed,
        List<String> why,
        List<LogStack> stacks,
        List<String> details,
        @Nullable FaultCode code,
        List<String> damage,
        boolean panicked,
        int after,
        List<LogLine> lines) {
    /** The line that names the report. */
    LogLine first() {
        return lines.getFirst();
    }

    /** What to do next. */
    List<String> next() {
        return kind.next();
    }

    /** The source file to blame; null where the log names none. */
    @Nullable String guiltyFile() {
        String file = fields.getOrDefault("blamed_file", fields.get("file"));
        return file == null || file.isEmpty() ? null : file;
    }
}
