package sonde.exchange.export;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.Recording;
import sonde.event.Source;
import sonde.recording.GrowableBytes;
import sonde.recording.ftrace.MappedBuildId;
import sonde.recording.perfdata.AttrEntry;
import sonde.recording.perfdata.PerfAbi;
import sonde.recording.perfdata.PerfAttr;
import sonde.recording.perfdata.PerfDescription;
import sonde.recording.perfdata.PerfRecords.SampleId;
import sonde.recording.perfdata.PerfSampleRest;
import sonde.recording.perfdata.PerfSamples;
import sonde.recording.perfdata.PerfSamples.PerfSample;

/**
 * What becomes of the rows of a type: samples of an attr.
 *
 * @param ftrace how RAW is made; null for a counter
 * @param copied whether RAW is the row's payload as it is
 * @param lost parts of the source's samples that are not written, PERF_SAMPLE_*
 */
record SampledType(
        AttrEntry entry,
        PerfSamples samples,
        long id,
        @Nullable FtraceType ftrace,
        boolean copied,
        boolean named,
        long lost) {
    /** Where PERF_RECORD_MMAP2 has the device, or a build id. */
    private static final int MMAP2_DEVICE = 40;

    /** Longest name of a thread, and of a file (PATH_MAX) for records. */
    private static final int MOST_NAME = 1000;

    /** Parts that every sample is given, or that have no meaning in another file. */
    private static final long WRITTEN =
            PerfSamples.PARTS | PerfAbi.PERF_SAMPLE_ID | PerfAbi.PERF_SAMPLE_STREAM_ID;

    /** Whether a row is a record of perf or of a kernel, not an event. */
    static boolean isRecord(Recording recording, EventType type) {
        boolean perf = recording.hasKernelRecords();
        return type.system().equals(EventType.PERF_RECORD) && (perf || type.name().equals("comm"));
    }

    /** Whether rows become a tracepoint's samples. */
    static boolean isTracepoint(Recording recording, EventType type) {
        boolean counter = type.system().equals("perf") || type.system().equals("profile");
        boolean samples = counter && (type.fields().isEmpty() || recording.hasKernelRecords());
        return !samples && !isRecord(recording, type);
    }

    static SampledType of(
            Recording recording,
            EventType type,
            RowSurvey.Usage usage,
            @Nullable FtraceType ftrace,
            ExportAttrs make,
            long[] ids) {
        boolean named = recording.frames() != null;
        long more = usage.mostDepth > 1 && !named ? PerfAbi.PERF_SAMPLE_CALLCHAIN : 0;
        more |= usage.cpus ? PerfAbi.PERF_SAMPLE_CPU : 0;
        PerfAttr attr;
        String name = type.name();
        boolean copied = false;
        Optional<PerfAttr> own = attr(recording, type);
        long lost = own.map(PerfAttr::sampleType).orElse(0L) & ~WRITTEN;
        if (ftrace != null) {
            // Of a tracepoint's samples only RAW is read.
            lost = own.map(PerfAttr::sampleType).orElse(0L) & ~(WRITTEN & ~PerfSampleRest.PARTS);
            attr = make.tracepoint(ftrace.id, more);
            name = ftrace.system + ":" + ftrace.name;
        } else {
            copied = own.isPresent() && isOutput(own.get());
            boolean raw = copied || type.field("raw").isPresent();
            more |= raw ? PerfAbi.PERF_SAMPLE_RAW : 0;
            more |= type.field("addr").isPresent() ? PerfAbi.PERF_SAMPLE_ADDR : 0;
            long parts = more;
            attr = own.map(other -> make.like(other, parts)).orElseGet(() -> make.clock(parts));
        }
        AttrEntry entry = new AttrEntry(attr, ids, name);
        return new SampledType(entry, new PerfSamples(attr), ids[0], ftrace, copied, named, lost);
    }

    private static boolean isOutput(PerfAttr attr) {
        return attr.type() == PerfAbi.PERF_TYPE_SOFTWARE
                && attr.config() == PerfAbi.PERF_COUNT_SW_BPF_OUTPUT
                && attr.samples(PerfAbi.PERF_SAMPLE_RAW);
    }

    /** The attr that a type of a perf.data was made for. */
    static Optional<PerfAttr> attr(Recording recording, EventType type) {
        return recording
                .capability(PerfDescription.class)
                .flatMap(perf -> perf.entriesOf(type).stream().findFirst().map(AttrEntry::attr));
    }

    /** Lists bytes that no field names: what BPF programs put out. */
    static void listOutputs(List<Recording> recordings, RowSurvey survey, ExportLosses losses) {
        for (Recording recording : recordings) {
            for (Source source : recording.sources()) {
                for (EventType type : source.types()) {
                    long rows = survey.usage(source, type).rows;
                    if (rows > 0
                            && attr(recording, type).filter(SampledType::isOutput).isPresent()) {
                        losses.add("bytes of " + type.qualifiedName(), rows);
                    }
                }
            }
        }
    }

    /** The sample of a row; empty when it would be too long. */
    byte[] record(ExportRow row, GrowableBytes payload, ExportLosses losses) {
        FtraceType made = ftrace;
        payload.begin(0);
        if (made != null) {
            made.encode(row, payload, losses);
        } else if (copied) {
            payload.raw(row.batch.bytes(row.row, 0, row.batch.payloadBytes(row.row)));
        } else if (row.type.field("raw").isPresent()) {
            payload.raw(row.bytes(row.type.field("raw").orElseThrow()));
        }
        for (long rest = lost; rest != 0; rest &= rest - 1) {
            losses.add(part(Long.lowestOneBit(rest)) + " of " + row.type.qualifiedName());
        }
        int depth = row.batch.stackDepth(row.row);
        long[] chain = new long[named ? 0 : depth];
        for (int i = 0; i < chain.length; i++) {
            chain[i] = row.batch.stackEntry(row.row, i);
        }
        // A chain begins with a marker: without one it is the address alone, as of user code whose
        // stack was copied instead.
        boolean address = chain.length == 1 && row.recording.hasKernelRecords();
        if (named && depth > 0 && (made == null || !made.hasChain())) {
            losses.add("call chain of " + row.type.qualifiedName() + " (names, not addresses)");
        }
        int tid = row.tid();
        SampleId stamp =
                new SampleId(row.pid() < 0 ? tid : row.pid(), tid, row.time(), id, row.cpu());
        return samples.record(
                new PerfSample(
                        stamp,
                        mode(chain),
                        ip(chain),
                        row.integer("addr", 0),
                        row.batch.weight(row.row),
                        address ? new long[0] : chain,
                        payload.array(),
                        payload.size(),
                        made == null && !copied ? new Rest(row) : PerfSampleRest.NONE));
    }

    /** How users call a part that is lost. */
    private static String part(long bit) {
        if (bit == PerfAbi.PERF_SAMPLE_AUX) {
            return "AUX data";
        }
        if (bit == PerfAbi.PERF_SAMPLE_STACK_USER) {
            return "copied user stacks";
        }
        if (bit == PerfAbi.PERF_SAMPLE_REGS_USER || bit == PerfAbi.PERF_SAMPLE_REGS_INTR) {
            return "registers";
        }
        if (bit == PerfAbi.PERF_SAMPLE_READ) {
            return "values of counters";
        }
        return bit == PerfAbi.PERF_SAMPLE_BRANCH_STACK
                ? "branch stacks"
                : "sample part 0x" + Long.toHexString(bit);
    }

    /** The parts of a sample by its fields. */
    private record Rest(ExportRow row) implements PerfSampleRest {
        @Override
        public long number(String name) {
            return row.integer(name, 0);
        }

        @Override
        public long[] numbers(String name) {
            Field field = row.type.field(name).orElse(null);
            if (field == null) {
                return new long[0];
            }
            int at = field.offset(row.batch, row.row);
            long[] values = new long[field.sizeBytes(row.batch, row.row) / 8];
            for (int i = 0; i < values.length; i++) {
                values[i] = row.batch.u64(row.row, at + 8 * i);
            }
            return values;
        }

        @Override
        public byte[] bytes(String name) {
            return row.type.field(name).map(row::bytes).orElseGet(() -> new byte[0]);
        }
    }

    private static boolean isMarker(long entry) {
        return Long.compareUnsigned(entry, PerfAbi.PERF_CONTEXT_MAX) >= 0;
    }

    private static long ip(long[] chain) {
        for (long entry : chain) {
            if (!isMarker(entry)) {
                return entry;
            }
        }
        return 0;
    }

    /** The mode by the first marker, else by the half of the address space. */
    private static int mode(long[] chain) {
        for (long entry : chain) {
            if (entry == PerfAbi.PERF_CONTEXT_KERNEL) {
                return PerfAbi.PERF_RECORD_MISC_KERNEL;
            }
            if (entry == PerfAbi.PERF_CONTEXT_USER) {
                return PerfAbi.PERF_RECORD_MISC_USER;
            }
        }
        return ip(chain) < 0 ? PerfAbi.PERF_RECORD_MISC_KERNEL : PerfAbi.PERF_RECORD_MISC_USER;
    }

    /** A name that a record takes. */
    static String name(String text) {
        return text.length() > MOST_NAME ? text.substring(0, MOST_NAME) : text;
    }

    /** The body of a row that is a record, in this machine's order of bytes. */
    static byte[] body(ExportRow row, int misc, GrowableBytes out) {
        int size = row.batch.payloadBytes(row.row);
        out.begin(size);
        row.batch.copy(row.row, 0, size, out.array(), 0);
        boolean built =
                row.is(EventType.PERF_RECORD, "mmap2")
                        && size >= MMAP2_DEVICE + 24
                        && MappedBuildId.isIn(misc, out.array(), MMAP2_DEVICE);
        for (Field field : row.type.fields()) {
            boolean other =
                    switch (field.name()) {
                        case "maj", "min", "ino", "ino_generation" -> built;
                        default -> false;
                    };
            if (!other) {
                FtraceType.turn(field, row, out);
            }
        }
        out.align(8);
        return Arrays.copyOfRange(out.array(), PerfAbi.HEADER_BYTES, out.size());
    }
}
