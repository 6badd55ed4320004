package sonde.recording.ctf;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.recording.ctf.DecodePlan.EventPlan;
import sonde.recording.ctf.DecodePlan.StreamPlan;
import sonde.recording.ctf.schema.FieldClass.TextClass;
import sonde.recording.ftrace.ThreadNames;

/** Tells thread names that LTTng's context {@code procname} carries. */
final class LttngThreadNames {
    private final @Nullable ThreadNames threads;
    private final @Nullable FieldNode[] procnames;
    private final boolean any;

    LttngThreadNames(DecodePlan plan, @Nullable ThreadNames threads) {
        this.threads = threads;
        this.procnames = new FieldNode[plan.types.size()];
        boolean found = false;
        for (StreamPlan stream : plan.streams.values()) {
            for (EventPlan event : stream.events()) {
                procnames[event.type] = event.identity.procname;
                found |= event.identity.procname != null;
            }
        }
        this.any = found && threads != null;
    }

    /** Learns the name of a row's thread unless it has one; in the order of the rows. */
    void learn(Batch batch, int row) {
        FieldNode node = any ? procnames[batch.type(row)] : null;
        ThreadNames known = threads;
        int tid = batch.tid(row);
        if (node == null || known == null || tid < 0 || known.comm(tid) != null) {
            return;
        }
        int chars = node.type instanceof TextClass text ? PayloadLayout.inPlace(text) : 0;
        byte[] name =
                chars > 0
                        ? batch.bytes(row, node.at, chars)
                        : batch.bytes(row, batch.u32(row, node.at), batch.u32(row, node.at + 4));
        int length = 0;
        while (length < name.length && name[length] != 0) {
            length++;
        }
        known.learn(tid, Arrays.copyOf(name, length));
    }

    byte @Nullable [] comm(int tid) {
        return threads == null ? null : threads.comm(tid);
    }
}
