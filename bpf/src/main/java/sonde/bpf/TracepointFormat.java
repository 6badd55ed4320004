package sonde.bpf;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.sys.Errno;
import sonde.sys.FileCalls;
import sonde.sys.SyscallException;

/**
 * A tracepoint of the running kernel as programs see it: the number perf knows it by and where its
 * fields lie in the context (tracefs events/CATEGORY/NAME/format).
 *
 * @param offsets bytes from the start of the context, by field name
 */
public record TracepointFormat(String category, String name, int id, Map<String, Integer> offsets) {
    private static final String TRACEFS = "/sys/kernel/tracing";
    private static final String OLD_TRACEFS = "/sys/kernel/debug/tracing";
    private static final int MAX_FORMAT = 1 << 20;
    private static final Pattern ID = Pattern.compile("^ID: (\\d{1,9})$");
    private static final Pattern FIELD =
            Pattern.compile("^\\s*field:.*?(\\w+)(?:\\[[^\\]]*\\])?;\\s*offset:(\\d{1,5});.*");

    /**
     * Reads a tracepoint's format; null when this kernel has no such tracepoint.
     *
     * @throws BpfRefusedException when tracefs may not be read or is not mounted
     */
    public static @Nullable TracepointFormat find(String category, String name) throws IOException {
        String below = "/events/" + category + "/" + name + "/format";
        SyscallException last = null;
        for (String root : new String[] {TRACEFS, OLD_TRACEFS}) {
            try {
                return parse(category, name, FileCalls.readAll(root + below, MAX_FORMAT));
            } catch (SyscallException e) {
                last = e;
                if (e.errno() == Errno.ENOENT && isMounted(root)) {
                    return null;
                }
                if (e.errno() == Errno.EACCES || e.errno() == Errno.EPERM) {
                    break;
                }
            }
        }
        boolean denied = last != null && last.errno() != Errno.ENOENT;
        throw new BpfRefusedException(
                "tracepoint " + category + ":" + name,
                last == null ? 0 : last.errno(),
                denied ? "tracefs may not be read" : "tracefs is not mounted",
                denied ? "run as root" : "mount -t tracefs nodev /sys/kernel/tracing");
    }

    /** {@link #find} for a tracepoint that every kernel we support has. */
    public static TracepointFormat of(String category, String name) throws IOException {
        TracepointFormat found = find(category, name);
        if (found == null) {
            throw new BpfRefusedException(
                    "tracepoint " + category + ":" + name,
                    Errno.ENOENT,
                    "this kernel does not have it",
                    "");
        }
        return found;
    }

    private static boolean isMounted(String root) {
        try {
            FileCalls.readAll(root + "/events/header_page", MAX_FORMAT);
            return true;
        } catch (SyscallException e) {
            return false;
        }
    }

    static @Nullable TracepointFormat parse(String category, String name, byte[] format) {
        int id = -1;
        Map<String, Integer> offsets = new HashMap<>();
        for (String line : new String(format, StandardCharsets.UTF_8).lines().toList()) {
            Matcher idLine = ID.matcher(line);
            Matcher field = FIELD.matcher(line);
            if (idLine.matches()) {
                id = Integer.parseInt(idLine.group(1));
            } else if (field.matches()) {
                offsets.put(field.group(1), Integer.parseInt(field.group(2)));
            }
        }
        return id < 0 ? null : new TracepointFormat(category, name, id, Map.copyOf(offsets));
    }

    /** Whether the event has that field in this kernel. */
    public boolean has(String field) {
        return offsets.containsKey(field);
    }

    /**
     * Where a field lies in the context.
     *
     * @throws BpfRefusedException when the event has no such field in this kernel
     */
    public int offset(String field) throws BpfRefusedException {
        Integer offset = offsets.get(field);
        if (offset == null) {
            throw new BpfRefusedException(
                    "tracepoint " + this,
                    Errno.ENOENT,
                    "this kernel's event has no field " + field,
                    "");
        }
        return offset;
    }

    /** {@code "sched:sched_switch"}. */
    @Override
    public String toString() {
        return category + ":" + name;
    }
}
