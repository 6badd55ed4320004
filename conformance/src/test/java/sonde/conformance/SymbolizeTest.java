package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code sonde symbolize} on a program that is compiled here, beside addr2line. */
@Tag("product")
class SymbolizeTest {
    private static final String SOURCE =
            """
            #include <execinfo.h>
            static inline __attribute__((always_inline)) int twice(int n)
            {
                    void *called[32];
                    int count = backtrace(called, 32);
                    backtrace_symbols_fd(called, count, 1);
                    return count * 2 + n;
            }
            __attribute__((noinline)) int outer(int n)
            {
                    return twice(n) + 1;
            }
            int main(int count, char **words)
            {
                    return outer(count) == 0;
            }
            """;

    @TempDir Path folder;

    @BeforeEach
    void compile() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/gcc")), "no gcc here");
        Files.writeString(folder.resolve("calls.c"), SOURCE);
        assertThat(shell("gcc -g -O1 -rdynamic -o calls calls.c").status()).isZero();
        // The first use of a checkout tells on stderr that it builds.
        assertThat(Sonde.in(folder).run("--version").status()).isZero();
    }

    @Test
    void placesAreThoseOfAddr2line() throws Exception {
        List<String> addresses =
                shell("nm calls")
                        .out()
                        .lines()
                        .filter(line -> line.contains(" T outer") || line.contains(" T main"))
                        .map(line -> "0x" + line.substring(0, 16))
                        .toList();
        assertThat(addresses).hasSize(2);
        List<String> more = new ArrayList<>();
        for (String address : addresses) {
            long first = Long.decode(address);
            for (int i = 0; i < 24; i += 3) {
                more.add("0x" + Long.toHexString(first + i));
            }
        }
        String words = String.join(" ", more);
        for (String options : List.of("-e calls", "-fe calls", "-fie calls", "-afpie calls")) {
            assertThat(sonde("symbolize " + options + " " + words))
                    .as(options)
                    .isEqualTo(withoutDiscriminators(shell("addr2line " + options + " " + words)));
        }
        assertThat(sonde("symbolize -fipe calls outer+4")).contains("calls.c:");
    }

    @Test
    void whatIsMissingIsSaid() throws Exception {
        Files.writeString(folder.resolve("log"), " dump_stack_lvl+0x4c/0x5f\n f+0x1/0x2\n");
        Sonde.Outcome log = shell(Sonde.ROOT.resolve("sonde") + " symbolize --filter <log");
        assertThat(log.out()).isEqualTo(" dump_stack_lvl+0x4c/0x5f\n f+0x1/0x2\n");
        assertThat(log.err()).containsOnlyOnce("-e vmlinux");
        for (String command :
                List.of("symbolize -e calls.c 0x1", "elf calls.c", "probe funcs -x ./calls.c")) {
            Sonde.Outcome text = Sonde.in(folder).run(command.split(" "));
            assertThat(text.status()).as(command).isEqualTo(4);
            assertThat(text.err()).as(command).contains("calls.c: ");
        }
    }

    @Test
    @Tag("tracefs")
    void optionsOfPerfProbeInAnyOrder() throws Exception {
        String words = "-n -x ./calls";
        String added = sonde("probe add " + words + " outer");
        assertThat(sonde("probe " + words + " -a outer")).isEqualTo(added);
        assertThat(sonde("probe --add=outer " + words)).isEqualTo(added);
        assertThat(sonde("probe -x ./calls -D outer")).isEqualTo(added);
        assertThat(sonde("probe -x ./calls -n -f outer")).isEqualTo(added);
        assertThat(sonde("probe -x ./calls -F outer")).isEqualTo("outer\n");
        assertThat(sonde("probe -x ./calls --vars outer")).contains("int n");
        String quoted = probe(words + " 'outer n'");
        assertThat(probe(words + " outer n")).isEqualTo(quoted);
        assertThat(sonde("probe -x ./calls -n outer n")).isEqualTo(quoted);
        assertThat(probe(words + " outer main").lines()).hasSize(4);
        String place = added.lines().findFirst().orElseThrow().split(" ")[1];
        for (String tracefs :
                List.of(
                        words + " p:g/mine outer n",
                        words + " p:g/mine 'outer n'",
                        words + " 'p:g/mine outer n'",
                        "-n p:g/mine " + place + " n=%di:s32")) {
            assertThat(probe(tracefs)).as(tracefs).startsWith("p:g/mine " + place + " n=%di:s32\n");
        }
        assertThat(probe(words + " r:back outer '$retval'"))
                .startsWith("r:probe_calls/back " + place + " retval=$retval");
    }

    private String probe(String words) throws Exception {
        Sonde.Outcome outcome = shell(Sonde.ROOT + "/sonde probe add " + words);
        assertThat(outcome.status()).as("%s", outcome).isZero();
        return outcome.out();
    }

    private static String withoutDiscriminators(Sonde.Outcome outcome) {
        assertThat(outcome.status()).as("%s", outcome).isZero();
        return outcome.out().replaceAll(" \\(discriminator \\d+\\)", "");
    }

    @Test
    void backtracesGetTheirPlaces() throws Exception {
        String filtered = sonde("symbolize --filter --no-cache", "./calls 2>&1");
        assertThat(filtered)
                .containsPattern(
                        "(?m)^\\./calls\\(outer\\+0x[0-9a-f]+\\) \\(twice [^ ]*/calls\\.c:5"
                                + " < outer [^ ]*/calls\\.c:11\\)\\[0x")
                .containsPattern(
                        "(?m)^\\./calls\\(main\\+0x[0-9a-f]+\\) \\([^ ]*/calls\\.c:15\\)\\[0x");
        assertThat(sonde("symbolize --filter --no-cache -e calls", "./calls 2>&1"))
                .contains("calls.c:15)[0x");
    }

    /** A NUL ends a text: what is behind it is a frame of its own. */
    @Test
    void framesBehindANulGetTheirPlaces() throws Exception {
        String filtered =
                sonde(
                        "symbolize --filter --no-cache",
                        "printf 'a\\000./calls(main+0x5)\\000./calls(outer+0x1)[0x1]\\n'");
        assertThat(filtered)
                .matches(
                        "(?s)a\0\\./calls\\(main\\+0x5\\) \\([^)]*calls\\.c:\\d+\\)\0"
                                + "\\./calls\\(outer\\+0x1\\) \\([^)]*calls\\.c:\\d+\\)\\[0x1\\]\n");
    }

    /** Without a file, addresses are those of the running kernel. */
    @Test
    void addressesOfTheRunningKernel() throws Exception {
        String line =
                Files.readAllLines(Path.of("/proc/kallsyms")).stream()
                        .filter(symbol -> symbol.endsWith(" T vfs_read"))
                        .findFirst()
                        .orElse("0");
        String address = line.split(" ")[0];
        assumeTrue(!address.matches("0*"), "addresses of the kernel are hidden");
        long inside = Long.parseUnsignedLong(address, 16) + 16;
        assertThat(sonde("symbolize " + address + " 0x" + Long.toHexString(inside)))
                .matches("vfs_read\\+0x0/0x[0-9a-f]+.*\nvfs_read\\+0x10/0x[0-9a-f]+.*\n");
        assertThat(sonde("symbolize -a vfs_read+0x10"))
                .startsWith("0x" + Long.toHexString(inside) + ": vfs_read+0x10/0x");
        assertThat(sonde("symbolize -a", "echo " + address)).contains(": vfs_read+0x0/0x");
        Sonde.Outcome nothing = Sonde.in(folder).run("symbolize", "0xfffffffffffff000");
        assertThat(nothing.out()).isEqualTo("??\n");
        assertThat(nothing.err()).contains("in no function of the running kernel");
    }

    @Test
    void whatNamesNoProgramStaysAsItIs() throws Exception {
        String text =
                "none(+0x1) /dev/zero(+0x10) /etc/passwd(x+0x10) (+0x20) [<ffffffff81000000>]";
        assertThat(sonde("symbolize --filter", "printf '%s\\n' '" + text + "'"))
                .isEqualTo(text + "\n");
        assertThat(sonde("symbolize --filter", "printf 'a\\000b(+0x1)\\n'"))
                .isEqualTo("a\0b(+0x1)\n");
    }

    @Test
    void wordsThatAreNoAddressesHaveNone() throws Exception {
        assertThat(sonde("symbolize -fpe calls nosuch main+2b")).isEqualTo("?? ??:0\n?? ??:0\n");
        assertThat(sonde("symbolize --json -e calls nosuch"))
                .isEqualTo("{\"input\":\"nosuch\",\"address\":null,\"frames\":[]}\n");
        assertThat(sonde("symbolize --json -e calls", "echo nosuch")).contains("\"nosuch\"");
        assertThat(sonde("symbolize --json -e calls ffffffffffffffff"))
                .isEqualTo("{\"address\":\"0xffffffffffffffff\",\"frames\":[]}\n");
        assertThat(sonde("symbolize -fpe calls main+0x4"))
                .isEqualTo(sonde("symbolize -fpe calls main+4"));
        assertThat(Sonde.in(folder).run("symbolize", "-e", "calls", "main+2b").err())
                .contains("an offset is 0x1f or decimal");
    }

    private long mainOf(String program) throws Exception {
        String line =
                shell("nm " + program)
                        .out()
                        .lines()
                        .filter(one -> one.endsWith(" T main"))
                        .findFirst()
                        .orElseThrow();
        return Long.parseUnsignedLong(line.substring(0, 16), 16);
    }

    @Test
    void framesOfSanitizersGetTheirPlacesOfTheSameBuild() throws Exception {
        assertThat(shell("gcc -g -O1 -Wl,--build-id=0x1234 -o calls calls.c").status()).isZero();
        String frame = " (" + folder.resolve("calls") + "+0x%x)".formatted(mainOf("calls"));
        Files.writeString(
                folder.resolve("log"), frame + " (BuildId: 1234)\n" + frame + " (BuildId: 1235)\n");
        Sonde.Outcome outcome =
                shell(Sonde.ROOT.resolve("sonde") + " symbolize --filter --no-cache <log");
        assertThat(outcome.out())
                .contains("/calls.c:14) (BuildId: 1234)\n")
                .endsWith("\n" + frame + " (BuildId: 1235)\n");
        assertThat(outcome.err()).contains("another build").contains("/calls");
    }

    /** glibc of a program that is not moved, systemd-coredump, a JVM, the kernel old and new. */
    @Test
    void textsOfManyKindsGetTheirPlaces() throws Exception {
        assertThat(shell("gcc -g -O1 -no-pie -o fixed calls.c").status()).isZero();
        long main = mainOf("fixed");
        long begin = 0x400000;
        long page = main & -4096;
        String fault = "fixed[7]: segfault at 0 ip %016x sp 0 error 4".formatted(main);
        List<String> lines =
                List.of(
                        "./fixed() [0x%x]%%".formatted(main + 1),
                        "./fixed[0x%x]%%".formatted(main + 1),
                        "#0  0x7f00 n/a (fixed + 0x%x)%%".formatted(main - begin),
                        "#1  0x7f00 main (%s/fixed + 0x%x)@".formatted(folder, main + 1 - begin),
                        "# C  [fixed+0x%x]@  main".formatted(main - begin),
                        "C  [fixed+0x%x]@  main".formatted(main + 1 - begin),
                        fault + " in fixed[%x+1000]%%".formatted(page),
                        fault + " in fixed[%x,%x+1000]%%".formatted(main - begin, page),
                        "pc : [<%08x>]%%    lr : [<%08x>]%%".formatted(main, main + 1),
                        "[<ffffffff81000000>] ? main+0x1/0x400 caf\u00e9 [<ffffffff81000000>]");
        String all = String.join("\n", lines) + "\n";
        byte[] log = all.replaceAll("[@%]", "").getBytes(StandardCharsets.ISO_8859_1);
        Files.write(folder.resolve("log"), log);
        // Its folder may have any name, so the places are taken out and counted: those whose text
        // has no name of a function (%) and those whose text may have (@).
        Sonde.Outcome outcome =
                shell(
                        "%s symbolize --filter --no-cache -e fixed <log >out"
                                .formatted(Sonde.ROOT.resolve("sonde")));
        assertThat(outcome.status()).as("%s", outcome).isZero();
        String out = Files.readString(folder.resolve("out"), StandardCharsets.ISO_8859_1);
        assertThat(
                        out.replaceAll(" \\(/[^ ]*/calls\\.c:14\\)", "@")
                                .replaceAll(" \\(main /[^ ]*/calls\\.c:14\\)", "%"))
                .isEqualTo(all);
    }

    @Test
    void missingFileIsNamed() throws Exception {
        Sonde.Outcome outcome = Sonde.in(folder).run("symbolize", "-e", "nothing", "0x10");
        assertThat(outcome.status()).isEqualTo(2);
        assertThat(outcome.err()).contains("nothing: no such file");
        assertThat(outcome.out()).isEmpty();
    }

    @Test
    void reportsHaveLinesAndInlinedCalls() throws Exception {
        assumeTrue(Files.isWritable(Path.of("/proc/1/mem")), "user stacks and samples need root");
        Files.writeString(
                folder.resolve("hot.c"),
                """
                static inline __attribute__((always_inline)) unsigned mix(unsigned a, unsigned n)
                {
                        while (n-- > 0)
                                a = a * 31 + (n ^ a >> 3);
                        return a;
                }
                int main(int count, char **words)
                {
                        return mix(count, 200000000) == 1;
                }
                """);
        assertThat(shell("gcc -g -O1 -o hot hot.c").status()).isZero();
        sonde("record --no-summary -o hot -- ./hot");
        Json report = Json.parse(sonde("report hot.sonde --oncpu --sort symbol,line --json"));
        List<Json> rows = Recorded.rows(report, "on_cpu");
        assertThat(rows.getFirst().text("function")).isEqualTo("main");
        assertThat(rows.getFirst().text("line")).isIn("hot.c:3", "hot.c:4");
        assertThat(sonde("report hot.sonde --oncpu --lines"))
                .contains("main hot.c:9")
                .containsPattern("mix hot\\.c:[34] \\(inlined\\)");
        assertThat(sonde("report hot.sonde --oncpu --lines --no-inline"))
                .contains("main hot.c:9")
                .doesNotContain("mix");
    }

    private String sonde(String words) throws Exception {
        Sonde.Outcome outcome = Sonde.in(folder).run(words.split(" "));
        assertThat(outcome.status()).as("%s", outcome).isZero();
        return outcome.out();
    }

    private String sonde(String words, String before) throws Exception {
        Sonde.Outcome outcome = shell(before + " | " + Sonde.ROOT.resolve("sonde") + " " + words);
        assertThat(outcome.status()).as("%s", outcome).isZero();
        return outcome.out();
    }

    private Sonde.Outcome shell(String command) throws Exception {
        return Sonde.in(folder).execute(List.of("sh", "-c", command));
    }
}
