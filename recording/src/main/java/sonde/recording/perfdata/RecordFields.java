package sonde.recording.perfdata;

import static sonde.event.Field.integer;
import static sonde.event.Field.tailString;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_AUX;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_AUXTRACE;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_AUXTRACE_ERROR;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_AUXTRACE_INFO;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_AUX_OUTPUT_HW_ID;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_BPF_EVENT;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_CALLCHAIN_DEFERRED;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_CGROUP;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_COMM;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_CPU_MAP;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_EVENT_UPDATE;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_EXIT;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_FORK;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_ID_INDEX;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_ITRACE_START;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_KSYMBOL;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_MMAP;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_MMAP2;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_NAMESPACES;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_READ;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_STAT;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_STAT_CONFIG;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_STAT_ROUND;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_SWITCH;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_SWITCH_CPU_WIDE;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_TEXT_POKE;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_THREAD_MAP;
import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_TIME_CONV;

import java.util.ArrayList;
import java.util.List;
import sonde.event.Field;

/**
 * Bodies of the kernel's records (comments of enum perf_event_type, perf_event.h 6.18) and of
 * perf's own (tools/lib/perf/include/perf/event.h). Offsets count from the record's header, so
 * {@code misc} is a field like any other, at 4.
 *
 * @param type PERF_RECORD_*
 * @param name of the event type
 * @param leastBytes up to where the fixed fields end
 */
record RecordFields(int type, String name, int leastBytes, List<Field> fields) {
    static final List<RecordFields> ALL =
            List.of(
                    of(PERF_RECORD_MMAP, "mmap", 40, tailString("filename", 40), mapping()),
                    of(PERF_RECORD_MMAP2, "mmap2", 72, tailString("filename", 72), mapping2()),
                    of(PERF_RECORD_COMM, "comm", 16, tailString("comm", 16), thread()),
                    of(PERF_RECORD_FORK, "fork", 32, task()),
                    of(PERF_RECORD_EXIT, "exit", 32, task()),
                    of(
                            PERF_RECORD_KSYMBOL,
                            "ksymbol",
                            24,
                            tailString("name", 24),
                            List.of(
                                    u64("addr", 8),
                                    u32("len", 16),
                                    u16("ksym_type", 20),
                                    u16("flags", 22))),
                    of(
                            PERF_RECORD_BPF_EVENT,
                            "bpf_event",
                            24,
                            List.of(
                                    u16("type", 8),
                                    u16("flags", 10),
                                    u32("id", 12),
                                    bytes("tag", 16, 8))),
                    of(
                            PERF_RECORD_TEXT_POKE,
                            "text_poke",
                            20,
                            List.of(
                                    u64("addr", 8),
                                    u16("old_len", 16),
                                    u16("new_len", 18),
                                    tail("bytes", 20, 1))),
                    of(PERF_RECORD_SWITCH, "switch", 8, List.of()),
                    of(
                            PERF_RECORD_SWITCH_CPU_WIDE,
                            "switch_cpu_wide",
                            16,
                            List.of(s32("next_prev_pid", 8), s32("next_prev_tid", 12))),
                    of(
                            PERF_RECORD_NAMESPACES,
                            "namespaces",
                            24,
                            List.of(
                                    s32("pid", 8),
                                    s32("tid", 12),
                                    u64("nr_namespaces", 16),
                                    tail("link_info", 24, 8))),
                    of(
                            PERF_RECORD_CGROUP,
                            "cgroup",
                            16,
                            tailString("path", 16),
                            List.of(u64("id", 8))),
                    of(
                            PERF_RECORD_AUX,
                            "aux",
                            32,
                            List.of(u64("aux_offset", 8), u64("aux_size", 16), u64("flags", 24))),
                    of(PERF_RECORD_ITRACE_START, "itrace_start", 16, thread()),
                    of(PERF_RECORD_READ, "read", 24, withValue()),
                    of(
                            PERF_RECORD_AUX_OUTPUT_HW_ID,
                            "aux_output_hw_id",
                            16,
                            List.of(u64("hw_id", 8))),
                    of(
                            PERF_RECORD_CALLCHAIN_DEFERRED,
                            "callchain_deferred",
                            24,
                            List.of(u64("cookie", 8), u64("nr", 16), tail("ips", 24, 8))));

