package sonde.symbol.line;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.event.result.Frame;
import sonde.symbol.KernelRun;
import sonde.symbol.KernelRun.LoadedModule;
import sonde.symbol.KernelSymbols;
import sonde.symbol.ProcessMaps;
import sonde.symbol.SymbolOptions;
import sonde.symbol.files.FilePlace;
import sonde.symbol.files.GivenPlaces;
import sonde.symbol.files.OpenElf;
import sonde.symbol.line.CodePlaces.FoundCode;

/** A program stands for the kernel: what it says of itself is true wherever it lies. */
class KernelCodeTest {
    /** As far as KASLR may move a kernel, and into the upper half. */
    private static final long SHIFT = 0xffffffffa7800000L;

    private static final String MODULE =
            """
            static int used;
            #define PLACED(name) __attribute__((noinline, section(name)))
            PLACED(".text.other") static int local(int n)
            {
                used += n;
                return used;
            }
            int entry(int n)
            {
                return local(n) + 1;
            }
            PLACED(".init.text") int setup(void)
            {
                return local(2) + 2;
            }
            """;

    @TempDir Path folder;

    @BeforeEach
    void needsCompiler() {
        Assumptions.assumeTrue(Programs.has("gcc") && Programs.has("nm"), "gcc is not there");
    }

    private Path program() throws IOException {
        Files.writeString(folder.resolve("say.c"), Programs.C);
        Programs.run(folder, List.of("gcc -g -O2 -fno-pie -no-pie -o vmlinux say.c".split(" ")));
        return folder.resolve("vmlinux");
    }

    /** Its functions by name as nm prints them. */
    private Map<String, Long> functions(Path file) throws IOException {
        Map<String, Long> all = new HashMap<>();
        for (String line : Programs.run(folder, List.of("nm", file.toString())).split("\n")) {
            String[] words = line.strip().split(" +");
            if (words.length == 3 && words[1].equalsIgnoreCase("t")) {
                all.put(words[2], Long.parseUnsignedLong(words[0], 16));
            }
        }
        return all;
    }

    private static String line(long address, String name) {
        return HexFormat.of().toHexDigits(address) + " t " + name + "\n";
    }

    private static KernelSymbols symbols(String kallsyms) {
        return KernelSymbols.parse(kallsyms.getBytes(StandardCharsets.UTF_8));
    }

    private static byte[] buildId(Path file) throws IOException {
        try (OpenElf elf = OpenElf.asIs(FilePlace.named(file.toString()))) {
            return elf.elf().buildId().orElse(new byte[0]);
        }
    }

    private static SymbolOptions in(Path folder) {
        return SymbolOptions.here()
                .with(
                        new GivenPlaces(
                                List.of(folder.toString()), Optional.empty(), Optional.empty()));
    }

    private Map<Long, FoundCode> places(KernelCode kernel, List<Long> addresses) {
        long[] locations = addresses.stream().mapToLong(Long::longValue).toArray();
        try (CodePlaces places =
                new CodePlaces(
                        new ProcessMaps(),
                        SymbolOptions.here(),
                        CodeDetail.quick(true, true),
                        () -> kernel)) {
            return places.of(locations);
        }
    }

    private void areAsSaid(KernelCode kernel, List<Programs.Said> said) {
        List<Long> addresses = said.stream().map(one -> one.address() + SHIFT).toList();
        Map<Long, FoundCode> places = places(kernel, addresses);
        for (Programs.Said one : said) {
            FoundCode place = places.get(one.address() + SHIFT);
            assertThat(place).describedAs("%s %s", one, kernel.notes()).isNotNull();
            List<Integer> lines = new ArrayList<>();
            place.inlined().forEach(call -> lines.add(call.line()));
            lines.add(place.line());
            assertThat(lines).isEqualTo(one.lines());
            assertThat(place.inlined())
                    .allMatch(f -> f.kind() == Frame.Kind.KERNEL && f.module().equals("[kernel]"));
        }
        assertThat(said).isNotEmpty();
    }

    private static KernelRun run(KernelSymbols symbols, byte[] id, Map<String, Long> references) {
        return new KernelRun("6.1.0-sonde", id, symbols, references, List.of());
    }

    private String kallsyms(Path program) throws IOException {
        StringBuilder text = new StringBuilder();
        functions(program).forEach((name, at) -> text.append(line(at + SHIFT, name)));
        return text.toString();
    }

    @Test
    void functionsTellHowFarTheKernelMoved() throws IOException {
        Path program = program();
        KernelRun run = run(symbols(kallsyms(program)), buildId(program), Map.of());
        KernelCode kernel = new KernelCode(run, in(folder), Optional.empty());
        areAsSaid(kernel, Programs.listen(program));
        assertThat(kernel.notes()).isEmpty();
    }

