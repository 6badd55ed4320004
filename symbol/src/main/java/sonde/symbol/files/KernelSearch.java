package sonde.symbol.files;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import sonde.symbol.files.DebugFile.Kind;

/** Finds the files of a kernel and of its modules. */
public final class KernelSearch {
    private static final long LIST_LIMIT_BYTES = 16 << 20;

    private final DebugSearch search;
    private final SearchFolders folders;

    /** Looks where that search looks. */
    public KernelSearch(DebugSearch search) {
        this.search = search;
        this.folders = search.folders();
    }

    /**
     * The vmlinux of a kernel, or for {@link RequiredContent#ANY} its boot image.
     *
     * @param release as {@code uname -r} gives it
     * @param buildId from {@code /sys/kernel/notes} or a recording; without one, a file in a place
     *     with the release in its name is believed
     */
    public DebugFile kernel(String release, byte[] buildId, RequiredContent need) {
        DebugFileRequest wanted =
                new DebugFileRequest(
                        FilePlace.named("/boot/vmlinux-" + release), buildId, null, need);
        DebugFileCandidates candidates =
                new DebugFileCandidates(folders).debug(wanted).kept(wanted, "elf");
        for (String folder : folders.user()) {
            candidates.paths(
                    List.of(folder + "/vmlinux", folder + "/boot/vmlinux"), Kind.USER_FOLDER, true);
            candidates.paths(inRoot(folder, release, need), Kind.USER_FOLDER, true);
        }
        if (folders.isHere() || buildId.length > 0) {
            candidates.paths(inRoot("", release, need), Kind.KERNEL, true);
        }
        return search.named(
                wanted, candidates, List.of("vmlinux", "vmlinux-" + release), new ArrayList<>());
    }

    /** The vmlinux that the user named, when it is of that build; else as a server has it. */
    public DebugFile kernel(Path given, byte[] buildId, RequiredContent need) {
        DebugFileRequest wanted =
                new DebugFileRequest(FilePlace.named(given.toString()), buildId, null, need);
        DebugFileCandidates candidates =
                new DebugFileCandidates(folders)
                        .paths(List.of(given.toString()), Kind.USER_FOLDER, true);
        return search.named(wanted, candidates, List.of(), new ArrayList<>());
    }

    /** Debian, Fedora, SUSE, Arch, and where a kernel was built. */
    private static List<String> inRoot(String root, String release, RequiredContent need) {
        List<String> paths = new ArrayList<>();
        paths.add(root + "/usr/lib/debug/boot/vmlinux-" + release);
        paths.add(root + "/usr/lib/debug/lib/modules/" + release + "/vmlinux");
        paths.add(root + "/usr/lib/debug/usr/lib/modules/" + release + "/vmlinux");
        paths.add(root + "/usr/lib/debug/boot/vmlinux-" + release + ".debug");
        paths.add(root + "/usr/lib/debug/usr/lib/modules/" + release + "/vmlinux.debug");
        paths.add(root + "/lib/modules/" + release + "/build/vmlinux");
        paths.add(root + "/lib/modules/" + release + "/vmlinux");
        paths.add(root + "/usr/lib/modules/" + release + "/build/vmlinux");
        paths.add(root + "/usr/src/kernels/" + release + "/vmlinux");
        paths.add(root + "/usr/src/linux-headers-" + release + "/vmlinux");
        paths.add(root + "/boot/vmlinux-" + release);
        if (need == RequiredContent.ANY) {
            paths.add(root + "/boot/vmlinuz-" + release);
            paths.add(root + "/lib/modules/" + release + "/vmlinuz");
        }
        return paths;
    }

    /**
     * A module of a kernel.
     *
     * @param name as {@code /proc/modules} has it; {@code -} and {@code _} are the same
     * @param buildId from {@code /sys/module/NAME/notes} or a recording; may be empty
     */
    public DebugFile module(String name, String release, byte[] buildId, RequiredContent need) {
        List<String> paths = new ArrayList<>();
        for (String root : roots()) {
            for (String base : List.of("/lib/modules/", "/usr/lib/modules/")) {
                Path folder = Path.of(root + base + release);
                modulePath(folder, name)
                        .ifPresent(path -> paths.addAll(of(root, base + release, path)));
            }
        }
        String file = paths.isEmpty() ? name + ".ko" : paths.getFirst();
        DebugFileRequest wanted = new DebugFileRequest(FilePlace.named(file), buildId, null, need);
        DebugFileCandidates candidates =
                new DebugFileCandidates(folders).paths(paths, Kind.KERNEL, true);
        candidates.debug(wanted).kept(wanted, "elf");
        List<String> names = new ArrayList<>();
        for (String spelt : List.of(name, name.replace('_', '-'), name.replace('-', '_'))) {
            for (String ending : List.of(".ko.debug", ".ko", ".ko.xz", ".ko.zst", ".ko.gz")) {
                names.add(spelt + ending);
            }
        }
        return search.named(wanted, candidates, names, new ArrayList<>());
    }

    private List<String> roots() {
        List<String> roots = new ArrayList<>(folders.user());
        if (folders.isHere()) {
            roots.add("");
        }
        return roots;
    }

    private static List<String> of(String root, String base, String path) {
        String plain = path.replaceFirst("\\.(xz|zst|gz)$", "");
        return List.of(
                root + "/usr/lib/debug" + base + "/" + plain,
                root + "/usr/lib/debug" + base + "/" + plain + ".debug",
                root + base + "/" + plain + ".debug",
                root + base + "/" + path);
    }

    /** The path of a module under its kernel's folder, as depmod's list has it. */
    private static Optional<String> modulePath(Path folder, String name) {
        String wanted = name.replace('-', '_');
        for (String list : List.of("modules.dep", "modules.builtin", "modules.order")) {
            Path file = folder.resolve(list);
            try {
                if (!Files.isRegularFile(file) || Files.size(file) > LIST_LIMIT_BYTES) {
                    continue;
                }
                for (String line : Files.readAllLines(file, StandardCharsets.ISO_8859_1)) {
                    int end = line.indexOf(':');
                    String path = end < 0 ? line : line.substring(0, end);
                    String last = path.substring(path.lastIndexOf('/') + 1);
                    int dot = last.indexOf(".ko");
                    if (dot > 0
                            && last.substring(0, dot).replace('-', '_').equals(wanted)
                            && !path.contains("..")) {
                        return Optional.of(path);
                    }
                }
            } catch (IOException e) {
                // The next list may be readable.
                continue;
            }
        }
        return Optional.empty();
    }
}
