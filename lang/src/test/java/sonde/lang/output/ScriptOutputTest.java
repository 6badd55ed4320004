package sonde.lang.output;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import sonde.lang.source.SourceSpan;
import sonde.lang.source.SourceText;
import sonde.lang.type.TupleType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.TextType;

/** Everything a run prints but maps. */
final class ScriptOutputTest {
    private static SourceSpan span(String text, String part) {
        int from = text.indexOf(part);
        return new SourceSpan(new SourceText("stdin", text), from, from + part.length());
    }

    private static String both(Consumer<ScriptOutput> body) {
        return Printed.text(body) + Printed.messages(body) + Printed.json(body);
    }

    @Test
    void textsAndValues() throws FormatException {
        assertThat(both(out -> out.printf("test \r \n \t \\ \" bar")))
                .isEqualTo(
                        "test \r \n \t \\ \" bar"
                                + "{\"type\": \"printf\", \"data\": "
                                + "\"test \\r \\n \\t \\\\ \\\" bar\"}\n");
        PrintFormat format = PrintFormat.parse("\033[1m%s %d\n");
        TupleType arguments = TupleType.of(List.of(new TextType(4), IntType.I32));
        byte[] event = Little.bytes().i64(0).text("\033x", 4).i32(5).get();
        assertThat(both(out -> out.printf(format, arguments, event, 8)))
                .isEqualTo(
                        "\033[1m\\x1bx 5\n"
                                + "{\"type\": \"printf\", \"data\": "
                                + "\"\\u001b[1m\\u001bx 5\\n\"}\n");
        assertThat(both(out -> out.value(IntType.I64, Little.i64s(5), 0)))
                .isEqualTo("5\n{\"type\": \"value\", \"data\": 5}\n");
        assertThat(both(out -> out.literal("\033[31mRed")))
                .isEqualTo("\033[31mRed\n{\"type\": \"value\", \"data\": \"\\u001b[31mRed\"}\n");
    }

    @Test
    void textsOfTheScriptAreBytes() {
        assertThat(both(out -> out.literal("\u00c3\u00a9")))
                .isEqualTo("\u00e9\n{\"type\": \"value\", \"data\": \"\u00e9\"}\n");
        assertThat(both(out -> out.time("\u00c3\u00a9")))
                .isEqualTo("\u00e9{\"type\": \"time\", \"data\": \"\u00e9\"}\n");
        assertThat(both(out -> out.join(List.of("a", "\u00e9"), "\u00c3\u00a9")))
                .isEqualTo(
                        "a\u00e9\u00e9\n{\"type\": \"join\", \"data\": " + "\"a\u00e9\u00e9\"}\n");
        assertThat(Printed.text(out -> out.literal("\u2192"))).isEqualTo("\u2192\n");
    }

    @Test
    void actions() {
        assertThat(both(out -> out.time("10:11:12\n")))
                .isEqualTo("10:11:12\n{\"type\": \"time\", \"data\": \"10:11:12\\n\"}\n");
        assertThat(both(out -> out.cat("1.5 2.5\n")))
                .isEqualTo("1.5 2.5\n{\"type\": \"cat\", \"data\": \"1.5 2.5\\n\"}\n");
        assertThat(both(out -> out.join(List.of("/bin/echo", "'A'"), ",")))
                .isEqualTo("/bin/echo,'A'\n{\"type\": \"join\", \"data\": \"/bin/echo,'A'\"}\n");
        assertThat(Printed.text(out -> out.join(List.of("a", "b\033")))).isEqualTo("a b\\x1b\n");
        assertThat(both(out -> out.syscall("a b c\n")))
                .isEqualTo("a b c\n\n{\"type\": \"syscall\", \"data\": \"a b c\\n\"}\n");
        assertThat(both(ScriptOutput::end)).isEqualTo("\n\n");
    }

