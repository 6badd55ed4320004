package sonde.analysis.filter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.event.Batch;
import sonde.event.Clock;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.Source;
import sonde.testkit.Bytes;
import sonde.testkit.Property;

class RowFilterTest {
    private static final EventType SWITCH =
            new EventType(
                    0,
                    "sched",
                    "sched_switch",
                    List.of(
                            Field.integer("prev_pid", 0, 4, true),
                            Field.integer("flags", 4, 4, false),
                            Field.integer("wide", 8, 8, false),
                            new Field(
                                    "prev_comm",
                                    "char prev_comm[16]",
                                    Field.Kind.CHARS,
                                    16,
                                    16,
                                    1,
                                    false)),
                    "");
    private static final EventType OTHER =
            new EventType(1, "irq", "irq_entry", List.of(Field.integer("irq", 0, 4, true)), "");
    private static final Source SOURCE = new Source("t", Clock.MONO, List.of(SWITCH, OTHER));

    private static Batch batch() {
        byte[] payload =
                new Bytes(ByteOrder.LITTLE_ENDIAN)
                        .u32(-5)
                        .u32(0xf000_0000L)
                        .u64(-1)
                        .chars("shell-7", 16)
                        .toBytes();
        Batch batch = new Batch(SOURCE, ByteOrder.LITTLE_ENDIAN);
        batch.reset(MemorySegment.ofArray(payload));
        batch.add(1000, 3, 42, 0, 0, payload.length);
        return batch;
    }

    private static byte[] name(int tid) {
        return ("comm" + tid).getBytes(StandardCharsets.UTF_8);
    }

    private static boolean passes(String filter) {
        RowTest test = RowFilter.parse(filter).compile(SWITCH, RowFilterTest::name);
        return test != null && test.test(batch(), 0);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "prev_pid == -5;true",
                "prev_pid==-5&&flags==0xf0000000;true",
                "prev_pid < 0;true",
                "flags > 0x7fffffff;true",
                "flags & 0x10000000;true",
                "flags & 0x1;false",
                "wide >= 18446744073709551615;true",
                "wide < 0xffffffffffffffff;false",
                "prev_pid != 017 && !(prev_pid == 1);true",
                "prev_pid == 1 || prev_pid == 2 || prev_pid == -5;true",
                "prev_pid == 1 || prev_pid == -5 && flags == 1;false",
                "(prev_pid == 1 || prev_pid == -5) && flags != 1;true",
                "prev_comm == \"shell-7\";true",
                "prev_comm == shell-7;true",
                "prev_comm != 'shell-7';false",
                "prev_comm ~ \"sh*\";true",
                "prev_comm ~ \"*l-[0-9]\";true",
                "prev_comm ~ \"*l-[!0-9]\";false",
                "prev_comm ~ \"s?ell-7\";true",
                "prev_comm ~ \"hell\";false",
                "prev_comm !~ \"sh*\";false",
                "prev_comm =~ \"^s.*[67]$\";true",
                "CPU == 3 && cpu != 4;true",
                "COMM == comm42 && common_pid == 42;true",
                "comm ~ \"*43\";false",
                "TIMESTAMP >= 1000;true",
                "sched/sched_switch: prev_pid == -5;true",
                "sched: prev_pid == -5;true",
                "sched/*: flags;error",
                "irq/irq_entry, sched/sched_s*: prev_pid == -5;true",
                "sched_switch:;true",
                "irq/irq_entry: prev_pid == -5;false",
                "irq == 1;false",
                "irq == 1 || prev_pid == -5;true",
                "!(irq == 1);false",
                "prev_comm == 7;false",
            })
    void filtersAsTheKernel(String filter, String expected) {
        if (expected.equals("error")) {
            assertThatThrownBy(() -> passes(filter)).isInstanceOf(FilterException.class);
        } else {
            assertThat(passes(filter)).isEqualTo(Boolean.parseBoolean(expected));
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "prev_pid;8;one of ==",
                "prev_pid ==;11;a value",
                "prev_pid == 1 prev;14;&&, || or the end",
                "(prev_pid == 1;14;a bracket is not closed",
                "prev_pid == 1x;12;1x is not a number",
                "prev_pid < sh;11;a number is expected",
                "prev_comm ~ 5;10;compares texts",
                "prev_comm == \"sh;13;the quote is not closed",
                "prev_comm =~ \"a[\";15;Unclosed",
                "== 3;0;the name of a field",
                "a%b: x == 1;0;events are expected",
                "a,,b: x == 1;2;the name of an event",
            })
    void errorsPointAtTheirPlace(String filter, int position, String message) {
        assertThatThrownBy(() -> RowFilter.parse(filter))
                .isInstanceOfSatisfying(
                        FilterException.class, e -> assertThat(e.position()).isEqualTo(position))
                .hasMessageContaining(message)
                .hasMessageEndingWith("\n  " + filter + "\n  " + " ".repeat(position) + "^");
    }

    @Test
    void whatNoEventHasIsRefused() {
        assertThatThrownBy(() -> RowFilter.parse("prev_pdi == 1").check(List.of(SOURCE)))
                .hasMessageStartingWith("no event has a field prev_pdi");
        assertThatThrownBy(() -> RowFilter.parse("nothing/*: a == 1").check(List.of(SOURCE)))
                .hasMessageStartingWith("the recording has no such event");
        assertThatThrownBy(() -> RowFilter.parse("irq == 1 && flags == 1").check(List.of(SOURCE)))
                .hasMessageStartingWith("no event has all of these fields");
        RowFilter.parse("irq == 1 || flags == 1").check(List.of(SOURCE));
    }

    @Test
    void anythingIsReadOrRefused() {
        String alphabet = "ab1 0x-_./:,()!&|=<>~\"'[]*?\\ü";
        Property.forAll(
                3,
                20_000,
                random -> {
                    StringBuilder filter = new StringBuilder();
                    for (int i = random.nextInt(30); i > 0; i--) {
                        filter.append(piece(random, alphabet));
                    }
                    try {
                        RowTest test =
                                RowFilter.parse(filter.toString())
                                        .compile(SWITCH, RowFilterTest::name);
                        if (test != null) {
                            test.test(batch(), 0);
                        }
                    } catch (FilterException e) {
                        assertThat(e.position()).isBetween(0, filter.length());
                    }
                });
    }

    private static String piece(RandomGenerator random, String alphabet) {
        String[] words = {"prev_pid", "prev_comm ~ ", " == ", " && ", " || ", "\"s*\"", "1"};
        int at = random.nextInt(alphabet.length() + words.length);
        return at < words.length
                ? words[at]
                : alphabet.substring(at - words.length, at - words.length + 1);
    }
}
