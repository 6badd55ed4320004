package sonde.conformance;

import static java.nio.file.StandardCopyOption.COPY_ATTRIBUTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** User stacks of programs as a distribution ships them; bench/stacks runs more of them. */
@Tag("kernel")
@Tag("long")
class WholeStacksTest {
    private static final String SUMS =
            "with recursive n(i) as (select 1 union all select i + 1 from n where i < 900000)"
                    + " select count(*), sum(length(hex(i))) from n;";
    private static final Pattern COUNT = Pattern.compile("\"([^\"]+)\" *: *(\\d+)");

    @TempDir Path folder;

    @BeforeEach
    void onlyAsRoot() {
        assumeTrue(Files.isWritable(Path.of("/proc/1/oom_score_adj")), "needs root");
    }

    /** perf unwinds a copy of the stack that was taken with the same sample. */
    @Test
    void framesAreThoseOfACopyOfTheStack() throws Exception {
        for (String tool : List.of("perf", "sqlite3")) {
            assumeTrue(Files.isExecutable(Path.of("/usr/bin", tool)), "needs " + tool);
        }
        Sonde sonde = Sonde.in(folder).with(Map.of("SONDE_CHECKED_STACK_BYTES", "4096"));
        Sonde.Outcome outcome =
                sonde.run(
                        "record",
                        "--no-summary",
                        "-o",
                        "checked",
                        "--",
                        "/usr/bin/sqlite3",
                        ":memory:",
                        SUMS);
        assertThat(outcome.status()).as("%s", outcome).isZero();
        Map<String, Integer> kinds = new TreeMap<>();
        List<List<Long>> others = new ArrayList<>();
        for (List<Long> chain : userChains(folder.resolve("checked.sonde/perf.data"))) {
            int second = chain.subList(1, chain.size()).indexOf(chain.getFirst()) + 1;
            if (second > 0) {
                String kind =
                        compare(chain.subList(0, second), chain.subList(second, chain.size()));
                kinds.merge(kind, 1, Integer::sum);
                if (kind.startsWith("o")) {
                    others.add(chain);
                }
            }
        }
        assertThat(kinds.getOrDefault("same", 0)).as("%s", kinds).isGreaterThan(100);
        assertThat(others.size())
                .as("%s %s", kinds, others)
                .isLessThanOrEqualTo(kinds.get("same") / 100);
    }

    /** perf's callers lie one byte before the return address, and it leaves out _start. */
    private static String compare(List<Long> ours, List<Long> theirs) {
        for (int i = 0; i < Math.min(ours.size(), theirs.size()); i++) {
            long more = ours.get(i) - theirs.get(i);
            if (more != 0 && more != 1) {
                return "other";
            }
        }
        return ours.size() < theirs.size()
                ? "ours ends earlier"
                : theirs.size() < 2 ? "perf has the innermost only" : "same";
    }

