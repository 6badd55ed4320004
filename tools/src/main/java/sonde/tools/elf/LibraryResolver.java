package sonde.tools.elf;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.binary.elf.DynamicEntry;
import sonde.binary.elf.DynamicTable;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.SymbolVersions;
import sonde.symbol.files.FilePlace;
import sonde.symbol.files.OpenElf;
import sonde.tools.elf.MissingSymbols.MissingSymbol;

/**
 * Which libraries a program would load, found as the run-time linker finds them (ld.so(8); for musl
 * ldso/dynlink.c), without running anything.
 */
public final class LibraryResolver {
    private static final int LIBRARY_LIMIT = 4096;

    /** Names that musl's own library answers for. */
    private static final List<String> IN_MUSL =
            List.of("libc.", "libpthread.", "librt.", "libm.", "libdl.", "libutil.", "libxnet.");

    private static final Pattern TOKEN =
            Pattern.compile("\\$(?:(ORIGIN|LIB|PLATFORM)(?!\\w)|\\{(ORIGIN|LIB|PLATFORM)\\})");
    private static final Pattern VARIANT = Pattern.compile("/glibc-hwcaps/([^/]+)/[^/]+$");

    private final RootFolder root;
    private final String environment;
    private final String preload;

    /**
     * A library that is needed.
     *
     * @param path where it was found; null for nowhere
     * @param how by what: "runpath", "rpath", "LD_LIBRARY_PATH", "cache", "default folder", "path",
     *     "interpreter"; for none the reason
     * @param neededBy path of the file that needs it first; LD_PRELOAD or /etc/ld.so.preload
     */
    public record NeededLibrary(String name, @Nullable String path, String how, String neededBy) {}

    /** All libraries in the order of loading, versions that they lack, symbols that nobody has. */
    public record ResolvedLibraries(
            @Nullable String interpreter,
            List<NeededLibrary> libraries,
            List<String> gaps,
            List<MissingSymbol> symbols) {
        /** Whether everything is there. */
        public boolean isWhole() {
            return gaps.isEmpty() && libraries.stream().allMatch(l -> l.path() != null);
        }
    }

    /** A loaded object: its path in the root, what it says, and what loaded it. */
    private record LoadedLibraryFile(
            String path,
            List<String> needed,
            List<String> rpath,
            List<String> runPath,
            boolean noDefaults,
            @Nullable SymbolVersions versions,
            @Nullable LoadedLibraryFile by) {}

    /**
     * @param sysroot folder that stands for the root; empty for our own
     * @param libraryPath LD_LIBRARY_PATH; empty for none
     * @param preload LD_PRELOAD; empty for none
     */
    public LibraryResolver(String sysroot, String libraryPath, String preload) {
        this.root = new RootFolder(sysroot);
        this.environment = libraryPath;
        this.preload = preload;
    }

    /**
     * Resolves all that a program needs.
     *
     * @param path of the program as it is in the root
     * @throws IOException when its dynamic section is damaged
     */
    public ResolvedLibraries resolve(String path, ElfFile elf) throws IOException {
        return new LibraryWalk(path, elf).answer();
    }

    /** One answer in the making. */
    private final class LibraryWalk {
        private final ElfFile elf;
        private final RunTimeLinker linker;
        private final LoadedLibraryFile program;
        private final List<NeededLibrary> libraries = new ArrayList<>();
        private final List<String> gaps = new ArrayList<>();
        private final Map<String, @Nullable LoadedLibraryFile> byName = new HashMap<>();
        private final Map<Path, LoadedLibraryFile> byFile = new HashMap<>();
        private final Deque<LoadedLibraryFile> queue = new ArrayDeque<>();
        private final List<LoadedLibraryFile> all = new ArrayList<>();
        private final List<String> environs = new ArrayList<>();
        private boolean hasLinker;

        LibraryWalk(String path, ElfFile elf) throws IOException {
            this.elf = elf;
            String absolute = Path.of(path).toAbsolutePath().normalize().toString();
            DynamicTable table = elf.dynamic().orElse(null);
            linker = RunTimeLinker.of(root, elf, table == null ? List.of() : table.needed());
            program = loaded(real(absolute), elf, null);
            if (!environment.isEmpty()) {
                elements(environment, ";", program.path(), environs);
            }
            all.add(program);
        }

        /** The kernel follows links to a program: $ORIGIN is where it lies. */
        private String real(String path) {
            if (!root.folder().isEmpty()) {
                return path;
            }
            try {
                return Path.of(path).toRealPath().toString();
            } catch (IOException e) {
                return path;
            }
        }

