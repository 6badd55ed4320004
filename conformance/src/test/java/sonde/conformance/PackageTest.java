package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What {@code ./package} makes works in a root that has busybox and the C library alone, and its
 * libraries run with the C library of old distributions.
 */
@Tag("product")
@Tag("long")
@Tag("tracefs")
class PackageTest {
    /** Mounts what the kernel shows below the root, in a name space of its own. */
    private static final String ENTER =
            """
            for one in proc sys dev; do mount --rbind /$one "$0/$one"; done
            mount -t tmpfs tmpfs "$0/tmp"
            exec chroot "$0" /bin/sh -c "$1"
            """;

    private static Path folder;
    private static Path root;

    @BeforeAll
    static void pack() throws Exception {
        assumeTrue(Files.isReadable(Path.of("/proc/1/environ")), "needs root");
        assumeTrue(Files.exists(Path.of("/bin/busybox")), "busybox is not installed");
        assumeTrue(Files.exists(Path.of("/usr/bin/dpkg-deb")), "dpkg is not installed");
        folder = Files.createTempDirectory("sonde-package");
        Sonde.Outcome packed =
                execute(
                        Sonde.ROOT + "/package",
                        "--fast",
                        "--out",
                        folder + "/out",
                        "deb",
                        "image");
        assertThat(packed.status()).as(packed.toString()).isZero();
        root = Sonde.ROOT.resolve("build/package/layer");
    }

    @AfterAll
    static void remove() throws Exception {
        if (folder != null) {
            execute("rm", "-r", folder.toString());
        }
    }

    private static Sonde.Outcome execute(String... command) throws Exception {
        return Sonde.in(folder == null ? Path.of("/") : folder).execute(List.of(command));
    }

    private static String inRoot(String script) throws Exception {
        Sonde.Outcome outcome =
                execute(
                        "env",
                        "-i",
                        "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
                        "SONDE_TRAIN=never",
                        "unshare",
                        "-m",
                        "--propagation",
                        "private",
                        "sh",
                        "-c",
                        ENTER,
                        root.toString(),
                        "exec 2>&1; cd /tmp; " + script);
        return outcome.out() + outcome.err();
    }

    private static Path made(String start, String end) throws Exception {
        try (Stream<Path> files = Files.list(folder.resolve("out"))) {
            return files.filter(
                            file -> {
                                String name = file.getFileName().toString();
                                return name.startsWith(start) && name.endsWith(end);
                            })
                    .findFirst()
                    .orElseThrow();
        }
    }

    @Test
    void everythingRunsWithBusyboxAndTheLibraryOfC() throws Exception {
        assertThat(inRoot("sonde record -- ls / && sonde report ls.sonde --html page.html && ls"))
                .contains("system calls", "page.html", "written");
        assertThat(inRoot("sonde trace 'begin { printf(\"%d\\n\", 6 * 7); exit(); }'"))
                .contains("42");
        assertThat(inRoot("sonde tool execsnoop -d 500ms")).contains("PID");
        assertThat(
                        inRoot(
                                "sonde record --no-summary -- true; sonde query true.sonde 'SELECT 40 + 2'"))
                .contains("42");
        assertThat(
                        inRoot(
                                "cd /usr/lib/sonde/app; mv libduckdb.so gone; sonde query proc: 'SELECT 1'; mv gone libduckdb.so"))
                .contains("the package sonde-sql");
        assertThat(inRoot("sonde help filters; sonde help language printf"))
                .contains("--filter 'sched/", "%d");
        assertThat(execute("sh", "-c", "cd out && sha256sum -c SHA256SUMS").out())
                .contains("amd64.deb: OK", "oci.tar: OK");
        // zstd comes from the package: the root has no other.
        assertThat(inRoot("sonde record --no-summary -- true; head -c 40 true.sonde/trace.dat"))
                .contains("zstd");
    }

    @Test
    void theCacheIsMadeAtInstallationAndGoesWithThePackage() throws Exception {
        Path package0 = made("sonde_", ".deb");
        Path scripts = Files.createDirectory(folder.resolve("scripts"));
        execute("dpkg-deb", "-e", package0.toString(), scripts.toString());
        for (String name : List.of("postinst", "prerm", "postrm")) {
            Files.copy(scripts.resolve(name), root.resolve(name));
        }
        try {
            String made =
                    inRoot(
                            "env -u SONDE_TRAIN /postinst configure;"
                                    + " stat -c %a:%U /usr/lib/sonde/app/start.aot; sonde --version");
            assertThat(made).contains("644:root", "sonde 0.1.0");
            assertThat(inRoot("/prerm remove; /postrm remove; ls /usr/lib/sonde/app /var/cache"))
                    .doesNotContain("aot", "\nsonde\n");
        } finally {
            for (String name : List.of("postinst", "prerm", "postrm")) {
                Files.deleteIfExists(root.resolve(name));
            }
        }
    }

    @Test
    void theFilesAreRootsAndTheLibrariesOld() throws Exception {
        String list = execute("dpkg-deb", "-c", made("sonde_", ".deb").toString()).out();
        assertThat(list.lines())
                .allMatch(line -> line.contains(" root/root "))
                .noneMatch(line -> line.matches("[-d].....w..w.*"));
        assertThat(list)
                .contains("./usr/bin/sonde -> ../lib/sonde/bin/sonde")
                .contains("man1/sonde-record.1.gz", "completions/sonde", "_sonde", "sonde.fish")
                .contains("doc/sonde/copyright", "sbom.cdx.json")
                .doesNotContain("libduckdb");
        assertThat(execute("dpkg-deb", "-c", made("sonde-sql_", ".deb").toString()).out())
                .contains("libduckdb.so");
        List<String> command = new ArrayList<>(List.of("sh", "-c", "objdump -T \"$@\"", "sh"));
        try (Stream<Path> files = Files.walk(root.resolve("usr/lib/sonde"))) {
            files.filter(file -> file.toString().endsWith(".so"))
                    .forEach(file -> command.add(file.toString()));
        }
        assertThat(Sonde.in(folder).execute(command).out())
                .contains("GLIBC_2.17")
                .doesNotContainPattern("GLIBC_2\\.(29|[3-9][0-9])");
    }
}
