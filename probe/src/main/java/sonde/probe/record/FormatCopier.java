package sonde.probe.record;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import sonde.binary.Input;
import sonde.probe.dynamic.NamedProbes;
import sonde.probe.tracefs.Tracefs;
import sonde.recording.ftrace.ProbeField;
import sonde.recording.perfdata.TracingData;
import sonde.recording.perfdata.TracingData.TracingFormat;
import sonde.recording.tracedat.TraceDatMetadata;
import sonde.recording.tracedat.TraceDatReader;
import sonde.recording.tracedat.TraceDatWriter;
import sonde.sys.Fd;
import sonde.sys.FileCalls;
import sonde.sys.MachineFacts;
import sonde.sys.SyscallException;

/**
 * What makes raw pages readable: formats of the recorded events, the kernel's symbols and strings.
 * Read when the recording starts and kept in the bundle as a trace.dat without pages, so that a
 * recording whose recorder was killed needs nothing from the kernel any more.
 */
final class FormatCopier {
    /** Name of the part. */
    static final String FILE = "kernel.formats";

    private static final int MAX_KALLSYMS = 256 << 20;

    private final Tracefs tracefs;
    private final String version;
    private final byte[] headerPage;
    private final byte[] headerEvent;
    private final Map<String, Map<String, String>> probeTypes;
    private final SortedMap<String, List<byte[]>> formats = new TreeMap<>();

    private FormatCopier(Tracefs tracefs, String version) throws SyscallException {
        this.tracefs = tracefs;
        this.version = version;
        this.headerPage = bytes(tracefs.text("events/header_page"));
        this.headerEvent = bytes(tracefs.text("events/header_event"));
        this.probeTypes = NamedProbes.types(tracefs);
    }

    /** Reads the formats of these events and of ftrace's own. */
    static FormatCopier read(Tracefs tracefs, Collection<String> events, String version)
            throws SyscallException {
        FormatCopier formats = new FormatCopier(tracefs, version);
        for (String event : new TreeSet<>(events)) {
            int colon = event.indexOf(':');
            formats.add(event.substring(0, colon), event.substring(colon + 1));
        }
        for (String name : tracefs.list("events/ftrace")) {
            if (!name.equals("enable") && !name.equals("filter")) {
                formats.add("ftrace", name);
            }
        }
        return formats;
    }

    private void add(String system, String name) throws SyscallException {
        String text = tracefs.text("events/" + system + "/" + name + "/format");
        String typed =
                ProbeField.declare(text, probeTypes.getOrDefault(system + ":" + name, Map.of()));
        formats.computeIfAbsent(system, s -> new ArrayList<>()).add(bytes(typed));
    }

    /** The formats as perf.data carries them. */
    TracingData tracingData(Collection<String> events) {
        List<TracingFormat> chosen = new ArrayList<>();
        for (String event : events) {
            int colon = event.indexOf(':');
            for (byte[] format : formats.getOrDefault(event.substring(0, colon), List.of())) {
                String text = new String(format, StandardCharsets.UTF_8);
                if (text.startsWith("name: " + event.substring(colon + 1) + "\n")) {
                    chosen.add(new TracingFormat(event.substring(0, colon), text));
                }
            }
        }
        return TracingData.of(
                new String(headerPage, StandardCharsets.UTF_8),
                new String(headerEvent, StandardCharsets.UTF_8),
                chosen);
    }

    /** Where tracefs cannot be read: pages of 4 KiB of a 64-bit kernel. */
    static TracingData noTracingData() {
        String page =
                """
                \tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
                \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;
                \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;
                \tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;
                """;
        return TracingData.of(page, "", List.of());
    }

    /** Everything, kallsyms read now (5 MB and 60 ms on a stock kernel). */
    TraceDatMetadata metadata(long traceId, int cpuCount) throws SyscallException {
        SortedMap<String, List<byte[]>> events = new TreeMap<>(formats);
        List<byte[]> ftrace = events.remove("ftrace");
        MachineFacts.Uname uname = MachineFacts.uname();
        return new TraceDatMetadata(
                headerPage,
                headerEvent,
                ftrace == null ? List.of() : ftrace,
                events,
                FileCalls.readAll("/proc/kallsyms", MAX_KALLSYMS),
                bytes(tracefs.text("printk_formats")),
                new byte[0],
                cpuCount,
                List.of(),
                clocks(tracefs.text("trace_clock")),
                uname.system() + " " + uname.node() + " " + uname.release() + " " + uname.machine(),
                traceId,
                "sonde " + version);
    }

    /** The list of clocks with ours in brackets, as an instance's trace_clock shows it. */
    private static String clocks(String list) {
        return list.replace("[", "").replace("]", "").strip().replaceAll("\\bmono\\b", "[mono]");
    }

    /** Keeps the metadata in the bundle. */
    static void save(BundleFolder folder, TraceDatMetadata metadata) throws IOException {
        int file = folder.create(FILE);
        try (FileChannel channel =
                BundleFolder.channel(file, StandardOpenOption.WRITE, StandardOpenOption.READ)) {
            TraceDatWriter.write(
                    channel,
                    metadata,
                    List.of(new TraceDatWriter.BufferPages("", "mono", 4096, List.of())),
                    false);
        } finally {
            Fd.discard(file);
        }
    }

    /** Reads what {@link #save} kept. */
    static TraceDatMetadata load(BundleFolder folder) throws IOException {
        int file = folder.open(FILE, FileCalls.O_RDONLY);
        try (Input input = Input.open(java.nio.file.Path.of("/proc/self/fd/" + file))) {
            return TraceDatReader.metadata(input);
        } finally {
            Fd.discard(file);
        }
    }

    /** The metadata with names of threads and the rings' accounts, known at the end only. */
    static TraceDatMetadata complete(
            TraceDatMetadata start, Map<Integer, String> comms, List<byte[]> cpuStats) {
        StringBuilder lines = new StringBuilder();
        new TreeMap<>(comms)
                .forEach((tid, comm) -> lines.append(tid).append(' ').append(comm).append('\n'));
        return new TraceDatMetadata(
                start.headerPage(),
                start.headerEvent(),
                start.ftraceFormats(),
                start.eventFormats(),
                start.kallsyms(),
                start.printk(),
                bytes(lines.toString()),
                start.cpuCount(),
                cpuStats,
                start.clock(),
                start.uname(),
                start.traceId(),
                start.version());
    }

    private static byte[] bytes(String text) {
        ByteBuffer encoded = StandardCharsets.UTF_8.encode(text);
        byte[] bytes = new byte[encoded.remaining()];
        encoded.get(bytes);
        return bytes;
    }
}
