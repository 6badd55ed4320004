package sonde.tools.elf;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.format.elf.DynamicEntry;
import sonde.format.elf.DynamicTable;
import sonde.format.elf.ElfFile;
import sonde.format.elf.SymbolVersions;
import sonde.symbol.files.OpenElf;
import sonde.symbol.files.Place;

/**
 * Which libraries a program would load, found as the run-time linker finds them (ld.so(8); for musl
 * ldso/dynlink.c), without running anything. Variants for kinds of processors (glibc-hwcaps) are
 * not looked for.
 */
public final class LibraryResolver {
    private static final int LIBRARY_LIMIT = 4096;

    /** Names that musl's own library answers for. */
    private static final List<String> IN_MUSL =
            List.of("libc.", "libpthread.", "librt.", "libm.", "libdl.", "libutil.", "libxnet.");

    private final RootFolder root;
    private final String environment;
    private Map<String, List<String>> cache = Map.of();
    private List<String> defaults = List.of();
    private String lib = "lib";
    private boolean musl;
    private String interpreter = "";

    /**
     * A library that is needed.
     *
     * @param path where it was found; null for nowhere
     * @param how by what: "runpath", "rpath", "LD_LIBRARY_PATH", "cache", "default folder", "path",
     *     "interpreter"; for none the reason
     * @param neededBy path of the file that needs it first
     */
    public record Library(String name, @Nullable String path, String how, String neededBy) {}

    /** All libraries in the order of loading, and versions that they lack. */
    public record Answer(@Nullable String interpreter, List<Library> libraries, List<String> gaps) {
        /** Whether everything is there. */
        public boolean isWhole() {
            return gaps.isEmpty() && libraries.stream().allMatch(l -> l.path() != null);
        }
    }

    /** A loaded object: its path in the root, what it says, and what loaded it. */
    private record Loaded(
            String path,
            List<String> needed,
            List<String> rpath,
            List<String> runPath,
            boolean noDefaults,
            @Nullable SymbolVersions versions,
            @Nullable Loaded by) {}

    /**
     * @param sysroot folder that stands for the root; empty for our own
     * @param libraryPath LD_LIBRARY_PATH; empty for none
     */
    public LibraryResolver(String sysroot, String libraryPath) {
        this.root = new RootFolder(sysroot);
        this.environment = libraryPath;
    }

    /**
     * Resolves all that a program needs.
     *
     * @param path of the program as it is in the root
     * @throws IOException when its dynamic section is damaged
     */
    public Answer resolve(String path, ElfFile elf) throws IOException {
        String absolute =
                path.startsWith("/") ? path : Path.of(path).toAbsolutePath().normalize().toString();
        prepare(elf);
        List<Library> libraries = new ArrayList<>();
        List<String> gaps = new ArrayList<>();
        Map<String, @Nullable Loaded> byName = new HashMap<>();
        Map<String, Loaded> byPath = new HashMap<>();
        // The kernel has loaded the interpreter before anything is looked for.
        byName.put(interpreter.substring(interpreter.lastIndexOf('/') + 1), null);
        Queue<Loaded> queue = new ArrayDeque<>();
        Loaded program = loaded(absolute, elf, null);
        queue.add(program);
        List<Loaded> all = new ArrayList<>(List.of(program));
        while (!queue.isEmpty()) {
            Loaded object = queue.remove();
            for (String name : object.needed()) {
                if (byName.containsKey(name) || libraries.size() >= LIBRARY_LIMIT) {
                    continue;
                }
                Library found = find(name, object, elf);
                libraries.add(found);
                byName.put(name, null);
                String at = found.path();
                if (at == null) {
                    continue;
                }
                Loaded known = byPath.get(at);
                if (known == null) {
                    known = open(at, object, byName);
                    if (known != null) {
                        byPath.put(at, known);
                        queue.add(known);
                        all.add(known);
                    }
                }
                byName.put(name, known);
            }
        }
        all.forEach(object -> check(object, byName, gaps));
        return new Answer(elf.interpreter().orElse(null), libraries, gaps);
    }

