package sonde.tools.elf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.core.JsonFactory;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.binary.MalformedInputException;
import sonde.event.result.Result;
import sonde.symbol.files.FilePlace;
import sonde.symbol.files.OpenElf;
import sonde.testkit.Property;
import sonde.tools.elf.ElfRequest.ElfPageKind;
import sonde.tools.report.NothingMatchesException;
import sonde.view.JsonRenderer;
import sonde.view.TerminalStyle;
import sonde.view.TextRenderer;

/** Pages beside readelf and ldd of this machine. */
class ElfPagesTest {
    private static final String SOURCE =
            """
            struct in { char c; long l; };
            enum color { RED, GREEN = 5 };
            struct big {
                char a; int b; short s : 3; unsigned u : 9; struct in in;
                void (*fn)(int, char *); int arr[3][4];
                union { int ui; double ud; };
                const char *const *pp; enum color color; char tail[70]; char flex[];
            };
            struct big big;
            int counter;
            int work(struct big *p) { return p->b + counter; }
            int main(void) { return work(&big); }
            """;

    @TempDir Path folder;

    private static String run(Path in, String... command) throws IOException, InterruptedException {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/" + command[0])), "no " + command[0]);
        ProcessBuilder builder =
                new ProcessBuilder(command)
                        .directory(in.toFile())
                        .redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().put("LC_ALL", "C");
        Process process = builder.start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        return text;
    }

    private Path compile(String name, String... command) throws IOException, InterruptedException {
        Files.writeString(folder.resolve("p.c"), SOURCE);
        List<String> words = new ArrayList<>(List.of(command));
        words.addAll(List.of("-w", "-o", name, "p.c"));
        run(folder, words.toArray(String[]::new));
        assumeTrue(Files.exists(folder.resolve(name)), "not compiled by " + command[0]);
        return folder.resolve(name);
    }

    private static ElfRequest request(Set<ElfPageKind> parts, String... types) {
        return new ElfRequest(
                parts, "", List.of(), List.of(types), List.of(), "", Optional.empty());
    }

    private static String page(Path file, ElfPageKind part) throws IOException {
        return page(file, request(EnumSet.of(part)), false);
    }

    private static String page(Path file, ElfRequest request, boolean json) throws IOException {
        Result result = new ElfRecipe(file, request, _ -> {}).result(false);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        if (json) {
            new JsonRenderer().render(result, out);
        } else {
            new TextRenderer().render(result, out, TerminalStyle.PLAIN);
        }
        return out.toString(StandardCharsets.UTF_8);
    }

    private static List<String> lines(String text) {
        return text.lines().filter(line -> !line.isBlank()).toList();
    }

    @Test
    void aFunctionThatIsNotThereIsAnError() throws IOException, InterruptedException {
        Path file = compile("made", "gcc", "-g", "-O1");
        assertThat(page(file, disassembly("work"), false)).contains("<work>:");
        for (boolean json : new boolean[] {false, true}) {
            assertThatThrownBy(() -> page(file, disassembly("wrok"), json))
                    .isInstanceOf(NothingMatchesException.class)
                    .hasMessage(file + ": no function is called 'wrok'; did you mean 'work'?");
        }
        assertThatThrownBy(() -> page(file, disassembly("counter"), false))
                .hasMessage(file + ": no function is called 'counter'");
    }

    /** Names that objdump gives to addresses outside of every symbol are not compared. */
    @Test
    void codeIsThatOfObjdump() throws IOException, InterruptedException {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/objdump")), "no objdump");
        Path file = compile("listed", "gcc", "-g", "-O2");
        List<String> theirs =
                instructions(run(folder, "objdump", "-d", "-w", "-z", file.toString()));
        List<String> ours = instructions(page(file, disassembly(""), false));
        assertThat(theirs).anyMatch(line -> line.contains("<main>") || line.contains("call"));
        assertThat(ours).hasSizeGreaterThan(30).isEqualTo(theirs);
    }

    private static List<String> instructions(String listing) {
        return listing.lines()
                .filter(line -> line.matches("\\s+[0-9a-f]+:\\t.*"))
                .map(line -> line.replaceAll(" <[^>]*[-+@][^>]*>", "").replaceAll("\\s+", " "))
                .map(String::strip)
                .toList();
    }

