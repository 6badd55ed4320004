import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Makes packages out of build/image: .deb, .rpm, an archive that runs where it is unpacked, and an
 * OCI image. All files have the time of the last commit, so the same sources give the same bytes.
 *
 * <pre>
 * usr/lib/sonde/     the image, without what only a JDK needs; app/libduckdb.so is in sonde-sql
 * usr/bin/sonde      link to lib/sonde/bin/sonde
 * usr/share/         manual pages, completion, licences, the list of components
 * </pre>
 */
public final class Package {
    /** Of the image, needed by nobody who runs sonde. */
    private static final List<String> UNUSED =
            List.of(
                    "bin/keytool",
                    "lib/classlist",
                    "lib/jrt-fs.jar",
                    "lib/server/classes.jsa",
                    "jdk-modules");

    private static final String SQL = "usr/lib/sonde/app/libduckdb.so";
    private static final String SUMMARY =
            "records, traces, profiles and explains what a Linux machine does";

    private final Path root;
    private final Path work;
    private final Path out;
    private final boolean fast;
    private final long seconds;
    private final String version;
    private final List<Path> made = new ArrayList<>();
    private final Path modules;
    private String glibc = NativeParts.NEWEST_GLIBC;
    private String arch = Build.ARCH.equals("aarch64") ? "arm64" : "amd64";

    /** Takes modules of a JDK for another processor, or null to package what was built. */
    private Package(Path root, Path out, boolean fast, Path modules) throws Exception {
        this.root = root;
        this.out = out;
        this.fast = fast;
        this.modules = modules;
        work = root.resolve("build/package");
        String epoch = System.getenv("SOURCE_DATE_EPOCH");
        seconds = Long.parseLong(epoch != null ? epoch : said("git", "log", "-1", "--format=%ct"));
        String main = Files.readString(root.resolve("cli/src/main/java/sonde/cli/Main.java"));
        Matcher stated = Pattern.compile("VERSION = \"([0-9.]+)\"").matcher(main);
        if (!stated.find()) {
            throw new IOException("Main.java states no version");
        }
        // Commits before a release sort before it, by time (deb-version(7), rpm-version(7)).
        String tags = said(root, seconds, "git", "tag", "--points-at", "HEAD");
        boolean isReleased = tags.lines().anyMatch(tag -> tag.equals("v" + stated.group(1)));
        String when =
                DateTimeFormatter.ofPattern("yyyyMMdd.HHmmss")
                        .format(Instant.ofEpochSecond(seconds).atOffset(ZoneOffset.UTC));
        String commit = said("git", "rev-parse", "--short=8", "HEAD");
        version = stated.group(1) + (isReleased ? "" : "~git" + when + "." + commit);
    }

    /** Takes the root of the checkout and the words of the command line. */
    public static void main(String[] args) throws Exception {
        Path root = Path.of(args[0]);
        Path out = root.resolve("dist");
        boolean fast = false;
        Path modules = null;
        List<String> kinds = new ArrayList<>();
        for (int i = 1; i < args.length; i++) {
            switch (args[i]) {
                case "--fast" -> fast = true;
                case "--out" -> out = Path.of(args[++i]).toAbsolutePath();
                case "--jmods" -> modules = Path.of(args[++i]).toAbsolutePath();
                case "deb", "rpm", "archive", "image" -> kinds.add(args[i]);
                default -> {
                    System.err.println(
                            "package: '"
                                    + args[i]
                                    + "' is none of --fast, --out DIR, --jmods DIR, deb, rpm, archive, image");
                    System.exit(2);
                }
            }
        }
        boolean all = kinds.isEmpty();
        try {
            Package made = new Package(root, out, fast, modules);
            made.stage();
            Files.createDirectories(out);
            for (String kind : all ? List.of("deb", "rpm", "archive", "image") : kinds) {
                String tool =
                        switch (kind) {
                            case "deb" -> "dpkg-deb";
                            case "rpm" -> "rpmbuild";
                            case "archive" -> "zstd";
                            default -> "busybox";
                        };
                if (all && !has(tool)) {
                    System.err.println(
                            "package: no " + kind + ", because " + tool + " is not installed");
                    continue;
                }
                switch (kind) {
                    case "deb" -> made.deb();
                    case "rpm" -> made.rpm();
                    case "archive" -> made.archive();
                    default -> made.image();
                }
            }
            made.checksums();
        } catch (IOException e) {
            System.err.println("package: " + e.getMessage());
            System.exit(1);
        }
    }

