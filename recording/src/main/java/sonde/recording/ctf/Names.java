package sonde.recording.ctf;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.recording.ctf.schema.FieldClass;
import sonde.recording.ftrace.ThreadNames;

/** Tells thread names that LTTng's context {@code procname} carries. */
final class Names {
    private final @Nullable ThreadNames threads;
    private final @Nullable Node[] procnames;
    private final boolean any;

    Names(Plan plan, @Nullable ThreadNames threads) {
        this.threads = threads;
        this.procnames = new Node[plan.types.size()];
        boolean found = false;
        for (Plan.Stream stream : plan.streams.values()) {
            for (Plan.Event event : stream.events()) {
                procnames[event.type] = event.identity.procname;
                found |= event.identity.procname != null;
            }
        }
        this.any = found && threads != null;
    }

    /** Learns the name of a row's thread unless it has one; in the order of the rows. */
    void learn(Batch batch, int row) {
        Node node = any ? procnames[batch.type(row)] : null;
        ThreadNames known = threads;
        int tid = batch.tid(row);
        if (node == null || known == null || tid < 0 || known.comm(tid) != null) {
            return;
        }
        int chars = node.type instanceof FieldClass.Text text ? Layout.inPlace(text) : 0;
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
