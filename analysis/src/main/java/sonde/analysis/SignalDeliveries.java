package sonde.analysis;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.IntegerField;
import sonde.event.Source;

/** Signals sent to, and delivered in, threads that count. */
public final class SignalDeliveries implements Operator {
    private static final int GENERATE = 1;
    private static final int DELIVER = 2;
    private static final int SIGIO = 29;
    private static final int SI_KERNEL = 0x80;
    private static final int SI_TIMER = -2;
    private static final int SI_SIGIO = -5;

    private final ThreadTable threads;
    private final TimeWindow window;
    private final SourceBindings<Fields> bindings = new SourceBindings<>(Fields::new);
    private final Map<Key, long[]> sums = new HashMap<>();

    private record Key(int sender, int receiver, int number) {}

    /**
     * Signals of one number from one thread to another.
     *
     * @param sender number of a thread; -1 for the idle task, that is an interrupt
     * @param number as the architecture counts
     * @param generated how many were sent
     * @param delivered how many reached the receiver, from anybody; only on rows where sender and
     *     receiver are the same thread
     */
    public record Entry(int sender, int receiver, int number, long generated, long delivered) {}

    /** An operator that looks tids up in {@code threads}. */
    public SignalDeliveries(ThreadTable threads, TimeWindow window) {
        this.threads = threads;
        this.window = window;
    }

    private static final class Fields {
        final TypeSelection wanted;
        final @Nullable IntegerField sent;
        final @Nullable IntegerField target;
        final @Nullable IntegerField delivered;
        final @Nullable IntegerField code;

        Fields(Source source) {
            wanted = new TypeSelection(source);
            wanted.add(GENERATE, "signal", "signal_generate", "sig", "pid")
                    .add(DELIVER, "signal", "signal_deliver", "sig");
            sent = wanted.integer("signal", "signal_generate", "sig");
            target = wanted.integer("signal", "signal_generate", "pid");
            delivered = wanted.integer("signal", "signal_deliver", "sig");
            code = wanted.integer("signal", "signal_generate", "code");
        }
    }

    @Override
    public int[] select(Source source) {
        return bindings.of(source).wanted.codes();
    }

    @Override
    public void accept(Batch batch, int from, int to) {
        Fields fields = bindings.of(batch);
        for (int row = from; row < to; row++) {
            int code = fields.wanted.code(batch, row);
            int actor = threads.find(batch.tid(row));
            if (code == GENERATE && fields.sent != null && fields.target != null) {
                int receiver = threads.find((int) fields.target.of(batch, row));
                int number = (int) fields.sent.of(batch, row);
                long why = fields.code == null ? 0 : fields.code.of(batch, row);
                int sender = hasSender(number, why) ? actor : own(actor, receiver);
                add(batch.time(row), sender, receiver, number, 0);
            } else if (code == DELIVER && fields.delivered != null) {
                add(batch.time(row), actor, actor, (int) fields.delivered.of(batch, row), 1);
            }
        }
    }

    /**
     * Whether the current thread sent a signal of that si_code; those of timers and of completed
     * requests come from interrupts of whatever ran (include/uapi/asm-generic/siginfo.h).
     */
    public static boolean hasSender(int number, long code) {
        return number != SIGIO && code != SI_KERNEL && (code > SI_TIMER || code < SI_SIGIO);
    }

    private int own(int actor, int receiver) {
        boolean same = actor >= 0 && receiver >= 0;
        return same && threads.pid(actor) == threads.pid(receiver) ? actor : -1;
    }

    private void add(long time, int sender, int receiver, int number, int column) {
        if (window.contains(time) && threads.counts(receiver, time)) {
            sums.computeIfAbsent(new Key(sender, receiver, number), key -> new long[2])[column]++;
        }
    }

    /** All, most first. */
    public List<Entry> entries() {
        List<Entry> result = new ArrayList<>();
        sums.forEach((key, sum) ->
                result.add(new Entry(key.sender, key.receiver, key.number, sum[0], sum[1])));
        result.sort(
                Comparator.comparingLong((Entry e) -> -e.generated - e.delivered)
                        .thenComparingInt(Entry::receiver)
                        .thenComparingInt(Entry::sender)
                        .thenComparingInt(Entry::number));
        return result;
    }
}