    private void prepare(ElfFile elf) {
        interpreter = elf.interpreter().orElse("");
        musl = interpreter.contains("/ld-musl-");
        String multiarch = multiarch(elf.machine(), elf.is64());
        boolean debian = !multiarch.isEmpty() && root.isFolder("/usr/lib/" + multiarch);
        lib = debian ? "lib/" + multiarch : elf.is64() ? "lib64" : "lib";
        List<String> folders = new ArrayList<>();
        if (musl) {
            String name = interpreter.substring(interpreter.lastIndexOf('/') + 1);
            String file = "/etc/" + name.replaceFirst("\\.so\\.1$", ".path");
            root.lines(file).forEach(line -> folders.addAll(split(line)));
            if (folders.isEmpty()) {
                folders.addAll(List.of("/lib", "/usr/local/lib", "/usr/lib"));
            }
        } else {
            cache = LibraryCache.read(root.real("/etc/ld.so.cache"));
            if (cache.isEmpty()) {
                folders.addAll(LibraryCache.folders(root, "/etc/ld.so.conf"));
            }
            if (debian) {
                folders.addAll(List.of("/lib/" + multiarch, "/usr/lib/" + multiarch));
            }
            folders.addAll(
                    elf.is64()
                            ? List.of("/lib64", "/usr/lib64", "/lib", "/usr/lib")
                            : List.of("/lib", "/usr/lib", "/lib32", "/usr/lib32"));
        }
        defaults = List.copyOf(folders);
    }

    /** Debian's folder for libraries of a machine. */
    private static String multiarch(int machine, boolean wide) {
        return switch (machine) {
            case ElfFile.EM_X86_64 -> wide ? "x86_64-linux-gnu" : "x86_64-linux-gnux32";
            case ElfFile.EM_386 -> "i386-linux-gnu";
            case ElfFile.EM_AARCH64 -> "aarch64-linux-gnu";
            case ElfFile.EM_ARM -> "arm-linux-gnueabihf";
            case ElfFile.EM_RISCV -> wide ? "riscv64-linux-gnu" : "riscv32-linux-gnu";
            case ElfFile.EM_S390 -> "s390x-linux-gnu";
            case ElfFile.EM_LOONGARCH -> "loongarch64-linux-gnu";
            case 21 -> "powerpc64le-linux-gnu";
            default -> "";
        };
    }

    private static List<String> split(String paths) {
        return Arrays.stream(paths.split("[:\\n]")).filter(p -> !p.isEmpty()).toList();
    }

    private Loaded loaded(String path, ElfFile elf, @Nullable Loaded by) throws IOException {
        DynamicTable table = elf.dynamic().orElse(null);
        if (table == null) {
            return new Loaded(path, List.of(), List.of(), List.of(), false, null, by);
        }
        List<String> runPath = new ArrayList<>();
        table.texts(DynamicEntry.DT_RUNPATH).forEach(text -> runPath.addAll(split(text)));
        List<String> rpath = new ArrayList<>();
        if (runPath.isEmpty() || musl) {
            table.texts(DynamicEntry.DT_RPATH).forEach(text -> rpath.addAll(split(text)));
        }
        boolean none =
                (table.value(DynamicEntry.DT_FLAGS_1).orElse(0) & DynamicEntry.DF_1_NODEFLIB) != 0;
        return new Loaded(
                path,
                table.needed(),
                List.copyOf(rpath),
                List.copyOf(runPath),
                none,
                elf.versions().orElse(null),
                by);
    }

