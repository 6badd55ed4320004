package sonde.recording;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import sonde.event.Batch;
import sonde.event.Clock;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.FloatField;
import sonde.event.Source;
import sonde.event.StringField;

class BatchWriterTest {
    private static final EventType OPEN =
            new TypeBuilder("app", "open")
                    .integer("flags", 1, false)
                    .integer("result", 4, true)
                    .text("path")
                    .real("seconds")
                    .array("sizes", 2, true)
                    .build(0);
    private static final Source SOURCE = new Source("made", Clock.MONO, List.of(OPEN));

    private static Field field(String name) {
        return OPEN.field(name).orElseThrow();
    }

    @Test
    void everyKindOfFieldComesBack() {
        BatchWriter writer = new BatchWriter(SOURCE);
        writer.begin(5, 1, 42, OPEN);
        writer.integer(field("flags"), 0x1ff);
        writer.integer(field("result"), -2);
        writer.text(field("path"), "/tmp/ü");
        writer.real(field("seconds"), 0.25);
        writer.array(field("sizes"), new long[] {-1, 7, 9}, 2);
        writer.sample(41, 1000);
        writer.stack(new long[] {3, 4}, 2);
        writer.end();
        writer.begin(6, -1, -1, OPEN);
        writer.end();
        Batch batch = writer.batch();

        assertThat(batch.size()).isEqualTo(2);
        assertThat(OPEN.integer("flags").of(batch, 0)).isEqualTo(0xff);
        assertThat(OPEN.integer("result").of(batch, 0)).isEqualTo(-2);
        assertThat(OPEN.string("path").of(batch, 0)).isEqualTo("/tmp/ü");
        assertThat(FloatField.of(field("seconds")).of(batch, 0)).isEqualTo(0.25);
        Field sizes = field("sizes");
        assertThat(sizes.sizeBytes(batch, 0)).isEqualTo(4);
        assertThat((short) batch.u16(0, sizes.offset(batch, 0))).isEqualTo((short) -1);
        assertThat(batch.pid(0)).isEqualTo(41);
        assertThat(batch.weight(0)).isEqualTo(1000);
        assertThat(batch.stackEntry(0, 1)).isEqualTo(4);
        assertThat(StringField.of(field("path")).of(batch, 1)).isEmpty();
        assertThat(OPEN.integer("result").of(batch, 1)).isZero();
        assertThat(batch.stackDepth(1)).isZero();
    }

    @Test
    void rowsStayWhenTheMemoryGrows() {
        BatchWriter writer = new BatchWriter(SOURCE);
        int rows = 0;
        while (!writer.isFull()) {
            writer.begin(rows, 0, 1, OPEN);
            writer.text(field("path"), "x".repeat(300) + rows++);
            writer.end();
        }
        assertThat(OPEN.string("path").of(writer.batch(), 0)).isEqualTo("x".repeat(300) + "0");
        assertThat(OPEN.string("path").of(writer.batch(), rows - 1)).endsWith("x" + (rows - 1));
    }

    @Test
    void aRetainedBatchIsLeftAlone() {
        BatchWriter writer = new BatchWriter(SOURCE);
        writer.begin(1, 0, 1, OPEN);
        writer.text(field("path"), "first");
        writer.end();
        Batch first = writer.batch().retain();
        writer.clear();
        writer.begin(2, 0, 1, OPEN);
        writer.text(field("path"), "again");
        writer.end();
        assertThat(OPEN.string("path").of(first, 0)).isEqualTo("first");
        assertThat(writer.batch()).isNotSameAs(first);
        first.release();
    }
}