    private static ElfRequest disassembly(String function) {
        Set<ElfPageKind> parts = EnumSet.of(ElfPageKind.DISASSEMBLY);
        return new ElfRequest(
                parts, function, List.of(), List.of(), List.of(), "", Optional.empty());
    }

    /** Lines of readelf are those of the page, blank lines apart. */
    private void same(Path file, ElfPageKind part, String option)
            throws IOException, InterruptedException {
        List<String> theirs = lines(run(folder, "readelf", "-W", option, file.toString()));
        assertThat(lines(page(file, part))).as(part + " of " + file).isEqualTo(theirs);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/usr/bin/true", "/usr/bin/bash", "/lib/x86_64-linux-gnu/libc.so.6"})
    void systemFilesReadAsReadelfReadsThem(String path) throws IOException, InterruptedException {
        Path file = Path.of(path);
        assumeTrue(Files.exists(file), "no " + path);
        same(file, ElfPageKind.HEADER, "-h");
        same(file, ElfPageKind.SECTIONS, "-S");
        same(file, ElfPageKind.SEGMENTS, "-l");
        same(file, ElfPageKind.DYNAMIC, "-d");
        same(file, ElfPageKind.SYMBOLS, "-s");
        same(file, ElfPageKind.NOTES, "-n");
        same(file, ElfPageKind.RELOCATIONS, "-r");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "i386-linux-gnu",
                "aarch64-linux-gnu",
                "riscv64-linux-gnu",
                "powerpc64-linux-musl",
                "s390x-linux-gnu",
                "arm-linux-gnueabi",
                "sparc64-linux-gnu",
                "hexagon-unknown-linux-musl",
                "x86_64-linux-gnux32",
                "mips64-linux-gnuabi64",
                "mips64el-linux-gnuabi64",
                "mipsel-linux-gnu",
            })
    void objectsOfOtherMachinesReadAsReadelfReadsThem(String target)
            throws IOException, InterruptedException {
        Path file = compile(target + ".o", "clang", "--target=" + target, "-g", "-c");
        same(file, ElfPageKind.HEADER, "-h");
        same(file, ElfPageKind.SYMBOLS, "-s");
        same(file, ElfPageKind.RELOCATIONS, "-r");
    }