    /** Lays out the files of both packages below build/package/root. */
    private void stage() throws Exception {
        Build.deleteTree(work);
        Path stage = work.resolve("root");
        Path home = stage.resolve("usr/lib/sonde");
        if (modules == null) {
            copy(root.resolve("build/image"), home);
        } else {
            foreign(home);
        }
        for (String unused : UNUSED) {
            Files.deleteIfExists(home.resolve(unused));
        }
        pages(home.resolve("docs"));
        Files.writeString(home.resolve("app/build-id"), "package-" + version + " 00000000\n");
        checkLibraries(home);
        Files.createDirectories(stage.resolve("usr/bin"));
        Files.createSymbolicLink(stage.resolve("usr/bin/sonde"), Path.of("../lib/sonde/bin/sonde"));
        Path share = stage.resolve("usr/share");
        said(root.resolve("build/image/bin/sonde").toString(), "--manuals", share.toString());
        Path doc = Files.createDirectories(share.resolve("doc/sonde"));
        Files.copy(root.resolve("README.md"), doc.resolve("README.md"));
        Files.copy(root.resolve("LICENSE"), doc.resolve("LICENSE"));
        Files.copy(root.resolve("CHANGELOG.md"), doc.resolve("changelog"));
        Files.copy(root.resolve("launcher/third-party.txt"), doc.resolve("copyright"));
        Files.writeString(doc.resolve("sbom.cdx.json"), components());
        try (Stream<Path> pages = Files.list(share.resolve("man/man1"))) {
            for (Path page : pages.toList()) {
                zip(page);
            }
        }
        zip(doc.resolve("changelog"));
        settle(stage);
    }

    /** Lays out the image for the processor whose modules were given; the jars are the same. */
    private void foreign(Path home) throws Exception {
        Build build = new Build(root);
        build.link(home, modules);
        byte[] head = Files.readAllBytes(home.resolve("lib/libjli.so"));
        boolean isArm = head[18] == (byte) 183; // elf.h: EM_AARCH64; else EM_X86_64
        arch = isArm ? "arm64" : "amd64";
        try (Stream<Path> files = Files.walk(home)) {
            for (Path file : files.filter(one -> one.toString().endsWith(".debuginfo")).toList()) {
                Files.delete(file); // Debian's modules have them
            }
        }
        copy(root.resolve("build/image/app"), home.resolve("app"));
        Files.createSymbolicLink(home.resolve("bin/sonde"), Path.of("../app/sonde.sh"));
        Files.createSymbolicLink(home.resolve("docs"), Path.of("."));
        build.nativeParts(home.resolve("app"), isArm ? "aarch64" : "amd64");
    }

    /** What sonde help reads: installed files below /usr/share/doc may be missing (dpkg.cfg). */
    private void pages(Path target) throws IOException {
        Files.delete(target);
        Path docs = root.resolve("docs");
        try (Stream<Path> files = Files.walk(docs)) {
            for (Path file : files.filter(one -> one.toString().endsWith(".md")).toList()) {
                Path page = target.resolve(docs.relativize(file).toString());
                if (!file.startsWith(docs.resolve("decisions"))) {
                    Files.createDirectories(page.getParent());
                    Files.copy(file, page);
                }
            }
        }
    }

    /**
     * Refuses a library that the C library of an old distribution does not serve. Modules that were
     * given may be built for a newer one: the package says which it needs.
     */
    private void checkLibraries(Path home) throws IOException {
        try (Stream<Path> files = Files.walk(home)) {
            for (Path file : files.filter(one -> one.toString().endsWith(".so")).toList()) {
                String newest = NativeParts.newestGlibc(Files.readAllBytes(file));
                if (newest.isEmpty() || NativeParts.compare(newest, glibc) <= 0) {
                    continue;
                }
                String found = file.getFileName() + " asks for " + newest + ", newer than ";
                if (modules == null) {
                    throw new IOException(found + NativeParts.NEWEST_GLIBC);
                }
                System.err.println("package: " + found + glibc + ": the package asks for it");
                glibc = newest;
            }
        }
    }

