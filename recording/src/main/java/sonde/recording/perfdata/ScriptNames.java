package sonde.recording.perfdata;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.IntegerField;
import sonde.event.Source;
import sonde.recording.ftrace.TextBuffer;

/**
 * Names of threads as perf follows them: by COMM and FORK records alone, the latest counts. Those
 * of unknown threads are {@code ":tid"}.
 */
final class ScriptNames {
    // PID_MAX_LIMIT of the kernel; beyond it nothing is remembered.
    private static final int MOST_TIDS = 1 << 22;
    private static final byte[] IDLE = "swapper".getBytes(StandardCharsets.US_ASCII);

    private final int comm;
    private final int fork;
    private final @Nullable IntegerField commTid;
    private final @Nullable Field commText;
    private final @Nullable IntegerField forkTid;
    private final @Nullable IntegerField forkParent;
    private byte[][] names = new byte[1 << 16][];

    ScriptNames(Source source) {
        EventType named = source.type(EventType.PERF_RECORD, "comm").orElse(null);
        EventType forked = source.type(EventType.PERF_RECORD, "fork").orElse(null);
        comm = named == null ? -1 : named.id();
        fork = forked == null ? -1 : forked.id();
        commTid = named == null ? null : named.integer("tid");
        commText = named == null ? null : named.field("comm").orElse(null);
        forkTid = forked == null ? null : forked.integer("tid");
        forkParent = forked == null ? null : forked.integer("ptid");
        names[0] = IDLE;
    }

    /** Whether rows of a type tell names. */
    boolean teaches(int type) {
        return type == comm || type == fork;
    }

    void learn(Batch batch, int row) {
        if (batch.type(row) == comm && commTid != null && commText != null) {
            TextBuffer text = new TextBuffer(32);
            int size = commText.sizeBytes(batch, row);
            text.text(batch, row, commText.offset(batch, row), size);
            keep((int) commTid.of(batch, row), text.since(0));
        } else if (forkTid != null && forkParent != null) {
            int tid = (int) forkTid.of(batch, row);
            int parent = (int) forkParent.of(batch, row);
            byte[] name = parent == tid ? null : known(parent);
            if (name != null) {
                keep(tid, name);
            }
        }
    }

    private void keep(int tid, byte[] name) {
        if (tid <= 0 || tid >= MOST_TIDS) {
            return;
        }
        if (tid >= names.length) {
            names = Arrays.copyOf(names, Math.max(2 * names.length, tid + 1));
        }
        names[tid] = name;
    }

    private byte @Nullable [] known(int tid) {
        return tid >= 0 && tid < names.length ? names[tid] : null;
    }

    byte[] name(int tid) {
        byte[] name = known(tid);
        return name == null ? (":" + tid).getBytes(StandardCharsets.US_ASCII) : name;
    }
}
