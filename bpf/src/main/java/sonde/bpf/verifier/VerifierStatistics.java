package sonde.bpf.verifier;

import java.util.List;

/**
 * What the verifier's work came to; -1 where the log does not say.
 *
 * @param processed instructions looked at, each as often as it was
 * @param limit of that, 1,000,000
 * @param maxStates most states kept at one instruction
 * @param totalStates kept
 * @param peakStates kept at one time
 * @param markRead deepest walk up the parents to mark a value read
 * @param micros it took
 * @param stackBytes of the main program, then of each subprogram
 */
public record VerifierStatistics(
        long processed,
        long limit,
        long maxStates,
        long totalStates,
        long peakStates,
        long markRead,
        long micros,
        List<Integer> stackBytes) {
    /** When the log has none. */
    public static final VerifierStatistics NONE =
            new VerifierStatistics(-1, -1, -1, -1, -1, -1, -1, List.of());

    private static final int MOST_SUBPROGRAMS = 1024;

    /** Whether a line of the log is one of these. */
    static boolean isLine(String line) {
        return line.startsWith("processed ") && line.contains(" insns")
                || line.startsWith("verification time ")
                || line.startsWith("stack depth ");
    }

    /** With what a line adds. */
    VerifierStatistics with(String line) {
        if (line.startsWith("verification time ")) {
            return new VerifierStatistics(
                    processed,
                    limit,
                    maxStates,
                    totalStates,
                    peakStates,
                    markRead,
                    numberAfter(line, "verification time "),
                    stackBytes);
        }
        if (line.startsWith("stack depth ")) {
            return new VerifierStatistics(
                    processed,
                    limit,
                    maxStates,
                    totalStates,
                    peakStates,
                    markRead,
                    micros,
                    depths(line.substring("stack depth ".length())));
        }
        return new VerifierStatistics(
                numberAfter(line, "processed "),
                numberAfter(line, "(limit "),
                numberAfter(line, "max_states_per_insn "),
                numberAfter(line, "total_states "),
                numberAfter(line, "peak_states "),
                numberAfter(line, "mark_read "),
                micros,
                stackBytes);
    }

    private static List<Integer> depths(String text) {
        int end = 0;
        while (end < text.length() && (isDigit(text.charAt(end)) || text.charAt(end) == '+')) {
            end++;
        }
        return List.of(text.substring(0, end).split("\\+")).stream()
                .limit(MOST_SUBPROGRAMS)
                .filter(word -> !word.isEmpty() && word.length() < 10)
                .map(Integer::valueOf)
                .toList();
    }

    static long numberAfter(String line, String words) {
        int at = line.indexOf(words);
        if (at < 0) {
            return -1;
        }
        int from = at + words.length();
        int to = from;
        while (to < line.length() && to - from < 18 && isDigit(line.charAt(to))) {
            to++;
        }
        return to == from ? -1 : Long.parseLong(line.substring(from, to));
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }
}
