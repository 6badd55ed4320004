package sonde.recording.perfdata;

import static sonde.recording.perfdata.PerfAbi.PERF_FORMAT_GROUP;
import static sonde.recording.perfdata.PerfAbi.PERF_FORMAT_ID;
import static sonde.recording.perfdata.PerfAbi.PERF_FORMAT_LOST;
import static sonde.recording.perfdata.PerfAbi.PERF_FORMAT_TOTAL_TIME_ENABLED;
import static sonde.recording.perfdata.PerfAbi.PERF_FORMAT_TOTAL_TIME_RUNNING;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_ADDR;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_AUX;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_BRANCH_COUNTERS;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_BRANCH_HW_INDEX;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_BRANCH_STACK;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_CGROUP;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_CODE_PAGE_SIZE;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_DATA_PAGE_SIZE;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_DATA_SRC;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_ID;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_PHYS_ADDR;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_RAW;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_READ;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_REGS_INTR;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_REGS_USER;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_STACK_USER;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_STREAM_ID;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_TRANSACTION;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_WEIGHT;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_WEIGHT_STRUCT;

import java.util.ArrayList;
import java.util.List;
import sonde.event.Field;
import sonde.recording.TypeBuilder;
import sonde.recording.perfdata.SampleLayout.SampleOffsets;

/**
 * What samples of an attr carry besides time, thread, CPU, period and call chain, as fields.
 *
 * <p>Words before the call chain have fixed places, so that for attrs with no more than those the
 * payload is the record where it lies. Else a payload is made: a head with a field for each part,
 * the record, and arrays of what lies interleaved in the record (branches, read groups).
 */
final class SampleFields {
    /** No fields, nothing is made. */
    static final SampleFields NONE = new SampleFields(PerfAttr.of(0, 0).build());

    // struct perf_branch_entry: mispred, predicted, in_tx, abort, cycles, type, spec, new_type,
    // priv
    private static final int[] BRANCH_FLAG_BITS = {1, 1, 1, 1, 16, 4, 2, 4, 3, 31};

    private final PerfAttr attr;
    private final List<Field> fields = new ArrayList<>();
    private final List<PartWriter> makers = new ArrayList<>();
    private final int headBytes;

    /** Puts the values of one part into the head; gives the end of the payload. */
    private interface PartWriter {
        long put(SamplePayload to);
    }

    /** A payload that is being made. */
    private static final class SamplePayload {
        final PerfView from;
        final PerfView out;
        final SampleOffsets places;
        long base;

        /** How far the record moved: offset there minus offset here. */
        long moved;

        long end;

        SamplePayload(PerfView from, PerfView out, SampleOffsets places) {
            this.from = from;
            this.out = out;
            this.places = places;
        }

        long span(Field field, long start, long bytes) {
            out.put32(base + field.offset(), (int) (start - base));
            out.put32(base + field.offset() + 4, (int) bytes);
            return end;
        }
    }

    SampleFields(PerfAttr attr) {
        this.attr = attr;
        TypeBuilder head = new TypeBuilder("perf", "sample");
        declareRead(head);
        if (attr.samples(PERF_SAMPLE_RAW)) {
            head.array("raw", 1, false);
        }
        declareBranches(head);
        declareRegisters(head);
        declareMemory(head);
        List<Field> made = head.build(0).fields();
        int bytes = 0;
        for (Field field : made) {
            bytes = Math.max(bytes, field.offset() + field.sizeBytes());
        }
        headBytes = bytes + 7 & -8;
        word("addr", PERF_SAMPLE_ADDR);
        word("id", PERF_SAMPLE_ID);
        word("stream_id", PERF_SAMPLE_STREAM_ID);
        fields.addAll(made);
        made.forEach(field -> makers.add(maker(field)));
    }

    private void word(String name, long bit) {
        int at = SampleLayout.wordAt(attr, bit);
        if (at >= 0) {
            fields.add(Field.integer(name, headBytes + at, 8, false));
        }
    }

    private void declareRead(TypeBuilder head) {
        if (!attr.samples(PERF_SAMPLE_READ)) {
            return;
        }
        integer(head, PERF_FORMAT_TOTAL_TIME_ENABLED, "time_enabled");
        integer(head, PERF_FORMAT_TOTAL_TIME_RUNNING, "time_running");
        head.array("read_values", 8, false);
        if (reads(PERF_FORMAT_ID)) {
            head.array("read_ids", 8, false);
        }
        if (reads(PERF_FORMAT_LOST)) {
            head.array("read_lost", 8, false);
        }
    }

