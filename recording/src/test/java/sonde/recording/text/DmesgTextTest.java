package sonde.recording.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.binary.Input;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Recording;
import sonde.event.StringField;
import sonde.recording.text.Reading.Row;
import sonde.testkit.TraceTexts;

class DmesgTextTest {
    @Test
    void secondsSinceBootAndWhoWrote() throws Exception {
        Reading read = Reading.of(TraceTexts.DMESG);
        assertThat(read.events()).containsOnly("log:printk");
        assertThat(read.rows())
                .extracting(Row::time)
                .containsExactly(0L, 1_314_755_000L, 7_373_144_341_000L);
        assertThat(read.rows()).extracting(Row::tid).containsExactly(-1, 69, -1);
        assertThat(read.rows()).extracting(Row::cpu).containsExactly(-1, -1, 1);
        assertThat(read.rows().get(1).field("text")).isEqualTo("drop_caches: 3");
        assertThat(read.rows().get(1).field("level")).isEqualTo(-1L);
    }

    @Test
    void recordsOfKmsgHaveLevelAndFacility() throws Exception {
        Reading read = Reading.of(TraceTexts.KMSG);
        assertThat(read.rows()).hasSize(2);
        Row started = read.rows().get(1);
        assertThat(started.time()).isEqualTo(5_140_900_000L);
        assertThat(started.field("level")).isEqualTo(6L);
        assertThat(started.field("facility")).isEqualTo(3L);
        assertThat(started.field("text")).isEqualTo("systemd[1]: started");
    }

    @Test
    void aMessageOfSeveralLinesKeepsItsTime() throws Exception {
        Reading read = Reading.of("<4>[    2.500000] Call Trace:\n  dump_stack+0x1\n");
        assertThat(read.rows()).extracting(Row::time).containsOnly(2_500_000_000L);
        assertThat(read.rows()).extracting(row -> row.field("level")).containsOnly(4L);
        assertThat(read.rows().get(1).field("text")).isEqualTo("  dump_stack+0x1");
    }

    @Test
    void timesThatCountFromTheLineBefore() throws Exception {
        Reading read =
                Reading.of("[Nov20 20:54] Linux\n[  +0.000250] a\n[<    1.500000>] b\n[ +0.1] c\n");
        long start = Instant.parse("1970-11-20T20:54:00Z").getEpochSecond() * 1_000_000_000;
        assertThat(read.rows())
                .extracting(row -> row.time() - start)
                .containsExactly(0L, 250_000L, 1_500_250_000L, 1_600_250_000L);
    }

    @Test
    void logWithoutTimesThatBeginsAtBoot() throws Exception {
        Reading read = Reading.of("Linux version 6.1.0 (a@b)\nCommand line: quiet\n");
        assertThat(read.format()).isEqualTo(TextFormat.DMESG);
        assertThat(read.rows()).extracting(Row::time).containsExactly(0L, 0L);
        assertThat(read.rows().get(1).field("text")).isEqualTo("Command line: quiet");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"pri\": 6, \"time\":     1.500000|1500000000|6|-1|-1",
                "\"fac\":\"daemon\",\"pri\":\"err\",\"time\":2,\"caller\":\"T69\"|2000000000|3|3|69",
                "\"time\": \"Fri Nov 20 18:51:44 2026\"|1795200704000000000|-1|-1|-1",
                "\"time\": \"2026-11-20T18:51:44,5+00:00\"|1795200704500000000|-1|-1|-1",
                "\"time\": {}, \"pri\": \"x\", \"caller\": \"T\"|0|-1|-1|-1",
            })
    void json(String members, long time, long level, long facility, int tid) throws Exception {
        String text = "{\n \"dmesg\": [\n {" + members + ", \"msg\": \"a\\nb\"}]}\n";
        Input input = Reading.input(text.getBytes(StandardCharsets.UTF_8));
        assertThat(DmesgJson.isDmesg(input)).isTrue();
        try (Recording recording = DmesgJson.open(input)) {
            Batch batch = Objects.requireNonNull(recording.lanes().getFirst().next());
            EventType type = batch.source().types().getFirst();
            assertThat(type.qualifiedName()).isEqualTo("log:printk");
            assertThat(batch.size()).isOne();
            assertThat(batch.time(0)).isEqualTo(time);
            assertThat(batch.tid(0)).isEqualTo(tid);
            assertThat(type.integer("level").of(batch, 0)).isEqualTo(level);
            assertThat(type.integer("facility").of(batch, 0)).isEqualTo(facility);
            assertThat(StringField.of(type.fields().get(2)).of(batch, 0)).isEqualTo("a\nb");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "[Fri Nov 20 18:51:44 2026] usb 1: x|2026-11-20T18:51:44Z|-1",
                "2026-11-20T20:54:36,144341+01:00 usb 1: x|2026-11-20T19:54:36.144341Z|-1",
                "2026-11-20T20:54:36-0130 host kernel: usb 1: x|2026-11-20T22:24:36Z|-1",
                "Nov 20 20:54:36 host kernel: usb 1: x|1970-11-20T20:54:36Z|-1",
                "kern  :info  : [    1.335013] usb 1: x|1970-01-01T00:00:01.335013Z|6",
                "<6>[    1.335013] usb 1: x|1970-01-01T00:00:01.335013Z|6",
                "<30>[    1.335013] usb 1: x|1970-01-01T00:00:01.335013Z|6",
                "[    1.335013 <    0.020258>] usb 1: x|1970-01-01T00:00:01.335013Z|-1",
            })
    void everyTimeThatDmesgPrints(String line, Instant time, long level) throws Exception {
        Row row = Reading.of(line + "\n").only();
        long nanos = time.getEpochSecond() * 1_000_000_000 + time.getNano();
        assertThat(row.time()).isEqualTo(nanos);
        assertThat(row.field("text")).isEqualTo("usb 1: x");
        assertThat(row.field("level")).isEqualTo(level);
    }
}
