import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassFile.ClassHierarchyResolverOption;
import java.lang.classfile.ClassFileVersion;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeMap;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/**
 * What {@code ./sonde} runs when a source is newer than the last build: javac, jars, and on the
 * first build the runtime image. No checks and no tests; those belong to {@code ./test}.
 *
 * <pre>
 * build/deps/      the libraries of pom.xml, fetched by Maven when pom.xml changes
 * build/classes/   one folder per module; classes.state says what they were compiled from
 * build/jars/      one jar per module: its classes and resources
 * build/image/     jlink runtime; app/ holds our jars and the libraries; bin/sonde starts it
 * </pre>
 */
public final class Build {
    /** In dependency order; each may require only those before it. */
    private static final List<String> MODULES =
            List.of(
                    "event", "sys", "binary", "recording", "exchange", "symbol", "bpf", "probe", "analysis", "lang", "store", "open", "assets",
                    "view", "tools", "cli");

    /** JDK modules of the image: ours need base; unsupported has sun.misc.Signal and Unsafe; JLine logs. */
    private static final String JDK_MODULES = "java.base,java.logging,jdk.unsupported";

    /** Libraries that only the compiler reads. */
    private static final List<String> COMPILE_ONLY = List.of("jspecify");

    /** Of this library the image gets the native part alone, as a file that can be mapped. */
    private static final String DUCKDB = "duckdb_jdbc";

    /** Of its native parts the image gets libzstd, as a file too. */
    private static final String AIRCOMPRESSOR = "aircompressor";

    /** Compiled for Java 5: such classes do not go into a start-up cache. */
    private static final String PICOCLI = "picocli";

    /** The class file version the library gets: 61 is Java 17's. */
    private static final ClassFileVersion MODERN = ClassFileVersion.of(61, 0);

    /** Options for all our sources, those of tests too. */
    static final List<String> JAVAC =
            List.of("-proc:none", "-nowarn", "-Xlint:none", "-implicit:none", "-g", "--release", "25");

    /** The processor of this machine, as Java names it: amd64, aarch64. */
    static final String ARCH = System.getProperty("os.arch");

    private final Path root;
    private final Path out;

    Build(Path root) {
        this.root = root;
        this.out = root.resolve("build");
    }

    public static void main(String[] args) throws Exception {
        try {
            new Build(Path.of(args[0]).toAbsolutePath()).run();
        } catch (IOException e) {
            System.err.println("sonde: " + e.getMessage());
            System.exit(1);
        }
    }

    private void run() throws Exception {
        Files.createDirectories(out);
        fetchLibraries();
        compile();
        Path image = out.resolve("image");
        Path linked = image.resolve("jdk-modules");
        boolean fits = Files.exists(linked) && Files.readString(linked).equals(JDK_MODULES);
        if (!Files.exists(image.resolve("bin/java")) || !fits) {
            say("linking the runtime image (once)");
            linkHere(image);
            Files.writeString(linked, JDK_MODULES);
        }
        packageInto(image);
    }

    private static void say(String what) {
        System.err.println("sonde: " + what);
    }

    /** Copies the libraries named in the root pom's dependency:copy execution. */
    private void fetchLibraries() throws Exception {
        Path deps = out.resolve("deps");
        Path mark = deps.resolve(".pom");
        String pom = digest(List.of(root.resolve("pom.xml")));
        if (Files.exists(mark) && Files.readString(mark).equals(pom)) {
            return;
        }
        say("fetching libraries with Maven (once per change of pom.xml)");
        deleteTree(deps);
        Files.createDirectories(deps);
        ProcessBuilder maven =
                new ProcessBuilder(
                                "mvn", "-q", "-B", "-N", "-f", root.resolve("pom.xml").toString(),
                                "dependency:copy@runtime", "-DoutputDirectory=" + deps)
                        .redirectOutput(ProcessBuilder.Redirect.to(out.resolve("mvn.log").toFile()))
                        .redirectErrorStream(true);
        maven.environment().put("JAVA_HOME", System.getProperty("java.home"));
        int status;
        try {
            status = maven.start().waitFor();
        } catch (IOException e) {
            throw new IOException("Maven is needed for the first build: apt install maven", e);
        }
        if (status != 0) {
            throw new IOException(
                    "Maven could not fetch the libraries; see " + out.resolve("mvn.log"));
        }
        Files.writeString(mark, pom);
    }

