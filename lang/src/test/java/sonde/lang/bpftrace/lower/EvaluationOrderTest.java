package sonde.lang.bpftrace.lower;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.lang.bpftrace.lower.EventAction.FaultAction;
import sonde.lang.bpftrace.lower.EventAction.PrintAction;
import sonde.lang.output.RuntimeFault;

/** What is evaluated when, and how often: left to right, and once. */
final class EvaluationOrderTest {
    private static Interpreted run(String script) throws Exception {
        return new Interpreted(script).run();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '@',
            value = {
                "$x + $x++ @ 10",
                "$x++ + $x @ 11",
                "$x + ++$x @ 11",
                "(int64)($x == $x++) @ 1",
                "(int64)($x < { $x = 1; 3 }) @ 0",
                "($x, $x++).0 @ 5",
                "(int64)(($x, $x++) == (5, 5)) @ 1",
            })
    void aVariableIsReadWhereItStands(String expression, long value) throws Exception {
        Interpreted run = run("begin { $x = 5; @r = " + expression + "; }");
        assertThat(run.number("@r")).as(expression).isEqualTo(value);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "<", "<=", ">", "==", "!="
            })
    void whatIsFoldedIsWhatRuns(String operator) throws Exception {
        List<String> lefts =
                List.of("-9223372036854775807", "-8", "-7", "-1", "1", "7", "2147483648");
        List<String> rights = List.of("1", "3", "31");
        if (!operator.endsWith("<<") && !operator.endsWith(">>")) {
            rights = List.of("-3", "-1", "1", "2", "10");
        }
        boolean small = List.of("+", "-", "*", "<<").contains(operator);
        StringBuilder script = new StringBuilder("begin { ");
        int pairs = 0;
        for (String left : lefts.subList(small ? 1 : 0, lefts.size())) {
            for (String right : rights) {
                script.append(
                        "@f[%1$d] = (int64)(%2$s %4$s %3$s); @a = (int64)%2$s; @b = (int64)%3$s;"
                                .formatted(pairs, left, right, operator));
                script.append(" @r[%d] = (int64)(@a %s @b); ".formatted(pairs++, operator));
            }
        }
        Interpreted run = run(script + "}");
        for (int pair = 0; pair < pairs; pair++) {
            assertThat(run.at("@r", pair)).as(script.toString()).isEqualTo(run.at("@f", pair));
        }
    }

    @Test
    void signedNumbersAreShiftedWithTheirSign() throws Exception {
        Interpreted run =
                run(
                        "begin { @i = (int64)-8; @u = (uint64)-8; @n = (int8)-8; @two = 2;"
                                + " @a = @i >> 1; @b = (int64)(@u >> 1); @c = @n >> @two;"
                                + " @d = (uint32)@i >> 1; @i >>= 2; @e = @i; }");
        assertThat(run.number("@a")).isEqualTo(-4);
        assertThat(run.number("@b")).isEqualTo(-8L >>> 1);
        assertThat((byte) run.number("@c")).isEqualTo((byte) -2);
        assertThat(run.number("@d")).isEqualTo(0xfffffff8L >> 1);
        assertThat(run.number("@e")).isEqualTo(-2);
    }

    @Test
    void argumentsAreReadWhereTheyStand() throws Exception {
        Interpreted run =
                run("begin { $x = 5; printf(\"%d %d\\n\", $x, $x++); @k[$x++] = sum($x); }");
        Interpreted.Event event = run.events(false).getFirst();
        PrintAction print = (PrintAction) event.action();
        assertThat(
                        print.arguments().fields().stream()
                                .map(field -> (int) event.bytes().get(field.offsetBytes())))
                .containsExactly(5, 5);
        assertThat(run.at("@k", 6)).isEqualTo(6);
    }

    @Test
    void keysOfCompoundAssignmentsAndStepsAreComputedOnce() throws Exception {
        Interpreted run =
                run(
                        "let @own = percpuhash(4); begin { $i = 0; @m[$i++] += 7; @i = $i;"
                                + " $j = 0; @m[$j++]++; @j = $j; $k = 0; @own[$k++]++; @k = $k; }");
        assertThat(run.at("@m", 0)).isEqualTo(8);
        assertThat(run.size("@m")).isEqualTo(1);
        assertThat(run.at("@own", 0)).isEqualTo(1);
        assertThat(run.number("@i")).isEqualTo(1);
        assertThat(run.number("@j")).isEqualTo(1);
        assertThat(run.number("@k")).isEqualTo(1);
    }

    @Test
    void compoundAssignmentsAreAsSignedAsTheOperator() throws Exception {
        Interpreted run =
                run(
                        "begin { $u = (uint64)-2; $u /= 2; @v = (int64)$u;"
                                + " @m[1] = (uint64)-2; @m[1] %= 10; @w = (int64)@m[1]; }");
        assertThat(run.number("@v")).isEqualTo(Long.MAX_VALUE);
        assertThat(run.number("@w")).isEqualTo(4);
    }

    @Test
    void aTupleMadeOfItselfByAMacro() throws Exception {
        Interpreted run =
                run(
                        "macro swapped($t) { ($t.1, $t.0) }"
                                + " begin { $x = (1, 2); $x = swapped($x); @r = $x.0 * 10 + $x.1; }");
        assertThat(run.number("@r")).isEqualTo(21);
    }

    @Test
    void unrolledLoopsEndAndGoOn() throws Exception {
        Interpreted run =
                run(
                        "begin { unroll (4) { @u++; if (@u == 2) { break; } }"
                                + " unroll (4) { @c++; if (@c < 3) { continue; } @rest++; }"
                                + " for ($i : 0..3) { unroll (2) { if ($i == 1) { break; } @f++; }"
                                + " @g++; } }");
        assertThat(run.number("@u")).isEqualTo(2);
        assertThat(run.number("@c")).isEqualTo(4);
        assertThat(run.number("@rest")).isEqualTo(2);
        assertThat(run.number("@f")).isEqualTo(4);
        assertThat(run.number("@g")).isEqualTo(3);
    }

    @Test
    void aLoopThatTheKernelDoesNotRunIsTold() throws Exception {
        Interpreted run =
                run(
                        "begin { $n = 8388609; for ($i : 0..$n) { @a = $i; } for ($i : 2..5) { @b = $i; } }");
        assertThat(run.events(true).stream().map(Interpreted.Event::action))
                .singleElement()
                .isInstanceOfSatisfying(
                        FaultAction.class,
                        fault -> assertThat(fault.fault()).isEqualTo(RuntimeFault.LOOP_TOO_LONG));
        assertThat(run.number("@a")).isZero();
        assertThat(run.number("@b")).isEqualTo(4);
    }

    /** What lies in memory as {@code 88 77 66 55 44 33 22 11 01 ff ee dd …}. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '@',
            value = {
                "uint32_t a : 13, b : 19 @ b @ 0x2ab33",
                "uint64_t a : 13, b : 51 @ b @ 0x89119a22ab33",
                "uint8_t a : 3; uint64_t b : 62 @ b @ 0x222446688aaccef1",
                "int a : 4 @ a @ -8",
                "int a : 8, b : 7 @ b @ -9",
                "int a : 8, b : 8 @ b @ 0x77",
                "int a : 4; signed char c : 3; long d : 50 @ d @ -0x1bb9977553311",
                "char a : 3; long b : 62 @ b @ -0x1ddbb9977553310f",
            })
    void bitFields(String members, String member, String value) throws Exception {
        String packed = members.contains("62") ? " __attribute__((packed))" : "";
        Interpreted run =
                run(
                        "struct bits { "
                                + members
                                + "; }"
                                + packed
                                + "; begin { $b = (0x1122334455667788, 0x99aabbccddeeff01);"
                                + " $p = (struct bits *)&$b; @r = (int64)$p->"
                                + member
                                + "; }");
        assertThat(run.number("@r")).isEqualTo(Long.decode(value));
    }
}
