package sonde.symbol.files;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.elf.DebugAltLink;
import sonde.binary.elf.ElfFile;
import sonde.symbol.files.Attempt.AttemptResult;
import sonde.symbol.files.DebugFile.Kind;
import sonde.symbol.files.DebugFileCandidates.DebugFileCandidate;
import sonde.symbol.files.Debuginfod.FetchedFile;
import sonde.sys.Errno;
import sonde.sys.SyscallException;

/**
 * Finds files with symbols and debugging information. A file that is not certainly of the right
 * build is never an answer: wrong names are worse than none. Holds no file open. Not safe for
 * several threads.
 */
public final class DebugSearch {
    private static final int ATTEMPT_LIMIT = 1000;

    private final SearchFolders folders;
    private final Map<String, FolderIndex> indexes = new HashMap<>();

    /** Nothing is looked at yet. */
    public DebugSearch(SearchFolders folders) {
        this.folders = folders;
    }

    SearchFolders folders() {
        return folders;
    }

    /**
     * What a binary needs, in itself or in a separate file. A binary that cannot be opened gives an
     * answer, too: its attempt says why.
     */
    public DebugFile debugFile(FilePlace binary, RequiredContent need) {
        List<Attempt> tried = new ArrayList<>();
        DebugFileRequest wanted;
        try (OpenElf file = OpenElf.of(binary)) {
            if (need.isMetBy(file.elf())) {
                tried.add(new Attempt(binary.shown(), AttemptResult.FOUND, ""));
                return new DebugFile(binary, Kind.ITSELF, tried);
            }
            tried.add(new Attempt(binary.shown(), AttemptResult.LACKING, need.words()));
            wanted = DebugFileRequest.of(binary, file.elf(), need);
        } catch (IOException | InternalError e) {
            tried.add(failure(binary.shown(), e));
            return DebugFile.none(tried);
        }
        return separate(wanted, tried);
    }

    /** The separate file of a binary, which itself is not looked at. */
    public DebugFile separate(DebugFileRequest wanted) {
        return separate(wanted, new ArrayList<>());
    }

    private DebugFile separate(DebugFileRequest wanted, List<Attempt> tried) {
        for (DebugFileCandidate candidate : new DebugFileCandidates(folders).debug(wanted).list()) {
            if (!isItself(candidate.place(), wanted.binary()) && fits(candidate, wanted, tried)) {
                return new DebugFile(candidate.place(), candidate.kind(), tried);
            }
        }
        Optional<DebugFile> found = inIndexes(wanted, names(wanted), false, tried);
        if (found.isEmpty()) {
            found = fromServer(wanted, "debuginfo", tried);
        }
        if (found.isEmpty() && wanted.need() == RequiredContent.SYMBOLS) {
            found = mini(wanted, tried);
        }
        return found.orElseGet(() -> DebugFile.none(tried));
    }

    private static List<String> names(DebugFileRequest wanted) {
        List<String> names = new ArrayList<>();
        String name = wanted.binary().name();
        if (wanted.link() != null) {
            names.add(wanted.link().fileName());
        }
        names.add(name + ".debug");
        names.add(name);
        return names;
    }

    private static boolean isItself(FilePlace place, FilePlace binary) {
        return place.shown().equals(binary.shown());
    }

    /**
     * A binary by its path and build-id: in folders of the user, where it was, in caches by
     * build-id, on a server.
     */
    public DebugFile binary(DebugFileRequest wanted) {
        List<Attempt> tried = new ArrayList<>();
        for (DebugFileCandidate candidate :
                new DebugFileCandidates(folders).binary(wanted).list()) {
            if (fits(candidate, wanted, tried)) {
                return new DebugFile(candidate.place(), candidate.kind(), tried);
            }
        }
        Optional<DebugFile> found =
                inIndexes(wanted, List.of(wanted.binary().name()), false, tried);
        return found.or(() -> fromServer(wanted, "executable", tried))
                .orElseGet(() -> DebugFile.none(tried));
    }

    /** The first of these paths that fits, then a file of the names in a folder of the user. */
    DebugFile named(
            DebugFileRequest wanted,
            DebugFileCandidates candidates,
            List<String> names,
            List<Attempt> tried) {
        for (DebugFileCandidate candidate : candidates.list()) {
            if (fits(candidate, wanted, tried)) {
                return new DebugFile(candidate.place(), candidate.kind(), tried);
            }
        }
        Optional<DebugFile> found = inIndexes(wanted, names, true, tried);
        return found.or(() -> fromServer(wanted, "debuginfo", tried))
                .orElseGet(() -> DebugFile.none(tried));
    }

