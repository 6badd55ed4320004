package sonde.probe.snapshot;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.event.Clock;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.Recording;
import sonde.recording.RowStore;
import sonde.recording.TraceRows;
import sonde.recording.TraceRows.RowOrigin;
import sonde.sys.Clocks;
import sonde.sys.Errno;
import sonde.sys.FileCalls;
import sonde.sys.MachineFacts;
import sonde.sys.MappedRange;
import sonde.sys.SyscallException;

/**
 * Processes, their mappings and the kernel's modules as {@code /proc} shows them now. Rows have the
 * time at which they were read (CLOCK_MONOTONIC) and these types:
 *
 * <ul>
 *   <li>{@code proc:process}: state, parent, threads, CPU time and memory of a process
 *   <li>{@code proc:mapping}: a line of {@code /proc/PID/maps}
 *   <li>{@code proc:module}: a line of {@code /proc/modules}; of the whole system only
 *   <li>{@code perf_record:comm}: the name of a process
 * </ul>
 *
 * <p>A process that ends meanwhile is left out.
 */
public final class SystemSnapshot {
    private static final int MOST_MODULES_BYTES = 64 << 20;
    private static final int MOST_TEXT_BYTES = 1 << 20;
    private static final long TICK_NANOS = 1_000_000_000L / MachineFacts.ticksPerSecond();

    /** /proc/modules: name, size, users, the modules among them, state, address. */
    private static final Pattern MODULE =
            Pattern.compile(
                    "(\\S{1,64}) (\\d{1,18}) (-?\\d{1,9}|-) (\\S+) (\\S+) 0x([0-9a-f]{1,16}).*");

    private final RowStore store = new RowStore();
    private final TraceRows rows = new TraceRows(store);
    private final EventType process =
            rows.type(
                    "proc",
                    "process",
                    type ->
                            type.integer("pid", 4, true)
                                    .integer("ppid", 4, true)
                                    .text("name")
                                    .text("state")
                                    .integer("threads", 4, true)
                                    .integer("nice", 4, true)
                                    .integer("cpu", 4, true)
                                    .integer("user_ns", 8, true)
                                    .integer("system_ns", 8, true)
                                    .integer("start_boot_ns", 8, true)
                                    .integer("minor_faults", 8, true)
                                    .integer("major_faults", 8, true)
                                    .integer("virtual_bytes", 8, true)
                                    .integer("resident_bytes", 8, true)
                                    .text("command_line"));
    private final EventType mapping =
            rows.type(
                    "proc",
                    "mapping",
                    type ->
                            type.integer("pid", 4, true)
                                    .integer("start", 8, false)
                                    .integer("end", 8, false)
                                    .text("permissions")
                                    .integer("file_offset", 8, false)
                                    .text("device")
                                    .integer("inode", 8, false)
                                    .text("path"));
    private final EventType module =
            rows.type(
                    "proc",
                    "module",
                    type ->
                            type.text("name")
                                    .integer("size_bytes", 8, true)
                                    .integer("users", 4, true)
                                    .text("used_by")
                                    .text("state")
                                    .integer("address", 8, false));
    private int hidden;

    private SystemSnapshot() {}

    /**
     * Reads the state of processes and their mappings; without pids those of all processes, and the
     * kernel's modules.
     *
     * @throws IOException when a process that was named is not there, or none can be read
     */
    public static Recording of(List<Integer> pids) throws IOException {
        SystemSnapshot snapshot = new SystemSnapshot();
        return snapshot.store.filled(() -> snapshot.read(pids));
    }

    private Recording read(List<Integer> pids) throws IOException {
        for (int pid : pids) {
            if (!process(pid)) {
                throw new IOException("there is no process " + pid);
            }
        }
        if (pids.isEmpty()) {
            Arrays.stream(all()).forEach(this::process);
            modules();
        }
        List<String> notes = new ArrayList<>();
        if (hidden > 0) {
            notes.add(
                    "Mappings of "
                            + hidden
                            + (hidden == 1 ? " process" : " processes")
                            + " could not be read: permission denied.");
        }
        return store.recording("proc", Clock.MONO, notes);
    }

