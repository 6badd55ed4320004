package sonde.symbol.files;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.symbol.files.DebugFile.Kind;

/** Names under which a file may lie, in the order to be looked at, each once. */
final class DebugFileCandidates {
    /** A place, how a file there counts as found, and whether the user named the folder. */
    record DebugFileCandidate(FilePlace place, Kind kind, boolean isNamed) {}

    private final SearchFolders folders;
    private final Map<String, DebugFileCandidate> found = new LinkedHashMap<>();

    DebugFileCandidates(SearchFolders folders) {
        this.folders = folders;
    }

    List<DebugFileCandidate> list() {
        return List.copyOf(found.values());
    }

    private void add(String path, Kind kind, boolean named) {
        String plain = path.replaceAll("/{2,}", "/");
        found.putIfAbsent(plain, new DebugFileCandidate(FilePlace.named(plain), kind, named));
    }

    private void add(FilePlace place, Kind kind) {
        found.putIfAbsent(place.shown(), new DebugFileCandidate(place, kind, false));
    }

    /** {@code .build-id/xx/yyyy} and an ending. */
    static String idName(String id, String ending) {
        return "/.build-id/" + id.substring(0, 2) + "/" + id.substring(2) + ending;
    }

    /**
     * Places of a debug file: by build-id; by its name in folders of the user; by debug link in the
     * three usual places (gdb manual, "Separate Debug Files").
     */
    DebugFileCandidates debug(DebugFileRequest wanted) {
        Optional<String> id = wanted.id();
        String bundle = folders.bundle();
        if (bundle != null) {
            id.ifPresent(hex -> byId(bundle, hex, Kind.BUNDLE));
        }
        for (String folder : folders.user()) {
            id.ifPresent(hex -> byId(folder, hex, Kind.BUILD_ID));
            id.ifPresent(hex -> byId(folder + "/usr/lib/debug", hex, Kind.BUILD_ID));
        }
        folders.user().forEach(folder -> inUserFolder(folder, wanted));
        for (String folder : folders.system()) {
            id.ifPresent(hex -> byId(folder, hex, Kind.BUILD_ID));
        }
        kept(wanted, "debug");
        beside(wanted);
        return this;
    }

    /** The layouts of distributions ({@code yy.debug}) and of perf's cache ({@code yy/debug}). */
    private void byId(String folder, String id, Kind kind) {
        add(folder + idName(id, ".debug"), kind, false);
        add(folder + idName(id, "/debug"), kind, false);
        add(folder + idName(id, "/elf"), kind, false);
    }

    /** A sysroot has it under its path, Yocto in .debug beside, a folder of files by its name. */
    private void inUserFolder(String folder, DebugFileRequest wanted) {
        FilePlace binary = wanted.binary();
        String name = binary.name();
        String path = binary.path().startsWith("/") ? binary.path() : "/" + name;
        String within = path.substring(0, path.lastIndexOf('/') + 1);
        List<String> names = names(wanted);
        for (String root : List.of(folder + "/usr/lib/debug", folder)) {
            for (String one : names) {
                add(root + within + one, Kind.USER_FOLDER, true);
            }
            add(root + within + ".debug/" + name, Kind.USER_FOLDER, true);
        }
        for (String one : names) {
            add(folder + "/" + one, Kind.USER_FOLDER, true);
        }
        add(folder + "/.debug/" + name, Kind.USER_FOLDER, true);
        String unstripped = folder + within + name;
        add(unstripped, Kind.USER_FOLDER, true);
        add(folder + "/" + name, Kind.USER_FOLDER, true);
    }

    private static List<String> names(DebugFileRequest wanted) {
        List<String> names = new ArrayList<>();
        if (wanted.link() != null) {
            names.add(wanted.link().fileName());
        }
        names.add(wanted.binary().name() + ".debug");
        return names.stream().distinct().toList();
    }

    private void beside(DebugFileRequest wanted) {
        FilePlace binary = wanted.binary();
        List<String> names = names(wanted);
        List<String> within = new ArrayList<>();
        if (binary.path().startsWith("/")) {
            within.add(binary.folder());
        }
        String real = canonicalFolder(binary);
        if (real != null && !within.contains(real)) {
            within.add(real);
        }
        if (folders.isHere()) {
            for (String name : names) {
                add(binary.other(binary.folder() + name), Kind.DEBUG_LINK);
                add(binary.other(binary.folder() + ".debug/" + name), Kind.DEBUG_LINK);
            }
            add(binary.other(binary.folder() + ".debug/" + binary.name()), Kind.DEBUG_LINK);
        }
        for (String root : folders.system()) {
            for (String name : names) {
                within.forEach(folder -> add(root + folder + name, Kind.DEBUG_LINK, false));
                add(root + "/" + name, Kind.DEBUG_LINK, false);
            }
            within.forEach(folder -> add(root + folder + binary.name(), Kind.DEBUG_LINK, false));
        }
    }

    /** /lib is a link to /usr/lib on systems of today, and debug files lie under either. */
    private @Nullable String canonicalFolder(FilePlace binary) {
        if (!folders.isHere() || binary.root() != null) {
            return null;
        }
        try {
            Path folder = Path.of(binary.folder());
            return Files.isDirectory(folder) ? folder.toRealPath() + "/" : null;
        } catch (java.io.IOException | java.nio.file.InvalidPathException e) {
            return null;
        }
    }

    /** Places of the binary itself: where it was, in folders of the user, in perf's cache. */
    DebugFileCandidates binary(DebugFileRequest wanted) {
        FilePlace binary = wanted.binary();
        Optional<String> id = wanted.id();
        String bundle = folders.bundle();
        if (bundle != null) {
            id.ifPresent(hex -> add(bundle + idName(hex, "/elf"), Kind.BUNDLE, false));
            id.ifPresent(hex -> add(bundle + idName(hex, ""), Kind.BUNDLE, false));
        }
        for (String folder : folders.user()) {
            if (binary.path().startsWith("/")) {
                add(folder + binary.path(), Kind.USER_FOLDER, true);
            }
            add(folder + "/" + binary.name(), Kind.USER_FOLDER, true);
        }
        if (folders.isHere()) {
            add(binary, Kind.ITSELF);
        }
        add(new FilePlace(null, binary.path(), binary.isTrusted()), Kind.ITSELF);
        for (String folder : folders.all()) {
            id.ifPresent(hex -> add(folder + idName(hex, "/elf"), Kind.BUILD_ID, false));
            id.ifPresent(hex -> add(folder + idName(hex, ""), Kind.BUILD_ID, false));
        }
        return kept(wanted, "elf");
    }

    /** What perf kept of the build, when it did. */
    DebugFileCandidates kept(DebugFileRequest wanted, String name) {
        PerfCache.file(wanted.buildId(), name)
                .ifPresent(file -> add(file.toString(), Kind.BUILD_ID, false));
        return this;
    }

    /** More paths of one kind, in their order. */
    DebugFileCandidates paths(List<String> paths, Kind kind, boolean named) {
        paths.forEach(path -> add(path, kind, named));
        return this;
    }
}
