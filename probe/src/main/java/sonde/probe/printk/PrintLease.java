package sonde.probe.printk;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import sonde.sys.Fd;
import sonde.sys.FileCalls;
import sonde.sys.ProcessCalls;
import sonde.sys.SyscallException;

/**
 * Messages that are switched for a while. A locked file in /run/sonde has the queries that undo it,
 * from before the switching on; who finds it without a lock undoes what a killed process left.
 */
public final class PrintLease implements AutoCloseable {
    private static final Path FOLDER = Path.of("/run/sonde");
    private static final String PREFIX = "dyndbg-";
    private static final int OWN = 0600;
    private static final int MOST_BYTES = 64 << 20;

    private final DynamicDebug debug;
    private final Path file;
    private final int fd;
    private final List<String> undo;

    private PrintLease(DynamicDebug debug, Path file, int fd, List<String> undo) {
        this.debug = debug;
        this.file = file;
        this.fd = fd;
        this.undo = undo;
    }

    /** Switches, until it is closed. */
    public static PrintLease begin(DynamicDebug debug, List<String> queries, List<String> undo)
            throws IOException {
        folder();
        Path file = FOLDER.resolve(PREFIX + ProcessCalls.getpid() + "-" + System.nanoTime());
        int flags = FileCalls.O_RDWR | FileCalls.O_CREAT | FileCalls.O_NOFOLLOW;
        int fd = FileCalls.open(file.toString(), flags | FileCalls.O_EXCL, OWN);
        // Between these two another process may take the file for a dead one's; it is empty then.
        Fd.flock(fd, Fd.LOCK_EX);
        PrintLease lease = new PrintLease(debug, file, fd, List.copyOf(undo));
        try {
            String text = String.join("\n", undo) + "\n";
            Fd.writeFully(fd, text.getBytes(StandardCharsets.UTF_8));
            debug.write(queries);
            return lease;
        } catch (IOException | RuntimeException e) {
            lease.close();
            throw e;
        }
    }

    /** Switches back. */
    @Override
    public void close() throws IOException {
        try {
            debug.write(undo);
            Files.deleteIfExists(file);
        } finally {
            Fd.discard(fd);
        }
    }

    /**
     * Undoes what killed processes left.
     *
     * @return a line for each
     */
    public static List<String> removeLeftovers() {
        List<String> removed = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(FOLDER, PREFIX + "*")) {
            for (Path file : files) {
                int count = undo(file);
                if (count > 0) {
                    removed.add(count + " debug messages (dyndbg)");
                }
            }
        } catch (IOException e) {
            return removed; // no folder, or it is another user's
        }
        return removed;
    }

    private static int undo(Path file) throws SyscallException {
        int fd = FileCalls.open(file.toString(), FileCalls.O_RDWR | FileCalls.O_NOFOLLOW);
        try {
            if (!Fd.flock(fd, Fd.LOCK_EX | Fd.LOCK_NB)) {
                return 0; // in use
            }
            List<String> queries =
                    new String(FileCalls.readAll(fd, MOST_BYTES), StandardCharsets.UTF_8)
                            .lines()
                            .filter(line -> line.matches("module .* [+-][a-z]+"))
                            .toList();
            if (queries.isEmpty()) {
                return 0; // about to be used
            }
            var debug = DynamicDebug.find();
            if (debug.isPresent()) {
                debug.get().write(queries);
            }
            Files.deleteIfExists(file);
            return queries.size();
        } catch (IOException e) {
            return 0; // this user may not; root's next command does
        } finally {
            Fd.discard(fd);
        }
    }

    private static void folder() throws IOException {
        try {
            Files.createDirectory(
                    FOLDER,
                    PosixFilePermissions.asFileAttribute(
                            PosixFilePermissions.fromString("rwx------")));
        } catch (FileAlreadyExistsException e) {
            if (!Files.isDirectory(FOLDER, LinkOption.NOFOLLOW_LINKS)) {
                throw e;
            }
        }
    }
}
