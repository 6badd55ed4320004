package sonde.recording.ftrace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import sonde.event.Batch;
import sonde.event.Clock;
import sonde.event.EventType;
import sonde.event.Lane;
import sonde.event.Source;
import sonde.event.result.RowOutput;
import sonde.recording.ftrace.EventListing.Filter;
import sonde.recording.ftrace.EventListing.ListedLane;

class EventListingTest {
    private static final Source SOURCE =
            new Source(
                    "t",
                    Clock.MONO,
                    List.of(
                            new EventType(0, "s", "e", List.of(), ""),
                            new EventType(1, "s", "other", List.of(), "")));

    /** A row: its time, and the lane and number that it is known by. */
    private record Row(long time, int lane, int number) {}

    /** Lanes of batches from lists of rows; the batch is used again unless somebody holds it. */
    private static final class ListLane implements Lane {
        private final List<List<Row>> batches;
        private final String buffer;
        private final List<Batch> made = new ArrayList<>();
        private int at;

        ListLane(List<List<Row>> batches) {
            this(batches, "");
        }

        ListLane(List<List<Row>> batches, String buffer) {
            this.batches = batches;
            this.buffer = buffer;
        }

        @Override
        public Source source() {
            return SOURCE;
        }

        @Override
        public String buffer() {
            return buffer;
        }

        @Override
        public @Nullable Batch next() throws IOException {
            if (at == batches.size()) {
                return null;
            }
            List<Row> rows = batches.get(at++);
            if (rows.isEmpty()) {
                throw new IOException("torn");
            }
            Batch batch =
                    made.stream()
                            .filter(one -> !one.isRetained())
                            .findFirst()
                            .orElseGet(this::make);
            batch.reset(java.lang.foreign.MemorySegment.NULL);
            for (Row row : rows) {
                batch.add(row.time, row.lane, row.number, row.number % 2, 0, 0);
            }
            return batch;
        }

        private Batch make() {
            Batch batch = new Batch(SOURCE, ByteOrder.nativeOrder());
            made.add(batch);
            return batch;
        }

        @Override
        public void close() {
            at = batches.size();
        }
    }

    /** {@code lane number delta}; free rows go another way through the listing. */
    private record Lines(boolean free, Turn turn) implements RowText {
        @Override
        public Turn turn(Batch batch, int row) {
            return turn;
        }

        @Override
        public boolean isFree(Batch batch) {
            return free;
        }

        @Override
        public boolean append(
                TextBuffer out, Batch batch, int row, @Nullable Batch next, int nextRow) {
            appendAfter(out, batch, row, NO_TIME);
            return false;
        }

        @Override
        public void appendAfter(TextBuffer out, Batch batch, int row, long previous) {
            out.decimal(batch.cpu(row)).put(' ').decimal(batch.tid(row)).put(' ');
            out.decimal(previous == NO_TIME ? -1 : batch.time(row) - previous).put('\n');
        }

        @Override
        public void skip(Batch batch, int row) {
            // nothing is learnt from rows
        }
    }

    /**
     * {@code lane number}; every second row is told with the one behind it, but for every fifth.
     */
    private record Pairs(boolean free, Turn turn) implements RowText {
        @Override
        public Turn turn(Batch batch, int row) {
            return turn;
        }

        @Override
        public boolean isFree(Batch batch) {
            return free;
        }

        @Override
        public boolean looksAhead(int type) {
            return type == 0;
        }

        @Override
        public boolean isPair(Batch batch, int row, Batch next, int nextRow) {
            int number = batch.tid(row);
            return number % 5 != 0
                    && next.tid(nextRow) == number + 1
                    && next.cpu(nextRow) == batch.cpu(row);
        }

        @Override
        public boolean append(
                TextBuffer out, Batch batch, int row, @Nullable Batch next, int nextRow) {
            boolean pair = next != null && looksAhead(batch.type(row));
            pair = pair && next != null && isPair(batch, row, next, nextRow);
            out.decimal(batch.cpu(row)).put(' ').decimal(batch.tid(row));
            out.put(pair ? "+\n" : "\n");
            return pair;
        }

        @Override
        public void skip(Batch batch, int row) {
            // nothing is learnt from rows
        }
    }

    private static List<List<List<Row>>> lanes(long seed, boolean sorted) {
        Random random = new Random(seed);
        List<List<List<Row>>> lanes = new ArrayList<>();
        for (int lane = 0; lane < 1 + random.nextInt(4); lane++) {
            List<List<Row>> batches = new ArrayList<>();
            long time = random.nextInt(50);
            int number = 0;
            for (int batch = 0; batch < random.nextInt(7); batch++) {
                List<Row> rows = new ArrayList<>();
                int size = random.nextInt(4) == 0 ? 6000 : 1 + random.nextInt(40);
                for (int row = 0; row < size; row++) {
                    time += random.nextInt(3) == 0 ? random.nextInt(20) : 0;
                    long shown = sorted || random.nextInt(5) > 0 ? time : time - time / 3;
                    rows.add(new Row(shown, lane, number++));
                }
                batches.add(rows);
            }
            lanes.add(batches);
        }
        return lanes;
    }

