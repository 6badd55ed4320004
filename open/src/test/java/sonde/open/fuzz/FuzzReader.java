package sonde.open.fuzz;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.tukaani.xz.LZMA2Options;
import org.tukaani.xz.XZOutputStream;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.binary.archive.UnwrapLimits;
import sonde.binary.archive.UnwrappedFiles;
import sonde.event.Batch;
import sonde.event.Clock;
import sonde.event.EventType;
import sonde.event.Lane;
import sonde.event.Recording;
import sonde.event.Source;
import sonde.open.format.RecordedRows;
import sonde.open.format.Samples;
import sonde.open.format.TraceFormat;
import sonde.recording.InputSet;
import sonde.recording.InputSet.InputOpener;
import sonde.recording.ctf.CtfRecording;
import sonde.recording.ftrace.EventFormat;
import sonde.recording.ftrace.EventFormats;
import sonde.recording.ftrace.EventListing;
import sonde.recording.ftrace.EventListing.ListedLane;
import sonde.recording.ftrace.EventText;
import sonde.recording.ftrace.PageLayout;
import sonde.recording.ftrace.PrintFmt;
import sonde.recording.ftrace.RowText;
import sonde.recording.ftrace.TextBuffer;
import sonde.recording.ftrace.TextContext;
import sonde.recording.ftrace.ThreadNames;
import sonde.recording.perfdata.PerfDataReader;
import sonde.recording.text.TextRecording;
import sonde.recording.tracedat.TraceDatReader;
import sonde.testkit.CtfTrace;
import sonde.testkit.PerfDataBytes;
import sonde.testkit.PerfDataExamples;
import sonde.testkit.PerfStatBytes;
import sonde.testkit.RingPage;
import sonde.testkit.TraceDatBytes;
import sonde.testkit.TraceTexts;
import sonde.testkit.TsdlText;

