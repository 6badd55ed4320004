package sonde.symbol;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.binary.elf.ElfFile;
import sonde.symbol.ModuleImages.ImageReading;
import sonde.symbol.files.DebugFile;
import sonde.symbol.files.DebugFileRequest;
import sonde.symbol.files.DebugSearch;
import sonde.symbol.files.FilePlace;
import sonde.symbol.files.OpenElf;
import sonde.symbol.files.RequiredContent;
import sonde.sys.Errno;
import sonde.sys.FileStatus;
import sonde.sys.SyscallException;
import sonde.sys.TargetFile;

/**
 * Finds the file that was mapped and the file with its symbols. A file that is not certainly the
 * one that ran is not used: wrong names are worse than none.
 */
final class ModuleFiles {
    private final SymbolOptions options;
    private final DebugSearch search;
    private final List<String> notes = new ArrayList<>();

    private final FunctionTable.Aliases aliases;

    ModuleFiles(SymbolOptions options, FunctionTable.Aliases aliases) {
        this.options = options;
        this.search = new DebugSearch(options.search());
        this.aliases = aliases;
    }

    /** What a reader should know of modules that have no names, one line each. */
    List<String> notes() {
        return notes;
    }

    /** Symbols of a file module; without any when there is no file that fits. */
    ModuleSymbols load(CodeModule module) {
        String name = ModuleSymbols.printable(module.shortName());
        String path = module.mapping().path();
        // A file is the same one through the process's root and from here.
        Set<String> refused = new LinkedHashSet<>();
        Optional<ModuleSymbols> found =
                first(
                        module,
                        refused,
                        (place, elf) -> {
                            Optional<ModuleSymbols> symbols = symbols(name, place, elf);
                            if (symbols.isEmpty()) {
                                String why =
                                        elf.isCut()
                                                ? elf.cut()
                                                : "is stripped, and has no debug file here";
                                refused.add(place.path() + " " + why);
                            }
                            return symbols;
                        });
        if (found.isPresent()) {
            return found.get();
        }
        String why = reason(refused);
        boolean itself = refused.size() == 1 && why.startsWith(path + " is stripped");
        notes.add(
                ModuleSymbols.printable(
                        itself ? "no symbols: " + why : "no symbols for " + path + ": " + why));
        return ModuleSymbols.unknown(name);
    }

    /** Reads the file that was mapped; empty when there is none that fits. */
    <T> Optional<T> read(CodeModule module, ImageReading<T> reading) {
        Set<String> refused = new LinkedHashSet<>();
        Optional<T> found = first(module, refused, (place, elf) -> Optional.of(reading.read(elf)));
        if (found.isEmpty()) {
            String path = module.mapping().path();
            notes.add(ModuleSymbols.printable(path + ": " + reason(refused)));
        }
        return found;
    }

    /** Reads the separate debug file of what was mapped; empty when none has what is needed. */
    <T> Optional<T> readSeparate(CodeModule module, RequiredContent need, ImageReading<T> reading) {
        return first(
                module,
                new LinkedHashSet<>(),
                (place, elf) -> {
                    DebugFile separate = search.separate(DebugFileRequest.of(place, elf, need));
                    if (!separate.isFound()) {
                        return Optional.empty();
                    }
                    try (OpenElf file = separate.open()) {
                        return Optional.of(reading.read(file.elf()));
                    }
                });
    }

    /** Where the file lies that was mapped; empty when there is none that fits. */
    Optional<FilePlace> place(CodeModule module) {
        return first(module, new LinkedHashSet<>(), (place, elf) -> Optional.of(place));
    }

    /** What is made of a file that fits; empty to go on with the next one. */
    private interface FileUse<T> {
        Optional<T> of(FilePlace place, ElfFile elf) throws IOException;
    }

    private <T> Optional<T> first(CodeModule module, Set<String> refused, FileUse<T> use) {
        boolean met = false;
        for (FilePlace candidate : candidates(module)) {
            try (TargetFile file = candidate.open()) {
                ElfFile elf = ElfFile.of(file);
                String problem = mismatch(module, candidate, file, elf);
                if (problem != null) {
                    refused.add(problem);
                    continue;
                }
                Optional<T> made = use.of(candidate, elf);
                if (made.isPresent()) {
                    return made;
                }
                met = true;
            } catch (SyscallException e) {
                if (e.errno() != Errno.ENOENT && e.errno() != Errno.ENOTDIR) {
                    refused.add(reason(e));
                }
            } catch (IOException | InternalError e) {
                // InternalError: the file shrank while it was mapped
                refused.add(reason(e));
            }
        }
        return met ? Optional.empty() : elsewhere(module, refused, use);
    }