        ResolvedLibraries answer() {
            for (String name : preload.split("[ :]")) {
                preload(name, "LD_PRELOAD");
            }
            if (!linker.isMusl()) {
                for (String line : root.lines("/etc/ld.so.preload")) {
                    for (String name : line.replaceFirst("#.*", "").split("[ \t:,]")) {
                        preload(name, "/etc/ld.so.preload");
                    }
                }
            }
            queue.addFirst(program);
            while (!queue.isEmpty()) {
                LoadedLibraryFile object = queue.remove();
                object.needed().forEach(name -> need(name, object));
            }
            MissingSymbols symbols = new MissingSymbols();
            if (libraries.stream().anyMatch(library -> library.path() == null)) {
                all.forEach(object -> symbols.add(root, object.path()));
                symbols.add(root, linker.interpreter());
            }
            if (!linker.isMusl()) {
                all.forEach(this::check);
            }
            String interpreter = linker.interpreter();
            return new ResolvedLibraries(
                    interpreter.isEmpty() ? null : interpreter, libraries, gaps, symbols.list());
        }

        private void preload(String name, String why) {
            if (name.isEmpty() || byName.containsKey(name)) {
                return;
            }
            NeededLibrary found = find(name, program);
            if (found.path() == null) {
                gaps.add("object '" + name + "' from " + why + " cannot be preloaded: ignored");
            } else {
                take(new NeededLibrary(name, found.path(), found.how(), why), program);
            }
        }

        private void need(String name, LoadedLibraryFile object) {
            if (byName.containsKey(name) || libraries.size() >= LIBRARY_LIMIT) {
                return;
            }
            if (isLinker(name)) {
                // The kernel has loaded it before anything is looked for.
                if (!hasLinker) {
                    hasLinker = true;
                    libraries.add(interpreter(name, object));
                }
                return;
            }
            take(find(name, object), object);
        }

        private boolean isLinker(String name) {
            String path = linker.interpreter();
            return !linker.isMusl() && name.equals(path.substring(path.lastIndexOf('/') + 1));
        }

        private NeededLibrary interpreter(String name, LoadedLibraryFile object) {
            return new NeededLibrary(name, linker.interpreter(), "interpreter", object.path());
        }

        private void take(NeededLibrary found, LoadedLibraryFile by) {
            String at = found.path();
            if (at == null || found.how().equals("interpreter")) {
                libraries.add(found);
                byName.put(found.name(), null);
                return;
            }
            Path file = root.real(at).toAbsolutePath();
            try {
                file = file.toRealPath();
            } catch (IOException e) {
                // It has gone since: its name will do.
            }
            LoadedLibraryFile known = byFile.get(file);
            if (known == null) {
                libraries.add(found);
                known = open(at, by);
                byFile.put(file, known);
                queue.add(known);
                all.add(known);
            }
            byName.put(found.name(), known);
        }

        private LoadedLibraryFile open(String path, LoadedLibraryFile by) {
            try (OpenElf file = OpenElf.asIs(FilePlace.named(root.real(path).toString()))) {
                LoadedLibraryFile object = loaded(path, file.elf(), by);
                DynamicTable table = file.elf().dynamic().orElse(null);
                if (table != null) {
                    table.soname().ifPresent(name -> byName.putIfAbsent(name, object));
                }
                return object;
            } catch (IOException | InternalError e) {
                return new LoadedLibraryFile(
                        path, List.of(), List.of(), List.of(), false, null, by);
            }
        }

        private LoadedLibraryFile loaded(String path, ElfFile of, @Nullable LoadedLibraryFile by)
                throws IOException {
            DynamicTable table = of.dynamic().orElse(null);
            if (table == null) {
                return new LoadedLibraryFile(
                        path, List.of(), List.of(), List.of(), false, null, by);
            }
            // Both linkers leave RPATH out where there is a RUNPATH.
            List<String> runPath = paths(table, DynamicEntry.DT_RUNPATH, path);
            boolean old = table.texts(DynamicEntry.DT_RUNPATH).isEmpty();
            long flags = table.value(DynamicEntry.DT_FLAGS_1).orElse(0);
            return new LoadedLibraryFile(
                    path,
                    table.needed(),
                    old ? paths(table, DynamicEntry.DT_RPATH, path) : List.of(),
                    runPath,
                    (flags & DynamicEntry.DF_1_NODEFLIB) != 0,
                    of.versions().orElse(null),
                    by);
        }

        private List<String> paths(DynamicTable table, long tag, String path) {
            List<String> paths = new ArrayList<>();
            for (String text : table.texts(tag)) {
                if (!text.isEmpty()) {
                    elements(text, "", path, paths);
                }
            }
            return List.copyOf(paths);
        }

        /** Elements of a search path; an empty one is the working folder, as it is for glibc. */
        private void elements(String text, String separators, String path, List<String> out) {
            for (String element : text.split("[:" + separators + "]", -1)) {
                String whole =
                        element.isEmpty() ? linker.isMusl() ? "" : "." : expand(element, path);
                if (!whole.isEmpty()) {
                    out.add(linker.isMusl() ? whole : whole.replaceFirst("(?<=.)/+$", ""));
                }
            }
        }

