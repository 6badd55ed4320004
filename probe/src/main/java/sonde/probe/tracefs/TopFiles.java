package sonde.probe.tracefs;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import sonde.sys.Errno;
import sonde.sys.Fd;
import sonde.sys.FileCalls;
import sonde.sys.SyscallException;

/**
 * Files of the top of tracefs, written for a while. {@link #PATH} is locked meanwhile and has what
 * they held before, from before the first write; who finds it without a lock puts it back.
 */
public final class TopFiles implements AutoCloseable {
    /** The journal: a line with the boot, then {@code file TAB value} each. */
    private static final Path FOLDER = Path.of("/run/sonde");

    static final Path PATH = FOLDER.resolve("ftrace");

    private static final int OWN = 0600;
    private static final int MOST_BYTES = 16 << 20;

    private final Tracefs tracefs;
    private final int fd;
    private final SequencedMap<String, List<String>> before = new LinkedHashMap<>();
    private boolean closed;

    private TopFiles(Tracefs tracefs, int fd) {
        this.tracefs = tracefs;
        this.fd = fd;
    }

    /**
     * Takes the lock.
     *
     * @throws SyscallException EBUSY while another sonde has it
     */
    static TopFiles lock(Tracefs tracefs) throws SyscallException {
        removeLeftovers(tracefs);
        try {
            Files.createDirectory(
                    FOLDER,
                    PosixFilePermissions.asFileAttribute(
                            PosixFilePermissions.fromString("rwx------")));
        } catch (IOException e) {
            if (!Files.isDirectory(FOLDER, LinkOption.NOFOLLOW_LINKS)) {
                throw new SyscallException("mkdir", FOLDER.toString(), Errno.EACCES);
            }
        }
        int flags = FileCalls.O_RDWR | FileCalls.O_CREAT | FileCalls.O_NOFOLLOW;
        int fd = FileCalls.open(PATH.toString(), flags | FileCalls.O_CLOEXEC, OWN);
        try {
            if (!Fd.flock(fd, Fd.LOCK_EX | Fd.LOCK_NB)) {
                throw new SyscallException(
                        "flock",
                        PATH + ", another sonde uses this tracer, which the kernel has only once",
                        Errno.EBUSY);
            }
            TopFiles files = new TopFiles(tracefs, fd);
            Fd.ftruncate(fd, 0);
            files.journal("boot\t" + InstanceName.bootId());
            return files;
        } catch (SyscallException e) {
            Fd.discard(fd);
            throw e;
        }
    }

