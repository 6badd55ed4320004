package sonde.tools.calls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.event.result.Listing.ListingForm;
import sonde.probe.launch.CommandWords;
import sonde.probe.launch.InheritedState;
import sonde.tools.option.CommandModel;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.OptionWords;

/** Calls of small C programs; what they must be is known from their texts. */
@Tag("kernel")
final class CallsKernelTest {
    private static final CommandModel MODEL = CommandModel.parse(CallsArguments.MODEL);

    private static final String PROGRAM =
            """
            #include <dlfcn.h>
            #include <signal.h>
            #include <stdio.h>
            #include <stdlib.h>
            #include <string.h>
            #include <unistd.h>
            #include <wchar.h>
            static int compare(const void *a, const void *b) {
                return strcasecmp(*(char **) a, *(char **) b);
            }
            int odd(void) __asm__("\\"odd\\033[31m\\"");
            __attribute__((noinline)) int odd(void) { __asm__ volatile(""); return 3; }
            enum color { RED, GREEN = 5 };
            struct pair { long a, b; };
            struct wide { long a[4]; };
            __attribute__((noipa)) struct wide spread(
                    struct pair p, const char *name, enum color c, double d, unsigned char small) {
                return (struct wide) {{p.a}};
            }
            __attribute__((noipa)) void note(char level, const char *fmt, ...) {}
            __attribute__((noipa)) enum color poll(unsigned n, struct wide w, _Bool b, int last) {
                return GREEN;
            }
            int main(int count, char **words) {
                char *all[] = {"b", "a"}, text[64], *part = malloc(100);
                FILE *file = fopen(words[1], "r");
                fgets(text, 64, file);
                fclose(file);
                qsort(all, 2, sizeof *all, compare);
                strcpy(part, text);
                snprintf(text, 64, "%d|%s|%c|%lx", strtol("-12", 0, 10), part, 'c', 0xabcdefL);
                memcpy(text, part, 3);
                memmove(text + 1, part, 2);
                raise(0);
                free(part);
                odd();
                spread((struct pair) {1, 2}, "nm", GREEN, 1.5, 200);
                note('x', "%d-%s", 7, "seven");
                poll(4000000000, (struct wide) {{3}}, 1, -9);
                getenv("NO_SUCH_VARIABLE");
                char filled[65] = {0}, *found = strchrnul("a,b", ',');
                memset(filled, 'x', 64);
                if (*found != ',' || strspn(filled, "x") != 64 || wcschr(L"abc", L'b') == NULL)
                    return 2;
                void *library = dlopen("libz.so.1", RTLD_NOW);
                unsigned long (*crc)(unsigned long, const char *, unsigned) = dlsym(library, "crc32");
                return crc(0, "abc", 3) == 0x352441c2 ? 7 : 1;
            }
            """;

    @TempDir private static Path folder = Path.of("");
    private int status;

    @BeforeAll
    static void compile() throws Exception {
        Path source = Files.writeString(folder.resolve("planted.c"), PROGRAM);
        Files.writeString(folder.resolve("words"), "a line\n");
        for (String how : List.of("lazy", "now")) {
            List<String> words =
                    List.of(
                            "gcc",
                            "-w",
                            "-D_GNU_SOURCE",
                            "-O1",
                            "-fno-builtin",
                            how.equals("now") ? "-s" : "-g",
                            "-Wl,-z," + (how.equals("now") ? "now" : "lazy"),
                            "-o",
                            folder.resolve(how).toString(),
                            source.toString());
            assertThat(new ProcessBuilder(words).inheritIO().start().waitFor()).isZero();
        }
    }

    private List<String> lines(String options, String... command) throws Exception {
        return lines(ListingForm.TEXT, options, command);
    }

