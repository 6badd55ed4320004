package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.event.result.Listing.ListingForm;
import sonde.symbol.line.SourceOptions;
import sonde.tools.explain.ExplainRecipe;
import sonde.tools.explain.ExplainRecipe.ExplainOptions;
import sonde.tools.explain.ExplainRecipe.LogSource;
import sonde.tools.explain.IncidentFilter;
import sonde.tools.symbolize.SymbolizeRecipe;

/** Reports decoded with an image that has a kernel's banner. */
class ExplainSymbolsTest {
    private static final String LOG =
            """
            BUG: kernel NULL pointer dereference, address: 0000000000000008
            #PF: supervisor read access in kernel mode
            Oops: 0000 [#1] PREEMPT SMP
            CPU: 1 PID: 301 Comm: fisher Not tainted 6.6.9-pond #1
            RIP: 0010:pond_depth+0x0/0xSIZE
            Call Trace:
             pond_depth+0x1/0xSIZE
            ---[ end trace 0000000000000000 ]---
            """;

    private static Path image(Path folder) throws IOException, InterruptedException {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/gcc")), "needs gcc");
        Path source = folder.resolve("pond.c");
        Files.writeString(
                source,
                """
                const char linux_banner[] = "Linux version 6.6.9-pond (angler@pond) #1 SMP";
                struct pond { long width; int depth; };
                int pond_depth(struct pond *p)
                {
                    return p->depth;
                }
                int main(void) { return linux_banner[0] == pond_depth(0); }
                """);
        Path image = folder.resolve("vmlinux");
        Process gcc =
                new ProcessBuilder(
                                "gcc", "-g", "-no-pie", "-o", image.toString(), source.toString())
                        .inheritIO()
                        .start();
        assertThat(gcc.waitFor()).isZero();
        return image;
    }

    private static String explained(Path image, String log) throws IOException {
        return explained(image, log, ExplainOptions.USUAL);
    }

    private static String explained(Path image, String log, ExplainOptions options)
            throws IOException {
        return explained(image, log, options, null);
    }

