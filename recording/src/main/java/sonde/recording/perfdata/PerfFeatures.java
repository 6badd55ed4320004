package sonde.recording.perfdata;

import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import sonde.recording.GrowableBytes;

/**
 * Header features of a perf.data to be written: sections by number (tools/perf/util/header.h).
 *
 * {@snippet :
 * PerfFeatures features = PerfFeatures.builder()
 *         .hostname("box").osRelease("6.18.0").arch("x86_64").cpus(2, 2)
 *         .clock(1, resolutionNanos, wallNanos, monotonicNanos)
 *         .tracingData(TracingData.of(headerPage, headerEvent, formats))
 *         .build();
 * }
 */
public final class PerfFeatures {
    private static final int NAME_ALIGN = 64;

    public static final int HEADER_TRACING_DATA = 1;
    public static final int HEADER_BUILD_ID = 2;
    public static final int HEADER_HOSTNAME = 3;
    public static final int HEADER_OSRELEASE = 4;
    public static final int HEADER_VERSION = 5;
    public static final int HEADER_ARCH = 6;
    public static final int HEADER_NRCPUS = 7;
    public static final int HEADER_CPUDESC = 8;
    public static final int HEADER_CPUID = 9;
    public static final int HEADER_TOTAL_MEM = 10;
    public static final int HEADER_CMDLINE = 11;
    public static final int HEADER_EVENT_DESC = 12;
    public static final int HEADER_CPU_TOPOLOGY = 13;
    public static final int HEADER_NUMA_TOPOLOGY = 14;
    public static final int HEADER_BRANCH_STACK = 15;
    public static final int HEADER_PMU_MAPPINGS = 16;
    public static final int HEADER_GROUP_DESC = 17;
    public static final int HEADER_AUXTRACE = 18;
    public static final int HEADER_STAT = 19;
    public static final int HEADER_CACHE = 20;
    public static final int HEADER_SAMPLE_TIME = 21;
    public static final int HEADER_MEM_TOPOLOGY = 22;
    public static final int HEADER_CLOCKID = 23;
    public static final int HEADER_DIR_FORMAT = 24;
    public static final int HEADER_BPF_PROG_INFO = 25;
    public static final int HEADER_BPF_BTF = 26;
    public static final int HEADER_COMPRESSED = 27;
    public static final int HEADER_CPU_PMU_CAPS = 28;
    public static final int HEADER_CLOCK_DATA = 29;
    public static final int HEADER_HYBRID_TOPOLOGY = 30;
    public static final int HEADER_PMU_CAPS = 31;

    /** Bits in the header's bitmap: most features a perf.data can have. */
    static final int MAX_FEATURES = 256;

    /** Nothing. */
    public static final PerfFeatures NONE = builder().build();

    private final SortedMap<Integer, byte[]> sections;

    private PerfFeatures(SortedMap<Integer, byte[]> sections) {
        this.sections = sections;
    }

    /** The sections by feature number. */
    SortedMap<Integer, byte[]> sections() {
        return sections;
    }

    /** HEADER_EVENT_DESC: names, attrs and ids of the events. */
    static byte[] eventDescription(List<AttrEntry> attrs, int attrBytes) {
        GrowableBytes out = GrowableBytes.littleEndian().u32(attrs.size()).u32(attrBytes);
        for (AttrEntry entry : attrs) {
            long[] ids = entry.ids();
            out.raw(entry.attr().encode(attrBytes)).u32(ids.length);
            headerString(out, entry.name());
            for (long id : ids) {
                out.u64(id);
            }
        }
        return out.toBytes();
    }

    public static Builder builder() {
        return new Builder();
    }

    /** Gathers features; one set twice keeps the later value. */
    public static final class Builder {
        private final SortedMap<Integer, byte[]> sections = new TreeMap<>();

        private Builder() {}