    private List<String> lines(ListingForm form, String options, String... command)
            throws Exception {
        GivenOptions given =
                options.isEmpty()
                        ? new GivenOptions(MODEL)
                        : OptionWords.read(MODEL, List.of(options.split(" ")));
        CallsRequest request =
                CallsArguments.request(given, InheritedState.capture(), CommandWords.of(command));
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (CallsRun run = new CallsRun(request)) {
            run.lines().rows().writeTo(out, form);
            assertThat(run.notes()).isEmpty();
            status = run.status();
        }
        return out.toString(StandardCharsets.UTF_8).lines().toList();
    }

    /** With and without names of functions, and however the program reaches them. */
    @ParameterizedTest
    @ValueSource(strings = {"lazy", "now"})
    void callsOfTheProgram(String how) throws Exception {
        String words = folder.resolve("words").toString();
        List<String> all = lines("-s 200", folder.resolve(how).toString(), words);
        List<String> masked =
                all.stream().map(line -> line.replaceAll("0x[0-9a-f]+", "PTR")).toList();
        assertThat(masked.stream().map(line -> line.replaceAll(" +=", " =")).toList())
                .containsExactly(
                        "malloc(100) = PTR",
                        "fopen(\"" + words + "\", \"r\") = PTR",
                        "fgets(\"a line\\n\", 64, PTR) = PTR",
                        "fclose(PTR) = 0",
                        "qsort(PTR, 2, 8, PTR <unfinished ...>",
                        "strcasecmp(\"b\", \"a\") = 1",
                        "<... qsort resumed> ) = <void>",
                        "strcpy(PTR, \"a line\\n\") = PTR",
                        "strtol(\"-12\", 0, 10) = -12",
                        "snprintf(\"-12|a line\\n|c|abcdef\", 64, \"%d|%s|%c|%lx\", -12,"
                                + " \"a line\\n\", 'c', PTR) = 20",
                        "memcpy(PTR, \"a l\", 3) = PTR",
                        "memmove(PTR, \"a \", 2) = PTR",
                        "raise(0) = 0",
                        "free(PTR) = <void>",
                        "getenv(\"NO_SUCH_VARIABLE\") = nil",
                        "strchrnul(\"a,b\", ',') = \",b\"",
                        "memset(PTR, 'x', 64) = PTR",
                        "strspn(\"" + "x".repeat(64) + "\", \"x\") = 64",
                        "wcschr(PTR, 98) = PTR",
                        "dlopen(\"libz.so.1\", 2) = PTR",
                        "dlsym(PTR, \"crc32\") = PTR",
                        "+++ exited (status 7) +++");
        assertThat(all.getFirst()).matches("malloc\\(100\\) {38}= 0x[0-9a-f]+");
        assertThat(status).isEqualTo(7);
    }

    /** A library that the program loads later, called through a pointer. */
    @Test
    void entriesOfALibraryThatIsLoadedLater() throws Exception {
        String words = folder.resolve("words").toString();
        assertThat(lines("-L -x crc32@libz*", folder.resolve("now").toString(), words))
                .hasSize(2)
                .first()
                .asString()
                .startsWith("crc32@libz.so.1(0, ")
                .endsWith("= 891568578");
    }

    /** From the first step of a child on, and through its exec. */
    @Test
    void childrenAreFollowedWhenAsked() throws Exception {
        String command =
                "(umask 77; exec " + folder.resolve("now") + " " + folder.resolve("words") + "); :";
        assertThat(lines("-f -e umask+atexit+fclose@now", "sh", "-c", command))
                .anyMatch(line -> line.matches("\\[pid +\\d+] \\w+->umask\\(077\\) +=.*"))
                .anyMatch(line -> line.matches("\\[pid +\\d+] now->fclose\\(0x.*\\) += 0"))
                .filteredOn(line -> line.contains("+++ exited"))
                .hasSize(2);
        assertThat(lines("-e umask", "sh", "-c", "(umask 77); :"))
                .noneMatch(line -> line.contains("umask"));
    }

