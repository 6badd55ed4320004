package sonde.probe.launch;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import sonde.probe.tracefs.InstanceName;
import sonde.sys.ProcessCalls;

/**
 * A folder for what this process makes, 0700, which goes with it. Its name says whose it is, so
 * that {@link #sweep} knows what killed processes left; that is done whenever a folder is made
 * beside.
 */
public final class ScratchFolder implements AutoCloseable {
    /** Hidden, for it may lie in a folder of the user. */
    private static final String PREFIX = ".";

    private static final AtomicInteger NEXT = new AtomicInteger();

    private final Path path;
    private final Thread hook;

    private ScratchFolder(Path path) {
        this.path = path;
        this.hook = new Thread(this::delete, "sonde-scratch");
    }

    /** In the folder for temporary files. */
    public static ScratchFolder temporary(String word) throws IOException {
        return in(temporaryFiles(), word);
    }

    /**
     * In a folder.
     *
     * @param word lower-case letters that say what for
     */
    public static ScratchFolder in(Path parent, String word) throws IOException {
        sweep(parent);
        InstanceName name = InstanceName.ofThisProcess(word + NEXT.incrementAndGet());
        ScratchFolder made = new ScratchFolder(parent.resolve(PREFIX + name));
        Files.createDirectory(
                made.path,
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Runtime.getRuntime().addShutdownHook(made.hook);
        return made;
    }

    /** Where temporary files are made. */
    public static Path temporaryFiles() {
        return Path.of(System.getProperty("java.io.tmpdir"));
    }

    /**
     * Removes folders in a folder that dead processes of this user left.
     *
     * @return those removed
     */
    public static List<Path> sweep(Path parent) {
        List<Path> removed = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(parent, PREFIX + "sonde-*")) {
            for (Path one : all) {
                String name = String.valueOf(one.getFileName()).substring(PREFIX.length());
                boolean dead =
                        InstanceName.parse(name).filter(InstanceName::isLeftover).isPresent();
                if (dead && isOwn(one)) {
                    delete(one);
                    removed.add(one);
                }
            }
        } catch (IOException | java.nio.file.DirectoryIteratorException e) {
            return removed; // what cannot be looked at or removed stays
        }
        return removed;
    }

    private static boolean isOwn(Path folder) throws IOException {
        Object uid = Files.getAttribute(folder, "unix:uid", LinkOption.NOFOLLOW_LINKS);
        return uid.equals(ProcessCalls.geteuid())
                && Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS);
    }

    /** Where it is. */
    public Path path() {
        return path;
    }

    @Override
    public void close() {
        delete();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            return; // the JVM is going down, and the hook finds nothing
        }
    }

    private void delete() {
        try {
            delete(path);
        } catch (IOException e) {
            return; // the next sweep takes it
        }
    }

    /**
     * Relative to opened folders: what others put in the place of one on the way is not entered.
     */
    private static void delete(Path folder) throws IOException {
        Path parent = folder.toAbsolutePath().getParent();
        Path name = folder.getFileName();
        if (parent == null || name == null) {
            return;
        }
        try (DirectoryStream<Path> above = Files.newDirectoryStream(parent)) {
            if (above instanceof SecureDirectoryStream<Path> secure) {
                delete(secure, name);
            }
        } catch (NoSuchFileException e) {
            return; // somebody else swept
        }
    }

    private static void delete(SecureDirectoryStream<Path> above, Path folder) throws IOException {
        LinkOption no = LinkOption.NOFOLLOW_LINKS;
        try (SecureDirectoryStream<Path> files = above.newDirectoryStream(folder, no)) {
            for (Path file : files) {
                Path name = file.getFileName();
                if (files.getFileAttributeView(name, BasicFileAttributeView.class, no)
                        .readAttributes()
                        .isDirectory()) {
                    delete(files, name);
                } else {
                    files.deleteFile(name);
                }
            }
        }
        above.deleteDirectory(folder);
    }
}
