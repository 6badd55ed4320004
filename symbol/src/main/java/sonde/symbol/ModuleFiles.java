package sonde.symbol;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.format.MalformedInputException;
import sonde.format.elf.DebugLink;
import sonde.format.elf.ElfFile;
import sonde.sys.Errno;
import sonde.sys.FileStatus;
import sonde.sys.SyscallException;
import sonde.sys.TargetFile;

/**
 * Finds the file that was mapped and the file with its symbols. A file that is not certainly the
 * one that ran is not used: wrong names are worse than none.
 */
final class ModuleFiles {
    /** Chromium's debug file has about 4 GB; holes are not read, so this bounds only the map. */
    private static final long SIZE_LIMIT = 16L << 30;

    private final SymbolOptions options;
    private final List<String> notes = new ArrayList<>();

    private final FunctionTable.Aliases aliases;

    ModuleFiles(SymbolOptions options, FunctionTable.Aliases aliases) {
        this.options = options;
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
        for (Candidate candidate : candidates(module)) {
            try (TargetFile file = candidate.open()) {
                ElfFile elf = ElfFile.of(file);
                String problem = mismatch(module, candidate, file, elf);
                if (problem != null) {
                    refused.add(problem);
                    continue;
                }
                Optional<FunctionTable> functions = functions(path, elf);
                if (functions.isPresent()) {
                    return ModuleSymbols.of(name, elf, functions.get());
                }
                refused.add(candidate.path + " is stripped, and has no debug file here");
            } catch (SyscallException e) {
                if (e.errno() != Errno.ENOENT && e.errno() != Errno.ENOTDIR) {
                    refused.add(reason(e));
                }
            } catch (IOException | InternalError e) {
                // InternalError: the file shrank while it was mapped
                refused.add(reason(e));
            }
        }
        String why = refused.isEmpty() ? "file not found" : String.join("; ", refused);
        boolean itself = refused.size() == 1 && why.startsWith(path + " is stripped");
        notes.add(
                ModuleSymbols.printable(
                        itself ? "no symbols: " + why : "no symbols for " + path + ": " + why));
        return ModuleSymbols.unknown(name);
    }

    /** Reads the file that was mapped; empty when there is none that fits. */
    <T> Optional<T> read(CodeModule module, ModuleImages.Reading<T> reading) {
        Set<String> refused = new LinkedHashSet<>();
        for (Candidate candidate : candidates(module)) {
            try (TargetFile file = candidate.open()) {
                ElfFile elf = ElfFile.of(file);
                String problem = mismatch(module, candidate, file, elf);
                if (problem == null) {
                    return Optional.of(reading.read(elf));
                }
                refused.add(problem);
            } catch (SyscallException e) {
                if (e.errno() != Errno.ENOENT && e.errno() != Errno.ENOTDIR) {
                    refused.add(reason(e));
                }
            } catch (IOException | InternalError e) {
                // InternalError: the file shrank while it was mapped
                refused.add(reason(e));
            }
        }
        String why = refused.isEmpty() ? "file not found" : String.join("; ", refused);
        notes.add(ModuleSymbols.printable(module.mapping().path() + ": " + why));
        return Optional.empty();
    }

    private static String reason(Throwable e) {
        String message = e.getMessage();
        return message == null ? e.toString() : message;
    }

    /**
     * A place where the mapped file may lie.
     *
     * @param root of the process, null for our own
     * @param isTrusted whether user or system named it, so that links are followed
     */
    private record Candidate(@Nullable String root, String path, boolean isTrusted) {
        TargetFile open() throws IOException {
            if (root != null) {
                return TargetFile.openIn(root, path, SIZE_LIMIT);
            }
            return isTrusted
                    ? TargetFile.openTrusted(path, SIZE_LIMIT)
                    : TargetFile.open(path, SIZE_LIMIT);
        }
    }

    private List<Candidate> candidates(CodeModule module) {
        String path = module.mapping().path();
        String deleted = " (deleted)";
        if (path.endsWith(deleted)) {
            path = path.substring(0, path.length() - deleted.length());
        }
        List<Candidate> list = new ArrayList<>();
        for (String folder : options.folders()) {
            list.add(new Candidate(null, folder + path, true));
            list.add(new Candidate(null, folder + path.substring(path.lastIndexOf('/')), true));
        }
        if (options.sameMachine() && module.pid() > 0) {
            list.add(new Candidate("/proc/" + module.pid() + "/root", path, false));
        }
        list.add(new Candidate(null, path, false));
        byte[] id = module.mapping().buildId();
        if (id.length > 1) {
            // perf's cache of files by build-id (tools/perf/util/build-id.c), made while recording
            String hex = HexFormat.of().formatHex(id);
            String name = "/.build-id/" + hex.substring(0, 2) + "/" + hex.substring(2) + "/elf";
            for (String folder : options.debugFolders()) {
                list.add(new Candidate(null, folder + name, true));
            }
        }
        return list;
    }