    /** Records that perf writes itself and that say more than how the file is cut into parts. */
    static final List<RecordFields> OF_TOOLS =
            List.of(
                    of(
                            PERF_RECORD_ID_INDEX,
                            "id_index",
                            16,
                            List.of(u64("nr", 8), tail("entries", 16, 8))),
                    of(
                            PERF_RECORD_AUXTRACE_INFO,
                            "auxtrace_info",
                            16,
                            List.of(u32("type", 8), tail("priv", 16, 8))),
                    of(
                            PERF_RECORD_AUXTRACE,
                            "auxtrace",
                            48,
                            List.of(
                                    u64("size", 8),
                                    u64("offset", 16),
                                    u64("reference", 24),
                                    u32("idx", 32),
                                    s32("tid", 36),
                                    s32("cpu", 40))),
                    of(
                            PERF_RECORD_AUXTRACE_ERROR,
                            "auxtrace_error",
                            48,
                            tailString("msg", 48),
                            List.of(
                                    u32("type", 8),
                                    u32("code", 12),
                                    s32("cpu", 16),
                                    s32("pid", 20),
                                    s32("tid", 24),
                                    u32("fmt", 28),
                                    u64("ip", 32),
                                    u64("time", 40))),
                    of(PERF_RECORD_THREAD_MAP, "thread_map", 16, List.of(u64("nr", 8))),
                    of(PERF_RECORD_CPU_MAP, "cpu_map", 16, List.of(u16("type", 8))),
                    of(
                            PERF_RECORD_STAT_CONFIG,
                            "stat_config",
                            16,
                            List.of(u64("nr", 8), tail("config", 16, 8))),
                    of(
                            PERF_RECORD_STAT,
                            "stat",
                            48,
                            List.of(
                                    u64("id", 8),
                                    s32("cpu", 16),
                                    s32("thread", 20),
                                    u64("val", 24),
                                    u64("ena", 32),
                                    u64("run", 40))),
                    of(
                            PERF_RECORD_STAT_ROUND,
                            "stat_round",
                            24,
                            List.of(u64("type", 8), u64("time", 16))),
                    of(
                            PERF_RECORD_EVENT_UPDATE,
                            "event_update",
                            24,
                            List.of(u64("type", 8), u64("id", 16))),
                    of(
                            PERF_RECORD_TIME_CONV,
                            "time_conv",
                            32,
                            List.of(
                                    u64("time_shift", 8),
                                    u64("time_mult", 16),
                                    u64("time_zero", 24))));

    private static RecordFields of(int type, String name, int leastBytes, List<Field> fields) {
        List<Field> all = new ArrayList<>();
        all.add(u16("misc", 4));
        all.addAll(fields);
        return new RecordFields(type, name, leastBytes, List.copyOf(all));
    }

    private static RecordFields of(
            int type, String name, int leastBytes, Field tail, List<Field> fields) {
        List<Field> all = new ArrayList<>(fields);
        all.add(tail);
        return of(type, name, leastBytes, all);
    }

    /** What is left of the record, as an array. */
    private static Field tail(String name, int offset, int elementBytes) {
        String declaration = "u" + 8 * elementBytes + " " + name + "[]";
        return new Field(name, declaration, Field.Kind.ARRAY, offset, 0, elementBytes, false);
    }

    private static List<Field> thread() {
        return List.of(s32("pid", 8), s32("tid", 12));
    }

    private static List<Field> withValue() {
        return List.of(s32("pid", 8), s32("tid", 12), u64("value", 16), tail("more", 24, 8));
    }

    private static List<Field> task() {
        return List.of(
                s32("pid", 8), s32("ppid", 12), s32("tid", 16), s32("ptid", 20), u64("time", 24));
    }

    private static List<Field> mapping() {
        return List.of(
                s32("pid", 8), s32("tid", 12), u64("addr", 16), u64("len", 24), u64("pgoff", 32));
    }

    /** With misc bit 14 (PERF_RECORD_MISC_MMAP_BUILD_ID) the build id stands where maj begins. */
    private static List<Field> mapping2() {
        List<Field> fields = new ArrayList<>(mapping());
        fields.addAll(
                List.of(
                        u32("maj", 40),
                        u32("min", 44),
                        u64("ino", 48),
                        u64("ino_generation", 56),
                        integer("build_id_size", 40, 1, false),
                        bytes("build_id", 44, BuildId.MAX_BYTES),
                        u32("prot", 64),
                        u32("flags", 68)));
        return fields;
    }

    private static Field u16(String name, int offset) {
        return integer(name, offset, 2, false);
    }

    private static Field u32(String name, int offset) {
        return integer(name, offset, 4, false);
    }

    private static Field s32(String name, int offset) {
        return integer(name, offset, 4, true);
    }

    private static Field u64(String name, int offset) {
        return integer(name, offset, 8, false);
    }

    private static Field bytes(String name, int offset, int count) {
        return new Field(
                name, "u8 " + name + "[" + count + "]", Field.Kind.ARRAY, offset, count, 1, false);
    }
}
