package sonde.recording.text;

import sonde.event.EventType;
import sonde.recording.BatchWriter;

/**
 * The messages of a log. A line without a head belongs to the message before it: it has its time
 * and level. The keys of a /dev/kmsg record ({@code " SUBSYSTEM=usb"}) are left out.
 */
final class DmesgItems extends TextItems {
    private final DmesgText model;
    private final DmesgHead head = new DmesgHead();
    private long time;
    private int level = -1;
    private int facility = -1;
    private boolean records;
    private int from;
    private int to;
    private long offset;

    DmesgItems(DmesgText model, LineWindow lines) {
        super(model, lines);
        this.model = model;
    }

    @Override
    Verdict parse() {
        byte[] b = lines.bytes();
        to = LineScan.trimEnd(b, lines.from, lines.to);
        if (to == lines.from) {
            return Verdict.NOTHING;
        }
        if (head.parse(b, lines.from, to)) {
            from = Math.min(head.textFrom, to);
            records = head.kind == DmesgHead.Kind.BOOT && b[from - 1] == ';';
            time = head.timeAfter(time);
            model.wall |= head.kind == DmesgHead.Kind.WALL;
            level = head.level;
            facility = head.facility;
        } else {
            if (records && b[lines.from] == ' ') {
                return Verdict.NOTHING;
            }
            from = lines.from;
            head.tid = -1;
            head.cpu = -1;
        }
        offset = lines.offset + (from - lines.from);
        return Verdict.ITEM;
    }

    @Override
    int itemRows() {
        return 1;
    }

    @Override
    long itemTime(int row) {
        return time;
    }

    @Override
    void learnItem(int row) {}

    @Override
    void writeItem(BatchWriter out, int row, long at) {
        EventType type = model.message;
        out.begin(at, head.cpu, head.tid, type);
        out.integer(type.fields().get(0), offset);
        out.integer(type.fields().get(1), to - from);
        out.integer(type.fields().get(2), level);
        out.integer(type.fields().get(3), facility);
        out.bytes(type.fields().get(4), lines.bytes(), from, to - from);
        out.end();
    }
}
