package sonde.symbol.line;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.symbol.files.Attempt;
import sonde.symbol.files.Attempt.AttemptResult;

/** Programs say at which line, in which functions they are; so must their debugging information. */
class CompiledProgramsTest {
    @TempDir Path folder;

    private Path build(String options) throws IOException {
        List<String> words = List.of(options.split(" "));
        Assumptions.assumeTrue(Programs.has(words.getFirst()), words.getFirst() + " is not there");
        Files.writeString(folder.resolve("say.c"), Programs.C);
        List<String> command = new ArrayList<>(words);
        command.addAll(List.of("-o", "say", "say.c"));
        Programs.run(folder, command);
        return folder.resolve("say");
    }

    private void check(Path program, Path symbolsOf, SourceOptions options) throws IOException {
        List<Programs.Said> said = Programs.listen(program);
        assertThat(said).hasSizeGreaterThan(8);
        try (SourceSymbols symbols = SourceSymbols.open(symbolsOf, options)) {
            assertThat(symbols.hasLines()).isTrue();
            long[] addresses = said.stream().mapToLong(Programs.Said::address).toArray();
            List<List<SourceFrame>> all = symbols.lookup(addresses);
            for (int i = 0; i < addresses.length; i++) {
                check(said.get(i), all.get(i));
                assertThat(symbols.lookup(addresses[i])).isEqualTo(all.get(i));
            }
        }
    }

    private static void check(Programs.Said said, List<SourceFrame> frames) {
        String where = said + " " + frames;
        assertThat(frames.stream().map(SourceFrame::function).toList())
                .as(where)
                .isEqualTo(said.functions());
        assertThat(frames.stream().map(SourceFrame::line).toList())
                .as(where)
                .isEqualTo(said.lines());
        for (int i = 0; i < frames.size(); i++) {
            assertThat(frames.get(i).file()).endsWith("/say.c");
            assertThat(frames.get(i).inlined()).isEqualTo(i < frames.size() - 1);
        }
    }

    @Test
    void namesOfCppMayBeWrittenAsTheyAreRead() throws IOException {
        Assumptions.assumeTrue(Programs.has("g++"), "g++ is not there");
        Files.writeString(
                folder.resolve("shop.cc"),
                "namespace shop { struct Cart { int n; void add(int k); void add(long k); };\n"
                        + "void Cart::add(int k) { n += k; }\n"
                        + "void Cart::add(long k) { n += k; } }\n"
                        + "int main() { shop::Cart c{0}; c.add(1); c.add(2L); return c.n; }\n");
        Programs.run(folder, List.of("g++", "-g", "-o", "shop", "shop.cc"));
        Path program = folder.resolve("shop");
        try (SourceSymbols symbols = SourceSymbols.open(program, SourceOptions.USUAL.uncached())) {
            long[] one = symbols.named("shop::Cart::add(int)");
            assertThat(one).hasSize(1).isEqualTo(symbols.addresses("_ZN4shop4Cart3addEi"));
            assertThat(symbols.lookup(one[0]).getFirst().line()).isEqualTo(2);
            assertThat(symbols.named("shop::Cart::add")).hasSize(2).contains(one);
            assertThat(symbols.named("shop::Cart::ad")).isEmpty();
        }
    }

    /** DWARF has no linkage name where nothing links; addr2line and LLVM show the symbol's. */
    @ParameterizedTest
    @ValueSource(strings = {"g++ -g -O0", "clang++ -g -O0", "g++ -g -O0 -gsplit-dwarf"})
    void whatIsNotLinkedHasItsSymbolsName(String compiler) throws IOException {
        List<String> command = new ArrayList<>(List.of(compiler.split(" ")));
        Assumptions.assumeTrue(Programs.has(command.getFirst()), command.getFirst());
        Files.writeString(
                folder.resolve("local.cc"),
                "extern \"C\" { int plain(int n) { return n; } }\n"
                        + "namespace shop { namespace { int hidden(int n) { return n + 1; } } }\n"
                        + "int outer(int n) { struct Local { int twice(int k) { return 2 * k; } };"
                        + " return Local().twice(n); }\n"
                        + "int main() { return shop::hidden(outer(plain(1))); }\n");
        command.addAll(List.of("-o", "local", "local.cc"));
        Programs.run(folder, command);
        Path program = folder.resolve("local");
        try (SourceSymbols symbols = SourceSymbols.open(program, SourceOptions.USUAL.uncached())) {
            for (String name :
                    List.of(
                            "_ZN4shop12_GLOBAL__N_16hiddenEi",
                            "_ZZ5outeriEN5Local5twiceEi",
                            "plain",
                            "main")) {
                long[] found = symbols.addresses(name);
                assertThat(found).as(name).hasSize(1);
                assertThat(symbols.lookup(found[0]).getLast().function()).isEqualTo(name);
            }
        }
    }