    /** Its headers name segments whose bytes stayed in the program. */
    @Test
    void ofADebugFileOnlyWhatIsInItIsShown() throws IOException, InterruptedException {
        compile("program", "gcc", "-g", "-O0");
        run(folder, "objcopy", "--only-keep-debug", "program", "program.debug");
        Path debug = folder.resolve("program.debug");
        // Those of older binutils keep the size that a segment had in the program.
        byte[] bytes = Files.readAllBytes(debug);
        ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < file.getShort(56); i++) {
            int segment = (int) file.getLong(32) + 56 * i;
            file.putLong(segment + 32, file.getLong(segment + 40));
        }
        Files.write(debug, bytes);
        assertThat(page(debug, ElfPageKind.DYNAMIC)).startsWith("There is no dynamic section");
        assertThat(page(debug, ElfPageKind.SEGMENTS)).contains("interpreter: ]");
        assertThat(page(debug, request(Set.of()), false))
                .contains("debug information of a program")
                .doesNotContain("linked,");
        compile("library", "gcc", "-g", "-shared", "-fPIC");
        run(folder, "objcopy", "--only-keep-debug", "library", "library.debug");
        assertThat(page(folder.resolve("library.debug"), request(Set.of()), false))
                .contains("debug information of a shared library, ");
    }

    @Test
    void framesOfTheDebugFileAreShownToo() throws IOException, InterruptedException {
        compile(
                "program",
                "gcc",
                "-g",
                "-fno-asynchronous-unwind-tables",
                "-fno-unwind-tables",
                "-Wl,--build-id");
        run(folder, "objcopy", "--only-keep-debug", "program", "program.debug");
        String whole = page(folder.resolve("program"), ElfPageKind.FRAMES);
        run(folder, "strip", "program");
        run(folder, "objcopy", "--add-gnu-debuglink=program.debug", "program");
        assertThat(lines(page(folder.resolve("program"), ElfPageKind.FRAMES)))
                .containsExactlyInAnyOrderElementsOf(lines(whole))
                .anyMatch(line -> line.startsWith(".debug_frame function"));
    }

    @Test
    void notesOfAnnobinAreInWords() throws IOException, InterruptedException {
        Files.writeString(
                folder.resolve("notes.s"),
                """
                .pushsection .gnu.build.attributes, "", %note
                .macro attribute kind, text:vararg
                .4byte 2f - 1f, 0, \\kind
                1: .asciz \\text
                2: .balign 4
                .endm
                .4byte 2f - 1f, 16, 0x100
                1: .asciz "GA$\0013p10"
                2: .balign 4
                .8byte 0x1000, 0x1020
                attribute 0x100, "GA$\005gcc 12"
                attribute 0x100, "GA*\002\003"
                attribute 0x101, "GA*\007\004"
                attribute 0x100, "GA!stack_clash"
                attribute 0x100, "GA+GLIBCXX_ASSERTIONS"
                attribute 0x100, "GA*GOW\000\052\005"
                attribute 0x100, "GA*\006\022\000\000\020\001\300"
                .popsection
                """);
        run(folder, "as", "-o", "notes.o", "notes.s");
        assumeTrue(Files.exists(folder.resolve("notes.o")), "not assembled");
        same(folder.resolve("notes.o"), ElfPageKind.NOTES, "-n");
    }

    /** Regions end where the symbol ends, and say its name; those of functions are their own. */
    @Test
    void notesOfAnnobinNameTheirSymbols() throws IOException, InterruptedException {
        Files.writeString(
                folder.resolve("regions.s"),
                """
                .text
                label:
                .globl object
                .type object, %object
                object: .type first, %function
                first: .4byte 0, 0
                .size first, . - first
                .size object, 4
                .type second, %function
                second: .4byte 0
                .size second, . - second
                .section .gnu.build.attributes, "", %note
                .macro attribute kind, start, end, text:vararg
                .4byte 2f - 1f, 16, \\kind
                1: .asciz \\text
                2: .balign 4
                .8byte \\start, \\end
                .endm
                .macro same kind, text:vararg
                .4byte 2f - 1f, 0, \\kind
                1: .asciz \\text
                2: .balign 4
                .endm
                attribute 0x100, first, second + 4, "GA$\0013p10"
                same 0x100, "GA$\005gcc 12"
                attribute 0x101, second, 0, "GA*\007\004"
                same 0x101, "GA!stack_clash"
                same 0x100, "GA+GLIBCXX_ASSERTIONS"
                attribute 0x101, first, first + 2, "GA*\007\004"
                attribute 0x101, second + 1, 0, "GA*\007\004"
                """);
        run(folder, "gcc", "-shared", "-nostdlib", "-o", "regions.so", "regions.s");
        assumeTrue(Files.exists(folder.resolve("regions.so")), "not assembled");
        assertThat(page(folder.resolve("regions.so"), ElfPageKind.NOTES))
                .contains("(object)", "(second)");
        same(folder.resolve("regions.so"), ElfPageKind.NOTES, "-n");
    }

    /** Types in files besides the one that is asked: dwz's, and those of split units. */
    @Test
    void typesAreFollowedIntoOtherFiles() throws IOException, InterruptedException {
        compile("one", "gcc", "-g", "-O0");
        compile("two", "gcc", "-g", "-O1");
        run(folder, "dwz", "-m", "shared", "one", "two");
        assumeTrue(Files.exists(folder.resolve("shared")), "dwz made no file");
        String expected = page(compile("whole", "gcc", "-g"), request(Set.of(), "big"), false);
        assertThat(expected).contains("struct big {");
        ElfRequest big = request(Set.of(), "big");
        assertThat(page(folder.resolve("one"), big, false)).isEqualTo(expected);
        Path split = compile("split", "gcc", "-g", "-gsplit-dwarf");
        assertThat(page(split, big, false)).isEqualTo(expected);
        Path object = compile("object.o", "gcc", "-g", "-c");
        assertThat(page(object, big, false)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "gcc,-gdwarf-4,-fno-debug-types-section,dwp",
        "gcc,-gdwarf-4,-fdebug-types-section,llvm-dwp",
        "gcc,-gdwarf-5,-fdebug-types-section,llvm-dwp",
        "clang,-gdwarf-4,-fno-debug-types-section,dwp",
        "clang,-gdwarf-5,-fno-debug-types-section,llvm-dwp",
    })
    void typesOfSplitUnitsComeFromPartsAndFromPackages(
            String compiler, String version, String types, String packer)
            throws IOException, InterruptedException {
        String expected = page(compile("whole", compiler, "-g"), request(Set.of(), "big"), false);
        ElfRequest big = request(Set.of(), "big");
        Path object = compile("p.o", compiler, "-g", version, types, "-c");
        assertThat(page(object, big, false)).isEqualTo(expected);
        Path split = compile("split", compiler, "-g", "-gsplit-dwarf", version, types);
        assertThat(page(split, big, false)).isEqualTo(expected);
        run(folder, packer, "-e", "split", "-o", "split.dwp");
        assumeTrue(Files.exists(folder.resolve("split.dwp")), packer + " made no file");
        try (var parts = Files.newDirectoryStream(folder, "*.dwo")) {
            for (Path part : parts) {
                Files.delete(part);
            }
        }
        assertThat(page(split, big, false)).isEqualTo(expected);
        Files.delete(folder.resolve("split.dwp"));
        assertThatThrownBy(() -> page(split, big, false)).hasMessageContaining("'big'");
    }

    /** DWARF 5, 7.3.6. */
    @Test
    void typesOfASupplementaryFileAreFollowed() throws IOException, InterruptedException {
        compile("one", "gcc", "-g", "-gdwarf-5", "-O0");
        compile("two", "gcc", "-g", "-gdwarf-5", "-O1");
        ElfRequest big = request(Set.of(), "big");
        String expected = page(folder.resolve("one"), big, false);
        run(folder, "dwz", "--dwarf-5", "-m", "shared", "one", "two");
        assumeTrue(Files.exists(folder.resolve("shared")), "dwz made no file");
        assertThat(run(folder, "readelf", "-SW", "one")).contains(".debug_sup");
        assertThat(page(folder.resolve("one"), big, false)).isEqualTo(expected);
        assertThat(page(folder.resolve("two"), big, false)).isEqualTo(expected);
        Files.delete(folder.resolve("shared"));
        assertThatThrownBy(() -> page(folder.resolve("two"), big, false))
                .hasMessageContaining("'big'");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/usr/bin/bash", "/usr/bin/gdb", "/usr/bin/python3", "/usr/bin/perf"})
    void librariesAreThoseThatLddFinds(String path) throws IOException, InterruptedException {
        assumeTrue(Files.exists(Path.of(path)), "no " + path);
        List<String> theirs =
                run(folder, "ldd", path)
                        .lines()
                        .filter(line -> !line.contains("linux-vdso"))
                        .map(line -> line.replaceFirst(" \\(0x[0-9a-f]+\\)$", ""))
                        .toList();
        assertThat(page(Path.of(path), ElfPageKind.LIBRARIES).lines())
                .containsExactlyElementsOf(theirs);
    }

    @Test
    void librariesAreLookedForAtTheRunPath() throws IOException, InterruptedException {
        Files.createDirectories(folder.resolve("lib"));
        Files.writeString(folder.resolve("lib.c"), "int f(void) { return 1; }");
        run(
                folder,
                "gcc",
                "-shared",
                "-fPIC",
                "-Wl,-soname,libown.so.1",
                "-o",
                "lib/libown.so.1",
                "lib.c");
        assumeTrue(Files.exists(folder.resolve("lib/libown.so.1")), "no gcc");
        Path program =
                compile(
                        "prog",
                        "gcc",
                        "-Wl,--no-as-needed",
                        "-Wl,-rpath,$ORIGIN/lib",
                        folder.resolve("lib/libown.so.1").toString());
        assertThat(page(program, ElfPageKind.LIBRARIES))
                .contains("libown.so.1 => " + folder + "/lib/libown.so.1\n");
        Files.delete(folder.resolve("lib/libown.so.1"));
        assertThat(page(program, ElfPageKind.LIBRARIES)).contains("libown.so.1 => not found\n");
        assertThat(page(program, request(Set.of()), false)).contains("libown.so.1 => not found");
    }

    @Test
    void typesHaveOffsetsSizesAndHoles() throws IOException, InterruptedException {
        Path file = compile("p.o", "gcc", "-g", "-c");
        String text = page(file, request(Set.of(), "struct big"), false);
        assertThat(text)
                .contains("/* XXX 3 bytes hole, try to pack */")
                .containsPattern("unsigned int +u:9; +/\\* +8: 3 +4 \\*/")
                .containsPattern("void +\\(\\*fn\\)\\(int, char \\*\\); +/\\* +32 +8 \\*/")
                .containsPattern("int +arr\\[3\\]\\[4\\]; +/\\* +40 +48 \\*/")
                .containsPattern("double +ud; +/\\* +88 +8 \\*/")
                .contains("/* size: 184, cachelines: 3, members: 12 */");
        assertThat(page(file, request(Set.of(), "color"), false)).contains("GREEN = 5,");
        assertThat(page(file, request(Set.of(), "in"), true))
                .contains("\"declaration\":\"long int l\",\"offset\":8,\"size_bytes\":8");
    }

    @Test
    void aFileWithoutTypesSaysWhereTheyWereLookedFor() throws IOException, InterruptedException {
        Path file = compile("bare", "gcc", "-s", "-Wl,--build-id");
        List<String> told = new ArrayList<>();
        ElfRecipe recipe = new ElfRecipe(file, request(Set.of(), "big"), told::add);
        OutputStream nowhere = OutputStream.nullOutputStream();
        Result result = recipe.result(false);
        assertThatThrownBy(() -> new TextRenderer().render(result, nowhere, TerminalStyle.PLAIN))
                .hasMessageContaining("bare has no types: neither DWARF nor BTF");
        assertThat(told).anyMatch(line -> line.endsWith(".debug is not there"));
        Path typed = compile("typed", "gcc", "-g");
        assertThatThrownBy(() -> page(typed, request(Set.of(), "huge"), false))
                .hasMessageContaining("no type is called 'huge'");
    }

    @Test
    void typesOfTheKernelComeFromItsBtf() throws IOException {
        Path btf = Path.of("/sys/kernel/btf/vmlinux");
        assumeTrue(Files.exists(btf), "no BTF of this kernel");
        assertThat(page(btf, request(Set.of(), "list_head"), false))
                .containsPattern("struct list_head \\* +next; +/\\* +0 +8 \\*/")
                .contains("/* size: 16, cachelines: 1, members: 2 */");
    }

    @Test
    void codeHasItsSource() throws IOException, InterruptedException {
        Path file = compile("prog", "gcc", "-g", "-O0");
        assertThat(page(file, ElfPageKind.LINES)).containsPattern("  0x[0-9a-f]{16}  .*/p\\.c:12");
        assertThat(page(file, ElfPageKind.FRAMES)).contains(".eh_frame function ");
        assertThat(page(file, ElfPageKind.STRINGS)).contains("String dump of section '.strtab':");
        ElfRequest main =
                new ElfRequest(
                        EnumSet.of(ElfPageKind.DISASSEMBLY),
                        "main",
                        List.of(),
                        List.of(),
                        List.of(),
                        "",
                        Optional.empty());
        assertThat(page(file, main, false)).contains("<main>:").contains("return work(&big);");
        assertThat(page(file, main, true)).contains("\"function\":\"main\"");
        run(folder, "gzip", "-k", "prog");
        assertThat(page(folder.resolve("prog.gz"), main, false))
                .contains("/prog.gz: ")
                .contains("<main>:");
    }

    @Test
    void theSummarySaysWhatItIs() throws IOException, InterruptedException {
        Path file = compile("prog", "gcc", "-g", "-pie", "-fPIE", "-Wl,-z,now,-z,relro");
        assertThat(page(file, request(Set.of()), false))
                .contains("program (position-independent), Advanced Micro Devices X86-64")
                .contains("DWARF in the file itself")
                .contains("full RELRO");
        run(folder, "objcopy", "--only-keep-debug", "prog", "prog.debug");
        run(folder, "strip", "prog");
        assertThat(page(file, request(Set.of()), false))
                .contains("stripped")
                .contains("DWARF by debug link: " + folder + "/prog.debug");
        Path alone = compile("alone", "gcc", "-static-pie");
        assertThat(page(alone, request(Set.of()), false))
                .contains("program (position-independent), ")
                .contains("statically linked");
    }

    /** Whatever bits are wrong: a page, or the one exception for damage. */
    @Test
    @Timeout(240)
    void damageHidesOnlyWhatItHits() throws IOException, InterruptedException {
        byte[] good = Files.readAllBytes(compile("prog", "gcc", "-g", "-O1"));
        Path bad = folder.resolve("bad");
        EnumSet<ElfPageKind> parts =
                EnumSet.complementOf(EnumSet.of(ElfPageKind.DISASSEMBLY, ElfPageKind.LIBRARIES));
        Property.forAll(
                66,
                60,
                random -> {
                    byte[] bytes = good.clone();
                    for (int i = random.nextInt(8); i >= 0; i--) {
                        int region = random.nextInt(3) == 0 ? 64 : bytes.length;
                        int at = random.nextInt(3) == 0 ? bytes.length - 2048 : 0;
                        int place = Math.min(bytes.length - 1, at + random.nextInt(region));
                        bytes[place] ^= (byte) (1 << random.nextInt(8));
                    }
                    int length =
                            random.nextInt(4) == 0 ? random.nextInt(bytes.length) : bytes.length;
                    Files.write(bad, java.util.Arrays.copyOf(bytes, length));
                    try {
                        assertThat(page(bad, request(parts, "big"), random.nextBoolean()))
                                .isNotEmpty();
                    } catch (MalformedInputException
                            | sonde.tools.report.NothingMatchesException e) {
                        assertThat(e.getMessage()).isNotEmpty();
                    }
                });
    }

    @Test
    void hostileNamesAreEscaped() throws IOException, InterruptedException {
        Files.writeString(
                folder.resolve("evil.s"),
                ".section \".evil\\033[2J\",\"a\"\n.globl \"sym\\033]0;x\\007\"\n\"sym\\033]0;x\\007\":"
                        + "\n.byte 0\n");
        run(folder, "as", "evil.s", "-o", "evil.o");
        Path file = folder.resolve("evil.o");
        assumeTrue(Files.exists(file), "no as that takes such names");
        for (boolean json : new boolean[] {false, true}) {
            EnumSet<ElfPageKind> parts =
                    EnumSet.of(ElfPageKind.SECTIONS, ElfPageKind.SYMBOLS, ElfPageKind.STRINGS);
            assertThat(page(file, request(parts), json)).doesNotContain("\033").contains("x1b");
        }
    }

    @Test
    void everyPageIsJsonThatCanBeRead() throws IOException, InterruptedException {
        Path file = compile("prog", "gcc", "-g");
        EnumSet<ElfPageKind> parts = EnumSet.complementOf(EnumSet.of(ElfPageKind.DISASSEMBLY));
        String json = page(file, request(parts, "big"), true);
        try (var parser = new JsonFactory().createParser(json)) {
            int depth = 0;
            while (parser.nextToken() != null) {
                depth++;
            }
            assertThat(depth).isGreaterThan(1000);
        }
        ByteArrayOutputStream one = new ByteArrayOutputStream();
        try (OpenElf open = OpenElf.asIs(FilePlace.named(file.toString()))) {
            new JsonRenderer().render(new SegmentsPage(open.elf()).result(), one);
        }
        assertThat(one.toString()).contains("\"type\":\"LOAD\"");
    }

    @Test
    void qualifiedNamesOfCpp() throws Exception {
        Files.writeString(
                folder.resolve("q.cpp"),
                """
                struct Item { char c; };
                namespace shop { struct Item { int id; long price; }; Item item;
                __attribute__((noinline)) long spin(long n) { return n * item.price; } }
                Item other;
                int main(int argc, char **) { return shop::spin(argc) + other.c; }
                """);
        run(folder, "g++", "-g", "-O1", "-w", "-o", "q", "q.cpp");
        assumeTrue(Files.exists(folder.resolve("q")), "not compiled by g++");
        Path file = folder.resolve("q");
        assertThat(pageText(file, request(Set.of(), "shop::Item"))).contains("price", "size: 16");
        assertThat(pageText(file, request(Set.of(), "struct shop::Item"))).contains("price");
        for (String name : new String[] {"shop::spin", "shop::spin(long)", "_ZN4shop4spinEl"}) {
            assertThat(disassembly(file, name)).as(name).contains("<_ZN4shop4spinEl>:");
        }
        assertThatThrownBy(() -> disassembly(file, "shop::spin(int)"))
                .hasMessageEndingWith("; did you mean 'shop::spin'?");
    }

    private static String pageText(Path file, ElfRequest request) throws IOException {
        return page(file, request, false);
    }

    private static String disassembly(Path file, String function) throws IOException {
        return pageText(file, disassembly(function));
    }
}
