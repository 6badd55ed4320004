package sonde.lang.declare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import sonde.format.Input;
import sonde.format.dwarf.Dwarf;
import sonde.format.elf.DebugLink;
import sonde.format.elf.ElfFile;

/**
 * Finds the debugging information of a program: in itself, in a separate file (gdb manual,
 * "Separate Debug Files"), in the {@code .dwo} files that it names.
 */
final class DebugFiles {
    private static final Path SYSTEM = Path.of("/usr/lib/debug");
    private static final int MOST_SPLIT = 10_000;

    private final List<Path> folders;
    private final List<Input> open = new ArrayList<>();

    /**
     * @param folders to look in besides the usual ones; one that is not absolute also means that
     *     folder beside the program
     */
    DebugFiles(List<Path> folders) {
        this.folders = folders;
    }

    /** Files that stay mapped as long as their entries are used. */
    List<Input> open() {
        return open;
    }

    private ElfFile map(Path path) throws IOException {
        Input input = Input.open(path);
        open.add(input);
        return ElfFile.of(input.segment());
    }

    /** All there is; empty when there is none. */
    List<Dwarf> of(Path program) throws IOException {
        ElfFile elf = map(program);
        Dwarf own = Dwarf.read(elf);
        Path place = program;
        if (own.isEmpty()) {
            for (Path candidate : candidates(program, elf)) {
                Optional<Dwarf> other = separate(candidate, elf);
                if (other.isPresent()) {
                    own = other.get();
                    place = candidate;
                    break;
                }
            }
        }
        List<Dwarf> all = new ArrayList<>();
        all.add(own);
        for (String[] file : own.splitFiles().stream().limit(MOST_SPLIT).toList()) {
            split(place, file).ifPresent(all::add);
        }
        all.removeIf(Dwarf::isEmpty);
        return all;
    }

    private List<Path> candidates(Path program, ElfFile elf) throws IOException {
        List<Path> all = new ArrayList<>();
        Path folder = program.toAbsolutePath().normalize().getParent();
        Path name = program.getFileName();
        if (folder == null || name == null) {
            return all;
        }
        List<Path> roots = new ArrayList<>();
        for (Path stated : folders) {
            roots.add(stated);
            if (!stated.isAbsolute()) {
                roots.add(folder.resolve(stated));
            }
        }
        roots.add(SYSTEM);
        elf.buildId()
                .filter(id -> id.length > 1)
                .map(id -> HexFormat.of().formatHex(id))
                .ifPresent(id ->
                        roots.forEach(root ->
                                all.add(
                                        root.resolve(".build-id")
                                                .resolve(id.substring(0, 2))
                                                .resolve(id.substring(2) + ".debug"))));
        Optional<DebugLink> link = elf.debugLink();
        String linked = link.map(DebugLink::fileName).orElse(name + ".debug");
        all.add(folder.resolve(linked));
        all.add(folder.resolve(".debug").resolve(linked));
        for (Path root : roots) {
            all.add(root.resolve(linked));
            all.add(Path.of(root.toString(), folder.toString()).resolve(linked));
        }
        return all;
    }

    /** A file is another build's when both have a build-id and they differ. */
    private Optional<Dwarf> separate(Path candidate, ElfFile program) {
        if (!Files.isRegularFile(candidate)) {
            return Optional.empty();
        }
        try {
            ElfFile elf = map(candidate);
            Optional<byte[]> own = program.buildId();
            Optional<byte[]> other = elf.buildId();
            boolean differs =
                    own.isPresent() && other.isPresent() && !Arrays.equals(own.get(), other.get());
            Dwarf dwarf = Dwarf.read(elf);
            return differs || dwarf.isEmpty() ? Optional.empty() : Optional.of(dwarf);
        } catch (IOException e) {
            // No ELF file: the next candidate may be one.
            return Optional.empty();
        }
    }

    /** As the compiler named it, or beside the program. */
    private Optional<Dwarf> split(Path program, String[] file) {
        try {
            Path named = Path.of(file[0]).resolve(file[1]);
            Path beside = program.resolveSibling(String.valueOf(named.getFileName()));
            for (Path path : List.of(named, beside)) {
                if (Files.isRegularFile(path)) {
                    return Optional.of(Dwarf.readSplit(map(path)));
                }
            }
            Path together = program.resolveSibling(program.getFileName() + ".dwp");
            if (Files.isRegularFile(together)) {
                return Optional.of(Dwarf.readSplit(map(together)));
            }
        } catch (IOException | InvalidPathException e) {
            // What it has is missing, the rest is there.
            return Optional.empty();
        }
        return Optional.empty();
    }
}