    private static String explained(
            Path image, String log, ExplainOptions options, @Nullable Path modules)
            throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (SymbolizeRecipe recipe = SymbolizeRecipe.open(image, SourceOptions.USUAL);
                SymbolizeRecipe.LogCopy symbols = recipe.log(modules, SourceOptions.USUAL)) {
            ExplainRecipe explain = new ExplainRecipe(options, symbols);
            explain.of(
                            List.of(
                                    new LogSource(
                                            "log",
                                            null,
                                            new ByteArrayInputStream(
                                                    log.getBytes(StandardCharsets.UTF_8)))))
                    .rows()
                    .writeTo(out, ListingForm.TEXT);
            return explain.otherRelease() + "\n" + out.toString(StandardCharsets.UTF_8);
        }
    }

    @Test
    void framesOfTheSameKernelAloneAreDecoded(@TempDir Path folder) throws Exception {
        Path image = image(folder);
        Process nm = new ProcessBuilder("nm", "-S", image.toString()).start();
        String symbols = new String(nm.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        String size =
                symbols.lines()
                        .filter(line -> line.endsWith(" pond_depth"))
                        .map(line -> line.split(" ")[1].replaceFirst("^0+", ""))
                        .findFirst()
                        .orElseThrow();
        String log = LOG.replace("SIZE", size);
        assertThat(explained(image, log))
                .startsWith("\n#1  BUG: unable to handle kernel NULL pointer dereference in pond_")
                .contains("where    pond_depth+0x0/0x" + size + " at ", "pond.c:4");
        assertThat(explained(image, log.replace("6.6.9-pond", "6.6.8-pond")))
                .startsWith("6.6.8-pond\n#1  BUG: unable to handle kernel NULL pointer")
                .doesNotContain("pond.c:");
        assertThat(explained(image, log.replace("6.6.9-pond #1", "6.6.9-pond #2")))
                .startsWith("6.6.9-pond #2 (the image is #1)\n#1  BUG: ")
                .doesNotContain("pond.c:");
        String rebuilt = log.replace("+0x1/0x" + size, "+0x1/0x" + size + "\n main+0x4/0x999");
        assertThat(explained(image, rebuilt)).contains("pond.c:4"); // one line may be garbled
        assertThat(explained(image, rebuilt.replace("depth+0x0/0x" + size, "depth+0x0/0x777")))
                .startsWith("6.6.9-pond of another build (2 of 3 functions have another size)\n")
                .doesNotContain("pond.c:");
        Sonde here = Sonde.in(folder);
        String word = "pond_depth+0x0/0x" + size;
        Sonde.Outcome listed = here.run("symbolize", "-e", "vmlinux", "-fp", "--list", word);
        assertThat(listed.out())
                .startsWith("pond_depth at " + folder + "/pond.c:4\n 1 \tconst char linux_banner")
                .contains("\n>4<\t{\n 5 \t    return p->depth;\n");
        Files.createDirectories(folder.resolve("tree/a"));
        Files.writeString(folder.resolve("tree/a/pond.c"), "1\n2\n3\nelsewhere\n");
        assertThat(here.run("symbolize", "-e", "vmlinux", "--list", "--source", "tree", word).out())
                .isEqualTo(folder + "/pond.c:4\n"); // a file of that name is not that file
        Sonde.Outcome other = here.run("symbolize", "-e", "vmlinux", "pond_depth+0x0/0x777");
        assertThat(other.out()).isEqualTo("??:0\n");
        assertThat(other.err())
                .contains("pond_depth has another size in this file: it is of another build");
        assertThat(here.run("symbolize", "-e", "vmlinux", "main+0x99/0x98").err())
                .contains("the offset is behind the end of the function");
        ExplainOptions forced =
                new ExplainOptions(
                        false, false, false, false, false, true, false, IncidentFilter.ALL, folder);
        assertThat(explained(image, log.replace("6.6.9-pond", "6.6.8-pond"), forced))
                .contains("pond.c:4", "\n            2  struct pond {", "\n      >     4  {\n");
    }

    @Test
    void addressesAreDecodedAloneAndOtherTextsAreNoLogs(@TempDir Path folder) throws Exception {
        Path image = image(folder);
        Path log = folder.resolve("log");
        Files.writeString(log, "a line\n pond_depth+0x1/0x9\n main+0x4\n");
        Sonde here = Sonde.in(folder);
        Sonde.Outcome copied =
                here.run("explain", "--decode-only", "-k", image.toString(), log.toString());
        assertThat(copied.out())
                .startsWith("a line\n")
                .contains(" main+0x4 (" + folder + "/pond.c:");
        String script = copied.out();
        for (String words : List.of("vmlinux", "vmlinux auto", "vmlinux /usr/src .")) {
            List<String> all = new ArrayList<>(List.of("explain", "--decode-only"));
            all.addAll(List.of(words.split(" ")));
            Sonde fed = here.behind("sh", "-c", "exec \"$@\" <log", "sh");
            assertThat(fed.run(all.toArray(String[]::new)).out()).isEqualTo(script);
        }
        assertThat(here.run("explain", "pond.c"))
                .satisfies(none -> assertThat(none.status()).isZero())
                .satisfies(none ->
                        assertThat(none.err()).contains("pond.c does not look like a kernel log"));
        Files.writeString(folder.resolve("system.journal"), "LPKSHHRH\0\0BUG: KASAN: x in y");
        assertThat(here.run("explain", "system.journal").err())
                .contains("is a binary journal; journalctl reads it: journalctl -k -o export");
        Files.writeString(log, "[    0.000000] Linux version 6.6.9-pond\n");
        assertThat(here.run("explain", "log").err()).isEmpty();
    }

    /** Faults whose signal handler prints what the kernel would, and the member that each reads. */
    private static final String FAULTS =
            """
            #define _GNU_SOURCE
            #include <setjmp.h>
            #include <signal.h>
            #include <stdio.h>
            #include <string.h>
            #include <ucontext.h>
            const char linux_banner[] = "Linux version 6.6.9-pond (angler@pond) #1 SMP";
            struct fin { int length; char colour[12]; };
            struct ring { void *next; unsigned head, tail; struct fin fins[4]; };
            struct pond {
                char name[40]; struct ring *rx, *tx;
                union { long depth; int shallow; }; struct { short x, y; } at; char flags;
            };
            struct lake { struct pond *pond; long pad[9]; struct lake *next; };
            #define KEEP __attribute__((noipa))
            KEEP long pond_depth(struct pond *p) { return p->depth; }
            KEEP int pond_y(struct pond *p) { return p->at.y; }
            KEEP void pond_flag(struct pond *water, int v) { water->flags = v; }
            KEEP void *lake_tx(struct lake *l) { return l->pond->tx; }
            KEEP unsigned lake_tail(struct lake *l) { return l->pond->rx->tail; }
            KEEP int ring_fin(struct ring *r) { return r->fins[2].length; }
            KEEP void ring_head(struct ring *ring) { ring->head += 3; }
            KEEP long next_pad(struct lake *l) { return l->next->pad[7]; }
            KEEP char colour(struct fin *f) { return f->colour[5]; }
            static inline struct ring *of(struct pond *deep) { return deep->rx; }
            KEEP void *inlined(struct pond *p, int n) { return n > 2 ? of(p) : 0; }
            KEEP unsigned share(struct ring *r, unsigned n) {
                unsigned by = r->head;
                __asm__ volatile("" ::: "memory");
                return n / by + by;
            }
            KEEP void *walk(struct lake *lake)
            {
                while (lake->next != lake)
                    lake = lake->next;
                return lake->pond;
            }
            static struct pond *the_pond;
            static struct { long many; struct lake *first, *rest[3]; } lakes;
            struct ring *rings[8];
            KEEP long global(void) { return the_pond->depth; }
            KEEP long field(void) { return lakes.first->pad[2]; }
            KEEP void *nth(void) { return lakes.rest[2]->next; }
            KEEP unsigned each(long i) { return rings[i]->tail; }
            static sigjmp_buf back;
            static void fault(int s, siginfo_t *info, void *context)
            {
                greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
                unsigned char *pc = (void *)r[REG_RIP];
                printf("BUG: kernel NULL pointer dereference, address: %016lx\\n",
                       (long)info->si_addr);
                puts("#PF: supervisor read access in kernel mode\\nOops: 0000 [#1] PREEMPT SMP");
                puts("CPU: 1 PID: 301 Comm: fisher Not tainted 6.6.9-pond #1");
                printf("RIP: 0010:@%lx@\\nCode:", (long)pc);
                for (int i = -42; i < 22; i++)
                    printf(i ? " %02x" : " <%02x>", pc[i]);
                printf("\\nRAX: %016llx RBX: %016llx RCX: %016llx\\n",
                       r[REG_RAX], r[REG_RBX], r[REG_RCX]);
                printf("RDX: %016llx RSI: %016llx RDI: %016llx\\n",
                       r[REG_RDX], r[REG_RSI], r[REG_RDI]);
                printf("RBP: %016llx R08: %016llx R09: %016llx\\n",
                       r[REG_RBP], r[REG_R8], r[REG_R9]);
                puts("Call Trace:\\n vfs_read+0x1/0x9\\n---[ end trace 0 ]---");
                siglongjmp(back, 1);
            }
            #define FAULT(call) if (!sigsetjmp(back, 1)) call
            int main(void)
            {
                static char stack[65536];
                stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
                struct sigaction action = {
                    .sa_sigaction = fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
                struct pond pond = {.rx = 0};
                struct ring ring = {.head = 0};
                struct lake lake = {.pond = 0}, upper = {.pond = &pond};
                sigaltstack(&other, 0);
                sigaction(SIGSEGV, &action, 0);
                sigaction(SIGFPE, &action, 0);
                FAULT(pond_depth(0)); FAULT(pond_y(0)); FAULT(pond_flag(0, 3));
                FAULT(lake_tx(&lake)); FAULT(lake_tail(&upper)); FAULT(ring_fin(0));
                FAULT(ring_head(0)); FAULT(next_pad(&lake)); FAULT(colour(0));
                FAULT(inlined(0, 3)); FAULT(walk(&upper)); FAULT(lake_tail(&lake));
                if (back[0].__mask_was_saved == 9) the_pond = &pond, lakes.first = &lake;
                FAULT(global()); FAULT(field()); FAULT(nth()); FAULT(each(5));
                FAULT(share(&ring, 5));
                return 0;
            }
            """;

    @Test
    void theMemberThatAFaultAccessesIsNamed(@TempDir Path folder) throws Exception {
        assumeTrue(System.getProperty("os.arch").equals("amd64"), "registers of x86");
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/gcc")), "needs gcc");
        Files.writeString(folder.resolve("pond.c"), FAULTS);
        Sonde here = Sonde.in(folder);
        String image = folder.resolve("vmlinux").toString();
        for (String optimised : List.of("-O2", "-Os")) {
            List<String> link = List.of("gcc", "-g", optimised, "-no-pie", "-fno-pie", "-w", "-o");
            List<String> linked = new ArrayList<>(link);
            linked.addAll(List.of(image, "pond.c"));
            assertThat(here.execute(linked).err()).isEmpty();
            String symbols = here.execute(List.of("nm", "-n", image)).out();
            String log = placed(here.execute(List.of(image)).out(), symbols);
            List<String> found =
                    explained(Path.of(image), log)
                            .replaceAll("\\s+", " ")
                            .transform(text -> List.of(text.split("#\\d+ BUG: unable")));
            List<String> members =
                    List.of(
                            "RDI is p (struct pond *); member `depth` at offset 0x38 of `struct",
                            "member `at.y` at offset 0x42 of `struct pond`",
                            "RDI is water (struct pond *); member `flags` at offset 0x44",
                            "RAX is l->pond (struct pond *); member `tx` at offset 0x30",
                            "is l->pond->rx (struct ring *); member `tail` at offset 0xc",
                            "member `fins[2].length` at offset 0x30 of `struct ring`",
                            "RDI is ring (struct ring *); member `head` at offset 0x8",
                            "RAX is l->next (struct lake *); member `pad[7]` at offset 0x40",
                            "member `colour[5]` at offset 0x9 of `struct fin`",
                            "member `rx` at offset 0x28 of `struct pond`",
                            "member `next` at offset 0x50 of `struct lake`",
                            "RAX is l->pond (struct pond *); member `rx` at offset 0x28",
                            "is the_pond (struct pond *); member `depth` at offset 0x38",
                            "is lakes.first (struct lake *); member `pad[2]` at offset 0x18",
                            "is lakes.rest[2] (struct lake *); member `next` at offset 0x50",
                            "is rings[RDI] (struct ring *); member `tail` at offset 0xc",
                            " = 0; E");
            assertThat(found).hasSize(members.size() + 1);
            for (int i = 0; i < members.size(); i++) {
                assertThat(found.get(i + 1)).as(optimised).contains(members.get(i));
            }
            assertThat(found.getLast()).containsPattern("E.X = 0; E.X is (?:by|r->head) ");
            List<String> object =
                    List.of("gcc", "-g", optimised, "-fno-pie", "-w", "-c", "-o", "m/pond.ko");
            Files.createDirectories(folder.resolve("m"));
            List<String> words = new ArrayList<>(object);
            words.add("pond.c");
            assertThat(here.execute(words).err()).isEmpty();
            String ofModule = log.replaceAll("(?m)^RIP: .*", "$0 [pond]");
            assertThat(
                            explained(
                                            Path.of(image),
                                            ofModule,
                                            ExplainOptions.USUAL,
                                            folder.resolve("m"))
                                    .replaceAll("\\s+", " "))
                    .contains(members.subList(0, members.size() - 1));
            // The kernel cannot always read the bytes; the image has them, too.
            String without =
                    log.replaceAll("Code:.*", "Code: Unable to access opcode bytes at 0x401040.");
            assertThat(explained(Path.of(image), without).replaceAll("\\s+", " "))
                    .contains(members.subList(0, 6));
        }
    }

    /** An image with BTF alone has the parameters of functions: names are those that follow. */
    @Test
    void parametersAreNamedByBtf(@TempDir Path folder) throws Exception {
        assumeTrue(System.getProperty("os.arch").equals("amd64"), "registers of x86");
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/gcc")), "needs gcc");
        Files.writeString(
                folder.resolve("pond.c"),
                "__attribute__((no_instrument_function)) void __fentry__(void) {}\n"
                        + FAULTS.replace("#define KEEP ", "#define KEEP TRACED "));
        Sonde here = Sonde.in(folder);
        String image = folder.resolve("vmlinux").toString();
        for (String traced : List.of("", "__attribute__((no_instrument_function))")) {
            List<String> gcc =
                    List.of(
                            "gcc",
                            "-gbtf",
                            "-O2",
                            "-no-pie",
                            "-w",
                            "-pg",
                            "-mfentry",
                            "-DTRACED=" + traced,
                            "-o",
                            image,
                            "pond.c");
            assertThat(here.execute(gcc).err()).isEmpty();
            String log =
                    placed(
                            here.execute(List.of(image)).out(),
                            here.execute(List.of("nm", "-n", image)).out());
            String found = explained(Path.of(image), log).replaceAll("\\s+", " ");
            assertThat(found)
                    .contains(
                            "RDI is p (struct pond *); member `depth` at offset 0x38 of `struct",
                            "RDI is water (struct pond *); member `flags` at offset 0x44",
                            "RAX is l->pond (struct pond *); member `tx` at offset 0x30",
                            "is l->pond->rx (struct ring *); member `tail` at offset 0xc",
                            "member `fins[2].length` at offset 0x30 of `struct ring`",
                            "member `colour[5]` at offset 0x9 of `struct fin`");
            assertThat(found).containsPattern("E.X = 0; E.X is r->head ");
            // A loop comes back to the access: what is in the register there is not known.
            assertThat(found).doesNotContain("is lake (");
        }
    }

    /**
     * A log with {@code function+offset/size} for its addresses, by the output of {@code nm -n}.
     */
    private static String placed(String log, String symbols) {
        java.util.TreeMap<Long, String> functions = new java.util.TreeMap<>();
        symbols.lines()
                .filter(line -> line.matches("[0-9a-f]{16} [tT] .*"))
                .forEach(line ->
                        functions.put(
                                Long.parseUnsignedLong(line.substring(0, 16), 16),
                                line.substring(19)));
        return java.util.regex.Pattern.compile("@([0-9a-f]+)@")
                .matcher(log)
                .replaceAll(found -> {
                    long address = Long.parseUnsignedLong(found.group(1), 16);
                    var in = functions.floorEntry(address);
                    long size = functions.higherKey(address) - in.getKey();
                    return "%s+0x%x/0x%x".formatted(in.getValue(), address - in.getKey(), size);
                });
    }
}
