package sonde.tools.elf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.event.result.Result;
import sonde.tools.elf.CTypeLayout.LaidOutMember;
import sonde.view.JsonRenderer;
import sonde.view.TerminalStyle;
import sonde.view.TextRenderer;

/** Layouts that C does not have: members in another order, bases, variants. */
class TypesPageTest {
    @TempDir Path folder;

    private Path compile(String name, String source, String... command) throws Exception {
        boolean there =
                Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
                        .anyMatch(one -> Files.isExecutable(Path.of(one, command[0])));
        assumeTrue(there, "no " + command[0]);
        Files.writeString(folder.resolve(name), source);
        Process process =
                new ProcessBuilder(command).directory(folder.toFile()).inheritIO().start();
        assumeTrue(process.waitFor() == 0, command[0] + " does not compile it");
        return folder.resolve("made");
    }

    private static String page(Path file, boolean json, String type) throws IOException {
        ElfRequest request =
                new ElfRequest(
                        Set.of(), "", List.of(), List.of(type), List.of(), "", Optional.empty());
        Result result = new ElfRecipe(file, request, _ -> {}).result(false);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        if (json) {
            new JsonRenderer().render(result, out);
        } else {
            new TextRenderer().render(result, out, TerminalStyle.PLAIN);
        }
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void membersStandAsTheyLie() throws IOException {
        List<LaidOutMember> members =
                List.of(
                        new LaidOutMember("u8", "a", 8 * 14, 1, 0, null),
                        new LaidOutMember("u64", "b", 0, 8, 0, null),
                        new LaidOutMember("u16", "c", 8 * 12, 2, 0, null),
                        new LaidOutMember("u32", "d", 8 * 8, 4, 0, null));
        TypesPage page = new TypesPage(new CTypeLayout("struct S", 16, members, List.of()));
        StringWriter text = new StringWriter();
        page.text(new PrintWriter(text));
        assertThat(text.toString())
                .containsPattern("(?s) b; .* d; .* c; .* a; ")
                .doesNotContain("hole")
                .contains("/* padding: 1 */");
        ByteArrayOutputStream json = new ByteArrayOutputStream();
        new JsonRenderer().render(page.result(), json);
        assertThat(json.toString()).containsPattern("u64 b.*u8 a").doesNotContain("hole");
    }

    @ParameterizedTest
    @ValueSource(strings = {"g++", "clang++"})
    void pointersToMembersAndBasesOfCpp(String compiler) throws Exception {
        Path file =
                compile(
                        "p.cc",
                        "struct A { int x; int f(int); virtual ~A(); };"
                                + "class V : virtual public A { public: int y; };"
                                + "struct E {}; struct W : E { int a; char c; long l; };"
                                + "struct M { int A::*pm; char c; int (A::*pf)(int); };"
                                + "A::~A() {} V v; W w; M m;",
                        compiler,
                        "-g",
                        "-c",
                        "-o",
                        "made",
                        "p.cc");
        assertThat(page(file, false, "M"))
                .containsPattern("int A::\\* +pm; +/\\* +0 +8 \\*/")
                .containsPattern("int +\\(A::\\*pf\\)\\(int\\); +/\\* +16 +16 \\*/")
                .contains("size: 32, cachelines: 1, members: 3");
        assertThat(page(file, false, "V"))
                .containsPattern("_vptr.V\\).*; +/\\* +0 +8 \\*/")
                .containsPattern("struct A +<ancestor>; /\\* virtual \\*/")
                .contains("members: 2")
                .doesNotContain("padding");
        assertThat(page(file, true, "V"))
                .contains(
                        "\"struct A <ancestor>\",\"offset\":null,\"size_bytes\":16,"
                                + "\"virtual\":true");
        assertThat(page(file, false, "W")).contains("sum members: 13, holes: 1, sum holes: 3");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-g", "-gdwarf-3", "-fdebug-types-section"})
    void unnamedStructuresUnitsOfBitfieldsAndLocalTypes(String debug) throws Exception {
        Path file =
                compile(
                        "p.cc",
                        "struct In { long l; };"
                                + "struct S { struct { char a; short b; } pair[2][3]; In in; int x;"
                                + " int flag:3; };"
                                + "union U { struct Part { char c; long l; } part; int i; };"
                                + "S s; U u; int f(int n) { struct Local { char c; int n; } l{1, n};"
                                + " return l.n + l.c; }",
                        "g++",
                        "-g",
                        debug,
                        "-c",
                        "-o",
                        "made",
                        "p.cc");
        assertThat(page(file, false, "S"))
                .containsPattern(
                        "short int +b; +/\\* +2 +2 \\*/\\s+} pair\\[2]\\[3]; +/\\* +0 +24 \\*/")
                .containsPattern("struct In +in; +/\\* +24 +8 \\*/")
                .contains("/* bit_padding: 29 bits */")
                .doesNotContain("/* padding");
        assertThat(page(file, false, "Part")).contains("size: 16,");
        assertThat(page(file, false, "Local")).contains("size: 8,");
    }

    @Test
    void enumerationsOfRustHaveTheirVariants() throws Exception {
        Path file =
                compile(
                        "p.rs",
                        "pub enum Shape { Dot, Circle(u32) }"
                                + "#[no_mangle] pub fn f(s: &Shape, o: Option<u32>, p: Option<&u32>)"
                                + " -> u32 { match s { Shape::Dot => o.unwrap(),"
                                + " Shape::Circle(x) => *x + *p.unwrap() } }",
                        "rustc",
                        "-g",
                        "--crate-type=lib",
                        "--emit=obj",
                        "-o",
                        "made",
                        "p.rs");
        assertThat(page(file, false, "Option<u32>"))
                .containsPattern(
                        "(?s)None /\\* discriminant 0 \\*/ \\{.*Some /\\* discriminant 1 \\*/ \\{"
                                + "\\s+u32 +<discriminant>; +/\\* +0 +4 \\*/"
                                + "\\s+u32 +__0; +/\\* +4 +4 \\*/")
                .contains("size: 8,")
                .doesNotContain("hole");
        assertThat(page(file, false, "Option<&u32>"))
                .contains("struct Some /* any other discriminant */ {");
        assertThat(page(file, true, "Shape"))
                .contains("\"type\":\"struct Circle /* discriminant 1 */\"")
                .contains("\"declaration\":\"u32 __0\",\"offset\":4");
    }
}