    private @Nullable Loaded open(String path, Loaded by, Map<String, @Nullable Loaded> byName) {
        try (OpenElf file = OpenElf.asIs(Place.named(root.real(path).toString()))) {
            Loaded object = loaded(path, file.elf(), by);
            DynamicTable table = file.elf().dynamic().orElse(null);
            if (table != null) {
                table.soname().ifPresent(name -> byName.putIfAbsent(name, object));
            }
            return object;
        } catch (IOException | InternalError e) {
            return null;
        }
    }

    private Library find(String name, Loaded object, ElfFile program) {
        if (name.indexOf('/') >= 0) {
            String path = expand(name, object);
            return fits(path, program)
                    ? new Library(name, path, "path", object.path())
                    : new Library(name, null, "not found", object.path());
        }
        if (musl && IN_MUSL.stream().anyMatch(name::startsWith)) {
            return new Library(name, interpreter, "interpreter", object.path());
        }
        Set<String> others = new HashSet<>();
        for (Folder folder : order(object)) {
            String path = expand(folder.path(), object) + "/" + name;
            if (fits(path, program)) {
                return new Library(name, path, folder.how(), object.path());
            }
            if (root.isFile(path)) {
                others.add(path);
            }
        }
        if (!musl && !object.noDefaults()) {
            for (String path : cache.getOrDefault(name, List.of())) {
                if (fits(path, program)) {
                    return new Library(name, path, "cache", object.path());
                }
            }
        }
        for (String folder : object.noDefaults() ? List.<String>of() : defaults) {
            String path = folder + "/" + name;
            if (fits(path, program)) {
                return new Library(name, path, "default folder", object.path());
            }
        }
        String why = others.isEmpty() ? "not found" : "not found; of another machine: " + others;
        return new Library(name, null, why, object.path());
    }

    private record Folder(String path, String how) {}

    /** glibc: RPATH of the chain of loaders, environment, RUNPATH; musl: environment first. */
    private List<Folder> order(Loaded object) {
        List<Folder> folders = new ArrayList<>();
        List<Folder> environs = new ArrayList<>();
        for (String path : environment.split("[:;]", -1)) {
            if (!environment.isEmpty()) {
                environs.add(new Folder(path.isEmpty() ? "." : path, "LD_LIBRARY_PATH"));
            }
        }
        if (musl) {
            folders.addAll(environs);
        }
        boolean chain = object.runPath().isEmpty() || musl;
        Loaded at = object;
        while (chain && at != null) {
            at.rpath().forEach(path -> folders.add(new Folder(path, "rpath")));
            if (musl) {
                at.runPath().forEach(path -> folders.add(new Folder(path, "runpath")));
            }
            at = at.by();
        }
        if (!musl) {
            folders.addAll(environs);
            object.runPath().forEach(path -> folders.add(new Folder(path, "runpath")));
        }
        return folders;
    }

    /** $ORIGIN, $LIB, $PLATFORM, in braces or not. */
    private String expand(String path, Loaded object) {
        String folder = object.path().substring(0, Math.max(1, object.path().lastIndexOf('/')));
        return path.replace("${ORIGIN}", folder)
                .replace("$ORIGIN", folder)
                .replace("${LIB}", lib)
                .replace("$LIB", lib)
                .replace("${PLATFORM}", "x86_64")
                .replace("$PLATFORM", "x86_64");
    }

    private boolean fits(String path, ElfFile program) {
        if (!root.isFile(path)) {
            return false;
        }
        try (OpenElf file = OpenElf.asIs(Place.named(root.real(path).toString()))) {
            return file.elf().machine() == program.machine()
                    && file.elf().is64() == program.is64()
                    && file.elf().order().equals(program.order());
        } catch (IOException | InternalError e) {
            return false;
        }
    }

    /** Versions that a file needs and the library found does not define. */
    private static void check(
            Loaded object, Map<String, @Nullable Loaded> byName, List<String> gaps) {
        SymbolVersions versions = object.versions();
        if (versions == null) {
            return;
        }
        for (SymbolVersions.Needed needed : versions.needs()) {
            Loaded library = byName.get(needed.file());
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
