package sonde.tools.elf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.symbol.files.FilePlace;
import sonde.symbol.files.LdSoCache;
import sonde.symbol.files.OpenElf;
import sonde.tools.elf.LibraryResolver.ResolvedLibraries;

/** Libraries found beside what ld.so of glibc and of musl find. */
class LibraryResolverTest {
    @TempDir Path folder;

    private String run(Map<String, String> environment, String... command)
            throws IOException, InterruptedException {
        assumeTrue(
                command[0].startsWith("/")
                        ? Files.exists(Path.of(command[0]))
                        : Files.exists(Path.of("/usr/bin/" + command[0]))
                                || Files.exists(Path.of("/usr/sbin/" + command[0])),
                "no " + command[0]);
        ProcessBuilder builder =
                new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true);
        builder.environment().put("LC_ALL", "C");
        builder.environment().putAll(environment);
        Process process = builder.start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        return text;
    }

    private void compile(String compiler, String out, String source, String... options)
            throws IOException, InterruptedException {
        Files.createDirectories(folder.resolve(out).getParent());
        Files.writeString(folder.resolve("p.c"), source);
        List<String> words = new ArrayList<>(List.of(compiler, "-w", "-o", out, "p.c"));
        words.addAll(List.of(options));
        words.add("-Wl,--unresolved-symbols=ignore-all");
        String said = run(Map.of(), words.toArray(String[]::new));
        assumeTrue(Files.exists(folder.resolve(out)), compiler + ": " + said);
    }

    private void library(String compiler, String out, String source, String... options)
            throws IOException, InterruptedException {
        List<String> words = new ArrayList<>(List.of("-shared", "-fPIC", "-Wl,--no-as-needed"));
        words.addAll(List.of(options));
        compile(compiler, out, source, words.toArray(String[]::new));
    }

    private ResolvedLibraries resolve(
            String file, String sysroot, String libraryPath, String preload) throws IOException {
        Path path = folder.resolve(file);
        try (OpenElf open = OpenElf.asIs(FilePlace.named(path.toString()))) {
            String root = sysroot.isEmpty() ? "" : folder.resolve(sysroot).toString();
            String within = sysroot.isEmpty() ? "" + path : "/" + Path.of(root).relativize(path);
            return new LibraryResolver(root, libraryPath, preload).resolve(within, open.elf());
        }
    }

    /** "name => path" and what was not found, without the linker itself. */
    private static List<String> shown(ResolvedLibraries answer) {
        return answer.libraries().stream()
                .filter(l -> !l.how().equals("interpreter"))
                .map(l -> l.name() + " => " + (l.path() == null ? l.how() : l.path()))
                .toList();
    }

    /** The lines with an arrow of what a linker lists, the linker's own left out. */
    private static List<String> listed(String text) {
        return text.lines()
                .filter(line -> line.contains(" => ") && !line.contains("/ld-musl-"))
                .map(line -> line.strip().replaceFirst(" \\(0x[0-9a-f]+\\)$", ""))
                .toList();
    }

    private List<String> ldd(String file, Map<String, String> environment)
            throws IOException, InterruptedException {
        return listed(run(environment, "ldd", folder.resolve(file).toString()));
    }

    /** f needs g, which lies in another folder; the program says where to look. */
    private void chain(String compiler, String tag, String... options)
            throws IOException, InterruptedException {
        library(compiler, "c/libg.so", "int g(void) { return 2; }");
        library(compiler, "d/libg.so", "int g(void) { return 3; }");
        library(compiler, "a/libf.so", "int g(void); int f(void) { return g(); }", "-Lc", "-lg");
        List<String> words = new ArrayList<>(List.of(options));
        words.addAll(
                List.of(
                        "-La",
                        "-lf",
                        "-Wl," + tag,
                        "-Wl,-rpath,$ORIGIN/../a/:${ORIGIN}/../c:$ORIGINAL"));
        compile(
                compiler,
                "bin/p",
                "int f(void); int main(void) { return f(); }",
                words.toArray(String[]::new));
    }

    @ParameterizedTest
    @ValueSource(strings = {"--disable-new-dtags", "--enable-new-dtags"})
    void glibcInheritsRpathAlone(String tag) throws IOException, InterruptedException {
        chain("gcc", tag);
        assertThat(shown(resolve("bin/p", "", "", ""))).isEqualTo(ldd("bin/p", Map.of()));
        String both = folder.resolve("d") + "/::/nowhere";
        Map<String, String> environment = Map.of("LD_LIBRARY_PATH", both);
        assertThat(shown(resolve("bin/p", "", both, ""))).isEqualTo(ldd("bin/p", environment));
        // $ORIGIN is where the program lies, not where a link to it does.
        Files.createDirectories(folder.resolve("links"));
        Files.createSymbolicLink(folder.resolve("links/p"), folder.resolve("bin/p"));
        assertThat(shown(resolve("links/p", "", "", "")))
                .contains("libf.so => " + folder + "/bin/../a/libf.so")
                .isEqualTo(
                        listed(
                                run(
                                        Map.of("LD_TRACE_LOADED_OBJECTS", "1"),
                                        folder.resolve("links/p").toString())));
    }

    @ParameterizedTest
    @ValueSource(strings = {"--disable-new-dtags", "--enable-new-dtags"})
    void muslInheritsBothAndAsksTheEnvironmentFirst(String tag)
            throws IOException, InterruptedException {
        chain("musl-gcc", tag);
        String linker = "/lib/ld-musl-x86_64.so.1";
        String program = folder.resolve("bin/p").toString();
        List<String> theirs = listed(run(Map.of(), linker, "--list", program));
        // An element with a $ that musl does not know makes it forget all of them.
        assertThat(theirs.stream().filter(l -> l.contains("/libg.so")))
                .as("what musl says")
                .hasSizeLessThanOrEqualTo(1);
        assertThat(shown(resolve("bin/p", "", "", ""))).containsAll(theirs);
        String d = folder.resolve("d") + ":" + folder.resolve("a");
        assertThat(shown(resolve("bin/p", "", d, "")))
                .isEqualTo(listed(run(Map.of("LD_LIBRARY_PATH", d), linker, "--list", program)));
    }

    @Test
    void muslReadsThePathFileOfItsRoot() throws IOException, InterruptedException {
        library("musl-gcc", "root/opt/libs/libg.so", "int g(void) { return 2; }");
        compile(
                "musl-gcc",
                "root/bin/p",
                "int g(void); int main(void) { return g(); }",
                "-Lroot/opt/libs",
                "-lg");
        assertThat(shown(resolve("root/bin/p", "root", "", "")))
                .containsExactly("libg.so => not found");
        Files.createDirectories(folder.resolve("root/etc"));
        Files.writeString(folder.resolve("root/etc/ld-musl-x86_64.path"), "/lib\n/opt/libs\n");
        assertThat(shown(resolve("root/bin/p", "root", "", "")))
                .containsExactly("libg.so => /opt/libs/libg.so");
        // An empty one leaves no folder, and /usr/lib is not looked at.
        Files.createDirectories(folder.resolve("root/usr"));
        Files.move(folder.resolve("root/opt/libs"), folder.resolve("root/usr/lib"));
        Files.writeString(folder.resolve("root/etc/ld-musl-x86_64.path"), "");
        assertThat(shown(resolve("root/bin/p", "root", "", "")))
                .containsExactly("libg.so => not found");
        Files.delete(folder.resolve("root/etc/ld-musl-x86_64.path"));
        assertThat(shown(resolve("root/bin/p", "root", "", "")))
                .containsExactly("libg.so => /usr/lib/libg.so");
    }

    @Test
    void librariesPreloadedComeFirst() throws IOException, InterruptedException {
        chain("gcc", "--enable-new-dtags");
        library("gcc", "x/libpre.so", "int pre(void) { return 1; }", "-Lc", "-lg");
        String pre = folder.resolve("x/libpre.so") + " /nowhere/libno.so";
        ResolvedLibraries answer = resolve("bin/p", "", folder.resolve("d").toString(), pre);
        Map<String, String> environment =
                Map.of("LD_LIBRARY_PATH", folder.resolve("d").toString(), "LD_PRELOAD", pre);
        List<String> theirs = ldd("bin/p", environment);
        assertThat(shown(answer).getFirst()).startsWith(folder.resolve("x/libpre.so").toString());
        assertThat(shown(answer).subList(1, shown(answer).size()))
                .isEqualTo(theirs.stream().filter(l -> !l.contains("libpre")).toList());
        assertThat(answer.gaps())
                .containsExactly(
                        "object '/nowhere/libno.so' from LD_PRELOAD cannot be preloaded: ignored");
        Files.createDirectories(folder.resolve("etc"));
        Files.writeString(folder.resolve("etc/ld.so.preload"), "/x/libpre.so # always\n");
        assertThat(shown(resolve("bin/p", ".", "", "")))
                .contains("/x/libpre.so => /x/libpre.so", "libf.so => /bin/../a/libf.so");
    }

    @Test
    void variantsOfThisCpuGoFirst() throws IOException, InterruptedException {
        chain("gcc", "--disable-new-dtags");
        for (String level : List.of("x86-64-v2", "x86-64-v3", "x86-64-v4", "none")) {
            library("gcc", "c/glibc-hwcaps/" + level + "/libg.so", "int g(void) { return 9; }");
        }
        assertThat(shown(resolve("bin/p", "", "", ""))).isEqualTo(ldd("bin/p", Map.of()));
    }

    /** ldconfig and ld.so agree on a cache that our own has nothing to do with. */
    @Test
    void aRootHasItsOwnCache() throws IOException, InterruptedException {
        library(
                "gcc",
                "root/opt/x/libg.so.1",
                "int g(void) { return 2; }",
                "-Wl,-soname,libg.so.1");
        library(
                "gcc",
                "root/opt/x/glibc-hwcaps/x86-64-v2/libg.so.1",
                "int g(void) { return 3; }",
                "-Wl,-soname,libg.so.1");
        compile(
                "gcc",
                "root/bin/p",
                "int g(void); int main(void) { return g(); }",
                "root/opt/x/libg.so.1");
        Files.createDirectories(folder.resolve("root/etc"));
        Files.writeString(folder.resolve("root/etc/ld.so.conf"), "include x.d/*.conf\n");
        Files.createDirectories(folder.resolve("root/etc/x.d"));
        Files.writeString(folder.resolve("root/etc/x.d/a.conf"), "/opt/link/ # ours\n");
        // An absolute link means a folder of the root, not one of ours.
        Files.createSymbolicLink(folder.resolve("root/opt/link"), Path.of("/opt/x"));
        assertThat(shown(resolve("root/bin/p", "root", "", "")))
                .contains(variant("/opt/link"), "libc.so.6 => not found");
        Files.writeString(folder.resolve("root/etc/ld.so.conf"), "/opt/x\n");
        run(Map.of(), "/usr/sbin/ldconfig", "-r", folder.resolve("root").toString());
        assertThat(folder.resolve("root/etc/ld.so.cache")).exists();
        Files.delete(folder.resolve("root/etc/ld.so.conf"));
        ResolvedLibraries answer = resolve("root/bin/p", "root", "", "");
        assertThat(shown(answer)).contains(variant("/opt/x"));
        assertThat(answer.symbols()).extracting(s -> s.name()).contains("__libc_start_main");
        assertThat(answer.symbols()).extracting(s -> s.name()).doesNotContain("g");
    }

    private static String variant(String path) throws IOException {
        boolean second = Files.readString(Path.of("/proc/cpuinfo")).contains("sse4_2");
        return "libg.so.1 => " + path + (second ? "/glibc-hwcaps/x86-64-v2" : "") + "/libg.so.1";
    }

    /** DF_1_NODEFLIB: of the cache, what lies in the default folders is not taken either. */
    @Test
    void withoutDefaultFoldersTheCacheIsStillAsked() throws IOException, InterruptedException {
        library("gcc", "lib/libg.so.1", "int g(void) { return 2; }", "-Wl,-soname,libg.so.1");
        library("gcc", "opt/libh.so.1", "int h(void) { return 2; }", "-Wl,-soname,libh.so.1");
        compile(
                "gcc",
                "p",
                "int g(), h(); int main(void) { return g() + h(); }",
                "lib/libg.so.1",
                "opt/libh.so.1",
                "-Wl,-z,nodefaultlib");
        Files.createDirectories(folder.resolve("etc"));
        Files.writeString(folder.resolve("etc/ld.so.conf"), "/opt\n");
        run(Map.of(), "/usr/sbin/ldconfig", "-r", folder.toString());
        assertThat(shown(resolve("p", ".", "", "")))
                .contains("libg.so.1 => not found", "libh.so.1 => /opt/libh.so.1");
    }

    @Test
    void whatALibraryNotFoundWouldHaveIsSaid() throws IOException, InterruptedException {
        chain("gcc", "--disable-new-dtags");
        Files.delete(folder.resolve("c/libg.so"));
        ResolvedLibraries answer = resolve("bin/p", "", "", "");
        assertThat(shown(answer))
                .contains("libg.so => not found")
                .isEqualTo(ldd("bin/p", Map.of()));
        assertThat(answer.symbols())
                .extracting(s -> s.name() + " " + s.path())
                .containsExactly("g " + folder + "/bin/../a/libf.so");
        assertThat(answer.isWhole()).isFalse();
    }

    @Test
    void aVersionThatALibraryLacksIsSaid() throws IOException, InterruptedException {
        Files.writeString(folder.resolve("map"), "V1 { g; }; V2 { g2; } V1;");
        library(
                "gcc",
                "c/libg.so",
                "int g() { return 1; } int g2() { return 2; }",
                "-Wl,--version-script=map");
        compile(
                "gcc",
                "p",
                "int g2(); int main() { return g2(); }",
                "-Lc",
                "-lg",
                "-Wl,-rpath,$ORIGIN/c");
        assertThat(resolve("p", "", "", "").gaps()).isEmpty();
        Files.writeString(folder.resolve("map"), "V1 { g; };");
        library("gcc", "c/libg.so", "int g() { return 1; }", "-Wl,--version-script=map");
        String gap = folder + "/c/libg.so: version `V2' not found (required by " + folder + "/p)";
        assertThat(resolve("p", "", "", "").gaps()).containsExactly(gap);
        assertThat(run(Map.of(), "ldd", folder.resolve("p").toString())).contains(gap);
    }

    @ParameterizedTest
    @CsvSource({
        "aarch64-linux-gnu,lib/ld-linux-aarch64.so.1",
        "mips64-linux-gnuabi64,lib64/ld.so.1",
        "riscv64-linux-gnu,lib/ld-linux-riscv64-lp64d.so.1",
        "s390x-linux-gnu,lib/ld64.so.1",
        "arm-linux-gnueabihf,lib/ld-linux-armhf.so.3",
    })
    void aForeignRootHasItsOwnLibraries(String triple, String linker) throws IOException {
        Path root = Path.of("/usr/" + triple);
        assumeTrue(Files.exists(root.resolve(linker)), "no libc6-*-cross for " + triple);
        Path library = root.resolve("lib/libm.so.6");
        try (OpenElf open = OpenElf.asIs(FilePlace.named(library.toString()))) {
            ResolvedLibraries answer =
                    new LibraryResolver(root.toString(), "", "")
                            .resolve("/lib/libm.so.6", open.elf());
            assertThat(answer.interpreter()).isEqualTo("/" + linker);
            assertThat(shown(answer)).contains("libc.so.6 => /lib/libc.so.6");
            assertThat(answer.isWhole()).isTrue();
            ResolvedLibraries elsewhere = new LibraryResolver("", "", "").resolve("/x", open.elf());
            assertThat(elsewhere.isWhole()).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"2", "3", "0 little", "0 big"})
    void aCacheOfAnyByteOrderIsRead(String flags) {
        boolean big = flags.equals("3") || flags.endsWith("big");
        ByteBuffer cache =
                ByteBuffer.allocate(200)
                        .order(big ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
        cache.put("glibc-ld.so.cache1.1".getBytes(StandardCharsets.ISO_8859_1));
        cache.putInt(3).putInt(60); // entries, bytes of strings
        cache.put((byte) (flags.charAt(0) - '0'));
        cache.position(48);
        for (long kind : new long[] {1L << 62 | 1, 0, 1L << 60}) {
            // flags, key, value, osversion, hwcap
            cache.putInt(0x303).putInt(120).putInt(kind == 0 ? 125 : 133).putInt(0).putLong(kind);
        }
        cache.put(120, "liba\0/a/liba\0/a/glibc-hwcaps/x/liba\0".getBytes(StandardCharsets.UTF_8));
        assertThat(LibraryLookup.paths(LdSoCache.parse(cache.array())))
                .containsExactlyEntriesOf(
                        Map.of("liba", List.of("/a/glibc-hwcaps/x/liba", "/a/liba")));
    }
}