    /**
     * The file that a debug file shares entries with (dwz).
     *
     * @param owner the file with the link
     */
    public DebugFile alternate(FilePlace owner, DebugAltLink link) {
        List<FilePlace> places = new ArrayList<>();
        String name = link.fileName().substring(link.fileName().lastIndexOf('/') + 1);
        if (link.fileName().startsWith("/")) {
            folders.user().forEach(folder -> places.add(FilePlace.named(folder + link.fileName())));
            places.add(owner.other(link.fileName()));
        } else {
            places.add(owner.other(owner.folder() + link.fileName()));
            realFolder(owner)
                    .ifPresent(
                            folder -> places.add(FilePlace.named(folder + "/" + link.fileName())));
        }
        for (String folder : folders.all()) {
            places.add(FilePlace.named(folder + "/.dwz/" + name));
            places.add(FilePlace.named(folder + "/usr/lib/debug/.dwz/" + name));
        }
        DebugFileRequest wanted =
                new DebugFileRequest(
                        FilePlace.named(name), link.id(), null, RequiredContent.DEBUG_INFORMATION);
        wanted.id()
                .map(id -> DebugFileCandidates.idName(id, ".debug"))
                .ifPresent(
                        file -> folders.all().forEach(f -> places.add(FilePlace.named(f + file))));
        List<Attempt> tried = new ArrayList<>();
        for (FilePlace place : places) {
            if (isAlternate(place, link, tried)) {
                return new DebugFile(place, Kind.DEBUG_LINK, tried);
            }
        }
        return fromServer(wanted, "debuginfo", tried).orElseGet(() -> DebugFile.none(tried));
    }

    /** Where links lead; in the root of another process they may lead elsewhere. */
    private static Optional<Path> realFolder(FilePlace place) {
        if (place.root() != null) {
            return Optional.empty();
        }
        try {
            return Optional.ofNullable(Path.of(place.shown()).toRealPath().getParent());
        } catch (IOException | InvalidPathException e) {
            return Optional.empty();
        }
    }

    private static boolean isAlternate(FilePlace place, DebugAltLink link, List<Attempt> tried) {
        try (OpenElf file = OpenElf.of(place)) {
            boolean same = file.elf().fits(link);
            byte[] found = file.elf().buildId().orElse(new byte[0]);
            tried.add(
                    same
                            ? new Attempt(place.shown(), AttemptResult.FOUND, "")
                            : new Attempt(
                                    place.shown(),
                                    AttemptResult.OTHER_BUILD,
                                    DebugFileRequest.ids(link.id(), found)));
            return same;
        } catch (IOException | InternalError e) {
            tried.add(failure(place.shown(), e));
            return false;
        }
    }

    /**
     * The package of split units, {@code .dwp}, of a binary: beside it, beside its debug file, in
     * folders of the user. It has no build-id; the ids of its units say whether they fit.
     *
     * @param debug where the binary's debugging information was found
     */
    public DebugFile splitPackage(FilePlace binary, DebugFile debug) {
        List<FilePlace> places = new ArrayList<>();
        places.add(binary.other(binary.path() + ".dwp"));
        FilePlace separate = debug.place();
        if (separate != null && !isItself(separate, binary)) {
            places.add(separate.other(separate.path() + ".dwp"));
            String plain = separate.path().replaceFirst("\\.debug$", "");
            places.add(separate.other(plain + ".dwp"));
        }
        for (String folder : folders.user()) {
            places.add(FilePlace.named(folder + "/" + binary.name() + ".dwp"));
            places.add(FilePlace.named(folder + binary.path() + ".dwp"));
        }
        return firstElf(places);
    }

    /**
     * A file of split units, {@code .dwo}, that a skeleton unit names: as named, under folders of
     * the user, beside the binary. The caller compares the unit's id.
     *
     * @param compilationFolder DW_AT_comp_dir
     * @param name DW_AT_dwo_name
     */
    public DebugFile splitUnit(FilePlace binary, String compilationFolder, String name) {
        List<FilePlace> places = new ArrayList<>();
        String full = name.startsWith("/") ? name : compilationFolder + "/" + name;
        String last = name.substring(name.lastIndexOf('/') + 1);
        for (String folder : folders.user()) {
            places.add(FilePlace.named(folder + "/" + full));
            places.add(FilePlace.named(folder + "/" + name));
            places.add(FilePlace.named(folder + "/" + last));
        }
        if (folders.isHere() || folders.user().isEmpty()) {
            places.add(FilePlace.claimed(full));
        }
        places.add(binary.other(binary.folder() + name));
        places.add(binary.other(binary.folder() + last));
        for (String folder : folders.user()) {
            index(folder).named(last).forEach(path -> places.add(FilePlace.claimed(path)));
        }
        return firstElf(places);
    }

    private static DebugFile firstElf(List<FilePlace> places) {
        List<Attempt> tried = new ArrayList<>();
        for (FilePlace place : places) {
            try (OpenElf file = OpenElf.of(place)) {
                tried.add(new Attempt(file.place().shown(), AttemptResult.FOUND, ""));
                return new DebugFile(place, Kind.DEBUG_LINK, tried);
            } catch (IOException | InternalError e) {
                tried.add(failure(place.shown(), e));
            }
        }
        return DebugFile.none(tried);
    }

