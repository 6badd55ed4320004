package sonde.probe.perf;

import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_MISC_KERNEL;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_MISC_USER;

import java.io.BufferedReader;
import java.io.File;
import java.io.FileReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.probe.perf.MappedFiles.ForeignMapping;
import sonde.recording.perfdata.AttrEntry;
import sonde.recording.perfdata.PerfDataWriter;
import sonde.recording.perfdata.PerfRecords;
import sonde.recording.perfdata.PerfRecords.MmapRecord;
import sonde.recording.perfdata.PerfRecords.SampleId;
import sonde.sys.FileCalls;
import sonde.sys.MappedRange;
import sonde.sys.SyscallException;

/**
 * Writes the records the kernel would have made had it been asked before: the kernel's own mapping,
 * its modules, and parent, names and executable mappings of every process in /proc. Called after
 * the events were enabled: what starts in between is seen twice rather than never.
 *
 * <p>Time 0 puts these records before all others.
 */
public final class ExistingTasks {
    private static final int MAX_TEXT = 16 << 20;
    private static final int MAX_PATH = 4000;
    private static final int PROT_EXEC = 4;
    private static final int MAP_SHARED = 1;
    private static final int MAP_PRIVATE = 2;

    /** /proc/modules: name, size, users, dependants, state, address. */
    private static final Pattern MODULE =
            Pattern.compile("(\\S{1,64}) (\\d{1,12}) \\S+ \\S+ \\S+ 0x([0-9a-f]{1,16}).*");

    private final PerfDataWriter writer;
    private final PerfRecords records;
    private final long id;
    private final LatestComms comms;
    private final MappedFiles files;

    /**
     * @param owner the event the records count for: the dummy
     * @param comms is told the names too
     * @param files is told the mapped files and loaded modules
     */
    public ExistingTasks(
            PerfDataWriter writer, AttrEntry owner, LatestComms comms, MappedFiles files) {
        this.files = files;
        this.writer = writer;
        this.comms = comms;
        this.records = new PerfRecords(owner.attr());
        this.id = owner.ids()[0];
    }

    /** Writes the kernel's mappings; without visible addresses none. */
    public void kernel() throws IOException {
        Optional<Long> start = kernelStart();
        if (start.isEmpty()) {
            return;
        }
        long from = start.get();
        MmapRecord kernel = new MmapRecord(-1, 0, from, -1L - from, from, "[kernel.kallsyms]_text");
        writer.appendSynthetic(records.mmap(stamp(-1, 0), PERF_RECORD_MISC_KERNEL, kernel));
        for (String line : text("/proc/modules").split("\n")) {
            Matcher module = MODULE.matcher(line);
            if (!module.matches()) {
                continue;
            }
            files.module(module.group(1));
            long address = Long.parseUnsignedLong(module.group(3), 16);
            if (address == 0) {
                continue;
            }
            MmapRecord mapping =
                    new MmapRecord(
                            -1,
                            0,
                            address,
                            Long.parseLong(module.group(2)),
                            0,
                            "[" + module.group(1) + "]");
            writer.appendSynthetic(records.mmap(stamp(-1, 0), PERF_RECORD_MISC_KERNEL, mapping));
        }
        writer.flush();
    }

