package sonde.lang.bpftrace.expand;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.lang.bpftrace.expand.ScriptExpansion.ExpandedScript;
import sonde.lang.bpftrace.syntax.Script;
import sonde.lang.bpftrace.syntax.ScriptParser;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceText;

/** Files and directories that scripts import. */
final class FileImportsTest {
    @TempDir Path directory;

    private void file(String name, String text) throws IOException {
        Path file = directory.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private static void open(Path directory) throws IOException {
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));
    }

    private String tree(String text, CompilerDiagnostics diagnostics) {
        Script script = ScriptParser.parse(new SourceText("stdin", text), diagnostics);
        return TreeText.of(
                ScriptExpansion.expand(
                        script, ScriptParameters.NONE, new FileImports(directory), diagnostics));
    }

    private String error(String text) {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        tree(text, diagnostics);
        return diagnostics.all().toString();
    }

    @Test
    void filesImportFilesOnce() throws IOException {
        file("a.bt", "import \"lib/b.bt\"; macro a() { b } end { }");
        file("lib/b.bt", "import \"../a.bt\"; import \"c.h\"; macro b() { 7 }");
        file("lib/c.h", "struct c { int x; };");
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        assertThat(tree("import \"a.bt\"; import \"./a.bt\"; begin { f(a) }", diagnostics))
                .isEqualTo(
                        "define \"struct c { int x; };\"\nprobe end\nprobe begin\n  (f() {{7}})\n");
        assertThat(diagnostics.all()).isEmpty();
    }

    @Test
    void directoriesAndTheLibrary() throws IOException {
        file("lib/one.bt", "macro one() { 1 }");
        file("lib/two.bt", "macro two() { 2 }");
        file("lib/readme.txt", "not a script");
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        String text = "import \"lib\"; import \"stdlib\"; begin { import \"lib\"; f(one, two) }";
        assertThat(tree(text, diagnostics)).isEqualTo("probe begin\n  (f() {1} {2})\n");
        assertThat(diagnostics.all()).isEmpty();
    }

    @Test
    void functionsInCAreKeptAside() throws IOException {
        file("lib/a.bt", "macro a() { 1 }");
        file("lib/b.bpf.c", "int b;");
        file("lib/b.bpf.o", "made of b.bpf.c");
        file("lib/c.bpf.o", "");
        file("d.bpf.c", "int d;");
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        String text =
                "import \"d.bpf.c\"; import \"lib\"; import \"lib/c.bpf.o\";"
                        + " import \"stdlib/test\"; begin { }";
        ExpandedScript expanded =
                ScriptExpansion.expandWithUses(
                        ScriptParser.parse(new SourceText("stdin", text), diagnostics),
                        ScriptParameters.NONE,
                        new FileImports(directory),
                        diagnostics);
        assertThat(expanded.code().stream().map(CodeFile::name))
                .containsExactly(
                        directory + "/d.bpf.c",
                        directory + "/lib/b.bpf.c",
                        directory + "/lib/c.bpf.o",
                        "stdlib/test/test.bpf.c");
        assertThat(expanded.code().stream().map(CodeFile::isSource))
                .containsExactly(true, true, false, true);
        assertThat(diagnostics.all()).isEmpty();
    }

    @Test
    void whatCannotBeImported() throws IOException {
        file("config.bt", "config = { max_strlen=1 }");
        file("a.c", "int a;");
        file("bad.bt", "begin { ( }");
        assertThat(error("import \"none.bt\"; begin { }")).contains("nothing to import: none.bt");
        assertThat(error("import \"config.bt\"; begin { }")).contains("may have a config block");
        assertThat(error("import \"a.c\"; begin { }")).contains("functions in C with .bpf.c");
        assertThat(error("import \"x.bpf.c\"; begin { }")).contains("nothing to import: x.bpf.c");
        assertThat(error("import \"bad.bt\"; begin { }")).contains("bad.bt:1:11");
        assertThat(error("import \"a\\x00b\"; begin { }")).contains("nothing to import");
    }

    @Test
    void directoriesOfEverybodyAreRefused() throws IOException {
        file("open/lib/a.bt", "macro a() { 1 }");
        open(directory.resolve("open"));
        String refused = "global write permissions";
        assertThat(error("import \"open/lib\"; begin { }")).contains(refused);
        assertThat(error("import \"open/lib/a.bt\"; begin { }")).doesNotContain(refused);
        open(directory.resolve("open/lib"));
        assertThat(error("import \"open/lib/a.bt\"; begin { }")).contains(refused);
    }
}