        /** Formats of the tracepoints; perf refuses tracepoint samples without them. */
        public Builder tracingData(TracingData data) {
            return section(HEADER_TRACING_DATA, data.encode());
        }

        /** Build ids of the mapped files that were hit. */
        public Builder buildIds(List<BuildId> ids) {
            GrowableBytes out = GrowableBytes.littleEndian();
            for (BuildId id : ids) {
                int start = out.size();
                int mode = id.kernel() ? PerfAbi.PERF_RECORD_MISC_KERNEL : 2;
                byte[] bytes = id.bytes();
                // struct perf_record_header_build_id; misc bit 15 says that the size byte is set.
                out.u32(0).u16(mode | PerfAbi.PERF_RECORD_MISC_EXT_RESERVED).u16(0);
                out.u32(id.pid());
                out.raw(java.util.Arrays.copyOf(bytes, BuildId.MAX_BYTES));
                out.u8(bytes.length).u8(0).u16(0);
                out.paddedText(id.path(), NAME_ALIGN);
                out.put(start + 6, 2, out.size() - start);
            }
            return section(HEADER_BUILD_ID, out.toBytes());
        }

        public Builder hostname(String name) {
            return text(HEADER_HOSTNAME, name);
        }

        /** {@code uname -r}. */
        public Builder osRelease(String release) {
            return text(HEADER_OSRELEASE, release);
        }

        /** Version of the recorder. */
        public Builder version(String version) {
            return text(HEADER_VERSION, version);
        }

        /** {@code uname -m}. */
        public Builder arch(String machine) {
            return text(HEADER_ARCH, machine);
        }

        public Builder cpus(int available, int online) {
            return section(
                    HEADER_NRCPUS,
                    GrowableBytes.littleEndian().u32(available).u32(online).toBytes());
        }

        /** The model name of /proc/cpuinfo. */
        public Builder cpuDescription(String model) {
            return text(HEADER_CPUDESC, model);
        }

        /** The command line of the recorder, its program first. */
        public Builder commandLine(List<String> arguments) {
            GrowableBytes out = GrowableBytes.littleEndian().u32(arguments.size());
            arguments.forEach(argument -> headerString(out, argument));
            return section(HEADER_CMDLINE, out.toBytes());
        }

        /** Times of the first and the last sample, nanoseconds. */
        public Builder sampleTime(long first, long last) {
            return section(
                    HEADER_SAMPLE_TIME,
                    GrowableBytes.littleEndian().u64(first).u64(last).toBytes());
        }

        /**
         * The clock of the samples, and one moment in it and in CLOCK_REALTIME (CLOCKID and
         * CLOCK_DATA).
         */
        public Builder clock(int clockid, long resolutionNanos, long wallNanos, long clockNanos) {
            section(HEADER_CLOCKID, GrowableBytes.littleEndian().u64(resolutionNanos).toBytes());
            GrowableBytes out =
                    GrowableBytes.littleEndian().u32(1).u32(clockid).u64(wallNanos).u64(clockNanos);
            return section(HEADER_CLOCK_DATA, out.toBytes());
        }

        /** A feature as bytes, for those without a method here. */
        public Builder section(int feature, byte[] content) {
            if (feature < 1 || feature >= MAX_FEATURES) {
                throw new IllegalArgumentException("no feature " + feature);
            }
            sections.put(feature, content.clone());
            return this;
        }

        /** What was gathered so far. */
        public PerfFeatures build() {
            return new PerfFeatures(new TreeMap<>(sections));
        }

        private Builder text(int feature, String value) {
            return section(feature, headerString(GrowableBytes.littleEndian(), value).toBytes());
        }
    }

    /** Adds a u32 length of what follows, and the string padded to 64 bytes. */
    private static GrowableBytes headerString(GrowableBytes out, String value) {
        int start = out.zeros(4);
        out.paddedText(value, NAME_ALIGN);
        out.put(start, 4, out.size() - start - 4);
        return out;
    }
}
