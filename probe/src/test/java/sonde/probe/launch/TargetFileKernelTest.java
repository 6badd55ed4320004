package sonde.probe.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sonde.sys.Errno;
import sonde.sys.FileCalls;
import sonde.sys.ProcessCalls;
import sonde.sys.SyscallException;
import sonde.sys.TargetFile;

/** Files of a process of another user, whose names and contents that user chooses. */
@Tag("kernel")
@Timeout(20)
class TargetFileKernelTest {
    private static final int NOBODY = 65534;

    @TempDir Path folder;
    private Process process;
    private int pid;
    private Path map;

    @BeforeEach
    void start() throws Exception {
        assumeTrue(ProcessCalls.geteuid() == 0, "needs root to start another user's process");
        process =
                new ProcessBuilder("setpriv", "--reuid=65534", "--clear-groups", "sleep", "60")
                        .start();
        pid = (int) process.pid();
        while (!Files.readString(Path.of("/proc/" + pid + "/comm")).equals("sleep\n")) {
            Thread.sleep(5);
        }
        map = Path.of("/tmp/perf-" + pid + ".map");
        Files.deleteIfExists(map);
    }

    @AfterEach
    void stop() throws Exception {
        if (process != null) {
            process.destroyForcibly();
            Files.deleteIfExists(map);
        }
    }

    private String root() {
        return "/proc/" + pid + "/root";
    }

    private static byte[] bytes(Path path) {
        return path.toString().getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void readsARegularFile() throws Exception {
        Path file = Files.writeString(folder.resolve("elf"), "content");
        try (TargetFile open = TargetFile.openIn(root(), bytes(file), 100)) {
            assertThat(new String(open.read(100), StandardCharsets.UTF_8)).isEqualTo("content");
        }
    }

    @Test
    void refusesLinksFifosDevicesAndBigFiles() throws Exception {
        Path link = Files.createSymbolicLink(folder.resolve("link"), Path.of("/etc/shadow"));
        Path fifo = folder.resolve("fifo");
        FileCalls.mkfifoat(FileCalls.AT_FDCWD, bytes(fifo), 0666);
        Path big = folder.resolve("big");
        try (RandomAccessFile file = new RandomAccessFile(big.toFile(), "rw")) {
            file.setLength(10_000_000_000L);
        }
        assertRefused(link, "a symbolic link, not a regular file");
        assertRefused(fifo, "a FIFO, not a regular file");
        assertRefused(Path.of("/dev/zero"), "a character device, not a regular file");
        assertRefused(folder, "a directory, not a regular file");
        assertRefused(big, "10000000000 bytes, more than the 8589934592 that are read");
        assertRefused(Path.of("relative"), "not an absolute path");
        assertRefused(Path.of("/proc/" + pid + "/root/etc/passwd"), "ELOOP");
        assertThatThrownBy(() -> TargetFile.openIn("/proc/134217727/root", bytes(big), 1))
                .isInstanceOfSatisfying(
                        SyscallException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOENT));
    }

    private void assertRefused(Path path, String reason) {
        assertThatThrownBy(() -> TargetFile.openIn(root(), bytes(path), 8L << 30))
                .hasMessageContaining(reason);
    }

    @Test
    void followsLinksOnlyWithinTheProcessesRoot() throws Exception {
        Path root = Files.createDirectories(folder.resolve("root"));
        Files.createDirectory(root.resolve("etc"));
        Files.writeString(root.resolve("etc/passwd"), "inner");
        Files.createSymbolicLink(root.resolve("absolute"), Path.of("/etc"));
        Files.createSymbolicLink(root.resolve("up"), Path.of("../../../../../../etc"));
        int fd = FileCalls.open(root.toString(), FileCalls.O_PATH | FileCalls.O_DIRECTORY);
        for (String path : new String[] {"/absolute/passwd", "/up/passwd", "/../etc/passwd"}) {
            int inner = FileCalls.openInRoot(fd, path.getBytes(StandardCharsets.UTF_8), 0);
            assertThat(FileCalls.readAll(inner, 100)).asString().isEqualTo("inner");
            sonde.sys.Fd.close(inner);
        }
        sonde.sys.Fd.close(fd);
    }

    @Test
    void takesAPerfMapOfTheProcessesUserOrRoot() throws Exception {
        assertThat(PerfMapFile.open(pid)).isNull();
        Files.writeString(map, "1000 10 a\n");
        try (TargetFile open = PerfMapFile.open(pid)) {
            assertThat(open).isNotNull();
            assertThat(open.status().uid()).isZero();
        }
        Files.setAttribute(map, "unix:uid", NOBODY);
        try (TargetFile open = PerfMapFile.open(pid)) {
            assertThat(open).isNotNull();
            assertThat(open.read(4)).asString().isEqualTo("1000");
        }
        Files.setAttribute(map, "unix:uid", 4711);
        assertThatThrownBy(() -> PerfMapFile.open(pid))
                .hasMessageContaining("belongs to user 4711, neither")
                .hasMessageContaining("65534");
    }

    @Test
    void refusesASparseMapOfTenGigabytes() throws Exception {
        try (RandomAccessFile file = new RandomAccessFile(map.toFile(), "rw")) {
            file.setLength(10L << 30);
        }
        assertThatThrownBy(() -> PerfMapFile.open(pid))
                .hasMessageContaining("10737418240 bytes, more than the 67108864");
    }

    @Test
    void refusesAMapThatIsALink() throws Exception {
        Files.createSymbolicLink(map, Path.of("/etc/shadow"));
        assertThatThrownBy(() -> PerfMapFile.open(pid)).hasMessageContaining("a symbolic link");
    }
}
