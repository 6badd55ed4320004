package sonde.probe.dynamic;

import java.io.IOException;
import java.util.HexFormat;
import sonde.binary.elf.ElfFile;
import sonde.sys.FileCalls;
import sonde.sys.FileStatus;
import sonde.sys.TargetFile;

/**
 * Which file a probe stands in, as a word for the notebook: device, inode and build-id, or the time
 * of the last change where there is none, then its path. The kernel holds the inode as long as the
 * probe is there, so that no later file has its number.
 */
final class ProbedFile {
    private ProbedFile() {}

    /** The identity of the file that was read; empty for the kernel. */
    static String of(ProbedObject subject) {
        TargetFile file = subject.isKernel() ? null : subject.file().orElse(null);
        ElfFile elf = subject.elf().orElse(null);
        return file == null || elf == null
                ? ""
                : identity(file.status(), elf) + " " + subject.path();
    }

    private static String identity(FileStatus status, ElfFile elf) {
        return status.deviceMajor()
                + ":"
                + status.deviceMinor()
                + ":"
                + status.inode()
                + ":"
                + elf.buildId().map(HexFormat.of()::formatHex).orElse("t" + status.modifiedNanos());
    }

    /** The path where another file, or none, is now; empty where nothing changed. */
    static String changed(String word) {
        int space = word.indexOf(' ');
        if (space < 0) {
            return "";
        }
        String path = word.substring(space + 1);
        return word.substring(0, space).equals(now(path)) ? "" : path;
    }

    private static String now(String path) {
        try {
            FileCalls.stat(path);
        } catch (IOException e) {
            return "gone";
        }
        try (TargetFile file = TargetFile.openTrusted(path, ProbedObject.MOST_BYTES)) {
            return identity(file.status(), ElfFile.of(file));
        } catch (IOException e) {
            return "unknown";
        }
    }
}
