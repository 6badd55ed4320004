package sonde.bpf.verifier;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Why the verifier refused a program.
 *
 * @param id of the kind of refusal: {@code "null-pointer"}; {@code "unknown"} for a message that is
 *     not known here, whose text is then the cause
 * @param cause in a sentence
 * @param remedy what usually helps; empty when nothing is known
 * @param message the verifier's own line
 * @param slot of the instruction; -1 when it is about none in particular
 * @param instruction as the kernel prints it; empty without one
 * @param source the line it comes from; null when that is not known
 * @param register in question: {@code "r3"}; empty for none
 * @param history of that register, first to last
 * @param report the kernel's own explanation, since Linux 7.3
 */
public record Explanation(
        String id,
        String cause,
        String remedy,
        String message,
        int slot,
        String instruction,
        @Nullable SourceLine source,
        String register,
        List<HistoryStep> history,
        VerifierStatistics statistics,
        @Nullable KernelReport report) {
    /** The kind of messages that have none. */
    public static final String UNKNOWN = "unknown";

    /** Where it happened: {@code "instruction 5, prog.c:12"}; empty when that is not known. */
    public String place() {
        String at = slot < 0 ? "" : "instruction " + slot;
        SourceLine line = source;
        String in = line == null ? "" : line.place();
        return at + (at.isEmpty() || in.isEmpty() ? "" : ", ") + in;
    }

    /** All of it as text, a paragraph a line; control characters are escaped. */
    public List<String> lines() {
        List<String> lines = new ArrayList<>();
        lines.add(cause);
        SourceLine line = source;
        if (line != null) {
            lines.add("  " + (line.place().isEmpty() ? "" : line.place() + ": ") + line.text());
        }
        if (slot >= 0) {
            lines.add("  instruction " + slot + ": " + instruction);
        }
        if (!history.isEmpty()) {
            lines.add(register + " until then:");
            for (HistoryStep step : history) {
                lines.add("  " + text(step));
            }
        }
        if (!remedy.isEmpty()) {
            lines.add("what helps: " + remedy);
        }
        if (!message.equals(cause)) {
            lines.add("verifier: " + message);
        }
        return lines;
    }

    private static String text(HistoryStep step) {
        StringBuilder text = new StringBuilder();
        if (step.slot() >= 0) {
            text.append(step.slot()).append(": ").append(step.instruction()).append("   ");
        }
        SourceLine line = step.source();
        if (line != null && line.line() > 0) {
            text.append('[').append(line.place()).append("] ");
        }
        text.append(step.what());
        if (!step.state().isEmpty()) {
            text.append(": ").append(step.state());
        }
        return text.toString();
    }
}
