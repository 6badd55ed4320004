package sonde.probe.launch;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.sys.Errno;
import sonde.sys.Fd;
import sonde.sys.FileCalls;
import sonde.sys.FileStatus;
import sonde.sys.ProcessCalls;
import sonde.sys.SyscallException;

/**
 * The folder of a recording, made in a directory others may write to. The parent is opened once and
 * everything is named relative to open directories, so nobody can slip another folder in between.
 * The folder has mode 0700, its files 0600; names that exist are never reused; at the end all
 * belongs to who called sudo.
 */
public final class OutputFolder implements AutoCloseable {
    /** Flags of a new file: it must not exist, not even as a link that leads nowhere. */
    private static final int NEW = FileCalls.O_CREAT | FileCalls.O_EXCL | FileCalls.O_NOFOLLOW;

    private static final int FOLDER =
            FileCalls.O_RDONLY | FileCalls.O_DIRECTORY | FileCalls.O_NOFOLLOW;
    private static final String SUFFIX = ".sonde";
    private static final int LAST_NUMBER = 9999;

    private final Path path;
    private final int fd;

    private OutputFolder(Path path, int fd) {
        this.path = path;
        this.fd = fd;
    }

    /**
     * Makes {@code NAME.sonde} in the parent, or {@code NAME-2.sonde}, {@code NAME-3.sonde}… when
     * there is one.
     *
     * @param parent an existing directory; links in it are followed, it is the user's own word
     * @param name without the suffix; characters other than letters, digits and {@code ._+-} become
     *     {@code _}
     */
    public static OutputFolder next(Path parent, String name) throws SyscallException {
        String stem = name.replaceAll("[^\\p{L}\\p{Nd}._+-]", "_");
        if (stem.isEmpty() || stem.startsWith(".")) {
            stem = "_" + stem;
        }
        return free(parent, stem.substring(0, Math.min(stem.length(), 60)));
    }

    /** As {@link #next}, by a name that the user gave: only control characters become {@code _}. */
    public static OutputFolder asked(Path parent, String name) throws SyscallException {
        return free(parent, name.replaceAll("\\p{Cntrl}", "_"));
    }

    private static OutputFolder free(Path parent, String stem) throws SyscallException {
        int parentFd =
                FileCalls.open(parent.toString(), FileCalls.O_RDONLY | FileCalls.O_DIRECTORY);
        try {
            for (int number = 1; ; number++) {
                String file = stem + (number == 1 ? "" : "-" + number) + SUFFIX;
                try {
                    return make(parentFd, parent.resolve(file), bytes(file));
                } catch (SyscallException e) {
                    if (e.errno() != Errno.EEXIST || number == LAST_NUMBER) {
                        throw e;
                    }
                }
            }
        } finally {
            Fd.discard(parentFd);
        }
    }

    /**
     * Makes exactly that folder.
     *
     * @throws SyscallException EEXIST when there is something of that name, whatever it is
     */
    public static OutputFolder exactly(Path folder) throws SyscallException {
        Path absolute = folder.toAbsolutePath().normalize();
        Path parent = absolute.getParent();
        Path last = absolute.getFileName();
        if (parent == null || last == null) {
            throw new SyscallException("mkdirat", folder.toString(), Errno.EEXIST);
        }
        int parentFd =
                FileCalls.open(parent.toString(), FileCalls.O_RDONLY | FileCalls.O_DIRECTORY);
        try {
            return make(parentFd, folder, bytes(last.toString()));
        } finally {
            Fd.discard(parentFd);
        }
    }

    private static OutputFolder make(int parentFd, Path path, byte[] name) throws SyscallException {
        FileCalls.mkdirat(parentFd, name, 0700);
        int fd = FileCalls.openat(parentFd, name, FOLDER, 0);
        // Who may write to the parent may have renamed ours away and put another in its place.
        FileStatus status = FileCalls.fstat(fd);
        if (status.uid() != ProcessCalls.geteuid() || (status.mode() & 0077) != 0) {
            Fd.discard(fd);
            throw new SyscallException("mkdirat", path.toString(), Errno.EACCES);
        }
        return new OutputFolder(path, fd);
    }