    private static List<List<Long>> userChains(Path file) throws Exception {
        Process perf =
                new ProcessBuilder(
                                "perf",
                                "script",
                                "--no-inline",
                                "--comms",
                                "sqlite3",
                                "-F",
                                "event,ip",
                                "-i",
                                file.toString())
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start();
        List<List<Long>> chains = new ArrayList<>();
        List<Long> chain = new ArrayList<>();
        boolean clock = false;
        try (BufferedReader lines =
                new BufferedReader(
                        new InputStreamReader(
                                perf.getInputStream(), StandardCharsets.ISO_8859_1))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith("\t")) {
                    long address = Long.parseUnsignedLong(line.strip().split(" ")[0], 16);
                    if (clock && address > 0) {
                        chain.add(address);
                    }
                } else if (!line.isBlank()) {
                    clock = line.contains("cpu-clock");
                    if (!chain.isEmpty()) {
                        chains.add(chain);
                    }
                    chain = new ArrayList<>();
                }
            }
        }
        perf.waitFor();
        return chains;
    }

    /** Static busybox has no call frame information but that of the C library. */
    @Test
    void busyboxIsUnwoundByItsInstructions() throws Exception {
        Path busybox = Path.of("/usr/bin/busybox");
        assumeTrue(Files.isExecutable(busybox), "needs busybox");
        Map<String, Long> ends =
                ends("cpu-clock", "--", busybox.toString(), "find", "/usr/share", "-name", "*.so");
        long all = ends.values().stream().mapToLong(Long::longValue).sum();
        assertThat(all).isGreaterThan(20);
        assertThat(ends.getOrDefault("whole", 0L)).as("%s", ends).isGreaterThan(all * 98 / 100);
    }

    /** Between the memory of two programs there is no stack. */
    @Test
    void stacksInExecAreNotCut() throws Exception {
        String loop = "i=0; while [ $i -lt 150 ]; do /bin/true; i=$((i+1)); done";
        Map<String, Long> ends = ends("page-faults", "--", "/bin/sh", "-c", loop);
        assertThat(ends.keySet()).anyMatch(end -> end.contains("in exec"));
        assertThat(ends.keySet()).as("%s", ends).noneMatch(end -> end.startsWith("lead to no"));
    }

    /**
     * Programs that the command starts, whose tables nobody has made: gcc's cc1 has 480,000 rows.
     */
    @Test
    void stacksOfACompilerAreWholeFromItsStart() throws Exception {
        StringBuilder source = new StringBuilder();
        for (int i = 0; i < 300; i++) {
            source.append(
                    "int f%1$d(int a, int *b) { int s = %1$d; for (int i = 0; i < a; i++) { s += b[i]; if (s & 1) b[i] ^= s; } return s; }\n"
                            .formatted(i));
        }
        Files.writeString(folder.resolve("many.c"), source);
        Sonde sonde = Sonde.in(folder).with(Map.of("XDG_CACHE_HOME", folder + "/cache"));
        Sonde.Outcome outcome =
                sonde.run(
                        "record",
                        "--no-summary",
                        "-o",
                        "cold",
                        "--",
                        "sh",
                        "-c",
                        "c=gcc; $c -O2 -c many.c");
        assertThat(outcome.status()).as("%s", outcome).isZero();
        String meta = Files.readString(folder.resolve("cold.sonde/meta.json"));
        for (String event : List.of("cpu-clock", "page-faults")) {
            Map<String, Long> ends = ends(meta, event);
            long all = ends.values().stream().mapToLong(Long::longValue).sum();
            assertThat(all).isGreaterThan(20);
            assertThat(ends.getOrDefault("whole", 0L))
                    .as("%s", ends)
                    .isGreaterThanOrEqualTo(all * 98 / 100 - 1);
        }
    }

    private static final String BURNS =
            """
            #include <stdlib.h>
            #include <sys/mman.h>
            #include <time.h>
            #define OWN __attribute__((noinline, noclone))
            volatile long sink;
            OWN long burn(long n) { for (long i = 0; i < n; i++) sink += i; return sink; }
            OWN long middle(long n) { volatile char room[99]; room[n & 7] = 1; return burn(n) + room[2]; }
            int main(int count, char **words) {
                for (int i = atoi(words[1]); i > 0; i--) /* neighbours differ, so that none are merged */
                    mmap(0, 4096, i & 1 ? PROT_READ | PROT_EXEC : PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                while (clock() < CLOCKS_PER_SEC / 2) middle(100000);
                return 0;
            }
            """;

    /** Twelve thousand mappings; a program that is deleted, and one that is replaced by another. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "./burns 12000",
                "cp burns gone; ./gone 0 & sleep 0.05; rm gone; wait",
                "unshare -m sh -c 'mount -t tmpfs none /mnt; cp burns /mnt/own; exec /mnt/own 0'",
                "cp burns other; ./other 0 & sleep 0.05; cp /bin/true new; mv new other; ./other; wait"
            })
    void stacksOfManyMappingsAndOfFilesThatGo(String command) throws Exception {
        Files.writeString(folder.resolve("burns.c"), BURNS);
        Process gcc =
                new ProcessBuilder("gcc", "-O2", "-fomit-frame-pointer", "-o", "burns", "burns.c")
                        .directory(folder.toFile())
                        .inheritIO()
                        .start();
        assertThat(gcc.waitFor()).isZero();
        Map<String, Long> ends = ends("cpu-clock", "--", "/bin/sh", "-c", command);
        long all = ends.values().stream().mapToLong(Long::longValue).sum();
        assertThat(all).isGreaterThan(100);
        assertThat(ends.getOrDefault("whole", 0L)).as("%s", ends).isGreaterThan(all * 97 / 100);
    }

    private static final String OTHER_ROOT =
            """
            #include <dlfcn.h>
            #include <time.h>
            #include <unistd.h>
            int main(int count, char **words) {
                if (count > 3 && chroot(words[3])) return 3;
                void *library = dlopen(words[1], RTLD_NOW);
                if (!library) return 2;
                long (*run)(long) = (long (*)(long))dlsym(library, "run");
                while (clock() < CLOCKS_PER_SEC / 5) run(100000);
                return 0;
            }
            """;

    private static final String LIBRARY =
            """
            volatile long sink;
            PAD
            static __attribute__((noinline, noclone)) long NAME(long n) { for (long i = 0; i < n; i++) sink += i; return sink; }
            long run(long n) { return NAME(n) + 1; }
            """;

    /** Two roots have libraries of the same path: each is named by its own file. */
    @ParameterizedTest
    @ValueSource(strings = {"-Wl,--build-id", "-Wl,--build-id=none"})
    void aLibraryOfAnotherRootIsNamedByItsOwnFile(String identified) throws Exception {
        Path library = folder.resolve("lib.so");
        Path root = folder.resolve("root");
        Path inside = Path.of(root + library.toString());
        Files.createDirectories(inside.getParent());
        Files.writeString(folder.resolve("main.c"), OTHER_ROOT);
        String pad = "static int pad(int n) { return n * 3; } int padded(int n) { return pad(n); }";
        Files.writeString(
                folder.resolve("here.c"), LIBRARY.replace("NAME", "of_ours").replace("PAD", pad));
        Files.writeString(
                folder.resolve("there.c"), LIBRARY.replace("NAME", "of_theirs").replace("PAD", ""));
        for (String line :
                List.of(
                        "-o main main.c",
                        "-shared -fPIC " + identified + " -o lib.so here.c",
                        "-shared -fPIC " + identified + " -o " + inside + " there.c")) {
            List<String> words = new ArrayList<>(List.of("gcc", "-O2"));
            words.addAll(List.of(line.split(" ")));
            Process gcc = new ProcessBuilder(words).directory(folder.toFile()).inheritIO().start();
            assertThat(gcc.waitFor()).isZero();
        }
        Files.copy(folder.resolve("main"), folder.resolve("theirs"), COPY_ATTRIBUTES);
        String both = "./main %1$s x && ./theirs %1$s x %2$s".formatted(library, root);
        Recorded recorded = Recorded.record(folder, "roots", "--", "/bin/sh", "-c", both);
        String bundle = recorded.bundle.toString();
        String stacks = Sonde.in(folder).run("convert", "--to", "folded", bundle, "-").out();
        assertThat(stacks.lines().filter(line -> line.startsWith("main")))
                .anyMatch(line -> line.contains(";of_ours"))
                .noneMatch(line -> line.contains("of_theirs"));
        assertThat(stacks.lines().filter(line -> line.startsWith("theirs")))
                .anyMatch(line -> line.contains(";of_theirs"))
                .noneMatch(line -> line.contains("of_ours"));
    }

    private Map<String, Long> ends(String event, String... command) throws Exception {
        Recorded recorded = Recorded.record(folder, "ends", command);
        return ends(Files.readString(recorded.bundle.resolve("meta.json")), event);
    }

    private static Map<String, Long> ends(String meta, String event) throws IOException {
        int owner = meta.indexOf("\"" + event + "\"");
        int start = meta.indexOf("\"userStacks\"", owner);
        assertThat(owner).isPositive();
        assertThat(start).isPositive();
        Map<String, Long> ends = new TreeMap<>();
        Matcher counts = COUNT.matcher(meta.substring(start, meta.indexOf('}', start)));
        while (counts.find()) {
            ends.put(counts.group(1), Long.parseLong(counts.group(2)));
        }
        return ends;
    }
}