    private static String text(List<List<List<Row>>> lanes, RowText rows, Filter filter)
            throws IOException {
        return text(lanes, rows, filter, 1);
    }

    private static String text(
            List<List<List<Row>>> lanes, RowText rows, Filter filter, int buffers)
            throws IOException {
        List<ListedLane> parts = new ArrayList<>();
        for (List<List<Row>> batches : lanes) {
            String buffer = "b" + parts.size() % buffers;
            parts.add(new ListedLane(new ListLane(batches, buffer), rows, ""));
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        new EventListing(parts, filter).writeTo(out);
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void freeRowsComeAsTheOthersDo() throws IOException {
        for (int seed = 0; seed < 60; seed++) {
            List<List<List<Row>>> lanes = lanes(seed, seed % 3 > 0);
            String one = text(lanes, new Lines(false, RowText.Turn.ALONE), Filter.ALL);
            RowText free = new Lines(true, RowText.Turn.ANY);
            assertThat(text(lanes, free, Filter.ALL)).as("seed %d", seed).isEqualTo(one);
            assertThat(text(lanes, free, (batch, row) -> true)).isEqualTo(one);
            RowText ordered = new Lines(false, RowText.Turn.IN_ORDER);
            assertThat(text(lanes, ordered, Filter.ALL)).isEqualTo(one);
        }
    }

    @Test
    void pairsComeAsTheyDoOneByOne() throws IOException {
        Filter some = (batch, row) -> batch.tid(row) % 7 != 3;
        int paired = 0;
        for (int seed = 0; seed < 60; seed++) {
            List<List<List<Row>>> lanes = lanes(seed, seed % 3 > 0);
            int buffers = 1 + seed % 2;
            RowText alone = new Pairs(false, RowText.Turn.ALONE);
            String one = text(lanes, alone, Filter.ALL, buffers);
            String chosen = text(lanes, alone, some, buffers);
            paired += one.contains("+") ? 1 : 0;
            for (boolean free : List.of(false, true)) {
                RowText any = new Pairs(free, RowText.Turn.ANY);
                assertThat(text(lanes, any, Filter.ALL, buffers)).as("%d", seed).isEqualTo(one);
                assertThat(text(lanes, any, some, buffers)).as("%d", seed).isEqualTo(chosen);
            }
        }
        assertThat(paired).isGreaterThan(30);
    }

    @Test
    void ofEqualTimesTheEarlierLaneIsFirst() throws IOException {
        List<List<List<Row>>> lanes =
                List.of(
                        List.of(List.of(new Row(5, 0, 0), new Row(7, 0, 1))),
                        List.of(List.of(new Row(5, 1, 0), new Row(6, 1, 1), new Row(7, 1, 2))));
        assertThat(text(lanes, new Lines(true, RowText.Turn.ANY), Filter.ALL))
                .isEqualTo("0 0 -1\n1 0 0\n1 1 1\n0 1 1\n1 2 0\n");
    }

    @Test
    void aLaneThatFailsEndsTheListing() {
        List<List<List<Row>>> lanes = List.of(List.of(List.of(new Row(1, 0, 0)), List.of()));
        assertThatThrownBy(() -> text(lanes, new Lines(true, RowText.Turn.ANY), Filter.ALL))
                .isInstanceOf(IOException.class)
                .hasMessage("torn");
    }

    @Test
    void plainTextIsSaidToBeSo() throws IOException {
        ByteArrayOutputStream plain = new ByteArrayOutputStream();
        ByteArrayOutputStream other = new ByteArrayOutputStream();
        RowOutput out =
                new RowOutput() {
                    @Override
                    public void writePlain(byte[] bytes, int offset, int length) {
                        plain.write(bytes, offset, length);
                    }

                    @Override
                    public void write(int value) {
                        other.write(value);
                    }
                };
        RowText rows = new Lines(true, RowText.Turn.ANY);
        Lane first = new ListLane(List.of(List.of(new Row(1, 0, 0))));
        new EventListing(List.of(new ListedLane(first, rows, "a ")), Filter.ALL).writeTo(out);
        Lane second = new ListLane(List.of(List.of(new Row(1, 0, 0))));
        new EventListing(List.of(new ListedLane(second, rows, "\u001b ")), Filter.ALL).writeTo(out);
        assertThat(plain).hasToString("a 0 0 -1\n");
        assertThat(other).hasToString("\u001b 0 0 -1\n");
    }
}