    private static byte[] bytes(String name) {
        return name.getBytes(StandardCharsets.UTF_8);
    }

    /** Where it was made. */
    public Path path() {
        return path;
    }

    /** The open directory, for calls relative to it; closed with this object. */
    public int fd() {
        return fd;
    }

    /**
     * Makes a file and opens it for reading and writing; the descriptor is the caller's to close.
     *
     * @param name without a slash
     */
    public int file(String name) throws SyscallException {
        return FileCalls.openat(fd, plain(name), NEW | FileCalls.O_RDWR, 0600);
    }

    /** Makes a folder in this one and opens it. */
    public OutputFolder folder(String name) throws SyscallException {
        return make(fd, path.resolve(name), plain(name));
    }

    /**
     * Renames within the folder, replacing: for files that are first written under another name.
     */
    public void rename(String from, String to) throws SyscallException {
        FileCalls.renameat2(fd, plain(from), fd, plain(to), 0);
    }

    /** Removes a file. */
    public void delete(String name) throws SyscallException {
        FileCalls.unlinkat(fd, plain(name), 0);
    }

    private static byte[] plain(String name) {
        if (name.indexOf('/') >= 0 || name.isEmpty() || name.equals(".") || name.equals("..")) {
            throw new IllegalArgumentException("not a plain name: " + name);
        }
        return bytes(name);
    }

    /**
     * Gives the folder's files, and the folder last, to the user who called sudo; without sudo
     * nothing changes.
     */
    public void giveToCaller() throws SyscallException {
        Caller caller = Caller.find();
        if (caller == null) {
            return;
        }
        for (String name : names()) {
            int flags = FileCalls.O_RDONLY | FileCalls.O_NOFOLLOW | FileCalls.O_NONBLOCK;
            int file = FileCalls.openat(fd, bytes(name), flags, 0);
            try {
                Fd.fchown(file, caller.uid(), caller.gid());
            } finally {
                Fd.discard(file);
            }
        }
        Fd.fchown(fd, caller.uid(), caller.gid());
    }

    /**
     * Makes a file of the folder its only trace: {@code STEM.dat} beside it, or {@code STEM-2.dat}…
     * where there is one. The folder goes.
     *
     * @return where the file is
     */
    public Path leaveOnly(String name, String stem) throws SyscallException {
        for (int number = 1; ; number++) {
            Path file = path.resolveSibling(stem + (number == 1 ? "" : "-" + number) + ".dat");
            try {
                FileCalls.renameat2(
                        fd,
                        plain(name),
                        FileCalls.AT_FDCWD,
                        bytes(file.toString()),
                        FileCalls.RENAME_NOREPLACE);
                deleteAll();
                return file;
            } catch (SyscallException e) {
                if (e.errno() != Errno.EEXIST || number == LAST_NUMBER) {
                    throw e;
                }
            }
        }
    }

    /** Removes the folder and the files in it: nothing came of the recording. */
    public void deleteAll() throws SyscallException {
        for (String name : names()) {
            FileCalls.unlinkat(fd, bytes(name), 0);
        }
        FileCalls.unlinkat(FileCalls.AT_FDCWD, bytes(path.toString()), FileCalls.AT_REMOVEDIR);
    }

    private List<String> names() {
        String[] names = new java.io.File("/proc/self/fd/" + fd).list();
        return names == null ? List.of() : List.of(names);
    }

    @Override
    public void close() {
        Fd.discard(fd);
    }

    /** Who called sudo. */
    record Caller(int uid, int gid) {
        static @Nullable Caller find() {
            String uid = System.getenv("SUDO_UID");
            String gid = System.getenv("SUDO_GID");
            boolean stated = uid != null && gid != null;
            if (!stated || ProcessCalls.geteuid() != 0) {
                return null;
            }
            if (!uid.matches("[0-9]{1,9}") || !gid.matches("[0-9]{1,9}")) {
                return null;
            }
            return new Caller(Integer.parseInt(uid), Integer.parseInt(gid));
        }
    }
}
