package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Variables that the kernel's fetch arguments cannot express (signed bit-fields, floating point,
 * sums), recorded by a probe and shown by every view, against what the program prints of them.
 */
@Tag("product")
@Tag("tracefs")
class ProbeValuesTest {
    private static final String SOURCE =
            """
            #include <stdio.h>
            #include <stdlib.h>
            struct in { int a; double d; float f; signed s4 : 4; unsigned u3 : 3; int s13 : 13;
                long wide : 40; };
            struct two { int lo, hi; };
            struct big { char pad[520]; struct in in; struct in more[4]; };
            __attribute__((noinline)) int use(void *p) { __asm__ volatile("" :: "r"(p) : "memory"); return 1; }
            __attribute__((noinline)) int f(struct big *b, struct two t, int n) {
                int m = n + 5;
                int sum = 0;
                use(b);
                for (int i = 0; i < 2; i++) {
                    struct in *q = &b->more[1]; /* here */
                    sum += q->a + m + t.hi;
                    use(b);
                }
                return sum + t.lo;
            }
            int main(void) {
                struct big *b = calloc(1, sizeof *b);
                for (int i = 0; i < 3; i++) {
                    b->in = (struct in){i, 1.5 * i - 0.1, 0.1f * i, -3 + i, 5, -4000 + i,
                        -5000000000L - i};
                    printf("d=%.17g f=%.9g s4=%d u3=%u s13=%d wide=%ld lo=%d hi=%d addr=%lu\\n",
                        b->in.d, b->in.f, b->in.s4, b->in.u3, b->in.s13, (long)b->in.wide, i, -7 - i,
                        (unsigned long)&b->in);
                    printf("n=%d q=%lu\\n", 100 + i, (unsigned long)&b->more[1]);
                    f(b, (struct two){i, -7 - i}, 100 + i);
                }
            }
            """;

    private static final Pattern PAIR = Pattern.compile("(\\w+)=(0x[0-9a-f]+|[-+.\\deE]+)");

    @TempDir Path folder;

    @BeforeEach
    void record() throws Exception {
        assumeTrue(Files.isWritable(Path.of("/proc/1/oom_score_adj")), "needs root");
        assumeTrue(
                Files.isWritable(Path.of("/sys/kernel/tracing/uprobe_events")),
                "probes of programs are not there");
        Files.writeString(folder.resolve("values.c"), SOURCE);
        assertThat(shell("gcc -g -O2 -o values values.c").status()).isZero();
        int line = 1 + (int) SOURCE.substring(0, SOURCE.indexOf("/* here")).lines().count();
        try {
            Sonde.Outcome added =
                    sonde(
                            "probe add -x ./values 'f b->in.d b->in.f b->in.s4 b->in.u3 b->in.s13"
                                    + " b->in.wide t.lo t.hi addr=&b->in'"
                                    + " 'sums=values.c:"
                                    + (line - 1)
                                    + " n q'");
            assertThat(added.status()).as("%s", added).isZero();
            Sonde.Outcome recorded =
                    sonde("record -e 'probe_values:*' -o v.sonde -- ./values >printed");
            assertThat(recorded.status()).as("%s", recorded).isZero();
        } finally {
            sonde("probe del 'probe_values:*'");
        }
    }

    private Sonde.Outcome shell(String script) throws Exception {
        return Sonde.in(folder).execute(List.of("/bin/bash", "-c", script));
    }

    private Sonde.Outcome sonde(String words) throws Exception {
        return shell(Sonde.ROOT + "/sonde " + words);
    }

    /** Numbers of the lines that have such a name; where they are hexadecimal in decimal. */
    private static List<Map<String, String>> rows(String text, String with, boolean isFloat) {
        List<Map<String, String>> rows = new ArrayList<>();
        for (String line : text.replace(" = ", "=").lines().toList()) {
            Map<String, String> row = new TreeMap<>();
            Matcher pair = PAIR.matcher(line);
            while (pair.find()) {
                String value = pair.group(2);
                switch (pair.group(1)) {
                    case "d", "f" -> {
                        if (isFloat && pair.group(1).equals("d")) {
                            row.put("d", Double.toString(Double.parseDouble(value)));
                        } else if (isFloat) {
                            row.put("f", Float.toString(Float.parseFloat(value)));
                        }
                    }
                    case "s4", "u3", "s13", "wide", "lo", "hi", "addr", "n", "q" ->
                            row.put(
                                    pair.group(1),
                                    value.startsWith("0x")
                                            ? Long.toString(Long.decode(value))
                                            : value);
                    default -> {}
                }
            }
            if (row.containsKey(with)) {
                rows.add(row);
            }
        }
        return rows;
    }

    @Test
    void everyViewShowsWhatTheProgramPrints() throws Exception {
        String printed = Files.readString(folder.resolve("printed"));
        List<Map<String, String>> values = rows(printed, "s4", true);
        List<Map<String, String>> sums = rows(printed, "q", true);
        assertThat(values).hasSize(3);
        for (String command :
                List.of(
                        "report v.sonde --events --event 'probe_values:*'",
                        "report v.sonde/trace.dat --events --event 'probe_values:*'",
                        "report v.sonde/trace.dat --events -R --event 'probe_values:*'",
                        "convert v.sonde - --to csv --event 'probe_values:*'")) {
            String text = sonde(command).out();
            assertThat(rows(text, "s4", true)).as(command).isEqualTo(values);
            assertThat(rows(text, "q", true)).as(command).containsAll(sums);
        }
        for (String file : List.of("v.dat", "v.data", "v.parquet", "v.ctf")) {
            Sonde.Outcome made = sonde("convert v.sonde " + file);
            assertThat(made.status()).as("%s", made).isZero();
            String text = sonde("report " + file + " --events --event '*probe_values*'").out();
            assertThat(rows(text, "s4", true)).as(file).isEqualTo(values);
            assertThat(rows(text, "q", true)).as(file).containsAll(sums);
        }
        String json =
                sonde("query v.sonde --json 'select * from \"probe_values.f\" order by ts'").out();
        String pairs = json.replaceAll("\"(\\w+)\":\\s*", "$1=");
        assertThat(
                        rows(pairs.replace("},", "},\n"), "s4", true).stream()
                                .map(row ->
                                        row.get("s4")
                                                + row.get("d")
                                                + row.get("wide")
                                                + row.get("addr"))
                                .toList())
                .isEqualTo(
                        values.stream()
                                .map(row ->
                                        row.get("s4")
                                                + row.get("d")
                                                + row.get("wide")
                                                + row.get("addr"))
                                .toList());
    }

    /** Floating point alone is beyond libtraceevent. */
    @Test
    void traceCmdShowsTheSameIntegers() throws Exception {
        assumeTrue(shell("command -v trace-cmd").status() == 0, "trace-cmd is not there");
        String printed = Files.readString(folder.resolve("printed"));
        String text = shell("trace-cmd report v.sonde/trace.dat").out();
        assertThat(rows(text, "s4", false)).isEqualTo(rows(printed, "s4", false));
        assertThat(rows(text, "q", false)).containsAll(rows(printed, "q", false));
    }
}
