package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The image starts wherever it lies and whoever starts it, and never prints about its cache. */
@Tag("product")
@Tag("long")
class LauncherTest {
    @TempDir Path folder;

    private Path image;

    @BeforeEach
    void copyTheImage() throws Exception {
        assertThat(Sonde.in(folder).run("--version").status()).isZero();
        image = folder.resolve("image");
        String copy = "cp -a '" + Sonde.ROOT.resolve("build/image") + "' '" + image + "'";
        assertThat(shell(copy).status()).isZero();
    }

    private Sonde.Outcome shell(String script) throws Exception {
        return Sonde.in(folder).execute(List.of("/bin/sh", "-c", script));
    }

    private Sonde.Outcome version(Path where, Map<String, String> environment) throws Exception {
        return Sonde.in(folder)
                .with(environment)
                .execute(List.of(where.resolve("bin/sonde").toString(), "--version"));
    }

    private static void assertRuns(Sonde.Outcome outcome) {
        assertThat(outcome.status()).as("%s", outcome).isZero();
        assertThat(outcome.out()).startsWith("sonde ");
        assertThat(outcome.err()).isEmpty();
    }

    /** One copy for all, as each prepares a start-up cache of its own at first. */
    @Test
    void readOnlyThenTouchedThenMoved() throws Exception {
        assertThat(shell("chmod -R a-w '" + image + "'").status()).isZero();
        Map<String, String> trained = Map.of("SONDE_TRAIN", "first");
        assertRuns(version(image, trained));
        assertThat(shell("chmod -R u+w '" + image + "'").status()).isZero();
        try (Stream<Path> jars = Files.list(image.resolve("app"))) {
            for (Path jar : jars.filter(file -> file.toString().endsWith(".jar")).toList()) {
                Files.setLastModifiedTime(jar, FileTime.fromMillis(1_000_000_000_000L));
            }
        }
        assertRuns(version(image, trained));
        Path moved = folder.resolve("a folder with blanks");
        Files.move(image, moved);
        assertRuns(version(moved, trained));
        assertRuns(version(moved, Map.of()));
    }

    /** Nothing of a training is seen before a command ends, and nothing of it stays. */
    @Test
    void theCacheIsMadeBehindTheCommand() throws Exception {
        assumeTrue(Files.isReadable(Path.of("/proc/1/environ")), "needs root");
        String train = Files.readString(image.resolve("app/train.sh"));
        Files.writeString(
                image.resolve("app/train.sh"),
                train.replace("/bin/sh\n", "/bin/sh\necho $$ $PPID >'" + folder + "/began'\n"));
        Sonde.Outcome outcome =
                Sonde.in(folder)
                        .with(Map.of("SONDE_TRAIN", ""))
                        .execute(
                                List.of(
                                        "sh",
                                        "-c",
                                        "exec 5>held; '"
                                                + image
                                                + "/bin/sonde' record -o r -- sh -c"
                                                + " 'env; cat /proc/*/cmdline'"));
        assertThat(outcome.status()).as("%s", outcome).isZero();
        assertThat(outcome.out())
                .doesNotContain("SONDE_CACHE")
                .doesNotContain(image + "/app/train.sh");
        Path began = folder.resolve("began");
        for (int i = 0; i < 500 && !Files.exists(began); i++) {
            Thread.sleep(20);
        }
        String pid = Files.readString(began).split(" ")[0];
        Path held = Path.of("/proc", pid, "fd/5");
        assertThat(Files.exists(held)).isFalse();
        assertThat(
                        shell(
                                        "kill "
                                                + pid
                                                + "; while [ -e /proc/"
                                                + pid
                                                + "/exe ]; do sleep 0.1; done")
                                .status())
                .isNotNegative();
        assertThat(shell("ls /var/cache/sonde | grep -F .aot." + pid).out()).isEmpty();
    }

    /** Each is 38 MB. */
    @Test
    void threeCachesStay() throws Exception {
        assumeTrue(Files.isReadable(Path.of("/proc/1/environ")), "needs root");
        Sonde.Outcome outcome =
                shell(
                        "chmod 755 . && chmod -R a+rX image && mkdir -p caches/sonde && cd"
                                + " caches/sonde && for i in 1 2 3 4 5; do touch -d \"$i hours ago\""
                                + " old-$i.aot; done && touch -d '1 hour ago' old-6.aot.77 && cd ../.."
                                + " && chown -R 65534 caches && chmod -R go= caches/sonde &&"
                                + " XDG_CACHE_HOME=$PWD/caches SONDE_TRAIN=first setpriv --reuid=65534"
                                + " --regid=65534 --clear-groups image/bin/sonde --version");
        assertRuns(outcome);
        try (Stream<Path> left = Files.list(folder.resolve("caches/sonde"))) {
            // The training also keeps symbols.
            List<String> names =
                    left.map(file -> file.getFileName().toString())
                            .filter(name -> name.contains(".aot"))
                            .sorted()
                            .toList();
            assertThat(names).hasSize(3).contains("old-1.aot", "old-2.aot");
        }
    }

    @Test
    void asAnotherUserWithoutHome() throws Exception {
        assumeTrue(Files.isReadable(Path.of("/proc/1/environ")), "needs root");
        shell("chmod 755 '" + folder + "' && chmod -R a+rX '" + image + "'");
        Sonde.Outcome outcome =
                shell(
                        "env -u HOME setpriv --reuid=65534 --regid=65534 --clear-groups '"
                                + image
                                + "/bin/sonde' --version");
        assertRuns(outcome);
    }

    @Test
    void throughASymbolicLink() throws Exception {
        Path launcher = Sonde.ROOT.resolve("build/image/bin/sonde");
        Path link = Files.createSymbolicLink(folder.resolve("sonde"), launcher);
        Sonde.Outcome outcome = Sonde.in(folder).execute(List.of(link.toString(), "--version"));
        Files.delete(link);
        assertRuns(outcome);
    }

    @Test
    void withNativeAccessDeniedToAllOthers() throws Exception {
        Path checkout = Sonde.ROOT.resolve("build/image");
        Sonde.Outcome outcome =
                version(
                        checkout,
                        Map.of(
                                "SONDE_JAVA_FLAGS",
                                "--illegal-native-access=deny"
                                        + " --sun-misc-unsafe-memory-access=deny"));
        assertRuns(outcome);
        assertThat(
                        Sonde.in(folder)
                                .with(Map.of("SONDE_JAVA_FLAGS", "--illegal-native-access=deny"))
                                .execute(List.of(checkout.resolve("bin/sonde").toString(), "list"))
                                .status())
                .isZero();
    }

    @Test
    void sourcesThatOthersMayWriteAreRefusedAsRoot() throws Exception {
        assumeTrue(Files.isReadable(Path.of("/proc/1/environ")), "needs root");
        Path checkout = folder.resolve("checkout");
        Files.createDirectories(checkout.resolve("event/src/main/java"));
        Files.createDirectories(checkout.resolve("launcher"));
        Files.copy(Sonde.ROOT.resolve("sonde"), checkout.resolve("sonde"));
        shell(
                "chmod 755 '"
                        + checkout
                        + "/sonde'; chmod 777 '"
                        + checkout
                        + "/event/src/main/java'");
        Sonde.Outcome outcome =
                Sonde.in(folder)
                        .execute(List.of(checkout.resolve("sonde").toString(), "--version"));
        assertThat(outcome.status()).as("%s", outcome).isEqualTo(3);
        assertThat(outcome.err()).contains("event/src/main/java");
    }
}
