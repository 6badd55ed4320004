package sonde.probe.printk;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import sonde.sys.Fd;
import sonde.sys.FileCalls;

/** The kernel's switches of debug messages (Documentation/admin-guide/dynamic-debug-howto.rst). */
public final class DynamicDebug {
    /** Letters that a message can have: print, and what stands before it. */
    public static final String FLAGS = "pmfslt";

    /** The kernel takes less than a page at once: USER_BUF_PAGE of lib/dynamic_debug.c. */
    private static final int WRITE_BYTES = 4000;

    private static final int MOST_BYTES = 64 << 20;

    private final Path control;

    private DynamicDebug(Path control) {
        this.control = control;
    }

    /** Its file; the one in /proc (Linux 5.9) needs no debugfs. */
    public static Optional<DynamicDebug> find() {
        for (String place :
                List.of("/proc/dynamic_debug/control", "/sys/kernel/debug/dynamic_debug/control")) {
            if (Files.exists(Path.of(place))) {
                return Optional.of(new DynamicDebug(Path.of(place)));
            }
        }
        return Optional.empty();
    }

    /** All messages, in the kernel's order. */
    public List<PrintSite> sites() throws IOException {
        byte[] bytes = FileCalls.readAll(control.toString(), MOST_BYTES);
        return new String(bytes, StandardCharsets.UTF_8)
                .lines()
                .flatMap(line -> PrintSite.parse(line).stream())
                .toList();
    }

    /** The queries that set or remove flags of messages, where that changes something. */
    public static List<String> queries(Collection<PrintSite> sites, boolean set, String flags) {
        return queries(sites, set, flags, set ? " +" : " -");
    }

    /** The queries that undo {@link #queries}: what was set before stays. */
    public static List<String> undo(Collection<PrintSite> sites, boolean set, String flags) {
        return queries(sites, set, flags, set ? " -" : " +");
    }

    private static List<String> queries(
            Collection<PrintSite> sites, boolean set, String flags, String operation) {
        return sites.stream()
                .filter(site -> !site.changed(set, flags).isEmpty())
                .map(site -> site.query() + operation + site.changed(set, flags))
                .distinct()
                .toList();
    }

    /** Writes queries, as many at once as the kernel takes. */
    public void write(List<String> queries) throws IOException {
        List<String> batch = new ArrayList<>();
        int length = 0;
        for (String query : queries) {
            if (length + query.length() + 1 > WRITE_BYTES) {
                writeOnce(batch);
                batch.clear();
                length = 0;
            }
            batch.add(query);
            length += query.length() + 1;
        }
        writeOnce(batch);
    }

    private void writeOnce(List<String> batch) throws IOException {
        if (batch.isEmpty()) {
            return;
        }
        int fd = FileCalls.open(control.toString(), FileCalls.O_WRONLY);
        try {
            Fd.writeFully(fd, (String.join("\n", batch) + "\n").getBytes(StandardCharsets.UTF_8));
        } finally {
            Fd.discard(fd);
        }
    }
}
