package sonde.analysis;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import sonde.event.Batch;
import sonde.event.Lane;
import sonde.event.Source;

class LiveMergeTest {
    /** Gives what was put into it, empty batches in between, until it is ended. */
    private static final class FedLane implements Lane {
        private final Source source = new Script().ftrace;
        private final Deque<Batch> batches = new ArrayDeque<>();
        private final int cpu;
        private boolean ended;

        FedLane(int cpu) {
            this.cpu = cpu;
        }

        FedLane put(long... times) {
            Batch batch = new Batch(source, ByteOrder.nativeOrder());
            batch.reset(MemorySegment.NULL);
            for (long time : times) {
                batch.add(time, cpu, 1, 0, 0, 0);
            }
            batches.add(batch);
            return this;
        }

        @Override
        public Source source() {
            return source;
        }

        @Override
        public String buffer() {
            return "";
        }

        @Override
        public @Nullable Batch next() {
            if (!batches.isEmpty()) {
                return batches.remove();
            }
            return ended ? null : new Batch(source, ByteOrder.nativeOrder());
        }

        @Override
        public void close() {}
    }

    private final List<String> seen = new ArrayList<>();

    private boolean advance(LiveMerge merge, long until) throws IOException {
        return merge.advance(
                until,
                (batch, row, late) ->
                        seen.add(batch.cpu(row) + "@" + batch.time(row) + (late ? " late" : "")));
    }

    private List<String> taken() {
        List<String> all = List.copyOf(seen);
        seen.clear();
        return all;
    }

    @Test
    void rowsWaitUntilTheirTimeAndComeInOrder() throws IOException {
        FedLane one = new FedLane(1).put(10, 30, 50);
        FedLane two = new FedLane(2).put(20, 30, 60);
        try (LiveMerge merge = new LiveMerge(List.of(one, two))) {
            assertThat(advance(merge, 30)).isTrue();
            assertThat(taken()).containsExactly("1@10", "2@20", "1@30", "2@30");
            one.put(55);
            assertThat(advance(merge, 59)).isTrue();
            assertThat(taken()).containsExactly("1@50", "1@55");
        }
    }

    @Test
    void aRowBehindOneThatWasHandedOutIsMarkedAndMovesNothing() throws IOException {
        FedLane one = new FedLane(1).put(10, 40);
        FedLane two = new FedLane(2);
        try (LiveMerge merge = new LiveMerge(List.of(one, two))) {
            assertThat(advance(merge, 45)).isTrue();
            two.put(0, 35, 39, 44);
            one.put(42);
            assertThat(advance(merge, 50)).isTrue();
            assertThat(taken())
                    .containsExactly(
                            "1@10", "1@40", "2@0", "2@35 late", "2@39 late", "1@42", "2@44");
        }
    }

    @Test
    void aLaneMayGiveOlderRowsInALaterBatchWithinTheWindow() throws IOException {
        FedLane perf = new FedLane(0).put(10, 90).put(20, 80);
        try (LiveMerge merge = new LiveMerge(List.of(perf))) {
            assertThat(advance(merge, 100)).isTrue();
            assertThat(taken()).containsExactly("0@10", "0@20", "0@80", "0@90");
        }
    }

    @Test
    void theEndHandsOutEverything() throws IOException {
        FedLane one = new FedLane(1).put(10, Long.MAX_VALUE, -5);
        one.ended = true;
        try (LiveMerge merge = new LiveMerge(List.of(one))) {
            assertThat(advance(merge, 20)).isTrue();
            assertThat(taken()).containsExactly("1@10");
            assertThat(advance(merge, -1)).isFalse();
            assertThat(taken()).hasSize(2);
        }
    }

    @Test
    void aLaneThatIsBehindHoldsTheOthersBackInsteadOfBeingLate() throws IOException {
        FedLane busy = new FedLane(1);
        for (int i = 0; i < 100; i++) {
            busy.put(10 * i, 10 * i + 5);
        }
        FedLane quiet = new FedLane(2).put(3, 503);
        Random random = new Random(1);
        try (LiveMerge merge = new LiveMerge(List.of(busy, quiet))) {
            for (int i = 0; i < 60; i++) {
                assertThat(advance(merge, 2000 + random.nextInt(100))).isTrue();
            }
        }
        assertThat(seen).hasSize(202).noneMatch(row -> row.endsWith("late"));
    }
}