    /** Why the file is not the one that was mapped; null when it is, as far as one can know. */
    private @Nullable String mismatch(
            CodeModule module, Candidate candidate, TargetFile file, ElfFile elf) {
        byte[] wanted = module.mapping().buildId();
        if (wanted.length > 0) {
            byte[] found = elf.buildId().orElse(new byte[0]);
            // records hold 20 bytes: a shorter id is padded with zeros
            return Arrays.equals(Arrays.copyOf(found, wanted.length), wanted)
                    ? null
                    : candidate.path
                            + " has another build-id: wanted "
                            + HexFormat.of().formatHex(wanted)
                            + ", found "
                            + (found.length == 0 ? "none" : HexFormat.of().formatHex(found));
        }
        if (candidate.isTrusted) {
            return null;
        }
        if (!options.sameMachine()) {
            return candidate.path + " cannot be verified: the recording has no build-id";
        }
        if (module.mapping().path().endsWith(" (deleted)")) {
            return "the file was deleted while it ran";
        }
        FileStatus status = file.status();
        Mapping m = module.mapping();
        // file systems in layers (overlayfs, btrfs) state another device to the kernel's record
        boolean other = m.inode() != 0 && m.device() == status.device();
        if (other && m.inode() != status.inode()) {
            return candidate.path + " was replaced since the recording";
        }
        if (options.recordedAtNanos() > 0 && status.modifiedNanos() > options.recordedAtNanos()) {
            return candidate.path + " was changed since the recording";
        }
        return null;
    }

    private Optional<FunctionTable> functions(String path, ElfFile elf) throws IOException {
        Optional<FunctionTable> own = ModuleSymbols.functions(elf, ElfFile.SHT_SYMTAB, aliases);
        if (own.isPresent()) {
            return own;
        }
        Optional<FunctionTable> separate = separate(path, elf);
        return separate.isPresent()
                ? separate
                : ModuleSymbols.functions(elf, ElfFile.SHT_DYNSYM, aliases);
    }

    /** Looks for a debug file by build-id, then by name (gdb manual, "Separate Debug Files"). */
    private Optional<FunctionTable> separate(String path, ElfFile elf) {
        byte[] id = elf.buildId().orElse(new byte[0]);
        if (id.length > 1) {
            String hex = HexFormat.of().formatHex(id);
            String name = "/.build-id/" + hex.substring(0, 2) + "/" + hex.substring(2) + ".debug";
            for (String folder : folders()) {
                Optional<FunctionTable> table = debugFile(folder + name, id, null);
                if (table.isPresent()) {
                    return table;
                }
            }
        }
        DebugLink link = debugLink(elf);
        if (link == null) {
            return Optional.empty();
        }
        String folder = path.substring(0, path.lastIndexOf('/') + 1);
        List<String> places = new ArrayList<>();
        for (String root : folders()) {
            places.add(root + folder + link.fileName());
            places.add(root + "/" + link.fileName());
        }
        if (options.sameMachine()) {
            places.add(folder + link.fileName());
            places.add(folder + ".debug/" + link.fileName());
        }
        for (String place : places) {
            Optional<FunctionTable> table = debugFile(place, id, link);
            if (table.isPresent()) {
                return table;
            }
        }
        return Optional.empty();
    }

    private List<String> folders() {
        List<String> all = new ArrayList<>(options.folders());
        all.addAll(options.debugFolders());
        return all;
    }

    private static @Nullable DebugLink debugLink(ElfFile elf) {
        try {
            return elf.debugLink().orElse(null);
        } catch (MalformedInputException e) {
            return null;
        }
    }

    /** Functions of a debug file, if its build-id or, where there is none, its CRC is right. */
    private Optional<FunctionTable> debugFile(String path, byte[] id, @Nullable DebugLink link) {
        if (!Files.exists(Path.of(path))) {
            return Optional.empty();
        }
        try (TargetFile file = TargetFile.openTrusted(path, SIZE_LIMIT)) {
            ElfFile elf = ElfFile.of(file);
            boolean fits =
                    id.length > 0
                            ? Arrays.equals(id, elf.buildId().orElse(new byte[0]))
                            : link != null && file.crc32() == link.crc32();
            if (!fits) {
                notes.add(ModuleSymbols.printable(path + " is the debug file of another build"));
                return Optional.empty();
            }
            return ModuleSymbols.functions(elf, ElfFile.SHT_SYMTAB, aliases);
        } catch (IOException | InternalError e) {
            notes.add(ModuleSymbols.printable(reason(e)));
            return Optional.empty();
        }
    }
}