    private void deb() throws Exception {
        for (boolean sql : new boolean[] {false, true}) {
            String name = sql ? "sonde-sql" : "sonde";
            Path tree = part("deb", sql);
            Path control = Files.createDirectories(tree.resolve("DEBIAN"));
            long kilobytes = size(tree) / 1024;
            String fields =
                    sql
                            ? "Package: sonde-sql\nDepends: sonde (= %1$s), libc6 (>= %2$s), libstdc++6, libgcc-s1\n"
                            : "Package: sonde\nDepends: libc6 (>= %2$s)\nRecommends: sonde-sql (= %1$s)\n";
            String about =
                    sql
                            ? "Description: SQL for recordings of sonde\n The library of DuckDB, which 'sonde query' needs.\n"
                            : "Description: "
                                    + SUMMARY
                                    + "\n sonde finds out why a machine is slow, stuck, leaking or dead: it records,\n"
                                    + " traces and profiles programs and the kernel, reads the recordings of other\n"
                                    + " tools, and explains kernel logs. It contains the Java that it runs with.\n";
            String header =
                    fields.formatted(version, glibc.substring(6))
                            + "Version: "
                            + version
                            + "\nArchitecture: "
                            + arch
                            + "\nMaintainer: The sonde authors <sonde@localhost>\nSection: utils\nPriority: optional\n"
                            + "Installed-Size: "
                            + kilobytes
                            + "\n";
            Files.writeString(control.resolve("control"), header + about);
            Path overrides = Files.createDirectories(tree.resolve("usr/share/lintian/overrides"));
            Files.writeString(
                    overrides.resolve(name),
                    OVERRIDES
                            .lines()
                            .map(tag -> name + ": " + tag + "\n")
                            .collect(Collectors.joining()));
            if (!sql) {
                script(
                        control.resolve("postinst"),
                        "#!/bin/sh\nset -e\n[ \"$1\" != configure ] || " + TRAIN);
                script(control.resolve("prerm"), "#!/bin/sh\nset -e\n" + FORGET);
                script(
                        control.resolve("postrm"),
                        "#!/bin/sh\nset -e\n[ \"$1\" = upgrade ] || " + CLEAR);
            }
            settle(tree);
            Path file = out.resolve(name + "_" + version + "_" + arch + ".deb");
            said(
                    "dpkg-deb",
                    "--root-owner-group",
                    "-Zxz",
                    fast ? "-z0" : "-z9",
                    "--build",
                    tree.toString(),
                    file.toString());
            told(file);
        }
    }

    /**
     * What lintian calls errors and is meant so: the files of OpenJDK and DuckDB are as their
     * makers build them, which have symbols and zlib; and the project has no address for mail yet.
     */
    private static final String OVERRIDES =
            """
            unstripped-binary-or-object
            embedded-library
            bogus-mail-host
            copyright-not-using-common-license-for-gpl
            """;

    /** Makes the start-up cache; without one everything works and only the start is slower. */
    private static final String TRAIN =
            "timeout 120 /usr/lib/sonde/app/train.sh /usr/lib/sonde/app/start.aot || :\n";

    /**
     * What root's commands keep between runs: tables for unwinding, start-up caches of checkouts.
     */
    private static final String CLEAR = "rm -rf /var/cache/sonde\n";

    private static final String FORGET = "rm -f /usr/lib/sonde/app/start.aot*\n";

    private void rpm() throws Exception {
        Path tree = work.resolve("root");
        String spec =
                """
                %%define _build_id_links none
                %%define __os_install_post %%{nil}
                %%define _binary_payload %s
                %%define use_source_date_epoch_as_buildtime 1
                %%define clamp_mtime_to_source_date_epoch 1
                %%define _buildhost localhost
                Name: sonde
                Version: %s
                Release: 1
                Summary: %s
                License: Apache-2.0 AND GPL-2.0-only WITH Classpath-exception-2.0 AND BSD-3-Clause AND 0BSD
                AutoReqProv: no
                Requires: glibc >= %s, coreutils
                %%description
                sonde finds out why a machine is slow, stuck, leaking or dead.
                %%package sql
                Summary: SQL for recordings of sonde
                License: MIT
                Requires: sonde = %%{version}-%%{release}, libstdc++
                %%description sql
                The library of DuckDB, which 'sonde query' needs.
                %%install
                mkdir -p %%{buildroot}
                cp -a %s/. %%{buildroot}/
                mkdir -p %%{buildroot}/usr/share/zsh/site-functions
                mv %%{buildroot}/usr/share/zsh/vendor-completions/_sonde %%{buildroot}/usr/share/zsh/site-functions/
                rmdir %%{buildroot}/usr/share/zsh/vendor-completions
                %%post
                %s%s
                %%preun
                [ "$1" -gt 0 ] || %s
                %%postun
                [ "$1" -gt 0 ] || %s
                %%files
                %%defattr(-,root,root)
                %%exclude /%s
                /usr/bin/sonde
                /usr/lib/sonde
                /usr/share/*/*
                %%files sql
                %%defattr(-,root,root)
                /%s
                """
                        .formatted(
                                fast ? "w1.gzdio" : "w7.xzdio",
                                version,
                                SUMMARY,
                                glibc.substring(6),
                                tree,
                                // An upgrade runs this before it removes the old package.
                                FORGET,
                                TRAIN,
                                FORGET,
                                CLEAR,
                                SQL,
                                SQL);
        Path file = Files.writeString(work.resolve("sonde.spec"), spec);
        String rpms = work.resolve("rpms").toString();
        said(
                "rpmbuild",
                "-bb",
                "--quiet",
                "--nodeps",
                "--define",
                "_topdir " + work.resolve("rpmbuild"),
                "--define",
                "_rpmdir " + rpms,
                "--target",
                arch.equals("arm64") ? "aarch64" : "x86_64",
                file.toString());
        try (Stream<Path> made = Files.walk(Path.of(rpms))) {
            for (Path one :
                    made.filter(path -> path.toString().endsWith(".rpm")).sorted().toList()) {
                told(
                        Files.move(
                                one,
                                out.resolve(one.getFileName()),
                                StandardCopyOption.REPLACE_EXISTING));
            }
        }
    }