    /** The address of _text: on x86 and arm64 among the first lines of kallsyms. */
    private static Optional<Long> kernelStart() throws IOException {
        File kallsyms = new File("/proc/kallsyms");
        try (BufferedReader in =
                new BufferedReader(new FileReader(kallsyms, StandardCharsets.UTF_8), 1 << 16)) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (line.endsWith(" _text") || line.endsWith(" _stext")) {
                    long address = Long.parseUnsignedLong(line.substring(0, 16), 16);
                    return address == 0 ? Optional.empty() : Optional.of(address);
                }
            }
        }
        return Optional.empty();
    }

    /** Something to do between two processes. */
    public interface TaskStep {
        /** Called after each process. */
        void run() throws IOException;
    }

    /**
     * Writes every process that is there now.
     *
     * @param between keeps the rings from filling up meanwhile
     */
    public void processes(TaskStep between) throws IOException {
        for (int pid : numbers("/proc")) {
            process(pid);
            between.run();
        }
        writer.flush();
    }

    /** Writes one process: its parent, its threads' names, its executable mappings. */
    public void process(int pid) throws IOException {
        String status = text("/proc/" + pid + "/status");
        int parent = field(status, "PPid:");
        if (parent < 0) {
            return;
        }
        writer.appendSynthetic(records.fork(stamp(pid, pid), pid, parent, pid, parent));
        for (int tid : numbers("/proc/" + pid + "/task")) {
            if (tid != pid) {
                writer.appendSynthetic(records.fork(stamp(pid, tid), pid, pid, tid, pid));
            }
            String comm = text("/proc/" + pid + "/task/" + tid + "/comm").stripTrailing();
            if (!comm.isEmpty()) {
                comms.named(tid, comm, 0);
                writer.appendSynthetic(records.comm(stamp(pid, tid), pid, tid, comm, false));
            }
        }
        for (MappedRange range : ranges(pid)) {
            if (range.isExecutable()) {
                mapping(pid, range);
            }
        }
    }

    private static List<MappedRange> ranges(int pid) {
        try {
            return MappedRange.of(pid);
        } catch (SyscallException e) {
            // It has ended.
            return List.of();
        }
    }

    private void mapping(int pid, MappedRange range) throws SyscallException {
        String path = range.path().isEmpty() ? "//anon" : range.path();
        if (path.length() > MAX_PATH || path.equals("[vsyscall]")) {
            return;
        }
        Optional<ForeignMapping> foreign = files.mappedBefore(range, pid);
        if (foreign.isPresent()) {
            writer.appendSynthetic(record(records, stamp(pid, pid), foreign.get()));
            return;
        }
        MmapRecord mapping =
                new MmapRecord(
                        pid, pid, range.start(), range.end() - range.start(), range.offset(), path);
        writer.appendSynthetic(
                records.mmap2(
                        stamp(pid, pid),
                        PERF_RECORD_MISC_USER,
                        mapping,
                        range.major(),
                        range.minor(),
                        range.inode(),
                        protection(range),
                        flags(range)));
    }

    private static int protection(MappedRange range) {
        String permissions = range.permissions();
        return PROT_EXEC
                | (permissions.charAt(0) == 'r' ? 1 : 0)
                | (permissions.charAt(1) == 'w' ? 2 : 0);
    }

    private static int flags(MappedRange range) {
        return range.permissions().charAt(3) == 's' ? MAP_SHARED : MAP_PRIVATE;
    }

    /** The record of a mapping by its path from our root, and its build id if it has one. */
    public static byte[] record(PerfRecords records, SampleId stamp, ForeignMapping of) {
        MappedRange range = of.range();
        long bytes = range.end() - range.start();
        MmapRecord mapping =
                new MmapRecord(of.pid(), of.pid(), range.start(), bytes, range.offset(), of.path());
        int misc = PERF_RECORD_MISC_USER;
        if (!of.buildId().isEmpty()) {
            return records.mmap2(
                    stamp, misc, mapping, of.buildId(), protection(range), flags(range));
        }
        return records.mmap2(
                stamp,
                misc,
                mapping,
                range.major(),
                range.minor(),
                range.inode(),
                protection(range),
                flags(range));
    }

    private SampleId stamp(int pid, int tid) {
        return new SampleId(pid, tid, 0, id, 0);
    }

    /** The directory's names that are numbers. */
    private static int[] numbers(String folder) {
        String[] names = new File(folder).list();
        if (names == null) {
            return new int[0];
        }
        return java.util.Arrays.stream(names)
                .filter(name -> name.length() < 10 && name.matches("\\d+"))
                .mapToInt(Integer::parseInt)
                .sorted()
                .toArray();
    }

    private static int field(String status, String key) {
        int at = status.indexOf("\n" + key);
        if (at < 0) {
            return -1;
        }
        int end = status.indexOf('\n', at + 1);
        String value = status.substring(at + 1 + key.length(), end < 0 ? status.length() : end);
        return Integer.parseInt(value.strip());
    }

    /** Empty for what vanished meanwhile or is not ours to read. */
    private static String text(String path) {
        try {
            return new String(FileCalls.readAll(path, MAX_TEXT), StandardCharsets.UTF_8);
        } catch (SyscallException e) {
            return "";
        }
    }
}