    @Test
    void theMappingsRecordTellsItWithoutThem() throws IOException {
        Path program = program();
        long main = functions(program).get("main") + SHIFT;
        KernelRun run = run(KernelSymbols.none(), buildId(program), Map.of("main", main));
        KernelCode kernel = new KernelCode(run, SymbolOptions.here(), Optional.of(program));
        areAsSaid(kernel, Programs.listen(program));
        KernelSymbols named = kernel.symbols(new long[] {main});
        assertThat(named.name(named.find(main + 1))).isEqualTo("main");
    }

    @Test
    void aKernelOfAnotherBuildIsRefused() throws IOException {
        Path program = program();
        KernelRun run = run(symbols(kallsyms(program)), new byte[] {1, 2, 3}, Map.of());
        KernelCode kernel = new KernelCode(run, SymbolOptions.here(), Optional.of(program));
        assertThat(places(kernel, List.of(functions(program).get("main") + SHIFT))).isEmpty();
        String found = HexFormat.of().formatHex(buildId(program));
        assertThat(kernel.notes())
                .contains(program + " is of another build: wanted build-id 010203, found " + found);
    }

    @Test
    void withoutBuildIdFunctionsMustLieAsInTheFile() throws IOException {
        Path program = program();
        StringBuilder text = new StringBuilder();
        long more = 0;
        for (Map.Entry<String, Long> one : functions(program).entrySet()) {
            text.append(line(one.getValue() + SHIFT + more, one.getKey()));
            more += 0x1000;
        }
        KernelRun run = run(symbols(text.toString()), new byte[0], Map.of());
        KernelCode kernel = new KernelCode(run, SymbolOptions.here(), Optional.of(program));
        assertThat(places(kernel, List.of(run.symbols().address(0) + 1))).isEmpty();
        assertThat(kernel.notes())
                .containsExactly(program + " is of another build than [kernel] that ran");
        KernelRun same = run(symbols(kallsyms(program)), new byte[0], Map.of());
        areAsSaid(
                new KernelCode(same, SymbolOptions.here(), Optional.of(program)),
                Programs.listen(program));
    }

    private Path module() throws IOException {
        Files.writeString(folder.resolve("mod.c"), MODULE);
        Programs.run(folder, List.of("gcc -g -O1 -c -fno-pic -o a-mod.ko mod.c".split(" ")));
        return folder.resolve("a-mod.ko");
    }

    /** Each section of a module lies somewhere else. */
    @Test
    void modulesLieInPieces() throws IOException {
        module();
        Map<String, Long> at =
                Map.of(
                        "entry", 0xffffffffc0281000L,
                        "local", 0xffffffffc0290040L,
                        "setup", 0xffffffffc02a0010L);
        StringBuilder text = new StringBuilder(line(0xffffffff81000000L, "_text"));
        at.forEach((name, start) -> text.append(line(start, name + "\t[a_mod]")));
        KernelRun run = run(symbols(text.toString()), new byte[0], Map.of());
        KernelCode kernel = new KernelCode(run, in(folder), Optional.empty());
        Map<Long, FoundCode> places = places(kernel, List.copyOf(at.values()));
        assertThat(kernel.notes()).isEmpty();
        assertThat(places.get(at.get("local")).line()).isBetween(3, 7);
        assertThat(places.get(at.get("entry")).line()).isBetween(8, 11);
        assertThat(places.get(at.get("setup")).line()).isBetween(12, 15);
        assertThat(places.values()).allMatch(place -> place.file().endsWith("/mod.c"));
    }

    @Test
    void theRecordOfAModuleTellsWhereItsTextWas() throws IOException {
        module();
        long start = 0xffffffffc0281000L;
        LoadedModule loaded = new LoadedModule("[a_mod]", start, start + 0x4000, new byte[0]);
        KernelRun run =
                new KernelRun("6.1", new byte[0], KernelSymbols.none(), Map.of(), List.of(loaded));
        KernelCode kernel = new KernelCode(run, in(folder), Optional.empty());
        assertThat(places(kernel, List.of(start)).get(start).line()).isBetween(8, 11);
        KernelSymbols named = kernel.symbols(new long[] {start});
        assertThat(named.name(named.find(start + 1))).isEqualTo("entry");
        assertThat(named.module(named.find(start + 1))).isEqualTo("[a_mod]");
    }

    @Test
    void whatIsNotFoundIsTold() {
        KernelRun run =
                run(symbols(line(0xffffffff81000000L, "f")), new byte[] {0x0a, 0x0b}, Map.of());
        KernelCode kernel = new KernelCode(run, in(folder), Optional.empty());
        assertThat(places(kernel, List.of(0xffffffff81000001L))).isEmpty();
        assertThat(kernel.notes())
                .containsExactly("no file with lines for the kernel of 6.1.0-sonde, build-id 0a0b");
    }
}
