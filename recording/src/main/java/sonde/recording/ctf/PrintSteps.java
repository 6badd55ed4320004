package sonde.recording.ctf;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.recording.ctf.DecodePlan.EventPlan;
import sonde.recording.ftrace.PackedText;
import sonde.recording.ftrace.TextBuffer;

/**
 * The steps of writing the events of a class. Events begin with what a thread and its CPU have in
 * common (cpu_id, tid, flags), so the text of the first integers is kept for a few of their values,
 * as long as it is asked for again.
 */
final class PrintSteps {
    private static final int WORDS = 4;
    private static final int KEPT = 64;

    /** Fewer are written as fast as they are looked up. */
    private static final int LEAST_FIELDS = 3;

    /** A text that is not found costs as much as so many that are found save. */
    private static final int MISS = 16;

    private static final int TOO_MUCH = 200 * MISS;

    private final PrintOp[] prints;
    private final int leading;
    private final long[] masks = new long[WORDS];
    private final int words;
    private final @Nullable LeadingText[] known = new @Nullable LeadingText[KEPT];

    // Threads that write may overwrite each other's counts: they decide about speed alone.
    private int cost;

    /** The text of the first fields, by the words that they lie in. */
    private record LeadingText(long a, long b, long c, long d, PackedText text) {}

    PrintSteps(EventPlan event) {
        prints = PrintOp.of(event);
        byte[] covered = new byte[8 * WORDS];
        int room = Math.min(covered.length, event.fixedBytes / 8 * 8);
        int count = 0;
        int end = 0;
        while (count < prints.length && prints[count].endOfInteger() <= room) {
            PrintOp print = prints[count++];
            Arrays.fill(covered, print.startOfInteger(), print.endOfInteger(), (byte) -1);
            end = Math.max(end, print.endOfInteger());
        }
        leading = count < LEAST_FIELDS ? 0 : count;
        words = (end + 7) / 8;
        ByteBuffer.wrap(covered).order(ByteOrder.nativeOrder()).asLongBuffer().get(masks);
    }

    void append(TextBuffer out, Batch batch, int row) {
        if (leading == 0 || cost > TOO_MUCH) {
            PrintOp.run(prints, 0, prints.length, out, batch, row);
            return;
        }
        long a = word(batch, row, 0);
        long b = word(batch, row, 1);
        long c = word(batch, row, 2);
        long d = word(batch, row, 3);
        long mixed = (((a * 31 + b) * 31 + c) * 31 + d) * 0x9e3779b97f4a7c15L;
        int place = (int) (mixed >>> 58);
        LeadingText text = known[place];
        if (text == null || text.a != a || text.b != b || text.c != c || text.d != d) {
            text = made(batch, row, a, b, c, d);
            known[place] = text;
            cost += MISS;
        } else if (cost > 0) {
            cost--;
        }
        out.put(text.text);
        PrintOp.run(prints, leading, prints.length, out, batch, row);
    }

    private long word(Batch batch, int row, int index) {
        return index < words ? batch.u64(row, 8 * index) & masks[index] : 0;
    }

    private LeadingText made(Batch batch, int row, long a, long b, long c, long d) {
        TextBuffer text = new TextBuffer(128);
        PrintOp.run(prints, 0, leading, text, batch, row);
        return new LeadingText(a, b, c, d, new PackedText(text.since(0)));
    }
}
