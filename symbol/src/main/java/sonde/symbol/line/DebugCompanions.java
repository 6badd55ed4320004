package sonde.symbol.line;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.format.MalformedInputException;
import sonde.format.dwarf.code.DwarfCode;
import sonde.format.elf.ElfFile;
import sonde.sys.TargetFile;

/**
 * Finds the files that a file's debugging information is spread over: {@code .dwo} where the
 * compiler put them or beside the file, {@code FILE.dwp}, dwz's where the link says or below the
 * debug folders.
 */
final class DebugCompanions implements DwarfCode.Companions, AutoCloseable {
    private static final long MOST_BYTES = 64L << 30;

    /** Files that are open at once. */
    private static final int MOST_OPEN = 4096;

    private final Path file;
    private final List<Path> folders;
    private final List<TargetFile> open = new ArrayList<>();

    /**
     * @param file that has the debugging information
     * @param folders such as {@code /usr/lib/debug}
     */
    DebugCompanions(Path file, List<Path> folders) {
        this.file = file;
        this.folders = folders;
    }

    @Override
    public @Nullable ElfFile split(String folder, String name) throws IOException {
        if (name.isEmpty() || name.indexOf('\0') >= 0 || folder.indexOf('\0') >= 0) {
            return null;
        }
        Path stated = Path.of(folder).resolve(name);
        ElfFile found = openIfThere(stated);
        Path last = stated.getFileName();
        return found != null || last == null ? found : openIfThere(file.resolveSibling(last));
    }

    @Override
    public @Nullable ElfFile splitPackage() throws IOException {
        String name = String.valueOf(file.getFileName());
        ElfFile found = openIfThere(file.resolveSibling(name + ".dwp"));
        if (found == null && name.endsWith(".debug")) {
            String plain = name.substring(0, name.length() - ".debug".length());
            found = openIfThere(file.resolveSibling(plain + ".dwp"));
        }
        return found;
    }

    @Override
    public @Nullable ElfFile supplement(String name, byte[] buildId) throws IOException {
        if (name.indexOf('\0') >= 0) {
            return null;
        }
        List<Path> places = new ArrayList<>();
        // A relative name counts from where the file really lies, not from a link to it.
        Path real = Files.exists(file) ? file.toRealPath() : file;
        places.add(real.resolveSibling(name));
        String hex = HexFormat.of().formatHex(buildId);
        for (Path folder : folders) {
            if (hex.length() > 2) {
                String below = hex.substring(0, 2) + "/" + hex.substring(2) + ".debug";
                places.add(folder.resolve(".build-id").resolve(below));
            }
            int at = name.lastIndexOf(".dwz/");
            if (at >= 0) {
                places.add(folder.resolve(name.substring(at)));
            }
        }
        for (Path place : places) {
            ElfFile found = openIfThere(place);
            if (found != null && fits(found, buildId)) {
                return found;
            }
        }
        return null;
    }

    private static boolean fits(ElfFile elf, byte[] wanted) {
        byte[] found = elf.buildId().orElse(new byte[0]);
        // .debug_sup's id is of any kind; only dwz writes the build-id into it.
        return wanted.length == 0 || found.length == 0 || Arrays.equals(found, wanted);
    }

    private synchronized @Nullable ElfFile openIfThere(Path path) throws IOException {
        if (open.size() >= MOST_OPEN || !Files.isRegularFile(path)) {
            return null;
        }
        TargetFile target = TargetFile.openTrusted(path.toString(), MOST_BYTES);
        open.add(target);
        try {
            return ElfFile.of(target);
        } catch (MalformedInputException e) {
            return null;
        }
    }

    @Override
    public synchronized void close() {
        open.forEach(TargetFile::close);
        open.clear();
    }
}