/** What is fuzzed, an entry for each reader: bytes are read to the last field of the last row. */
enum FuzzReader {
    TRACE_DAT {
        @Override
        void read(byte[] bytes) throws IOException {
            try (Recording recording = TraceDatReader.open(RecordedRows.input(bytes))) {
                RecordedRows.asStated(recording);
            }
            try (Recording recording = TraceDatReader.open(RecordedRows.input(bytes))) {
                ThreadNames names = ThreadNames.of(recording.threadNames().orElseThrow());
                TextContext context =
                        recording.capability(EventFormats.class).orElseThrow().textContext();
                EventText text = new EventText(recording.sources().getFirst(), context, names);
                new EventListing(recording.lanes(), text).writeTo(NOWHERE);
            }
        }

        @Override
        List<byte[]> seeds() {
            List<byte[]> seeds = new ArrayList<>();
            for (ByteOrder order : List.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN)) {
                seeds.add(traceDat(order, 4).version6());
                seeds.add(traceDat(order, 8).version7(false));
                seeds.add(traceDat(order, 8).version7(true));
                seeds.add(traceDat(order, 8).latency7(true));
            }
            return seeds;
        }
    },
    PERF_DATA {
        @Override
        void read(byte[] bytes) throws IOException {
            RecordedRows.of(bytes, PerfDataReader::open);
        }

        @Override
        List<byte[]> seeds() {
            List<byte[]> seeds = new ArrayList<>();
            for (ByteOrder order : List.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN)) {
                PerfDataBytes file = PerfDataExamples.file(order);
                file.record(9, 1, PerfDataExamples.whole(file, 12, 50));
                file.record(9, 1, PerfDataExamples.tracepoint(file, 22, 61));
                seeds.add(file.file());
                seeds.add(file.pipe());
                PerfStatBytes stat = new PerfStatBytes(order).config(100).threads(700, -1);
                stat.stat(11, 0, 0, 5, 9, 9).stat(21, 1, 1, 7, 9, 3).round(100);
                seeds.add(stat.stat(11, 0, 0, 8, 19, 19).round(200).file().file());
            }
            return seeds;
        }
    },
    /** Two bytes of length, the metadata (TSDL or JSON), the only data stream. */
    CTF {
        @Override
        void read(byte[] bytes) throws IOException {
            if (bytes.length < 2) {
                return;
            }
            int stated = Short.toUnsignedInt(ByteBuffer.wrap(bytes).getShort());
            int length = Math.min(stated, bytes.length - 2);
            byte[] metadata = Arrays.copyOfRange(bytes, 2, 2 + length);
            byte[] stream = Arrays.copyOfRange(bytes, 2 + length, bytes.length);
            try (CtfRecording recording = trace(metadata, stream)) {
                RecordedRows.asStated(recording);
            }
            try (CtfRecording recording = trace(metadata, stream)) {
                List<ListedLane> parts = new ArrayList<>();
                ThreadNames names = ThreadNames.of(Map.of());
                for (Lane lane : recording.lanes()) {
                    RowText text = recording.text(lane.source(), ZoneOffset.UTC, names);
                    parts.add(new ListedLane(lane, text, ""));
                }
                new EventListing(parts, EventListing.Filter.ALL).writeTo(NOWHERE);
            }
        }

        @Override
        List<byte[]> seeds() {
            List<byte[]> seeds = new ArrayList<>();
            for (ByteOrder order : List.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN)) {
                CtfTrace trace = TsdlText.trace(order, TsdlText.event(0, "e", FIELDS));
                CtfTrace.Packet packet = trace.packet(1).time(5, 90);
                TsdlText.head(packet, 0, 7).put(1, 8).put(3, 16).text("x").put(1, 8).text("b");
                trace.append("s", packet.padding(3));
                seeds.add(joined(trace.files().get("metadata"), trace.files().get("s")));
            }
            seeds.add(joined(text(CTF2), new byte[] {2, 'a', 'b', 5, 0}));
            return seeds;
        }
    },
    TEXT {
        @Override
        void read(byte[] bytes) throws IOException {
            RecordedRows.of(bytes, TextRecording::open);
        }

        @Override
        List<byte[]> seeds() {
            return TraceTexts.all().keySet().stream().map(FuzzReader::text).toList();
        }
    },
    PCAP,
    JFR,
    PERFETTO,
    PPROF,
    SPEEDSCOPE,
    FIREFOX,
    CHROME,
    CALLGRIND,
    MASSIF,
    HEAPTRACK,
    DMESG,
    /** gzip, zstd, xz, tar, zip, in each other. */
    WRAPPER {
        @Override
        void read(byte[] bytes) throws IOException {
            UnwrapLimits limits = new UnwrapLimits(1 << 22, 1000, 1 << 20, 100, 3);
            UnwrappedFiles.of(RecordedRows.input(bytes), limits).close();
        }

        @Override
        List<byte[]> seeds() {
            return wrapped();
        }
    },
    /** A print format, as an event's format file has it. */
    PRINT_FORMAT {
        @Override
        void read(byte[] bytes) throws IOException {
            String print = new String(bytes, StandardCharsets.ISO_8859_1);
            String fields =
                    "\tfield:unsigned int u;\toffset:8;\tsize:4;\tsigned:0;\n"
                            + "\tfield:__data_loc char[] text;\toffset:12;\tsize:4;\tsigned:0;\n";
            String format = TraceDatBytes.format("e", 1, fields, print);
            EventType type = EventFormat.parse(format, 8).toType(0, "test");
            Source source = new Source("test", Clock.MONO, List.of(type));
            Batch batch = new Batch(source, ByteOrder.LITTLE_ENDIAN);
            byte[] payload = Arrays.copyOf(bytes, 32);
            batch.reset(MemorySegment.ofArray(payload));
            batch.add(0, 0, 5, 0, 0, payload.length);
            TextContext context = TextContext.of(PageLayout.NATIVE, new byte[0], new byte[0]);
            PrintFmt.of(type, context).append(new TextBuffer(64), batch, 0);
        }

        @Override
        List<byte[]> seeds() {
            return List.of(
                    text("\"a=%d %s\", REC->u, __get_str(text)"),
                    text("\"%s\", __print_flags(REC->u, \"|\", {1, \"A\"}, {2, \"B\"})"),
                    text("\"%pS %d\", (void *)REC->u, REC->u ? ({ int x = 1; x; }) : sizeof(u64)"));
        }
    };

    private static final OutputStream NOWHERE = OutputStream.nullOutputStream();

    private static final String FIELDS =
            """
            uint8_t __n; uint16_t _seq[__n]; string _s;
            enum : uint8_t { a, b } _t; variant <_t> { uint32_t a; string b; } _v;
            """;

    private static final String CTF2 =
            """
            \u001e{"type":"preamble","version":2}
            \u001e{"type":"trace-class"}
            \u001e{"type":"data-stream-class"}
            \u001e{"type":"event-record-class","name":"e","payload-field-class":{"type":"structure",
            "member-classes":[{"name":"n","field-class":{"type":"fixed-length-unsigned-integer",
            "length":8,"byte-order":"little-endian"}},{"name":"s","field-class":{"type":
            "dynamic-length-string","length-field-location":{"path":["n"]}}},{"name":"v",
            "field-class":{"type":"variable-length-unsigned-integer"}},{"name":"z","field-class":
            {"type":"null-terminated-string"}}]}}
            """;

    /** Reads to the end; {@link MalformedInputException} is the only exception that may come. */
    void read(byte[] bytes) throws IOException {
        RecordedRows.of(bytes, TraceFormat.valueOf(name())::open);
    }

    /** Files as they should be. */
    List<byte[]> seeds() {
        return Samples.all().entrySet().stream()
                .filter(one -> one.getKey().split(" ", 2)[0].equals(label()))
                .map(Map.Entry::getValue)
                .toList();
    }

    /** Its name on the command line and of the folder with its inputs. */
    String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static TraceDatBytes traceDat(ByteOrder order, int longBytes) {
        TraceDatBytes file = new TraceDatBytes(order, longBytes);
        RingPage page = new RingPage(order, longBytes, TraceDatBytes.PAGE, 1000);
        page.event(5, file.hello(7, 9, "x")).extend(1 << 20).event(6, file.hello(8, 1, "y"));
        return file.cpu(page.toBytes()).cpu();
    }

    private static CtfRecording trace(byte[] metadata, byte[] stream) throws IOException {
        Map<String, InputOpener> files = new LinkedHashMap<>();
        files.put("metadata", () -> Input.of("metadata", MemorySegment.ofArray(metadata)));
        files.put("s", () -> Input.of("s", MemorySegment.ofArray(stream)));
        return CtfRecording.open(InputSet.of(files));
    }

    private static byte[] joined(byte[] metadata, byte[] stream) {
        ByteBuffer joined = ByteBuffer.allocate(2 + metadata.length + stream.length);
        return joined.putShort((short) metadata.length).put(metadata).put(stream).array();
    }

    private static List<byte[]> wrapped() {
        byte[] content = text("# tracer: nop\n".repeat(20));
        ByteArrayOutputStream gzip = new ByteArrayOutputStream();
        ByteArrayOutputStream zip = new ByteArrayOutputStream();
        ByteArrayOutputStream xz = new ByteArrayOutputStream();
        try (OutputStream one = new GZIPOutputStream(gzip);
                ZipOutputStream two = new ZipOutputStream(zip);
                OutputStream three = new XZOutputStream(xz, new LZMA2Options(0))) {
            one.write(content);
            three.write(content);
            two.putNextEntry(new ZipEntry("trace"));
            two.write(content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        ByteBuffer tar = ByteBuffer.allocate(2048);
        tar.put(text("trace"))
                .position(124)
                .put(text("00000000600\0"))
                .position(156)
                .put((byte) '0');
        tar.put(257, text("ustar\00000")).put(512, content);
        return List.of(gzip.toByteArray(), zip.toByteArray(), xz.toByteArray(), tar.array());
    }

    private static byte[] text(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