    /** One folder with everything, to be unpacked anywhere. */
    private void archive() throws Exception {
        String name = "sonde-" + version + "-" + arch;
        Path tree = work.resolve("archive").resolve(name);
        copy(work.resolve("root/usr/lib/sonde"), tree);
        copy(work.resolve("root/usr/share"), tree.resolve("share"));
        settle(tree);
        Path plain = work.resolve(name + ".tar");
        tar(plain, tree.getParent(), name);
        Path file = out.resolve(name + ".tar.zst");
        said(
                "zstd",
                "-q",
                "-f",
                fast ? "-3" : "--ultra",
                fast ? "-T0" : "-22",
                "-o",
                file.toString(),
                plain.toString());
        Files.delete(plain);
        told(file);
    }

    /** An OCI image (image-spec 1.0) of sonde, busybox and the C library of this machine. */
    private void image() throws Exception {
        if (modules != null) {
            System.err.println(
                    "package: no image, because the C library here is not that of " + arch);
            return;
        }
        new OciImage(work, seconds, arch)
                .write(
                        work.resolve("root"),
                        out.resolve("sonde-" + version + "-" + arch + ".oci.tar"));
        told(out.resolve("sonde-" + version + "-" + arch + ".oci.tar"));
    }

    /** The files of one of the two packages. */
    private Path part(String kind, boolean sql) throws IOException {
        Path tree = work.resolve(kind + (sql ? "-sql" : ""));
        if (sql) {
            Files.createDirectories(tree.resolve(SQL).getParent());
            Files.copy(work.resolve("root").resolve(SQL), tree.resolve(SQL));
            Path doc = Files.createDirectories(tree.resolve("usr/share/doc/sonde-sql"));
            Files.copy(root.resolve("launcher/third-party.txt"), doc.resolve("copyright"));
            Files.copy(root.resolve("CHANGELOG.md"), doc.resolve("changelog"));
            zip(doc.resolve("changelog"));
        } else {
            copy(work.resolve("root"), tree);
            Files.delete(tree.resolve(SQL));
        }
        return tree;
    }

    /** The libraries by name, version and place (CycloneDX 1.5), as pom.xml states them. */
    private String components() throws IOException {
        String pom = Files.readString(root.resolve("pom.xml"));
        Matcher dependency =
                Pattern.compile(
                                "<groupId>([^<]+)</groupId>\\s*<artifactId>([^<]+)</artifactId>\\s*<version>([^<]+)<")
                        .matcher(pom);
        TreeMap<String, String> found = new TreeMap<>();
        while (dependency.find()) {
            String jar = dependency.group(2) + "-" + dependency.group(3) + ".jar";
            if (Files.exists(root.resolve("build/deps").resolve(jar))
                    && !jar.startsWith("jspecify")) {
                found.put(
                        jar,
                        component(
                                dependency.group(2),
                                dependency.group(3),
                                "pkg:maven/%s/%s@%s"
                                        .formatted(
                                                dependency.group(1),
                                                dependency.group(2),
                                                dependency.group(3))));
            }
        }
        String java = System.getProperty("java.version");
        found.put("java", component("openjdk", java, "pkg:generic/temurin@" + java));
        return """
        {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
         "metadata": {"component": {"type": "application", "name": "sonde", "version": "%s"}},
         "components": [
          %s
         ]}
        """
                .formatted(version, String.join(",\n  ", found.values()));
    }

