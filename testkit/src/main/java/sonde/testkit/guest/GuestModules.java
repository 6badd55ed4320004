package sonde.testkit.guest;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Builds kernel modules on the host for the kernels of guests, against Debian's headers. */
public final class GuestModules {
    private static final int SECONDS = 180;

    /**
     * The makefiles have absolute paths in /usr/src and /usr/lib: both are covered in a mount
     * namespace that ends with the shell. Arguments: headers, release, sources.
     */
    private static final String BUILD =
            """
            set -e
            mount --bind "$1/usr/src" /usr/src
            mount -t overlay overlay -o lowerdir="$1/usr/lib":/usr/lib /usr/lib
            make -s -C "/usr/src/linux-headers-$2" M="$3" CONFIG_DEBUG_INFO_BTF_MODULES= modules
            """;

    private GuestModules() {}

    /**
     * Builds a module of one C file, unless that was done.
     *
     * @param kernel that loads it
     * @param source the file; the module has its name
     * @return the module
     * @throws IOException when headers cannot be fetched or the compiler refuses the file
     */
    public static Path build(GuestKernel kernel, Path source)
            throws IOException, InterruptedException {
        GuestCache cache = new GuestCache();
        Path headers = headers(cache, kernel);
        String file = source.getFileName().toString();
        String name = file.substring(0, file.lastIndexOf('.'));
        String made =
                "module-%s-%s-%x"
                        .formatted(name, kernel.release(), Files.readString(source).hashCode());
        Path folder =
                cache.once(
                        made,
                        into -> {
                            Files.copy(source, into.resolve(file));
                            Files.writeString(
                                    into.resolve("Makefile"), "obj-m := " + name + ".o\n");
                            Commands.run(
                                    SECONDS,
                                    into,
                                    "unshare",
                                    "-m",
                                    "sh",
                                    "-c",
                                    BUILD,
                                    "build",
                                    headers.toString(),
                                    kernel.release(),
                                    into.toString());
                        });
        return folder.resolve(name + ".ko");
    }

    /** The packages with headers and the tools that modules are built with, unpacked. */
    private static Path headers(GuestCache cache, GuestKernel kernel)
            throws IOException, InterruptedException {
        String release = kernel.release();
        String base = release.substring(0, release.lastIndexOf('-'));
        return cache.once(
                "headers-" + release + "_" + kernel.version(),
                into -> {
                    fetch(into, "linux-headers-" + release, kernel.version());
                    fetch(into, "linux-headers-" + base + "-common", kernel.version());
                    String kbuild =
                            Commands.run(
                                    SECONDS,
                                    into,
                                    "sh",
                                    "-c",
                                    "dpkg-deb -f linux-headers-\"$0\"_*.deb Depends"
                                            + " | grep -o 'linux-kbuild-[^ ,]*'",
                                    release);
                    fetch(into, kbuild, kernel.version());
                    for (Path deb : debs(into)) {
                        Commands.run(SECONDS, into, "dpkg-deb", "-x", deb.toString(), ".");
                        Files.delete(deb);
                    }
                });
    }

    private static void fetch(Path into, String name, String version)
            throws IOException, InterruptedException {
        Commands.run(SECONDS, into, "apt-get", "-q", "download", name + "=" + version);
    }

    private static List<Path> debs(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(".deb")).toList();
        }
    }
}