    @Test
    void aSymbolAtTheEndOfItsSectionHoldsNothing() throws IOException {
        Assumptions.assumeTrue(Programs.has("gcc"), "gcc is not there");
        Files.writeString(
                folder.resolve("end.s"),
                ".text\n.globl _start\n_start: nop\nnop\n.globl mark\nmark:\n");
        Programs.run(folder, List.of("gcc", "-nostdlib", "-static", "-o", "end", "end.s"));
        Path program = folder.resolve("end");
        try (SourceSymbols symbols = SourceSymbols.open(program, SourceOptions.USUAL.uncached())) {
            long end = symbols.addresses("mark")[0];
            assertThat(symbols.functionAt(end - 1)).isEqualTo("_start");
            for (long outside : new long[] {end, end + 4096, 0x7fff_ffffL, -1}) {
                assertThat(symbols.functionAt(outside)).isEmpty();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "gcc -gdwarf-2 -O0",
                "gcc -gdwarf-3 -O2 -fno-pie -no-pie",
                "gcc -gdwarf-4 -O2",
                "gcc -gdwarf-4 -O3 -ffunction-sections -Wl,--gc-sections",
                "gcc -gdwarf-5 -O0 -fno-pie -no-pie",
                "gcc -gdwarf-5 -O2",
                "gcc -gdwarf64 -gdwarf-5 -O2",
                "gcc -gdwarf-5 -O2 -g3 -flto",
                "gcc -gdwarf-5 -O2 -gz=zlib",
                "gcc -gdwarf-5 -O2 -gno-as-locview-support -gno-column-info",
                "gcc -gdwarf-5 -O2 -fdebug-types-section",
                "clang -gdwarf-2 -O0",
                "clang -gdwarf-3 -O2 -fPIE -pie",
                "clang -gdwarf-4 -O2",
                "clang -gdwarf-5 -O3 -ffunction-sections",
                "clang -gdwarf-5 -O2 -fdebug-types-section",
            })
    void wholeFiles(String options) throws IOException {
        Path program = build(options);
        check(program, program, SourceOptions.USUAL.uncached());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "gcc -gdwarf-4 -O2 -gsplit-dwarf",
                "gcc -gdwarf-5 -O2 -gsplit-dwarf",
                "gcc -gdwarf-5 -O0 -gsplit-dwarf",
                "clang -gdwarf-4 -O2 -gsplit-dwarf",
                "clang -gdwarf-5 -O2 -gsplit-dwarf",
            })
    void splitFiles(String options) throws IOException {
        Path program = build(options);
        check(program, program, SourceOptions.USUAL.uncached());
        // GNU's dwp knows version 4 only; LLVM's waits for ever on what GCC writes.
        String packer = options.contains("dwarf-4") ? "dwp" : "llvm-dwp";
        if (!Programs.has(packer) || options.startsWith("gcc -gdwarf-5")) {
            return;
        }
        Programs.run(folder, List.of(packer, "-e", "say", "-o", "say.dwp"));
        try (var files = Files.list(folder)) {
            for (Path file : files.filter(f -> f.toString().endsWith(".dwo")).toList()) {
                Files.delete(file);
            }
        }
        check(program, program, SourceOptions.USUAL.uncached());
        Files.delete(folder.resolve("say.dwp"));
        try (SourceSymbols symbols = SourceSymbols.open(program, SourceOptions.USUAL.uncached())) {
            Programs.Said said = Programs.listen(program).getFirst();
            SourceFrame frame = symbols.lookup(said.address()).getFirst();
            assertThat(frame.function()).isEqualTo("main");
            assertThat(frame.line()).isEqualTo(said.lines().getFirst());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"gcc -gdwarf-4 -O2", "gcc -gdwarf-5 -O2"})
    void dwz(String options) throws IOException {
        Assumptions.assumeTrue(Programs.has("dwz"), "dwz is not there");
        Path program = build(options);
        Path second = folder.resolve("second");
        Files.copy(program, second);
        Programs.run(folder, List.of("dwz", "say"));
        check(program, program, SourceOptions.USUAL.uncached());
        Programs.run(folder, List.of("dwz", "-m", "shared", "-M", "shared", "say", "second"));
        assertThat(folder.resolve("shared")).exists();
        check(program, program, SourceOptions.USUAL.uncached());
        check(second, second, SourceOptions.USUAL.uncached());
    }