    /** Compiles what changed; {@link Tests} asks for the facts of the classes. */
    Compilation compile() throws Exception {
        List<String> options = new ArrayList<>(JAVAC);
        options.add("-XDstringConcat=inline");
        Path classes = out.resolve("classes");
        List<Compilation.Unit> units = new ArrayList<>();
        List<Path> places = new ArrayList<>(Compilation.list(out.resolve("deps"), ".jar"));
        for (String module : MODULES) {
            Path sources = root.resolve(module + "/src/main/java");
            units.add(new Compilation.Unit(sources, classes.resolve("sonde." + module)));
            places.add(classes.resolve("sonde." + module));
            options.addAll(List.of("--module-source-path", "sonde." + module + "=" + sources));
        }
        options.addAll(List.of("-p", out.resolve("deps").toString(), "-d", classes.toString()));
        String version = options + digest(Compilation.list(root.resolve("launcher"), ".java"))
                + Files.readString(out.resolve("deps/.pom"));
        Compilation compilation = new Compilation(out.resolve("classes.state"), version, units, options);
        compilation.run(files -> Switches.inline(files, places));
        return compilation;
    }

    /** Links a runtime image of this JDK's modules, or of those in a folder. */
    void link(Path target, Path modules) throws Exception {
        deleteTree(target);
        List<String> command =
                new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/jlink"));
        boolean isOurs = modules == null;
        if (!isOurs) {
            command.addAll(List.of("--module-path", modules.toString()));
            // objcopy knows the libraries of its own processor alone; this is Debian's for arm64.
            String objcopy = "/usr/bin/aarch64-linux-gnu-objcopy";
            if (Files.isExecutable(Path.of(objcopy))) {
                command.add(
                        "--strip-native-debug-symbols=exclude-debuginfo-files:objcopy=" + objcopy);
            }
        }
        command.addAll(
                List.of(
                        "--add-modules", JDK_MODULES,
                        isOurs ? "--strip-debug" : "--strip-java-debug-attributes",
                        "--no-header-files",
                        "--no-man-pages",
                        "--output", target.toString()));
        // In a process of its own: what jlink generates depends on what its JVM has run before.
        Process linking =
                new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(linking.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (linking.waitFor() != 0) {
            throw new IOException("jlink failed: " + said.strip());
        }
    }

    private void linkHere(Path image) throws Exception {
        Path fresh = out.resolve("image.new");
        link(fresh, null);
        // The default CDS archive; jlink's own option for it prints a page of warnings.
        new ProcessBuilder(
                        fresh.resolve("bin/java").toString(),
                        "-XX:+UseSerialGC",
                        "-Xshare:dump",
                        "-Xlog:disable",
                        "-Xlog:all=off")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor();
        deleteTree(image);
        Files.move(fresh, image);
    }

    /**
     * Puts our jars, the libraries and the start script into the image. When nothing of them
     * changed the folder stays as it is, and with it the start-up cache.
     */
    private void packageInto(Path image) throws Exception {
        Path app = out.resolve("app.new");
        deleteTree(app);
        Files.createDirectories(app);
        for (String module : MODULES) {
            jar(module, app.resolve("sonde." + module + ".jar"));
        }
        try (Stream<Path> libraries = Files.list(out.resolve("deps"))) {
            for (Path library : libraries.sorted().toList()) {
                String name = library.getFileName().toString();
                if (name.startsWith(DUCKDB) || name.startsWith(AIRCOMPRESSOR)) {
                    nativePart(library, app, ARCH);
                } else if (name.startsWith(PICOCLI)) {
                    modernize(library, app.resolve(name));
                } else if (name.endsWith(".jar")
                        && COMPILE_ONLY.stream().noneMatch(name::startsWith)) {
                    Files.copy(library, app.resolve(name), StandardCopyOption.COPY_ATTRIBUTES);
                }
            }
        }
        List<Path> parts = new ArrayList<>(Compilation.list(app, ".jar"));
        if (heapLibrary(app.resolve("libsonde-heap.so"))) {
            parts.add(app.resolve("libsonde-heap.so"));
        }
        for (String name : List.of("sonde.sh", "train.sh")) {
            Path script = app.resolve(name);
            Files.copy(root.resolve("launcher").resolve(name), script);
            Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
            parts.add(script);
        }
        // Caches of one place are counted together.
        String place = "%08x".formatted(root.hashCode());
        String id = digest(parts).substring(0, 16) + " " + place + "\n";
        Files.writeString(app.resolve("build-id"), id);
        Path current = image.resolve("app");
        Path pages = image.resolve("docs"); // of sonde help; a package has the files
        if (!Files.isSymbolicLink(pages)) {
            Files.createSymbolicLink(pages, Path.of("../../docs"));
        }
        Path start = image.resolve("bin/sonde");
        boolean isSame =
                Files.exists(current.resolve("build-id"))
                        && Files.readString(current.resolve("build-id")).equals(id)
                        && Files.exists(start);
        if (isSame) {
            deleteTree(app);
            return;
        }
        Path old = out.resolve("app.old");
        deleteTree(old);
        if (Files.exists(current)) {
            Files.move(current, old);
        }
        Files.move(app, current);
        Files.deleteIfExists(start);
        Files.createSymbolicLink(start, Path.of("../app/sonde.sh"));
        deleteTree(old);
    }

    /**
     * Compiles the library that sonde heap puts into programs; without a compiler there is none,
     * and sonde heap says so. Linked without a libc, it runs with any.
     */
    private boolean heapLibrary(Path target) throws Exception {
        Path source = root.resolve("probe/src/main/c/heap.c");
        List<String> words = new ArrayList<>(List.of("gcc"));
        words.addAll(
                ("-std=gnu11 -O2 -fPIC -shared -fvisibility=hidden -fno-builtin -nostdlib"
                                + " -ftls-model=initial-exec -Wl,-soname,libsonde-heap.so -o")
                        .lines()
                        .flatMap(line -> Stream.of(line.split(" ")))
                        .toList());
        words.addAll(List.of(target.toString(), source.toString()));
        try {
            return new ProcessBuilder(words).inheritIO().start().waitFor() == 0;
        } catch (IOException e) {
            return false;
        }
    }

    /** Gives a copy of our jars the native parts for another processor. */
    void nativeParts(Path app, String arch) throws IOException {
        for (Path library : Compilation.list(out.resolve("deps"), ".jar")) {
            nativePart(library, app, arch);
        }
    }

    private void nativePart(Path jar, Path app, String arch) throws IOException {
        String name = jar.getFileName().toString();
        if (name.startsWith(DUCKDB)) {
            Files.deleteIfExists(app.resolve("libduckdb.so"));
            duckdb(jar, app.resolve("libduckdb.so"), arch.equals("aarch64") ? "arm64" : arch);
        } else if (name.startsWith(AIRCOMPRESSOR)) {
            Files.deleteIfExists(app.resolve(name));
            Files.deleteIfExists(app.resolve("libzstd.so"));
            zstd(jar, app.resolve(name), app.resolve("libzstd.so"), arch);
        }
    }

    /** Unpacks the library for a processor; 70 MB, so a file of the last build is kept. */
    private void duckdb(Path jar, Path target, String arch) throws IOException {
        Path kept = out.resolve("libduckdb-" + jar.getFileName() + "-" + arch + ".so");
        if (!Files.exists(kept)) {
            try (ZipFile zip = new ZipFile(jar.toFile())) {
                ZipEntry entry = zip.getEntry("libduckdb_java.so_linux_" + arch);
                if (entry == null) {
                    return; // sonde query says so
                }
                Path fresh = kept.resolveSibling(kept.getFileName() + ".new");
                try (InputStream in = zip.getInputStream(entry)) {
                    Files.copy(in, fresh, StandardCopyOption.REPLACE_EXISTING);
                }
                Files.move(fresh, kept, StandardCopyOption.ATOMIC_MOVE);
            }
        }
        Files.createLink(target, kept);
    }

    /** Copies a library without its native parts, and the one that is used beside it. */
    private void zstd(Path jar, Path target, Path library, String arch) throws IOException {
        Path kept = out.resolve("plain-" + jar.getFileName());
        Path keptLibrary = out.resolve("libzstd-" + jar.getFileName() + "-" + arch + ".so");
        if (!Files.exists(kept) || !Files.exists(keptLibrary)) {
            Path fresh = kept.resolveSibling(kept.getFileName() + ".new");
            NativeParts.split(
                    jar, "aircompressor/linux-" + arch + "/libzstd.so", fresh, keptLibrary);
            Files.move(fresh, kept, StandardCopyOption.ATOMIC_MOVE);
        }
        Files.copy(kept, target, StandardCopyOption.COPY_ATTRIBUTES);
        if (Files.exists(keptLibrary)) {
            Files.createLink(library, keptLibrary);
        }
    }

    /**
     * Copies a library with its classes brought to {@link #MODERN}: the same instructions, with the
     * stack maps that the version asks for. That takes 80 ms off the start of every command.
     */
    private void modernize(Path jar, Path target) throws IOException {
        Path kept = out.resolve("modern-" + jar.getFileName());
        if (!Files.exists(kept)) {
            Path fresh = kept.resolveSibling(kept.getFileName() + ".new");
            try (URLClassLoader classes = new URLClassLoader(new URL[] {jar.toUri().toURL()}, null);
                    ZipFile from = new ZipFile(jar.toFile());
                    ZipOutputStream to = new ZipOutputStream(Files.newOutputStream(fresh))) {
                ClassFile context =
                        ClassFile.of(
                                ClassHierarchyResolverOption.of(
                                        ClassHierarchyResolver.ofResourceParsing(classes)));
                for (ZipEntry entry : Collections.list(from.entries())) {
                    byte[] bytes = from.getInputStream(entry).readAllBytes();
                    ZipEntry copy = new ZipEntry(entry.getName());
                    copy.setTime(entry.getTime());
                    to.putNextEntry(copy);
                    to.write(entry.getName().endsWith(".class") ? modern(context, bytes) : bytes);
                    to.closeEntry();
                }
            }
            Files.move(fresh, kept, StandardCopyOption.ATOMIC_MOVE);
        }
        Files.copy(kept, target, StandardCopyOption.COPY_ATTRIBUTES);
    }

    private static byte[] modern(ClassFile context, byte[] bytes) {
        ClassModel model = context.parse(bytes);
        if (model.majorVersion() >= MODERN.majorVersion()) {
            return bytes;
        }
        // Taking bodies apart is what makes new stack maps.
        ClassTransform bodies =
                ClassTransform.transformingMethodBodies((code, element) -> code.with(element));
        ClassTransform version =
                (type, element) -> type.with(element instanceof ClassFileVersion ? MODERN : element);
        return context.transformClass(model, bodies.andThen(version));
    }

    /** Packs a module; what was packed last is kept with a list of what it was made of. */
    private void jar(String module, Path target) throws IOException {
        TreeMap<String, Path> entries = new TreeMap<>();
        collect(out.resolve("classes/sonde." + module), entries);
        collect(root.resolve(module + "/src/main/resources"), entries);
        StringBuilder contents = new StringBuilder();
        for (var entry : entries.entrySet()) {
            contents.append(entry.getKey()).append(' ');
            contents.append(Compilation.stamp(entry.getValue())).append('\n');
        }
        Path kept = out.resolve("jars").resolve(target.getFileName());
        Path list = kept.resolveSibling(module + ".contents");
        boolean isSame =
                Files.exists(kept)
                        && Files.exists(list)
                        && Files.readString(list).contentEquals(contents);
        if (!isSame) {
            Files.createDirectories(kept.getParent());
            Path fresh = kept.resolveSibling(kept.getFileName() + ".new");
            pack(entries, fresh);
            Files.deleteIfExists(list);
            Files.move(fresh, kept, StandardCopyOption.ATOMIC_MOVE);
            Files.writeString(list, contents);
        }
        Files.createLink(target, kept);
    }

    private static void pack(TreeMap<String, Path> entries, Path target) throws IOException {
        try (OutputStream file = Files.newOutputStream(target);
                JarOutputStream jar = new JarOutputStream(file)) {
            jar.setLevel(1);
            for (var entry : entries.entrySet()) {
                JarEntry header = new JarEntry(entry.getKey());
                header.setTimeLocal(java.time.LocalDateTime.of(2020, 1, 1, 0, 0));
                jar.putNextEntry(header);
                Files.copy(entry.getValue(), jar);
                jar.closeEntry();
            }
        }
    }

    private static void collect(Path folder, TreeMap<String, Path> entries) throws IOException {
        if (!Files.isDirectory(folder)) {
            return;
        }
        try (Stream<Path> files = Files.walk(folder)) {
            files.filter(Files::isRegularFile)
                    .forEach(file -> entries.put(folder.relativize(file).toString(), file));
        }
    }

    static void tool(String name, List<String> args) throws IOException {
        PrintWriter errors = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
        int status =
                ToolProvider.findFirst(name)
                        .orElseThrow(() -> new IOException("this Java has no " + name))
                        .run(new PrintWriter(OutputStream.nullOutputStream()), errors,
                                args.toArray(String[]::new));
        if (status != 0) {
            throw new IOException(name + " failed");
        }
    }

    static String digest(List<Path> files) throws Exception {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        for (Path file : files) {
            digest.update(file.getFileName().toString().getBytes(StandardCharsets.UTF_8));
            try (InputStream in = Files.newInputStream(file)) {
                digest.update(in.readAllBytes());
            }
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    static void deleteTree(Path path) throws IOException {
        if (!Files.exists(path)) {
            return;
        }
        try (Stream<Path> files = Files.walk(path)) {
            for (Path file : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