    private boolean reads(long bit) {
        return (attr.readFormat() & bit) != 0;
    }

    private void integer(TypeBuilder head, long readBit, String name) {
        if (reads(readBit)) {
            head.integer(name, 8, false);
        }
    }

    private void declareBranches(TypeBuilder head) {
        if (!attr.samples(PERF_SAMPLE_BRANCH_STACK)) {
            return;
        }
        if ((attr.branchSampleType() & PERF_SAMPLE_BRANCH_HW_INDEX) != 0) {
            head.integer("branch_hw_idx", 8, true);
        }
        head.array("branch_from", 8, false).array("branch_to", 8, false);
        head.array("branch_flags", 8, false);
        if ((attr.branchSampleType() & PERF_SAMPLE_BRANCH_COUNTERS) != 0) {
            head.array("branch_counters", 8, false);
        }
    }

    private void declareRegisters(TypeBuilder head) {
        if (attr.samples(PERF_SAMPLE_REGS_USER)) {
            head.integer("user_regs_abi", 8, false).array("user_regs", 8, false);
        }
        if (attr.samples(PERF_SAMPLE_STACK_USER)) {
            head.array("user_stack", 1, false);
        }
        if (attr.samples(PERF_SAMPLE_REGS_INTR)) {
            head.integer("intr_regs_abi", 8, false).array("intr_regs", 8, false);
        }
    }

    private void declareMemory(TypeBuilder head) {
        if (attr.samples(PERF_SAMPLE_WEIGHT_STRUCT)) {
            head.integer("weight", 4, false).integer("ins_lat", 2, false);
            head.integer("weight3", 2, false);
        } else if (attr.samples(PERF_SAMPLE_WEIGHT)) {
            head.integer("weight", 8, false);
        }
        word(head, "data_src", PERF_SAMPLE_DATA_SRC);
        word(head, "transaction", PERF_SAMPLE_TRANSACTION);
        word(head, "phys_addr", PERF_SAMPLE_PHYS_ADDR);
        word(head, "cgroup", PERF_SAMPLE_CGROUP);
        word(head, "data_page_size", PERF_SAMPLE_DATA_PAGE_SIZE);
        word(head, "code_page_size", PERF_SAMPLE_CODE_PAGE_SIZE);
        if (attr.samples(PERF_SAMPLE_AUX)) {
            head.array("aux", 1, false);
        }
    }

    private void word(TypeBuilder head, String name, long bit) {
        if (attr.samples(bit)) {
            head.integer(name, 8, false);
        }
    }

    /** The fields of the event type. */
    List<Field> fields() {
        return fields;
    }

    /** Whether payloads are made; else they are the record where it lies. */
    boolean isMade() {
        return headBytes > 0;
    }

    /** Bytes of the head that stands before the record. */
    int headBytes() {
        return headBytes;
    }

    /** More than the payload of a record of that size can take. */
    static long mostBytes(int headBytes, int size) {
        return headBytes + 4L * size + 64;
    }

    /**
     * Makes a payload at {@code base}, a multiple of 8.
     *
     * @param at where the record lies in {@code from}
     * @return bytes of the payload
     */
    int make(PerfView from, long at, int size, SampleOffsets places, PerfView out, long base) {
        SamplePayload payload = new SamplePayload(from, out, places);
        payload.base = base;
        payload.moved = base + headBytes - at;
        out.copy(from, at, base + headBytes, size);
        out.zero(base, headBytes);
        payload.end = base + headBytes + size + 7 & -8;
        for (PartWriter maker : makers) {
            payload.end = maker.put(payload);
        }
        return (int) (payload.end - base);
    }