    @Test
    void separateDebugFile() throws IOException {
        Path program = build("gcc -g -O2");
        Programs.run(folder, List.of("objcopy", "--only-keep-debug", "say", "say.debug"));
        Programs.run(folder, List.of("strip", "say"));
        check(program, folder.resolve("say.debug"), SourceOptions.USUAL.uncached());
        check(program, program, SourceOptions.USUAL.uncached());
        Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
        Files.move(folder.resolve("say.debug"), elsewhere.resolve("say.debug"));
        SourceOptions given =
                SourceOptions.USUAL.uncached().with(List.of(elsewhere + ""), Optional.empty());
        check(program, program, given);
        Files.delete(elsewhere.resolve("say.debug"));
        try (SourceSymbols symbols = SourceSymbols.open(program, given)) {
            assertThat(symbols.hasLines()).isFalse();
            assertThat(symbols.debugFile().tried().stream().map(Attempt::place))
                    .contains(program + ".debug");
            assertThat(symbols.lookup(Programs.listen(program).getFirst().address()))
                    .containsExactly(SourceFrame.UNKNOWN);
        }
    }

    @Test
    void debugFileOfAnotherBuildIsNotTaken() throws IOException {
        build("gcc -g -O2 -DOTHER");
        Programs.run(folder, List.of("objcopy", "--only-keep-debug", "say", "say.debug"));
        Path program = build("gcc -g -O0");
        Programs.run(folder, List.of("strip", "say"));
        try (SourceSymbols symbols = SourceSymbols.open(program, SourceOptions.USUAL.uncached())) {
            assertThat(symbols.hasLines()).isFalse();
            assertThat(symbols.debugFile().refusals())
                    .anySatisfy(attempt ->
                            assertThat(attempt.outcome()).isEqualTo(AttemptResult.OTHER_BUILD));
        }
    }

    @Test
    void damagedAddressRangesAreNotBelieved() throws IOException {
        Path program = build("gcc -g -O2");
        Programs.run(folder, List.of("objcopy", "--remove-section=.debug_aranges", "say"));
        check(program, program, SourceOptions.USUAL.uncached());
        Files.write(folder.resolve("nothing"), new byte[48]);
        program = build("gcc -g -O2");
        String update = ".debug_aranges=" + folder.resolve("nothing");
        Programs.run(folder, List.of("objcopy", "--update-section", update, "say"));
        check(program, program, SourceOptions.USUAL.uncached());
    }

    @Test
    void tablesSayTheSame() throws IOException {
        Path program = build("gcc -g -O2");
        List<Programs.Said> said = Programs.listen(program);
        try (SourceSymbols symbols = SourceSymbols.open(program, SourceOptions.USUAL.uncached())) {
            LineTables tables = symbols.build();
            assertThat(tables).isNotNull();
            for (Programs.Said one : said) {
                check(one, tables.frames(one.address()));
            }
        }
        assertTablesSayTheSame(program);
    }

    /** GCC puts the code of a local class or lambda among the entries of its function. */
    @ParameterizedTest
    @ValueSource(strings = {"g++ -g -O0", "g++ -g -O1", "g++ -g -O2", "clang++ -g -O1"})
    void tablesHaveFunctionsOfLocalTypes(String compiler) throws IOException {
        List<String> command = new ArrayList<>(List.of(compiler.split(" ")));
        Assumptions.assumeTrue(Programs.has(command.getFirst()), command.getFirst());
        Files.writeString(
                folder.resolve("lambda.cc"),
                """
                #define INLINE static inline __attribute__((always_inline))
                #define APART __attribute__((noinline))
                static volatile int sink;
                INLINE int inner(int n) { sink = n; return sink + n; }
                template <class F> APART int call(F f, int n) { return f(n) + f(n + 1); }
                int outer(int n) {
                    int base = n * 3;
                    auto lambda = [base](int k) APART { return inner(k) + base; };
                    struct Local { APART int twice(int k) { return inner(2 * k) + 1; } };
                    return call(lambda, n) + Local().twice(n);
                }
                int main(int count, char **) { return outer(count); }
                """);
        command.addAll(List.of("-o", "lambda", "lambda.cc"));
        Programs.run(folder, command);
        assertTablesSayTheSame(folder.resolve("lambda"));
    }

    /** All addresses around and in the code, with tables and without. */
    private static void assertTablesSayTheSame(Path program) throws IOException {
        long[] addresses = LongStream.range(0, 0x3000).toArray();
        try (SourceSymbols units = SourceSymbols.open(program, SourceOptions.USUAL.uncached());
                SourceSymbols tables =
                        SourceSymbols.open(program, SourceOptions.USUAL.uncached())) {
            tables.makeTables();
            assertThat(tables.hasTables()).isTrue();
            assertThat(tables.lookup(addresses)).isEqualTo(units.lookup(addresses));
        }
    }
}
