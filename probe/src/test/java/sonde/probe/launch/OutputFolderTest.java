package sonde.probe.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.sys.Errno;
import sonde.sys.Fd;
import sonde.sys.SyscallException;

class OutputFolderTest {
    @TempDir Path parent;

    private static String mode(Path path) throws Exception {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
    }

    @Test
    void isForItsOwnerOnly() throws Exception {
        try (OutputFolder folder = OutputFolder.next(parent, "ls")) {
            Fd.close(folder.file("trace.dat"));
            try (OutputFolder index = folder.folder("index")) {
                Fd.close(index.file("a"));
            }
            assertThat(folder.path()).isEqualTo(parent.resolve("ls.sonde"));
            assertThat(mode(folder.path())).isEqualTo("rwx------");
            assertThat(mode(folder.path().resolve("trace.dat"))).isEqualTo("rw-------");
            assertThat(folder.path().resolve("index/a")).isEmptyFile();
        }
    }

    @Test
    void takesTheNextNumberWhateverIsThere() throws Exception {
        Files.createDirectory(parent.resolve("x.sonde"));
        Files.createSymbolicLink(parent.resolve("x-2.sonde"), parent.resolve("nowhere"));
        Files.createFile(parent.resolve("x-3.sonde"));
        try (OutputFolder folder = OutputFolder.next(parent, "x")) {
            assertThat(folder.path()).isEqualTo(parent.resolve("x-4.sonde"));
        }
        assertThat(parent.resolve("nowhere")).doesNotExist();
    }

    @Test
    void refusesAFolderThatIsThere() throws Exception {
        Files.createDirectory(parent.resolve("mine"));
        Files.createSymbolicLink(parent.resolve("link"), parent.resolve("mine"));
        for (String name : new String[] {"mine", "link", "mine/", "."}) {
            assertThatThrownBy(() -> OutputFolder.exactly(parent.resolve(name)))
                    .isInstanceOfSatisfying(
                            SyscallException.class,
                            e -> assertThat(e.errno()).isEqualTo(Errno.EEXIST));
        }
    }

    @Test
    void neverOpensAFileThatIsThere() throws Exception {
        Path victim = Files.writeString(parent.resolve("victim"), "kept");
        try (OutputFolder folder = OutputFolder.next(parent, "x")) {
            Files.createSymbolicLink(folder.path().resolve("trace.dat"), victim);
            assertThatThrownBy(() -> folder.file("trace.dat"))
                    .isInstanceOfSatisfying(
                            SyscallException.class,
                            e -> assertThat(e.errno()).isEqualTo(Errno.EEXIST));
            assertThatThrownBy(() -> folder.file("../y"))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThat(victim).hasContent("kept");
    }

    @Test
    void keepsItsFilesTogetherWhenItIsMoved() throws Exception {
        try (OutputFolder folder = OutputFolder.next(parent, "x")) {
            Files.move(folder.path(), parent.resolve("moved"));
            Files.createDirectory(folder.path());
            Fd.close(folder.file("perf.data"));
            assertThat(parent.resolve("moved/perf.data")).exists();
            assertThat(folder.path()).isEmptyDirectory();
        }
    }

    @Test
    void makesAPlainNameOfACommand() throws Exception {
        try (OutputFolder folder = OutputFolder.next(parent, "../a b\n")) {
            assertThat(folder.path().getFileName()).hasToString("_.._a_b_.sonde");
        }
    }

    @Test
    void keepsANameThatWasGiven() throws Exception {
        try (OutputFolder folder = OutputFolder.asked(parent, "a b, (ü)\n")) {
            assertThat(folder.path().getFileName()).hasToString("a b, (ü)_.sonde");
        }
    }

    @Tag("kernel")
    @Test
    void belongsToTheCallerOfSudo() throws Exception {
        String script = "SUDO_UID=1234 SUDO_GID=1235 " + Shell.launch("folder ");
        Shell.Outcome outcome = Shell.run(parent, script + parent + " name");
        assertThat(outcome.output()).isEmpty();
        Path folder = parent.resolve("name.sonde");
        assertThat(Files.getAttribute(folder, "unix:uid")).isEqualTo(1234);
        assertThat(Files.getAttribute(folder.resolve("file"), "unix:uid")).isEqualTo(1234);
        assertThat(Files.getAttribute(folder.resolve("file"), "unix:gid")).isEqualTo(1235);
    }
}