    private PartWriter maker(Field field) {
        return switch (field.name()) {
            case "time_enabled" -> to -> number(to, field, readTimes(to.places));
            case "time_running" ->
                    to -> {
                        int before = reads(PERF_FORMAT_TOTAL_TIME_ENABLED) ? 8 : 0;
                        return number(to, field, readTimes(to.places) + before);
                    };
            case "read_values" -> to -> reading(to, field, 0);
            case "read_ids" -> to -> reading(to, field, 8);
            case "read_lost" -> to -> reading(to, field, reads(PERF_FORMAT_ID) ? 16 : 8);
            case "raw" -> to -> to.span(field, to.places.raw + to.moved, to.places.rawBytes);
            case "branch_hw_idx" -> to -> number(to, field, to.places.branches + 8);
            case "branch_from" -> to -> branches(to, field, 0);
            case "branch_to" -> to -> branches(to, field, 8);
            case "branch_flags" -> to -> branches(to, field, 16);
            case "branch_counters" -> to -> counters(to, field);
            case "user_regs_abi" -> to -> number(to, field, to.places.userRegs);
            case "user_regs" ->
                    to -> registers(to, field, to.places.userRegs, attr.sampleRegsUser());
            case "intr_regs_abi" -> to -> number(to, field, to.places.intrRegs);
            case "intr_regs" ->
                    to -> registers(to, field, to.places.intrRegs, attr.sampleRegsIntr());
            case "user_stack" ->
                    to -> to.span(field, to.places.userStack + to.moved, to.places.userStackBytes);
            case "weight" -> to -> weight(to, field, 0);
            case "ins_lat" -> to -> weight(to, field, 32);
            case "weight3" -> to -> weight(to, field, 48);
            case "data_src" -> to -> number(to, field, to.places.dataSource);
            case "transaction" -> to -> number(to, field, to.places.transaction);
            case "phys_addr" -> to -> number(to, field, to.places.physAddr);
            case "cgroup" -> to -> number(to, field, to.places.cgroup);
            case "data_page_size" -> to -> number(to, field, to.places.dataPage);
            case "code_page_size" -> to -> number(to, field, to.places.codePage);
            default -> to -> to.span(field, to.places.aux + to.moved, to.places.auxBytes);
        };
    }

    private static long number(SamplePayload to, Field field, long at) {
        to.out.put64(to.base + field.offset(), to.from.u64(at));
        return to.end;
    }

    /** union perf_sample_weight: var1_dw is the low half in either byte order. */
    private static long weight(SamplePayload to, Field field, int shift) {
        long value = to.from.u64(to.places.weights) >>> shift;
        long at = to.base + field.offset();
        switch (field.sizeBytes()) {
            case 2 -> to.out.put16(at, (int) value);
            case 4 -> to.out.put32(at, (int) value);
            default -> to.out.put64(at, value);
        }
        return to.end;
    }

    private static long registers(SamplePayload to, Field field, long at, long mask) {
        long bytes = to.from.u64(at) == 0 ? 0 : 8L * Long.bitCount(mask);
        return to.span(field, at + 8 + to.moved, bytes);
    }

    /** Where the times of a read begin: a group has its count before them, else the value is. */
    private static long readTimes(SampleOffsets places) {
        return places.read + 8;
    }

    private long reading(SamplePayload to, Field field, int part) {
        int times =
                Long.bitCount(
                        attr.readFormat()
                                & (PERF_FORMAT_TOTAL_TIME_ENABLED
                                        | PERF_FORMAT_TOTAL_TIME_RUNNING));
        long first = to.places.read;
        if (!reads(PERF_FORMAT_GROUP)) {
            // value, times, id, lost
            long at = first + (part == 0 ? 0 : 8L * times + part);
            return gather(to, field, at, 1, 8);
        }
        int entry = 8 + 8 * Long.bitCount(attr.readFormat() & (PERF_FORMAT_ID | PERF_FORMAT_LOST));
        return gather(to, field, first + 8 + 8L * times + part, to.from.u64(first), entry);
    }

    private long branches(SamplePayload to, Field field, int part) {
        long start = to.end;
        long end = gather(to, field, firstBranch(to) + part, to.places.branchCount, 24);
        if (part == 16 && to.out.isBigEndian()) {
            for (long at = start; at < end; at += 8) {
                to.out.put64(at, littleEndianFlags(to.out.u64(at)));
            }
        }
        return end;
    }

    private long firstBranch(SamplePayload to) {
        boolean index = (attr.branchSampleType() & PERF_SAMPLE_BRANCH_HW_INDEX) != 0;
        return to.places.branches + (index ? 16 : 8);
    }

    /** The counters of all branches stand behind the last branch (6.8). */
    private long counters(SamplePayload to, Field field) {
        long at = firstBranch(to) + 24 * to.places.branchCount;
        return to.span(field, at + to.moved, 8 * to.places.branchCount);
    }

    private static long gather(SamplePayload to, Field field, long first, long count, int stride) {
        long start = to.end;
        for (long i = 0; i < count; i++) {
            to.out.put64(start + 8 * i, to.from.u64(first + stride * i));
        }
        to.span(field, start, 8 * count);
        return start + 8 * count;
    }

    /** Bit fields begin at the other end on big-endian machines: turned to the order of little. */
    static long littleEndianFlags(long flags) {
        long turned = 0;
        int done = 0;
        for (int bits : BRANCH_FLAG_BITS) {
            long value = flags >>> 64 - done - bits & (1L << bits) - 1;
            turned |= value << done;
            done += bits;
        }
        return turned;
    }
}