    private static String component(String name, String version, String purl) {
        return "{\"type\": \"library\", \"name\": \"%s\", \"version\": \"%s\", \"purl\": \"%s\"}"
                .formatted(name, version, purl);
    }

    private static void script(Path path, String text) throws IOException {
        Files.writeString(path, text);
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private void zip(Path file) throws IOException {
        said("gzip", "-9n", file.toString());
    }

    private void tar(Path file, Path folder, String name) throws Exception {
        said(
                "tar",
                "--format=gnu",
                "--sort=name",
                "--owner=0",
                "--group=0",
                "--numeric-owner",
                "-cf",
                file.toString(),
                "-C",
                folder.toString(),
                name);
    }

    private void told(Path file) throws IOException {
        made.add(file);
        System.out.printf("%6.1f MB  %s%n", Files.size(file) / 1e6, file);
    }

    /** In the form of sha256sum(1); packages of another run stay listed. */
    private void checksums() throws IOException {
        Path file = out.resolve("SHA256SUMS");
        TreeMap<String, String> sums = new TreeMap<>();
        if (Files.exists(file)) {
            for (String line : Files.readAllLines(file)) {
                String name = line.substring(line.indexOf("  ") + 2);
                if (Files.exists(out.resolve(name))) {
                    sums.put(name, line);
                }
            }
        }
        for (Path one : made) {
            String name = one.getFileName().toString();
            sums.put(name, OciImage.digest(one) + "  " + name);
        }
        Files.write(file, sums.values());
    }

    static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.sorted().toList()) {
                Path target = to.resolve(from.relativize(file).toString());
                if (Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS)) {
                    Files.createDirectories(target);
                } else {
                    Files.copy(
                            file,
                            target,
                            LinkOption.NOFOLLOW_LINKS,
                            StandardCopyOption.COPY_ATTRIBUTES);
                }
            }
        }
    }

    /** Gives all files the time of the sources, and rights that do not depend on who packs. */
    private void settle(Path tree) throws IOException {
        FileTime time = FileTime.fromMillis(seconds * 1000);
        Files.walkFileTree(
                tree,
                new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes facts)
                            throws IOException {
                        if (facts.isSymbolicLink()) {
                            said("touch", "-h", "-d", "@" + seconds, file.toString());
                        } else {
                            boolean runs =
                                    Files.isExecutable(file) && !file.toString().endsWith(".so");
                            Files.setPosixFilePermissions(
                                    file,
                                    PosixFilePermissions.fromString(
                                            runs ? "rwxr-xr-x" : "rw-r--r--"));
                            Files.setLastModifiedTime(file, time);
                        }
                        return FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult postVisitDirectory(Path folder, IOException e)
                            throws IOException {
                        Files.setPosixFilePermissions(
                                folder, PosixFilePermissions.fromString("rwxr-xr-x"));
                        Files.setLastModifiedTime(folder, time);
                        return FileVisitResult.CONTINUE;
                    }
                });
    }

    private static long size(Path tree) throws IOException {
        long sum = 0;
        try (Stream<Path> files = Files.walk(tree)) {
            for (Path file :
                    files.filter(one -> Files.isRegularFile(one, LinkOption.NOFOLLOW_LINKS))
                            .toList()) {
                sum += Files.size(file);
            }
        }
        return sum;
    }

    private static boolean has(String tool) {
        return Stream.of(System.getenv("PATH").split(":"))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, tool)));
    }

    /** Runs a program and returns the first line it prints. */
    private String said(String... command) throws IOException {
        return said(root, seconds, command).lines().findFirst().orElse("");
    }

    /** Runs a program and returns what it prints. */
    static String said(Path folder, long seconds, String... command) throws IOException {
        ProcessBuilder builder =
                new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true);
        builder.environment().put("SOURCE_DATE_EPOCH", String.valueOf(seconds));
        builder.environment().put("SONDE_TRAIN", "never");
        try {
            Process process = builder.start();
            String text =
                    new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            int status = process.waitFor();
            if (status != 0) {
                throw new IOException(command[0] + " failed: " + text.strip());
            }
            return text;
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }
}