        /** $ORIGIN, $LIB, $PLATFORM, in braces or not; empty where one of them is not known. */
        private String expand(String text, String path) {
            Matcher tokens = TOKEN.matcher(text);
            StringBuilder out = new StringBuilder();
            while (tokens.find()) {
                String token = tokens.group(1) == null ? tokens.group(2) : tokens.group(1);
                String value =
                        switch (token) {
                            case "ORIGIN" -> path.substring(0, Math.max(1, path.lastIndexOf('/')));
                            case "LIB" -> linker.isMusl() ? null : linker.lib();
                            default -> linker.platform();
                        };
                if (value == null) {
                    return "";
                }
                tokens.appendReplacement(out, Matcher.quoteReplacement(value));
            }
            return tokens.appendTail(out).toString();
        }

        private NeededLibrary find(String name, LoadedLibraryFile object) {
            if (name.indexOf('/') >= 0) {
                String path = expand(name, object.path());
                return fits(path)
                        ? new NeededLibrary(name, path, "path", object.path())
                        : new NeededLibrary(name, null, "not found", object.path());
            }
            if (linker.isMusl() && IN_MUSL.stream().anyMatch(name::startsWith)) {
                return interpreter(name, object);
            }
            Set<String> others = new LinkedHashSet<>();
            for (Folder folder : order(object)) {
                String path = in(folder.path(), name, others);
                if (path != null) {
                    return new NeededLibrary(name, path, folder.how(), object.path());
                }
            }
            String cached = cached(name, object, others);
            if (cached != null) {
                return new NeededLibrary(name, cached, "cache", object.path());
            }
            for (String folder : object.noDefaults() ? List.<String>of() : linker.folders()) {
                String path = in(folder, name, others);
                if (path != null) {
                    return new NeededLibrary(name, path, "default folder", object.path());
                }
            }
            String why =
                    others.isEmpty() ? "not found" : "not found; of another machine: " + others;
            return new NeededLibrary(name, null, why, object.path());
        }

        /** The best variant in a folder that fits; null for none. */
        private @Nullable String in(String folder, String name, Set<String> others) {
            for (String variant : linker.variants()) {
                String path = folder + "/glibc-hwcaps/" + variant + "/" + name;
                if (fits(path)) {
                    return path;
                }
            }
            String path = (folder.equals("/") ? "" : folder) + "/" + name;
            if (fits(path)) {
                return path;
            }
            if (root.isFile(path)) {
                others.add(path);
            }
            return null;
        }

        private @Nullable String cached(String name, LoadedLibraryFile object, Set<String> others) {
            List<String> paths = new ArrayList<>(linker.cache().getOrDefault(name, List.of()));
            paths.removeIf(path -> rank(path) < 0);
            paths.sort(Comparator.comparingInt(this::rank));
            for (String path : paths) {
                boolean hidden =
                        object.noDefaults()
                                && linker.folders().stream()
                                        .anyMatch(folder -> path.startsWith(folder + "/"));
                if (!hidden && fits(path)) {
                    return path;
                }
                if (!hidden && root.isFile(path)) {
                    others.add(path);
                }
            }
            return null;
        }

        /** Where a path of the cache stands among variants; -1 for one of another CPU. */
        private int rank(String path) {
            Matcher variant = VARIANT.matcher(path);
            return variant.find()
                    ? linker.variants().indexOf(variant.group(1))
                    : linker.variants().size();
        }

        private record Folder(String path, String how) {}

        /** glibc: RPATH of the chain of loaders, environment, RUNPATH; musl: environment first. */
        private List<Folder> order(LoadedLibraryFile object) {
            List<Folder> folders = new ArrayList<>();
            if (linker.isMusl()) {
                environs.forEach(path -> folders.add(new Folder(path, "LD_LIBRARY_PATH")));
            }
            boolean chain = object.runPath().isEmpty() || linker.isMusl();
            LoadedLibraryFile at = object;
            while (chain && at != null) {
                at.rpath().forEach(path -> folders.add(new Folder(path, "rpath")));
                if (linker.isMusl()) {
                    at.runPath().forEach(path -> folders.add(new Folder(path, "runpath")));
                }
                at = at.by();
            }
            if (!linker.isMusl()) {
                environs.forEach(path -> folders.add(new Folder(path, "LD_LIBRARY_PATH")));
                object.runPath().forEach(path -> folders.add(new Folder(path, "runpath")));
            }
            return folders;
        }

        private boolean fits(String path) {
            return MachineKind.isFor(root, path, elf);
        }

        /** Versions that a file needs and the library found does not define. */
        private void check(LoadedLibraryFile object) {
            SymbolVersions versions = object.versions();
            if (versions == null) {
                return;
            }
            for (SymbolVersions.Needed needed : versions.needs()) {
                LoadedLibraryFile library = byName.get(needed.file());
                SymbolVersions defined = library == null ? null : library.versions();
                if (library == null || defined == null) {
                    continue;
                }
                Set<String> names = new HashSet<>();
                defined.definitions().forEach(d -> names.add(d.name()));
                for (SymbolVersions.Version version : needed.versions()) {
                    if (!names.contains(version.name()) && (version.flags() & 2) == 0) {
                        gaps.add(
                                library.path()
                                        + ": version `"
                                        + version.name()
                                        + "' not found (required by "
                                        + object.path()
                                        + ")");
                    }
                }
            }
        }
    }
}