    /** What nests, what does not return, and the end; names cannot reach the terminal. */
    @Test
    void objects() throws Exception {
        String words = folder.resolve("words").toString();
        String program = folder.resolve("lazy").toString();
        assertThat(lines(ListingForm.JSON_LINES, "-x odd*@lazy -x main@lazy", program, words))
                .anyMatch(line ->
                        line.matches(
                                ".*\"call\": \"fgets\", \"library\": \"libc.so.6\","
                                        + " \"caller\": \"0x\\w+\", \"depth\": 1, \"args\":"
                                        + " \\[\"\\\\\"a line\\\\\\\\n\\\\\"\", \"64\","
                                        + " \"0x\\w+\"], \"result\": \"0x\\w+\","
                                        + " \"duration\": \\d+}"))
                .anyMatch(line -> line.contains("\"call\": \"odd\\u001b[31m\", \"library\""))
                .anyMatch(line -> line.contains("\"call\": \"main\"") && line.contains("\"7\""))
                .last()
                .asString()
                .endsWith("\"end\": \"exited (status 7)\"}");
        assertThat(lines("-L -x odd*@lazy", program, words))
                .first()
                .asString()
                .startsWith("odd\\x1b[31m@lazy(");
        assertThat(lines(ListingForm.JSON_LINES, "-e _exit+_Exit+exit", "sh", "-c", "exit 3"))
                .anyMatch(line ->
                        line.contains("\"args\": [\"3\"]") && line.contains("\"result\": null"));
    }

    /** By debugging information; the program's own poll() is not that of libc. */
    @Test
    void typesOfTheProgramsOwnFunctions() throws Exception {
        String words = folder.resolve("words").toString();
        String program = folder.resolve("lazy").toString();
        List<String> all = lines("-L -a 0 -x spread@lazy+note@lazy+poll@lazy", program, words);
        assertThat(all.getFirst())
                .matches("spread@lazy\\(\\{\\.\\.\\.}, \"nm\", GREEN, \\?, 200\\) = 0x\\w+");
        assertThat(all)
                .contains(
                        "note@lazy('x', \"%d-%s\", 7, \"seven\") = <void>",
                        "poll@lazy(4000000000, {...}, 1, -9) = GREEN");
    }

    /** As another user; the program that changes to it is not shown. */
    @Test
    void anotherUser() throws Exception {
        assertThat(lines("-u nobody -e getuid+geteuid+setreuid+setgroups", "id", "-u"))
                .anyMatch(line -> line.matches("id->geteuid\\(\\) += 65534"))
                .noneMatch(line -> line.contains("set"));
        assertThat(status).isZero();
        assertThatThrownBy(() -> lines("-u no-such-user", "true"))
                .hasMessage("-u: this machine knows no user 'no-such-user'");
        assertThatThrownBy(() -> lines("--set-return 1", "true")).hasMessageContaining("inject=");
    }

    /** The kernel counts what the lines show. */
    @Test
    void counts() throws Exception {
        GivenOptions given = OptionWords.read(MODEL, List.of("-c", "-S", "calls"));
        CommandWords command =
                CommandWords.of(
                        folder.resolve("now").toString(), folder.resolve("words").toString());
        try (CallsRun run =
                new CallsRun(CallsArguments.request(given, InheritedState.capture(), command))) {
            run.lines().rows().writeTo(new ByteArrayOutputStream(), ListingForm.TEXT);
            assertThat(run.table().orElseThrow().rows())
                    .filteredOn(row -> List.of("fgets", "total").contains(row.get(6)))
                    .extracting(row -> row.get(5))
                    .containsExactly(1L, 20L);
        }
    }

    @Test
    void callsOfOtherObjects() throws Exception {
        String words = folder.resolve("words").toString();
        assertThat(lines("-e malloc -n2", folder.resolve("lazy").toString(), words))
                .anyMatch(line -> line.startsWith("lazy->malloc(100) "))
                .anyMatch(line -> line.startsWith("libc.so.6->malloc("))
                .noneMatch(line -> line.contains("free("));
    }
}
