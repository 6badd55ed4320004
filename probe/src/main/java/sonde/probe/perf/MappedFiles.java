package sonde.probe.perf;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import sonde.format.elf.ElfFile;
import sonde.format.perfdata.BuildId;
import sonde.sys.TargetFile;

/**
 * The executable files that mmap2 records named, and their build ids: {@code perf buildid-list} and
 * the tools behind it find the right debug files by them. Read when a recording ends.
 */
public final class MappedFiles {
    /** Files beyond these are left out; their names cost memory. */
    private static final int MAX_FILES = 2048;

    /** PATH_MAX of include/uapi/linux/limits.h. */
    static final int MAX_PATH_BYTES = 4096;

    private static final Path KERNEL_NOTES = Path.of("/sys/kernel/notes");
    private static final long MAX_ELF_BYTES = 4L << 30;
    private static final int NT_GNU_BUILD_ID = 3;
    private static final byte[] GNU = {'G', 'N', 'U', 0};

    private final Set<String> paths = new LinkedHashSet<>();

    /** None yet. */
    public MappedFiles() {}

    /** A file was mapped; {@code //anon}, {@code [vdso]} and the like are no files. */
    void mapped(String path) {
        if (path.startsWith("/") && !path.startsWith("//") && paths.size() < MAX_FILES) {
            paths.add(path);
        }
    }

    /** Build ids of the kernel and of the files that have one and can be opened. */
    public List<BuildId> buildIds() {
        HexFormat hex = HexFormat.of();
        List<BuildId> found = new ArrayList<>();
        kernelId()
                .ifPresent(id ->
                        found.add(new BuildId(-1, true, hex.formatHex(id), "[kernel.kallsyms]")));
        for (String path : paths) {
            fileId(path)
                    .ifPresent(id -> found.add(new BuildId(-1, false, hex.formatHex(id), path)));
        }
        return found;
    }

    private static Optional<byte[]> fileId(String path) {
        try (TargetFile file = TargetFile.open(path, MAX_ELF_BYTES)) {
            return ElfFile.of(file).buildId().filter(id -> id.length <= 20);
        } catch (IOException gone) {
            // Removed, not ours to read, or no ELF file: perf's list leaves it out too.
            return Optional.empty();
        }
    }

    private static Optional<byte[]> kernelId() {
        try {
            return note(ByteBuffer.wrap(Files.readAllBytes(KERNEL_NOTES)));
        } catch (IOException unreadable) {
            return Optional.empty();
        }
    }

    /** Elf64_Nhdr: u32 namesz, descsz, type; name and descriptor, each padded to 4 bytes. */
    static Optional<byte[]> note(ByteBuffer notes) {
        notes.order(ByteOrder.nativeOrder());
        while (notes.remaining() >= 12) {
            long nameBytes = Integer.toUnsignedLong(notes.getInt());
            long idBytes = Integer.toUnsignedLong(notes.getInt());
            int type = notes.getInt();
            long paddedName = nameBytes + 3 & -4;
            long paddedId = idBytes + 3 & -4;
            if (paddedName + paddedId > notes.remaining()) {
                return Optional.empty();
            }
            byte[] name = new byte[(int) nameBytes];
            notes.get(notes.position(), name);
            int at = notes.position() + (int) paddedName;
            if (type == NT_GNU_BUILD_ID && idBytes <= 20 && java.util.Arrays.equals(name, GNU)) {
                byte[] id = new byte[(int) idBytes];
                notes.get(at, id);
                return Optional.of(id);
            }
            notes.position(at + (int) paddedId);
        }
        return Optional.empty();
    }
}
