package sonde.bpf.object;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.bpf.TracepointFormat;
import sonde.sys.FileCalls;
import sonde.sys.SyscallException;

/**
 * Numbers of tracepoints, which attaching needs: read before an object is loaded, so that between
 * its first program and its last attachment nothing is read any more.
 */
final class TracepointNumbers {
    private static final String EVENTS = "/sys/kernel/tracing/events/";
    private static final int MOST_DIGITS = 64;

    private final Map<String, TracepointFormat> known = new HashMap<>();

    /** Reads the number where it can be read; what cannot is told when attaching. */
    void learn(String target) {
        int slash = target.indexOf('/');
        if (slash <= 0 || slash == target.length() - 1 || target.contains("..")) {
            return;
        }
        try {
            byte[] digits = FileCalls.readAll(EVENTS + target + "/id", MOST_DIGITS);
            int number = Integer.parseInt(new String(digits, StandardCharsets.US_ASCII).strip());
            String category = target.substring(0, slash);
            String name = target.substring(slash + 1);
            known.put(target, new TracepointFormat(category, name, number, Map.of()));
        } catch (SyscallException | NumberFormatException e) {
            known.remove(target);
        }
    }

    /**
     * A tracepoint without its fields; null when it was not read.
     *
     * @param target {@code "sched/sched_switch"}
     */
    @Nullable TracepointFormat of(String target) {
        return known.get(target);
    }
}