    private static int[] all() throws IOException {
        String[] names = new File("/proc").list((_, name) -> name.matches("\\d{1,9}"));
        if (names == null || names.length == 0) {
            throw new IOException("/proc shows no processes: is it mounted?");
        }
        return Arrays.stream(names).mapToInt(Integer::parseInt).sorted().toArray();
    }

    /** False when it is not there any more. */
    private boolean process(int pid) {
        try {
            String stat = text("/proc/" + pid + "/stat", MOST_TEXT_BYTES);
            // The name is in parentheses and may hold any byte: the last one ends it.
            int end = stat.lastIndexOf(") ");
            String name = stat.substring(stat.indexOf('(') + 1, Math.max(end, 1));
            String[] fields = stat.substring(end + 2).strip().split(" ");
            RowOrigin place = place((int) number(fields, 39), pid);
            rows.thread(place, name);
            String command = text("/proc/" + pid + "/cmdline", MOST_TEXT_BYTES);
            row(
                    place,
                    process,
                    (long) pid,
                    number(fields, 4),
                    name,
                    fields[0],
                    number(fields, 20),
                    number(fields, 19),
                    number(fields, 39),
                    number(fields, 14) * TICK_NANOS,
                    number(fields, 15) * TICK_NANOS,
                    number(fields, 22) * TICK_NANOS,
                    number(fields, 10),
                    number(fields, 12),
                    number(fields, 23),
                    number(fields, 24) * MachineFacts.pageBytes(),
                    command.replace('\0', ' ').strip());
            mappings(pid);
            return true;
        } catch (SyscallException | IndexOutOfBoundsException e) {
            return false;
        }
    }

    /** A field of proc_pid_stat(5), which counts from 1; the third is the state. */
    private static long number(String[] fields, int field) {
        String text = fields[field - 3];
        return text.startsWith("-") ? Long.parseLong(text) : Long.parseUnsignedLong(text);
    }

    private void mappings(int pid) throws SyscallException {
        List<MappedRange> maps;
        try {
            maps = MappedRange.of(pid);
        } catch (SyscallException e) {
            if (e.errno() != Errno.EACCES && e.errno() != Errno.EPERM) {
                throw e;
            }
            hidden++;
            return;
        }
        RowOrigin place = place(-1, pid);
        for (MappedRange range : maps) {
            row(
                    place,
                    mapping,
                    (long) pid,
                    range.start(),
                    range.end(),
                    range.permissions(),
                    range.offset(),
                    "%02x:%02x".formatted(range.major(), range.minor()),
                    range.inode(),
                    range.path());
        }
    }

    /** None where the kernel has no modules. */
    private void modules() {
        String modules;
        try {
            modules = text("/proc/modules", MOST_MODULES_BYTES);
        } catch (SyscallException e) {
            return;
        }
        RowOrigin place = place(-1, -1);
        for (String line : modules.split("\n")) {
            Matcher found = MODULE.matcher(line);
            if (found.matches()) {
                String users = found.group(3);
                row(
                        place,
                        module,
                        found.group(1),
                        Long.parseLong(found.group(2)),
                        users.equals("-") ? -1L : Long.parseLong(users),
                        found.group(4).equals("-") ? "" : found.group(4).replaceFirst(",$", ""),
                        found.group(5),
                        Long.parseUnsignedLong(found.group(6), 16));
            }
        }
    }

    private static RowOrigin place(int cpu, int pid) {
        return new RowOrigin(Clocks.nanos(Clocks.CLOCK_MONOTONIC), cpu, pid, pid);
    }

    /** A row of numbers and texts, as the type has them. */
    private void row(RowOrigin place, EventType type, Object... values) {
        RowStore row = rows.begin(place, type);
        for (int i = 0; i < values.length; i++) {
            Field field = TraceRows.field(type, i);
            switch (values[i]) {
                case Long number -> row.integer(field, number);
                case String text -> row.text(field, text);
                default -> throw new IllegalArgumentException(field.name());
            }
        }
        row.end();
    }

    private static String text(String path, int limitBytes) throws SyscallException {
        return new String(FileCalls.readAll(path, limitBytes), StandardCharsets.UTF_8);
    }
}
