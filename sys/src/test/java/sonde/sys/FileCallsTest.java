package sonde.sys;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Struct layouts and flags against the running kernel, with the JDK as the second opinion. */
@Execution(ExecutionMode.SAME_THREAD)
class FileCallsTest {
    @TempDir Path folder;

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void statxAgreesWithTheJdk() throws Exception {
        Path file = folder.resolve("ä");
        java.nio.file.Files.write(file, new byte[12345]);
        Map<String, Object> jdk = java.nio.file.Files.readAttributes(file, "unix:*");
        FileStatus status = FileCalls.stat(file.toString());
        assertThat(status.isRegular()).isTrue();
        assertThat(status.sizeBytes()).isEqualTo(12345);
        assertThat(status.mode()).isEqualTo(jdk.get("mode"));
        assertThat(status.inode()).isEqualTo(jdk.get("ino"));
        assertThat(status.links()).isEqualTo(jdk.get("nlink"));
        assertThat(status.uid()).isEqualTo(jdk.get("uid"));
        assertThat(status.gid()).isEqualTo(jdk.get("gid"));
        assertThat(((long) status.deviceMajor() << 8) | status.deviceMinor())
                .isEqualTo((long) jdk.get("dev"));
        assertThat(status.modifiedNanos() / 1000)
                .isEqualTo(
                        java.nio.file.Files.getLastModifiedTime(file)
                                .to(java.util.concurrent.TimeUnit.MICROSECONDS));
    }

    @Test
    void writesReadsMovesAndCuts() throws Exception {
        int fd =
                FileCalls.open(
                        folder.resolve("f").toString(),
                        FileCalls.O_RDWR | FileCalls.O_CREAT | FileCalls.O_EXCL,
                        0600);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocateFrom("hello world");
            Fd.writeFully(fd, text.asSlice(0, 11));
            assertThat(Fd.lseek(fd, 0, Fd.SEEK_CUR)).isEqualTo(11);
            MemorySegment vectors = arena.allocate(32, 8);
            for (int i = 0; i < 2; i++) {
                vectors.set(java.lang.foreign.ValueLayout.JAVA_LONG, i * 16L, text.address());
                vectors.set(java.lang.foreign.ValueLayout.JAVA_LONG, i * 16L + 8, 5);
            }
            assertThat(Fd.writev(fd, vectors, 2)).isEqualTo(10);
            assertThat(Fd.pwrite(fd, text.asSlice(0, 1), 20)).isEqualTo(1);
            MemorySegment back = arena.allocate(64);
            assertThat(Fd.pread(fd, back, 6)).isEqualTo(15);
            assertThat(new String(back.asSlice(0, 15).toArray(JAVA_BYTE), StandardCharsets.UTF_8))
                    .isEqualTo("worldhellohellh");
            Fd.ftruncate(fd, 3);
            assertThat(FileCalls.fstat(fd).sizeBytes()).isEqualTo(3);
            Fd.fchmod(fd, 0640);
            assertThat(FileCalls.fstat(fd).mode() & 0777).isEqualTo(0640);
            assertThat(Fd.fcntl(fd, Fd.F_GETFD, 0)).isEqualTo(Fd.FD_CLOEXEC);
        } finally {
            Fd.close(fd);
        }
        assertThatThrownBy(() -> Fd.close(fd))
                .isInstanceOfSatisfying(
                        SyscallException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EBADF));
    }

    @Test
    void worksRelativeToAnOpenDirectory() throws Exception {
        int dir = FileCalls.open(folder.toString(), FileCalls.O_RDONLY | FileCalls.O_DIRECTORY);
        try {
            byte[] odd = {'x', (byte) 0xff, (byte) 0xfe};
            FileCalls.mkdirat(dir, odd, 0700);
            assertThat(FileCalls.statx(dir, odd, 0).isDirectory()).isTrue();
            FileCalls.renameat2(dir, odd, dir, bytes("y"), FileCalls.RENAME_NOREPLACE);
            java.nio.file.Files.createSymbolicLink(folder.resolve("link"), Path.of("y"));
            assertThat(FileCalls.readlinkat(dir, bytes("link"))).isEqualTo(bytes("y"));
            assertThat(FileCalls.statx(dir, bytes("link"), FileCalls.AT_SYMLINK_NOFOLLOW).isLink())
                    .isTrue();
            assertErrno(
                    Errno.ELOOP,
                    () -> FileCalls.openat(dir, bytes("link"), FileCalls.O_NOFOLLOW, 0));
            assertErrno(
                    Errno.EEXIST,
                    () ->
                            FileCalls.renameat2(
                                    dir,
                                    bytes("link"),
                                    dir,
                                    bytes("y"),
                                    FileCalls.RENAME_NOREPLACE));
            FileCalls.unlinkat(dir, bytes("y"), FileCalls.AT_REMOVEDIR);
            assertErrno(Errno.ENOENT, () -> FileCalls.statx(dir, bytes("y"), 0));
            FileCalls.mkfifoat(dir, bytes("fifo"), 0600);
            assertThat(FileCalls.statx(dir, bytes("fifo"), 0).kind()).isEqualTo("a FIFO");
            assertThat(FileCalls.access(dir, bytes("fifo"), FileCalls.X_OK))
                    .isEqualTo(Errno.EACCES);
        } finally {
            Fd.close(dir);
        }
    }

    @Test
    void refusesANulInsideAName() {
        assertThatThrownBy(() -> FileCalls.open("/tmp\0/x", FileCalls.O_RDONLY))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void readsFilesThatStateNoSize() throws Exception {
        byte[] own = FileCalls.readAll("/proc/self/status", 1 << 20);
        assertThat(new String(own, StandardCharsets.UTF_8))
                .contains("Pid:\t" + ProcessHandle.current().pid() + "\n");
        assertThat(FileCalls.readAll("/dev/zero", 100_000)).hasSize(100_000).containsOnly(0);
    }

    @Test
    void statfsAgreesWithTheJdk() throws Exception {
        assertThat(FileCalls.statfs("/proc").type()).isEqualTo(FsStatus.PROC_SUPER_MAGIC);
        FsStatus status = FileCalls.statfs(folder.toString());
        var store = java.nio.file.Files.getFileStore(folder);
        assertThat(status.blocks() * status.blockBytes()).isEqualTo(store.getTotalSpace());
        assertThat(status.availableBytes()).isLessThanOrEqualTo(store.getTotalSpace());
    }

    @Test
    void namesWhatFailed() {
        assertThatThrownBy(() -> FileCalls.open("/no/such", FileCalls.O_RDONLY))
                .hasMessage("openat(/no/such): ENOENT (No such file or directory)");
    }

    static void assertErrno(int errno, org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        SyscallException.class, e -> assertThat(e.errno()).isEqualTo(errno));
    }
}