    /** By its build-id alone: anywhere in folders of the user, in caches, on servers. */
    private <T> Optional<T> elsewhere(CodeModule module, Set<String> refused, FileUse<T> use) {
        byte[] id = module.mapping().buildId();
        if (id.length == 0) {
            return Optional.empty();
        }
        DebugFile found =
                search.binary(
                        DebugFileRequest.of(module.mapping().path(), id, RequiredContent.ANY));
        FilePlace place = found.place();
        if (place == null) {
            return Optional.empty();
        }
        try (OpenElf file = OpenElf.asIs(place)) {
            return use.of(place, file.elf());
        } catch (IOException | InternalError e) {
            refused.add(reason(e));
            return Optional.empty();
        }
    }

    private static String reason(Set<String> refused) {
        return refused.isEmpty() ? "file not found" : String.join("; ", refused);
    }

    private static String reason(Throwable e) {
        String message = e.getMessage();
        return message == null ? e.toString() : message;
    }

    private List<FilePlace> candidates(CodeModule module) {
        String path = module.mapping().path();
        String deleted = " (deleted)";
        if (path.endsWith(deleted)) {
            path = path.substring(0, path.length() - deleted.length());
        }
        List<FilePlace> list = new ArrayList<>();
        for (String folder : options.folders()) {
            list.add(FilePlace.named(folder + path));
            list.add(FilePlace.named(folder + path.substring(path.lastIndexOf('/'))));
        }
        if (options.sameMachine() && module.pid() > 0) {
            list.add(FilePlace.in("/proc/" + module.pid() + "/root", path));
        }
        list.add(FilePlace.claimed(path));
        return list;
    }

    /** Why the file is not the one that was mapped; null when it is, as far as one can know. */
    private @Nullable String mismatch(
            CodeModule module, FilePlace candidate, TargetFile file, ElfFile elf) {
        byte[] wanted = module.mapping().buildId();
        if (wanted.length > 0) {
            byte[] found = elf.buildId().orElse(new byte[0]);
            return DebugFileRequest.isSame(wanted, found)
                    ? null
                    : candidate.path()
                            + " is of another build: "
                            + DebugFileRequest.ids(wanted, found);
        }
        if (candidate.isTrusted()) {
            return null;
        }
        if (!options.sameMachine()) {
            return candidate.path() + " cannot be verified: the recording has no build-id";
        }
        if (module.mapping().path().endsWith(" (deleted)")) {
            return "the file was deleted while it ran";
        }
        FileStatus status = file.status();
        CodeMapping m = module.mapping();
        boolean sameDevice = m.device() == status.device();
        if (m.inode() != 0 && !FileStatus.isSameInode(sameDevice, status.inode(), m.inode())) {
            return candidate.path() + " is another file than the recorded one";
        }
        if (options.recordedAtNanos() > 0 && status.modifiedNanos() > options.recordedAtNanos()) {
            return candidate.path() + " was changed since the recording";
        }
        return null;
    }

    /**
     * The symbols of the file itself, else of its debug file; .gnu_debugdata has a part of them.
     */
    private Optional<ModuleSymbols> symbols(String name, FilePlace place, ElfFile elf)
            throws IOException {
        Optional<FunctionTable> own = ModuleSymbols.functions(elf, ElfFile.SHT_SYMTAB, aliases);
        if (own.isPresent()) {
            return Optional.of(ModuleSymbols.of(name, elf, own.get()));
        }
        Optional<FunctionTable> exported =
                ModuleSymbols.functions(elf, ElfFile.SHT_DYNSYM, aliases);
        DebugFile separate =
                search.separate(DebugFileRequest.of(place, elf, RequiredContent.SYMBOLS));
        separate.refusals()
                .forEach(attempt -> notes.add(ModuleSymbols.printable(attempt.sentence())));
        Optional<FunctionTable> table = table(separate);
        if (table.isEmpty()) {
            return exported.map(functions -> ModuleSymbols.of(name, elf, functions));
        }
        boolean part = separate.kind() == DebugFile.Kind.MINI && exported.isPresent();
        return Optional.of(
                part
                        ? ModuleSymbols.of(name, elf, table.get(), exported.get())
                        : ModuleSymbols.of(name, elf, table.get()));
    }

    private Optional<FunctionTable> table(DebugFile separate) {
        if (!separate.isFound()) {
            return Optional.empty();
        }
        try (OpenElf file = separate.open()) {
            return ModuleSymbols.functions(file.elf(), ElfFile.SHT_SYMTAB, aliases);
        } catch (IOException | InternalError e) {
            notes.add(ModuleSymbols.printable(reason(e)));
            return Optional.empty();
        }
    }
}
