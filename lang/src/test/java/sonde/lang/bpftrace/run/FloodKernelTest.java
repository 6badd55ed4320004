package sonde.lang.bpftrace.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import sonde.lang.output.JsonOutput;

/** Scripts that send more than the ring holds: what must come comes, the rest is counted. */
@Tag("kernel")
final class FloodKernelTest {
    private static final String FLOOD = "for ($i : 0..20000) { printf(\"%d\\n\", $i); }";
    private static final String SMALL = "config = { perf_rb_pages = 1; } ";

    private static long number(String text, String pattern) {
        Matcher matcher = Pattern.compile(pattern).matcher(text);
        assertThat(matcher.find()).as(text.substring(0, Math.min(2000, text.length()))).isTrue();
        return Long.parseLong(matcher.group(1));
    }

    private static long lines(String printed) {
        return printed.lines().filter(line -> line.matches("[0-9]+")).count();
    }

    @Test
    void aFullRingLosesNeitherMapsNorTheEnd() throws Exception {
        String script =
                SMALL
                        + "begin { "
                        + FLOOD
                        + " @m[1] = 7; print(@m); clear(@m); errorf(\"seen\"); exit(3);"
                        + " } end { @last = 9; print(@last); }";
        String printed;
        try (Traced traced = Traced.attach(script)) {
            printed = traced.end();
            assertThat(traced.exitCode()).isEqualTo(3);
        }
        assertThat(printed).contains("@m[1]: 7\n").contains("seen").contains("@last: 9\n");
        long lost = number(printed, "Lost (\\d+) events of begin: ring full");
        assertThat(lines(printed)).isPositive();
        assertThat(lost + lines(printed)).isEqualTo(20_000);
        assertThat(number(printed, "Lost (\\d+) events\\n")).isEqualTo(lost);
    }

    @Test
    void theOrderIsThatOfTheScript() throws Exception {
        try (Traced traced =
                Traced.attach(
                        "begin { print(\"a\"); @ = 1; print(@); print(\"b\"); clear(@);"
                                + " print(@); print(\"c\"); }")) {
            assertThat(traced.end()).startsWith("a\n@: 1\nb\n@: 0\nc\n");
        }
    }

    @Test
    void aFloodOfErrorsLeavesRoomForTheEnd() throws Exception {
        String script =
                SMALL
                        + "begin { for ($i : 0..20000) { errorf(\"%d\", $i); }"
                        + FLOOD
                        + " exit(4); }";
        try (Traced traced = Traced.attach(script)) {
            String printed = traced.end();
            assertThat(traced.exitCode()).isEqualTo(4);
            long told = printed.lines().filter(line -> line.contains("ERROR: ")).count();
            assertThat(told).isBetween(1000L, 19_999L);
            assertThat(number(printed, "Lost (\\d+) events of begin: control ring full"))
                    .isEqualTo(20_000 - told);
            assertThat(number(printed, "Lost (\\d+) events of begin: ring full"))
                    .isEqualTo(20_000 - lines(printed));
        }
    }

    @Test
    void lossesAreToldOfEachProbeInJsonToo() throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        String script =
                SMALL
                        + "let @few = hash(10); begin { "
                        + FLOOD
                        + " } end { for ($i : 0..30) { @few[$i] = 1; } print(@few); }";
        try (Traced traced = Traced.attach(script, Map.of(), names -> new JsonOutput(out, names))) {
            traced.end();
        }
        String printed = out.toString(StandardCharsets.UTF_8);
        assertThat(printed).contains("{\"type\": \"map\", \"data\": {\"@few\": ");
        assertThat(number(printed, "\"probe\": \"begin\", \"reason\": \"ring full\", .*: (\\d+)"))
                .isBetween(1L, 19_999L);
        assertThat(number(printed, "\"probe\": \"end\", \"reason\": \"map full\", .*: (\\d+)"))
                .isEqualTo(20);
        assertThat(printed).contains("{\"type\": \"lost_events\", ");
    }

    @Test
    void aFloodFromAnotherProcessEnds() throws Exception {
        String script =
                SMALL
                        + "tracepoint:raw_syscalls:sys_enter /comm == \"dd\"/ {"
                        + " printf(\"%d\\n\", args.id); @n = count(); }"
                        + " tracepoint:raw_syscalls:sys_enter /comm == \"dd\" && (int64)@n > 90000/"
                        + " { print(@n); exit(5); }";
        try (Traced traced = Traced.attach(script)) {
            Process dd =
                    new ProcessBuilder("dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=100000")
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start();
            assertThat(dd.waitFor()).isZero();
            String printed = traced.end();
            assertThat(traced.exitCode()).isEqualTo(5);
            assertThat(printed).containsPattern("@n: 9\\d{4}\n");
            long lost = number(printed, "Lost (\\d+) events of tracepoint\\S+: ring full");
            assertThat(lost + lines(printed)).isEqualTo(number(printed, "@n: (\\d+)\n"));
        }
    }
}