    @Test
    void beginAndLoss() {
        assertThat(both(out -> out.attachedProbes(1)))
                .isEqualTo(
                        "Attached 1 probe\n{\"type\": \"attached_probes\", \"count\": 1, "
                                + "\"data\": {\"probes\": 1}}\n");
        assertThat(Printed.messages(out -> out.attachedProbes(2))).isEqualTo("Attached 2 probes\n");
        assertThat(both(out -> out.lostEvents(7)))
                .isEqualTo(
                        "Lost 7 events\n{\"type\": \"lost_events\", \"count\": 7, "
                                + "\"data\": {\"events\": 7}}\n");
        assertThat(both(out -> out.lost("kprobe:f", "ring full", 7)))
                .isEqualTo(
                        "Lost 7 events of kprobe:f: ring full\n{\"type\": \"lost\", \"data\": "
                                + "{\"probe\": \"kprobe:f\", \"reason\": \"ring full\", "
                                + "\"events\": 7}}\n");
    }

    @Test
    void errorsAndWarningsOfTheScript() {
        String script = "macro bad() { errorf(\"Bad\"); } begin { bad(); }";
        List<SourceSpan> places =
                List.of(span(script, "errorf(\"Bad\")"), span(script, "bad(); }"));
        assertThat(Printed.messages(out -> out.errorf("Bad", places)))
                .isEqualTo(
                        "stdin:1:15-28: ERROR: Bad\n"
                                + "stdin:1:40-48: ERROR: expanded from\n"
                                + script
                                + "\n"
                                + " ".repeat(39)
                                + "~~~~~~~~\n");
        assertThat(Printed.messages(out -> out.warnf("ef cdef\n", places.subList(0, 1))))
                .isEqualTo("stdin:1:15-28: WARNING: ef cdef\n");
        assertThat(Printed.json(out -> out.warnf("hm", places)))
                .isEqualTo(
                        "{\"type\": \"warnf\", \"msg\": \"hm\", \"filename\": \"stdin\", "
                                + "\"line\": 1, \"col\": 15}\n");
        assertThat(Printed.messages(out -> out.errorf("Bad", List.of()))).isEqualTo("ERROR: Bad\n");
    }

    @Test
    void failuresOfTheKernel() {
        String script = "i:ms:100 { @[1] = 1; printf(\"%d\\n\", @[2]); exit(); }";
        List<SourceSpan> place = List.of(span(script, "@[2]"));
        assertThat(Printed.messages(out -> out.helperError("map_lookup_elem", 0, place)))
                .isEqualTo(
                        "stdin:1:37-41: WARNING: Can't lookup map element because it does not "
                                + "exist.\nAdditional Info - helper: map_lookup_elem, retcode: "
                                + "0\n"
                                + script
                                + "\n"
                                + " ".repeat(36)
                                + "~~~~\n");
        assertThat(Printed.messages(out -> out.helperError("map_update_elem", -7, place)))
                .contains("WARNING: Map full; can't update element");
        assertThat(Printed.messages(out -> out.helperError("map_delete_elem", -2, place)))
                .contains("WARNING: Can't delete map element because it does not exist.\n");
        assertThat(Printed.messages(out -> out.helperError("probe_read_user", -14, place)))
                .contains("WARNING: Bad address\nAdditional Info - helper: probe_read_user, ");
        assertThat(Printed.json(out -> out.helperError("probe_read_user", -14, place)))
                .isEqualTo(
                        "{\"type\": \"helper_error\", \"msg\": \"Bad address\", \"helper\": "
                                + "\"probe_read_user\", \"retcode\": -14, \"filename\": "
                                + "\"stdin\", \"line\": 1, \"col\": 37}\n");
        assertThat(Printed.json(out -> out.runtimeError(RuntimeFault.DIVIDE_BY_ZERO, place)))
                .startsWith("{\"type\": \"runtime_error\", \"msg\": \"Divide or modulo by 0 ");
    }

