package sonde.lang.bpftrace.lower;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.lang.bpftrace.lower.EventAction.ExitAction;
import sonde.lang.bpftrace.lower.EventAction.PrintAction;
import sonde.lang.bpftrace.lower.ScriptLosses.LossReason;

/** Each family of nodes: lowered, compiled, run in the interpreter. */
final class ClauseLoweringTest {
    private static Interpreted run(String body) throws Exception {
        return new Interpreted("begin { " + body + " }").run();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "2 + 3 * 4; 14",
                "7 / 2; 3",
                "(int64)-7 / 2; -3",
                "7 % 3; 1",
                "1 << 4 | 1; 17",
                "6 & 3; 2",
                "6 ^ 3; 5",
                "~0; -1",
                "!5; 0",
                "-(3); -3",
                "3 > 2 ? 10 : 20; 10",
                "(uint8)300; 44",
                "(int8)255; -1",
                "(uint16)-1 > 5; 1",
                "(int32)-1 < 0; 1",
                "(1, 2).1; 2",
                "((uint8[4])(uint32)0x04030201)[2]; 3",
                "\"abc\" == \"abc\"; 1",
                "\"abc\" == \"abd\"; 0",
                "strncmp(\"abc\", \"abd\", 2); 0",
                "strncmp(\"abc\", \"abd\", 3); 1",
                "strncmp(\"ab\\x00xy\", \"ab\\x00zz\", 5); 0",
                "strlen(\"sonde\"); 5",
                "bswap((uint16)0x1234); 13330",
                "sizeof(int32); 4",
            })
    void expressions(String expression, long value) throws Exception {
        assertThat(run("@r = (int64)(" + expression + ");").number("@r"))
                .as(expression)
                .isEqualTo(value);
    }

    @Test
    void variablesAndSteps() throws Exception {
        Interpreted run =
                run("$x = 5; $y = $x++; $z = ++$x; @x = $x; @y = $y; @z = $z; $x -= 10; @w = $x;");
        assertThat(List.of(run.number("@x"), run.number("@y"), run.number("@z"), run.number("@w")))
                .containsExactly(7L, 5L, 7L, -3L);
    }

    @Test
    void conditionsAreDecidedOnce() throws Exception {
        Interpreted run =
                run(
                        "if (1 < 2) { @a = 1; } else { @a = 2; }"
                                + " if (@a == 2) { @b = 1; } else if (@a == 1) { @b = 2; }"
                                + " @and = (int64)(@a == 2 && ++@side == 1);"
                                + " @or = (int64)(@a == 1 || ++@side == 1); @side += 0;");
        assertThat(run.number("@a")).isEqualTo(1);
        assertThat(run.number("@b")).isEqualTo(2);
        assertThat(run.number("@and")).isZero();
        assertThat(run.number("@or")).isEqualTo(1);
        assertThat(run.number("@side")).isZero();
    }

    @Test
    void loops() throws Exception {
        Interpreted run =
                run(
                        "for ($i : 0..10) { if ($i == 3) { continue; } if ($i == 6) { break; }"
                                + " @sum += $i; }"
                                + " $n = 0; while ($n < 5) { $n++; @turns++; }"
                                + " unroll (3) { @copies += 2; }"
                                + " @m[1] = 10; @m[2] = 20; for ($kv : @m) { @keys += $kv.0;"
                                + " @values += $kv.1; }");
        assertThat(run.number("@sum")).isEqualTo(1 + 2 + 4 + 5);
        assertThat(run.number("@turns")).isEqualTo(5);
        assertThat(run.number("@copies")).isEqualTo(6);
        assertThat(run.number("@keys")).isEqualTo(3);
        assertThat(run.number("@values")).isEqualTo(30);
    }

    @Test
    void mapsKeepAndForget() throws Exception {
        Interpreted run =
                run(
                        "@m[1] = 10; @m[2] = 20; @m[1]++; @m[3]++; delete(@m, 2);"
                                + " @has = (int64)has_key(@m, 1); @gone = (int64)has_key(@m, 2);"
                                + " @len = (int64)len(@m); @none = @m[77];");
        assertThat(run.at("@m", 1)).isEqualTo(11);
        assertThat(run.at("@m", 2)).isNull();
        assertThat(run.at("@m", 3)).isEqualTo(1);
        assertThat(run.number("@has")).isEqualTo(1);
        assertThat(run.number("@gone")).isZero();
        assertThat(run.number("@len")).isEqualTo(2);
        assertThat(run.number("@none")).isZero();
    }

    @Test
    void aggregatesAreReadAsNumbers() throws Exception {
        Interpreted run =
                run(
                        "for ($i : 1..9) { @c = count(); @s = sum($i); @l = min($i);"
                                + " @h = max($i); @a = avg($i); @k[$i % 2] = count(); }"
                                + " @r[1] = (int64)@c; @r[2] = (int64)@s; @r[3] = (int64)@l;"
                                + " @r[4] = (int64)@h; @r[5] = (int64)@a; @r[6] = (int64)@k[1];");
        assertThat(List.of(1L, 2L, 3L, 4L, 5L, 6L).stream().map(i -> run.at("@r", i)))
                .containsExactly(8L, 36L, 1L, 8L, 4L, 4L);
    }

    @Test
    void bucketsOfHistograms() throws Exception {
        Interpreted run = run("@h = hist(5); @h = hist(6); @h = hist(0); @l = lhist(7, 0, 10, 5);");
        ByteBuffer powers =
                ByteBuffer.wrap(run.rows("@h").rows().getFirst().value())
                        .order(ByteOrder.LITTLE_ENDIAN);
        assertThat(powers.getLong(8 * 4)).isEqualTo(2); // [4, 8)
        assertThat(powers.getLong(8)).isEqualTo(1); // 0
        ByteBuffer steps =
                ByteBuffer.wrap(run.rows("@l").rows().getFirst().value())
                        .order(ByteOrder.LITTLE_ENDIAN);
        assertThat(steps.getLong(8 * 2)).isEqualTo(1); // [5, 10)
    }

    @Test
    void eventsCarryTheirArguments() throws Exception {
        Interpreted run = run("printf(\"%d %s\\n\", 42, \"text\"); print((1, (int16)2));");
        List<Interpreted.Event> events = run.events(false);
        assertThat(events).hasSize(2);
        assertThat(events.get(0).action()).isInstanceOf(PrintAction.class);
        assertThat(events.get(0).bytes().get(0)).isEqualTo((byte) 42);
        PrintAction print = (PrintAction) events.get(0).action();
        int text = print.arguments().fields().get(1).offsetBytes();
        assertThat((char) events.get(0).bytes().get(text)).isEqualTo('t');
        assertThat(events.get(1).action()).isInstanceOf(EventAction.PrintValue.class);
    }

    @Test
    void controlSaysWhereItBelongs() throws Exception {
        Interpreted run = run("print(1); print(2); @m[1] = 1; print(@m); clear(@m); exit(7);");
        List<Interpreted.Event> control = run.events(true);
        assertThat(control.stream().map(Interpreted.Event::action))
                .hasExactlyElementsOfTypes(
                        EventAction.PrintMap.class, EventAction.EmptyMap.class, ExitAction.class);
        // Two records of 8 bytes for the number and 8 for the value, each behind a header of 8.
        assertThat(control.getFirst().bytes().getLong(0)).isEqualTo(2 * 24);
        assertThat(control.getLast().bytes().getInt(8)).isEqualTo(7);
        assertThat(run.hasEnded()).isTrue();
    }

    @Test
    void lossesAreCountedByReason() throws Exception {
        Interpreted run =
                new Interpreted(
                                "let @few = hash(3); begin { for ($i : 0..8) { @few[$i] = 1; }"
                                        + " for ($i : 0..9000) { print($i); } }")
                        .run();
        assertThat(run.lost(0, LossReason.MAP_FULL)).isEqualTo(5);
        int came = run.events(false).size();
        assertThat(came).isBetween(1000, 8999);
        assertThat(run.lost(0, LossReason.RING_FULL)).isEqualTo(9000 - came);
        assertThat(run.lost(0, LossReason.CONTROL_FULL)).isZero();
        assertThat(run.lost(0, LossReason.MAP_BUSY)).isZero();
    }

    @Test
    void predicatesAndReturns() throws Exception {
        Interpreted run =
                new Interpreted(
                                "begin /0/ { @no = 1; } begin /1/ { @yes = 1; if (@yes == 1) { return; }"
                                        + " @yes = 2; }"
                                        + " begin { @no += 0; }")
                        .run();
        assertThat(run.number("@no")).isZero();
        assertThat(run.number("@yes")).isEqualTo(1);
    }

    @Test
    void registersOfUserProbes() throws Exception {
        Interpreted run =
                new Interpreted("uprobe:libc:getppid { @a = arg0; @b = arg2; @sp = reg(\"sp\"); }");
        ByteBuffer registers = ByteBuffer.allocate(168).order(ByteOrder.LITTLE_ENDIAN);
        registers.putLong(14 * 8, 111).putLong(12 * 8, 333).putLong(19 * 8, 0x7000);
        assertThat(run.run(registers.array())).isEqualTo(1);
        assertThat(run.number("@a")).isEqualTo(111);
        assertThat(run.number("@b")).isEqualTo(333);
        assertThat(run.number("@sp")).isEqualTo(0x7000);
    }

    @Test
    void whoIsRunning() throws Exception {
        Interpreted run = run("@pid = pid; @tid = tid; @cpu = cpu; @uid = uid; @n = nsecs;");
        assertThat(run.number("@pid")).isEqualTo(1000);
        assertThat(run.number("@tid")).isEqualTo(1000);
        assertThat(run.number("@cpu")).isZero();
        assertThat(run.number("@uid")).isZero();
    }
}
