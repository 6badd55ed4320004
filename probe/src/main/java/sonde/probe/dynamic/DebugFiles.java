package sonde.probe.dynamic;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.format.Input;
import sonde.format.MalformedInputException;
import sonde.format.dwarf.location.Entries;
import sonde.format.elf.DebugLink;
import sonde.format.elf.ElfFile;
import sonde.format.elf.Section;

/** The debugging information of a program: in itself, or in the file that was split from it. */
final class DebugFiles implements AutoCloseable {
    private static final Path SYSTEM = Path.of("/usr/lib/debug");

    private final List<Path> folders;
    private final List<Input> open = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();

    /** With folders to look in besides the usual ones. */
    DebugFiles(List<Path> folders) {
        this.folders = folders;
    }

    /** What has entries, and the file that they are in. */
    record Found(Entries entries, ElfFile elf, String path) {}

    /** What was found and did not fit. */
    List<String> notes() {
        return notes;
    }

    private ElfFile map(Path path) throws IOException {
        Input input = Input.open(path);
        open.add(input);
        return ElfFile.of(input.segment());
    }

    /** The entries of a program; of the file itself, without units, when there are none. */
    Found of(ElfFile elf, String path) throws IOException {
        Entries own = entries(elf, path);
        if (!own.units().isEmpty()) {
            return new Found(own, elf, path);
        }
        for (Path candidate : candidates(elf, path)) {
            Found found = separate(candidate, elf);
            if (found != null) {
                return found;
            }
        }
        return new Found(own, elf, path);
    }

    /** The entries of one file, with its supplementary and split files. */
    Entries entries(ElfFile elf, String path) throws IOException {
        ElfFile supplement = supplement(elf, path);
        Entries entries = supplement == null ? Entries.read(elf) : Entries.read(elf, supplement);
        Path place = Path.of(path);
        entries.join((folder, name, _) -> split(place, folder, name));
        return entries;
    }

    private Optional<ElfFile> split(Path program, String folder, String name) {
        try {
            Path named = Path.of(folder).resolve(name);
            Path beside = program.resolveSibling(String.valueOf(named.getFileName()));
            for (Path path : List.of(named, beside)) {
                if (Files.isRegularFile(path)) {
                    return Optional.of(map(path));
                }
            }
        } catch (IOException | InvalidPathException e) {
            notes.add(name + ": " + e.getMessage());
        }
        return Optional.empty();
    }

    /** The file that {@code .gnu_debugaltlink} names: a path, a zero, and its build-id. */
    private @Nullable ElfFile supplement(ElfFile elf, String path) {
        try {
            Section section = elf.section(".gnu_debugaltlink").orElse(null);
            if (section == null || section.sizeBytes() > 8192) {
                return null;
            }
            ByteBuffer bytes = elf.content(section).asByteBuffer();
            byte[] all = new byte[bytes.remaining()];
            bytes.get(all);
            int end = 0;
            while (end < all.length && all[end] != 0) {
                end++;
            }
            String name = new String(all, 0, end, StandardCharsets.UTF_8);
            Path named = Path.of(path).toRealPath().resolveSibling(name).normalize();
            List<Path> places = new ArrayList<>(List.of(named));
            for (Path folder : folders) {
                places.add(folder.resolve(".dwz").resolve(String.valueOf(named.getFileName())));
            }
            byte[] wanted = Arrays.copyOfRange(all, Math.min(end + 1, all.length), all.length);
            for (Path place : places) {
                if (Files.isRegularFile(place)) {
                    ElfFile other = map(place);
                    if (Arrays.equals(other.buildId().orElse(wanted), wanted)) {
                        return other;
                    }
                    notes.add(place + ": of another build than " + path);
                }
            }
            notes.add(path + ": its shared types are in " + name + ", which is not there");
        } catch (IOException | InvalidPathException e) {
            notes.add(path + ": " + e.getMessage());
        }
        return null;
    }

    private List<Path> candidates(ElfFile elf, String path) throws MalformedInputException {
        List<Path> all = new ArrayList<>();
        Path program = Path.of(path).toAbsolutePath().normalize();
        Path folder = program.getParent();
        Path name = program.getFileName();
        if (folder == null || name == null) {
            return all;
        }
        List<Path> roots = new ArrayList<>(folders);
        roots.add(SYSTEM);
        elf.buildId()
                .filter(id -> id.length > 1)
                .map(id -> HexFormat.of().formatHex(id))
                .ifPresent(id -> {
                    String rest = id.substring(0, 2) + "/" + id.substring(2) + ".debug";
                    roots.forEach(root -> all.add(root.resolve(".build-id/" + rest)));
                });
        String linked = elf.debugLink().map(DebugLink::fileName).orElse(name + ".debug");
        all.add(folder.resolve(linked));
        all.add(folder.resolve(".debug").resolve(linked));
        for (Path root : roots) {
            all.add(root.resolve(linked));
            all.add(root.resolve(name));
            all.add(Path.of(root.toString(), folder.toString()).resolve(linked));
            all.add(Path.of(root.toString(), program.toString()));
        }
        return all;
    }

    /** A file is another build's when both have a build-id and they differ. */
    private @Nullable Found separate(Path candidate, ElfFile program) {
        if (!Files.isRegularFile(candidate)) {
            return null;
        }
        try {
            ElfFile elf = map(candidate);
            byte[] wanted = program.buildId().orElse(null);
            byte[] there = elf.buildId().orElse(null);
            if (wanted != null && there != null && !Arrays.equals(wanted, there)) {
                HexFormat hex = HexFormat.of();
                notes.add(
                        candidate
                                + ": is of build "
                                + hex.formatHex(there)
                                + ", wanted is "
                                + hex.formatHex(wanted));
                return null;
            }
            Entries entries = entries(elf, candidate.toString());
            return entries.units().isEmpty() ? null : new Found(entries, elf, candidate.toString());
        } catch (IOException e) {
            notes.add(candidate + ": " + e.getMessage());
            return null;
        }
    }

    @Override
    public void close() {
        open.forEach(Input::close);
    }
}