    @Test
    void placesOfSeveralLinesAndTabs() {
        String script = "begin {\n\tx(1,\n 2); }";
        SourceSpan span = span(script, "x(1,\n 2)");
        assertThat(Printed.messages(out -> out.runtimeError("no", List.of(span))))
                .isEqualTo("stdin:2-3: WARNING: no\n\tx(1,\n 2); }\n");
        SourceSpan one = span(script, "x(1,");
        assertThat(Printed.messages(out -> out.runtimeError("no", List.of(one))))
                .isEqualTo("stdin:2:2-6: WARNING: no\n    x(1,\n    ~~~~\n");
    }

    @Test
    void tests() {
        List<String> all = List.of("test:a", "test:b");
        Consumer<ScriptOutput> body =
                out -> {
                    out.testResult(all, 0, 1_500, List.of(true), "");
                    out.testResult(all, 1, 2_000_000, List.of(true, false), "why\n\nnot\n");
                };
        String text = Printed.text(body).replace("\033[32m", "").replace("\033[31m", "");
        assertThat(text.replace("\033[0m", ""))
                .isEqualTo(
                        """
                        [==========] Running 2 tests.
                        [ RUN      ] test:a
                        [       OK ] test:a (1 \u03bcs)
                        [ RUN      ] test:b
                        why
                        not
                        [  FAILED  ] test:b (2 ms)
                        [==========] 2 tests ran.
                        [  PASSED  ] 1 test.
                        [  FAILED  ] 1 test, listed below:
                        [  FAILED  ] test:b
                        """);
        assertThat(Printed.json(out -> out.testResult(all, 0, 5, List.of(true), "o")))
                .isEqualTo(
                        "{\"type\": \"test_result\", \"data\": {\"test:a\": {\"duration\": 5, "
                                + "\"passed\": true, \"output\": \"o\"}}}\n");
    }

    @Test
    void benchmarks() {
        List<String> all = List.of("a", "b");
        Consumer<ScriptOutput> body =
                out -> {
                    out.benchmarkResult(all, 0, 12, 1000);
                    out.benchmarkResult(all, 1, 5, 10);
                };
        assertThat(Printed.text(body))
                .isEqualTo(
                        "Benchmark                                Time(ns)       Iterations\n"
                                + "-".repeat(66)
                                + "\na                                        12             1000\n"
                                + "b                                        5              10\n");
        assertThat(Printed.json(body))
                .isEqualTo(
                        "{\"type\": \"benchmark_result\", \"data\": {\"a\": {\"average\": 12, "
                                + "\"iters\": 1000}}}\n{\"type\": \"benchmark_result\", "
                                + "\"data\": {\"b\": {\"average\": 5, \"iters\": 10}}}\n");
    }

    @Test
    void messagesComeBehindWhatWasPrinted() {
        ByteArrayOutputStream same = new ByteArrayOutputStream();
        ScriptOutput out = new TextOutput(same, same, new MachineNames());
        out.printf("a\n");
        assertThat(same.size()).isZero();
        out.lostEvents(1);
        out.printf("b\n");
        out.flush();
        assertThat(same.toString(StandardCharsets.UTF_8)).isEqualTo("a\nLost 1 events\nb\n");
        out.printf("x".repeat(100_000));
        assertThat(same.size()).isGreaterThan(100_000);
    }

    @Test
    void closedStreams() {
        OutputStream closed =
                new OutputStream() {
                    @Override
                    public void write(int b) throws IOException {
                        throw new IOException("Broken pipe");
                    }
                };
        ScriptOutput text = new TextOutput(closed, closed, new MachineNames());
        text.printf("x");
        assertThatThrownBy(text::flush).isInstanceOf(UncheckedIOException.class);
        ScriptOutput json = new JsonOutput(closed, new MachineNames());
        json.printf("x");
        assertThatThrownBy(json::flush).isInstanceOf(UncheckedIOException.class);
    }
}