    private void journal(String line) throws SyscallException {
        Fd.writeFully(fd, (line + "\n").getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Writes a value, and keeps what was there before the first one.
     *
     * @param appended whether it is added to a list
     */
    void write(String file, String value, boolean appended) throws SyscallException {
        List<String> old = before.get(file);
        if (old == null) {
            old = keep(file);
            if (appended && !old.isEmpty()) {
                put(tracefs, file, "", false); // the list is to be ours alone
            }
        }
        put(tracefs, file, value, appended);
    }

    /** Keeps what a file has before something else changes it. */
    List<String> keep(String file) throws SyscallException {
        List<String> known = before.get(file);
        if (known != null) {
            return known;
        }
        List<String> old = values(tracefs.text(file));
        before.put(file, old);
        for (String one : old.isEmpty() ? List.of("") : old) {
            journal(file + "\t" + one);
        }
        return old;
    }

    private static void put(Tracefs tracefs, String file, String value, boolean appended)
            throws SyscallException {
        boolean clears = value.isEmpty() && !appended;
        Tracefs.write(
                tracefs.root() + "/" + file,
                value + (value.isEmpty() ? "" : "\n"),
                FileCalls.O_WRONLY
                        | (appended ? FileCalls.O_APPEND : clears ? FileCalls.O_TRUNC : 0));
    }

    /**
     * What was written to get a text: one of a choice, a size ({@code 7 (expanded: 1408)}), or the
     * lines of a list without its remarks.
     */
    static List<String> values(String text) {
        String line = text.strip();
        int bracket = line.indexOf('[');
        if (bracket >= 0 && line.indexOf('\n') < 0) {
            return List.of(line.substring(bracket + 1, Math.max(line.indexOf(']'), bracket + 1)));
        }
        int expanded = line.indexOf("(expanded: ");
        if (expanded >= 0) {
            return List.of(line.substring(expanded + 11, line.length() - 1));
        }
        return line.lines()
                .filter(one -> !one.isBlank() && one.charAt(0) != '#' && !one.equals("no pid"))
                // Modules are behind the name: "nf_hook [nf_tables]"; counts: "f:traceoff:count=1".
                .map(one -> one.replaceFirst(" \\[.*", "").replace(":unlimited", ""))
                .map(one -> one.replace(":count=", ":"))
                .toList();
    }

    /** Puts everything back, the last written file first. */
    @Override
    public void close() throws SyscallException {
        if (closed) {
            return;
        }
        closed = true;
        try {
            restore(tracefs, before);
            FileCalls.unlinkat(FileCalls.AT_FDCWD, Tracefs.bytes(PATH.toString()), 0);
        } finally {
            Fd.discard(fd);
        }
    }

    private static void restore(Tracefs tracefs, SequencedMap<String, List<String>> before)
            throws SyscallException {
        SyscallException first = null;
        for (Map.Entry<String, List<String>> entry : before.reversed().entrySet()) {
            String file = entry.getKey();
            List<String> values = entry.getValue();
            boolean single = values.size() == 1 && !file.startsWith("set_");
            try {
                if (file.equals("tracing_on")) {
                    clear(tracefs);
                }
                if (!single) {
                    put(tracefs, file, "", false);
                }
                for (String value : values) {
                    put(tracefs, file, value, !single);
                }
            } catch (SyscallException e) {
                first = first == null ? e : first;
            }
        }
        if (first != null) {
            throw first;
        }
    }

    /** Empties the rings: opening with O_TRUNC does it, a write does nothing. */
    private static void clear(Tracefs tracefs) throws SyscallException {
        Fd.discard(
                FileCalls.open(tracefs.root() + "/trace", FileCalls.O_WRONLY | FileCalls.O_TRUNC));
    }

    /**
     * Puts back what a killed process left.
     *
     * @return the files
     */
    static List<String> removeLeftovers(Tracefs tracefs) {
        int fd;
        try {
            fd = FileCalls.open(PATH.toString(), FileCalls.O_RDWR | FileCalls.O_NOFOLLOW);
        } catch (SyscallException e) {
            return List.of(); // none, or this user may not
        }
        try {
            if (!Fd.flock(fd, Fd.LOCK_EX | Fd.LOCK_NB)) {
                return List.of(); // in use
            }
            SequencedMap<String, List<String>> before = new LinkedHashMap<>();
            String boot = "";
            for (String line :
                    new String(FileCalls.readAll(fd, MOST_BYTES), StandardCharsets.UTF_8)
                            .split("\n")) {
                String[] words = line.split("\t", 2);
                if (words.length < 2 || !words[0].matches("[\\w/.-]+") || words[0].contains("..")) {
                    continue;
                }
                if (words[0].equals("boot")) {
                    boot = words[1];
                } else {
                    List<String> values = before.computeIfAbsent(words[0], _ -> new ArrayList<>());
                    if (!words[1].isEmpty()) {
                        values.add(words[1]);
                    }
                }
            }
            boolean ours = !before.isEmpty() && boot.equals(InstanceName.bootId());
            if (ours) {
                restore(tracefs, before);
            }
            FileCalls.unlinkat(FileCalls.AT_FDCWD, Tracefs.bytes(PATH.toString()), 0);
            return ours ? List.copyOf(before.keySet()) : List.of();
        } catch (SyscallException e) {
            return List.of(); // this user may not; root's next command does
        } finally {
            Fd.discard(fd);
        }
    }
}
