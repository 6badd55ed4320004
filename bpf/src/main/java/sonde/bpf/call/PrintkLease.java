package sonde.bpf.call;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import sonde.sys.Fd;
import sonde.sys.FileCalls;
import sonde.sys.SyscallException;

/**
 * Who uses {@link PrintkEvent} of all processes of this program: each holds a shared lock on a
 * file, which ends with it however it ends. The file has a byte while the event is on for them
 * alone, so one that was killed leaves it with a byte and without a lock.
 */
final class PrintkLease {
    private static final Path FOLDER = Path.of("/run/sonde");
    private static final String FILE = FOLDER.resolve("printk").toString();
    private static final Set<PosixFilePermission> OWNER =
            PosixFilePermissions.fromString("rwx------");
    private static final int OWN = 0600;

    private int fd = -1;

    /**
     * Begins to use it.
     *
     * @param on whether the event is on
     * @return whether it is on for others than this program's processes
     */
    boolean begin(boolean on) {
        try {
            folder();
            fd =
                    FileCalls.open(
                            FILE, FileCalls.O_RDWR | FileCalls.O_CREAT | FileCalls.O_NOFOLLOW, OWN);
            boolean alone = Fd.flock(fd, Fd.LOCK_EX | Fd.LOCK_NB);
            boolean ours = isMarked(fd);
            if (alone) {
                Fd.ftruncate(fd, !on || ours ? 1 : 0);
            }
            Fd.flock(fd, Fd.LOCK_SH);
            return on && !ours;
        } catch (IOException e) {
            // Nobody else can be told; for itself it remembers.
            return on;
        }
    }

    /**
     * Ends to use it.
     *
     * @param last what is done when no other process of this program uses it
     */
    void end(Runnable last) {
        int held = fd;
        fd = -1;
        if (held < 0) {
            last.run();
            return;
        }
        try {
            if (Fd.flock(held, Fd.LOCK_EX | Fd.LOCK_NB)) {
                last.run();
                Fd.ftruncate(held, 0);
            }
        } catch (SyscallException e) {
            last.run();
        } finally {
            Fd.discard(held);
        }
    }

    /** From now on it is on for somebody else. */
    void leave() {
        try {
            if (fd >= 0) {
                Fd.ftruncate(fd, 0);
            }
        } catch (SyscallException e) {
            // It is switched off then, as before a process of this program was killed.
            Fd.discard(fd);
            fd = -1;
        }
    }

    /** Whether a process of this program was killed while the event was on for it. */
    static boolean isLeftBehind() {
        try {
            int held = FileCalls.open(FILE, FileCalls.O_RDWR | FileCalls.O_NOFOLLOW);
            try {
                // Not locked for nothing: somebody may begin to use it at this moment.
                boolean left =
                        isMarked(held) && Fd.flock(held, Fd.LOCK_EX | Fd.LOCK_NB) && isMarked(held);
                if (left) {
                    Fd.ftruncate(held, 0);
                }
                return left;
            } finally {
                Fd.discard(held);
            }
        } catch (SyscallException e) {
            return false;
        }
    }

    private static boolean isMarked(int fd) throws SyscallException {
        return Fd.lseek(fd, 0, Fd.SEEK_END) > 0;
    }

    private static void folder() throws IOException {
        try {
            java.nio.file.Files.createDirectory(
                    FOLDER, PosixFilePermissions.asFileAttribute(OWNER));
        } catch (FileAlreadyExistsException e) {
            if (!java.nio.file.Files.isDirectory(FOLDER, LinkOption.NOFOLLOW_LINKS)) {
                throw e;
            }
        }
    }
}