    /**
     * Anywhere in folders of the user.
     *
     * @param isNamed whether a file is believed by its name where neither build-id nor checksum
     *     speak
     */
    private Optional<DebugFile> inIndexes(
            DebugFileRequest wanted, List<String> names, boolean isNamed, List<Attempt> tried) {
        if (wanted.buildId().length == 0 && wanted.link() == null && !isNamed) {
            return Optional.empty();
        }
        for (String folder : folders.user()) {
            FolderIndex index = index(folder);
            for (String name : names) {
                for (String path : index.named(name)) {
                    boolean known = tried.stream().anyMatch(a -> a.place().equals(path));
                    DebugFileCandidate candidate =
                            new DebugFileCandidate(
                                    FilePlace.claimed(path), Kind.USER_FOLDER, isNamed);
                    if (!known && fits(candidate, wanted, tried)) {
                        return Optional.of(
                                new DebugFile(candidate.place(), candidate.kind(), tried));
                    }
                }
            }
            if (index.isCut()) {
                tried.add(
                        new Attempt(
                                folder,
                                AttemptResult.REFUSED,
                                "too many files to look at them all"));
            }
        }
        return Optional.empty();
    }

    private FolderIndex index(String folder) {
        return indexes.computeIfAbsent(folder, name -> new FolderIndex(Path.of(name)));
    }

    private Optional<DebugFile> fromServer(
            DebugFileRequest wanted, String what, List<Attempt> tried) {
        Optional<String> id = wanted.id();
        if (id.isEmpty() || folders.servers().isEmpty()) {
            return Optional.empty();
        }
        FetchedFile answer = folders.servers().get().fetch(wanted.buildId(), what);
        tried.addAll(answer.tried());
        Path file = answer.file();
        if (file == null) {
            return Optional.empty();
        }
        DebugFileCandidate candidate =
                new DebugFileCandidate(FilePlace.named(file.toString()), Kind.SERVER, false);
        return fits(candidate, wanted, tried)
                ? Optional.of(new DebugFile(candidate.place(), Kind.SERVER, tried))
                : Optional.empty();
    }

    private static Optional<DebugFile> mini(DebugFileRequest wanted, List<Attempt> tried) {
        try (OpenElf file = OpenElf.mini(wanted.binary())) {
            if (RequiredContent.SYMBOLS.isMetBy(file.elf())) {
                tried.add(
                        new Attempt(
                                wanted.binary().shown() + " (.gnu_debugdata)",
                                AttemptResult.FOUND,
                                ""));
                return Optional.of(new DebugFile(wanted.binary(), Kind.MINI, tried));
            }
        } catch (MalformedInputException e) {
            tried.add(failure(wanted.binary().shown(), e));
        } catch (IOException | InternalError e) {
            // most binaries have none
            return Optional.empty();
        }
        return Optional.empty();
    }

    /** Looks at one place and writes down what came of it. */
    private static boolean fits(
            DebugFileCandidate candidate, DebugFileRequest wanted, List<Attempt> tried) {
        if (tried.size() >= ATTEMPT_LIMIT) {
            return false;
        }
        FilePlace place = candidate.place();
        if (place.isTrusted() && place.root() == null && !exists(place.path())) {
            tried.add(new Attempt(place.shown(), AttemptResult.ABSENT, ""));
            return false;
        }
        try (OpenElf file = OpenElf.of(place)) {
            ElfFile elf = file.elf();
            String other = wanted.mismatch(file, candidate.isNamed());
            Attempt attempt =
                    other != null
                            ? new Attempt(place.shown(), AttemptResult.OTHER_BUILD, other)
                            : wanted.need().isMetBy(elf)
                                    ? new Attempt(place.shown(), AttemptResult.FOUND, "")
                                    : new Attempt(
                                            place.shown(),
                                            AttemptResult.LACKING,
                                            wanted.need().words());
            tried.add(attempt);
            return attempt.outcome() == AttemptResult.FOUND;
        } catch (IOException | InternalError e) {
            tried.add(failure(place.shown(), e));
            return false;
        }
    }

    /** A look that costs nothing: most places hold nothing. */
    private static boolean exists(String path) {
        try {
            return Files.exists(Path.of(path));
        } catch (InvalidPathException e) {
            return false;
        }
    }

    static Attempt failure(String place, Throwable cause) {
        if (cause instanceof SyscallException call
                && (call.errno() == Errno.ENOENT || call.errno() == Errno.ENOTDIR)) {
            return new Attempt(place, AttemptResult.ABSENT, "");
        }
        String message = reason(cause);
        String detail =
                message.startsWith(place + ": ") ? message.substring(place.length() + 2) : message;
        boolean broken = cause instanceof MalformedInputException || cause instanceof InternalError;
        return new Attempt(place, broken ? AttemptResult.BROKEN : AttemptResult.REFUSED, detail);
    }

    private static String reason(@Nullable Throwable cause) {
        String message = cause == null ? null : cause.getMessage();
        return message == null ? String.valueOf(cause) : message;
    }
}
