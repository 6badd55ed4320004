package sonde.tools.elf;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSection;
import sonde.symbol.files.FilePlace;
import sonde.symbol.files.LdSoCache;
import sonde.symbol.files.OpenElf;

/**
 * The run-time linker of a program, and what it was built and configured to look at.
 *
 * @param interpreter its path in the root; empty when none is known
 * @param isMusl whether it is musl's, which has an order of its own
 * @param folders where to look at last
 * @param cache paths by name, from {@code ld.so.cache}
 * @param lib what {@code $LIB} stands for
 * @param platform what {@code $PLATFORM} stands for; null when the kernel would have to say
 * @param variants folders in {@code glibc-hwcaps} that this CPU takes libraries from, best first
 */
record RunTimeLinker(
        String interpreter,
        boolean isMusl,
        List<String> folders,
        Map<String, List<String>> cache,
        String lib,
        @Nullable String platform,
        List<String> variants) {
    private static final int EM_PPC64 = 21;

    /** The default folders lie in the linker as texts, one behind the other, each with a slash. */
    private static final Pattern FOLDERS = Pattern.compile("(?:/[\\w./+-]*/\0){2,16}");

    private static final int READ_LIMIT_BYTES = 4 << 20;

    /** Levels of the x86-64 psABI, with the flags of /proc/cpuinfo that each adds. */
    private static final List<Set<String>> LEVELS =
            List.of(
                    Set.of("cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"),
                    Set.of("avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"),
                    Set.of("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"));

    /** The linker of a program, or of a library that some program of its kind would load. */
    static RunTimeLinker of(RootFolder root, ElfFile elf, List<String> needed) {
        boolean forMusl =
                needed.stream().anyMatch(n -> n.equals("libc.so") || n.startsWith("libc.musl-"));
        String interpreter =
                elf.interpreter().orElseGet(() -> forMusl ? musl(root, elf) : usual(root, elf));
        return interpreter.contains("/ld-musl-")
                ? ofMusl(root, interpreter)
                : ofGlibc(root, elf, interpreter);
    }

    /** ldso/dynlink.c: the folders of a file beside its own, else three. */
    private static RunTimeLinker ofMusl(RootFolder root, String interpreter) {
        int slash = interpreter.lastIndexOf('/');
        String prefix =
                interpreter.substring(0, Math.max(0, interpreter.lastIndexOf('/', slash - 1)));
        String name = interpreter.substring(slash + 1).replaceFirst("\\.so\\.1$", ".path");
        String file = prefix + "/etc/" + name;
        List<String> folders =
                root.isFile(file)
                        ? root.lines(file).stream()
                                .flatMap(line -> Arrays.stream(line.split(":")))
                                .filter(path -> !path.isEmpty())
                                .toList()
                        : List.of("/lib", "/usr/local/lib", "/usr/lib");
        return new RunTimeLinker(interpreter, true, folders, Map.of(), "", null, List.of());
    }

    private static RunTimeLinker ofGlibc(RootFolder root, ElfFile elf, String interpreter) {
        Map<String, List<String>> cache =
                LibraryLookup.paths(LdSoCache.read(root.real(LdSoCache.PATH).toString()));
        List<String> built = builtIn(root, interpreter);
        List<String> system = built.isEmpty() ? customary(root, elf) : built;
        List<String> folders = new ArrayList<>();
        if (cache.isEmpty()) {
            // Where ldconfig has not run yet, it will.
            folders.addAll(LibraryLookup.folders(root, "/etc/ld.so.conf"));
        }
        folders.addAll(system);
        return new RunTimeLinker(
                interpreter,
                false,
                List.copyOf(folders),
                cache,
                system.getFirst().substring(1),
                platform(elf),
                elf.machine() == ElfFile.EM_X86_64 && elf.is64() ? ownVariants() : List.of());
    }

    /** The default folders that a linker was built with; none when they cannot be told. */
    private static List<String> builtIn(RootFolder root, String interpreter) {
        if (!root.isFile(interpreter)) {
            return List.of();
        }
        try (OpenElf file = OpenElf.asIs(FilePlace.named(root.real(interpreter).toString()))) {
            for (ElfSection section : file.elf().sections()) {
                boolean texts = section.name().equals(".rodata");
                if (texts && section.sizeBytes() <= READ_LIMIT_BYTES) {
                    byte[] bytes = file.elf().bytes(section).toArray();
                    Matcher found = FOLDERS.matcher(new String(bytes, StandardCharsets.ISO_8859_1));
                    if (found.find()) {
                        return Arrays.stream(found.group().split("\0"))
                                .map(path -> path.replaceFirst("(?<=.)/+$", ""))
                                .toList();
                    }
                }
            }
        } catch (IOException | InternalError e) {
            return List.of();
        }
        return List.of();
    }

    private static List<String> customary(RootFolder root, ElfFile elf) {
        List<String> folders = new ArrayList<>();
        String multiarch = multiarch(elf);
        if (!multiarch.isEmpty() && root.isFolder("/usr/lib/" + multiarch)) {
            folders.addAll(List.of("/lib/" + multiarch, "/usr/lib/" + multiarch));
        }
        folders.addAll(
                elf.is64()
                        ? List.of("/lib64", "/usr/lib64", "/lib", "/usr/lib")
                        : List.of("/lib", "/usr/lib", "/lib32", "/usr/lib32"));
        return folders;
    }

    /** Debian's folder for libraries of a machine. */
    private static String multiarch(ElfFile elf) {
        boolean wide = elf.is64();
        boolean little = elf.order().equals(ByteOrder.LITTLE_ENDIAN);
        return switch (elf.machine()) {
            case ElfFile.EM_X86_64 -> wide ? "x86_64-linux-gnu" : "x86_64-linux-gnux32";
            case ElfFile.EM_386 -> "i386-linux-gnu";
            case ElfFile.EM_AARCH64 -> "aarch64-linux-gnu";
            case ElfFile.EM_ARM ->
                    MachineKind.isHardFloat(elf.header())
                            ? "arm-linux-gnueabihf"
                            : "arm-linux-gnueabi";
            case ElfFile.EM_MIPS ->
                    wide
                            ? little ? "mips64el-linux-gnuabi64" : "mips64-linux-gnuabi64"
                            : little ? "mipsel-linux-gnu" : "mips-linux-gnu";
            case ElfFile.EM_RISCV -> wide ? "riscv64-linux-gnu" : "riscv32-linux-gnu";
            case ElfFile.EM_S390 -> wide ? "s390x-linux-gnu" : "s390-linux-gnu";
            case ElfFile.EM_LOONGARCH -> "loongarch64-linux-gnu";
            case EM_PPC64 -> little ? "powerpc64le-linux-gnu" : "powerpc64-linux-gnu";
            default -> "";
        };
    }

    /** AT_PLATFORM, where kernels have one text for the machine. */
    private static @Nullable String platform(ElfFile elf) {
        boolean little = elf.order().equals(ByteOrder.LITTLE_ENDIAN);
        return switch (elf.machine()) {
            case ElfFile.EM_X86_64 -> "x86_64";
            case ElfFile.EM_386 -> "i686";
            case ElfFile.EM_AARCH64 -> little ? "aarch64" : "aarch64_be";
            case ElfFile.EM_LOONGARCH -> "loongarch";
            default -> null;
        };
    }

    /** glibc's manual, "Hardware Capability Subdirectories"; none on another CPU than x86-64. */
    private static List<String> ownVariants() {
        if (!System.getProperty("os.arch", "").toLowerCase(Locale.ROOT).equals("amd64")) {
            return List.of();
        }
        Set<String> flags = new HashSet<>();
        for (String line : new RootFolder("").lines("/proc/cpuinfo")) {
            if (line.startsWith("flags") && flags.isEmpty()) {
                flags.addAll(List.of(line.substring(line.indexOf(':') + 1).strip().split(" ")));
            }
        }
        List<String> names = new ArrayList<>();
        for (int i = 0; i < LEVELS.size() && flags.containsAll(LEVELS.get(i)); i++) {
            names.addFirst("x86-64-v" + (i + 2));
        }
        return names;
    }

    private static String musl(RootFolder root, ElfFile elf) {
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> list =
                Files.newDirectoryStream(root.real("/lib"), "ld-musl-*.so.1")) {
            list.forEach(file -> names.add("/lib/" + file.getFileName()));
        } catch (IOException e) {
            return "/lib/ld-musl-unknown.so.1";
        }
        names.sort(null);
        return names.stream()
                .filter(name -> MachineKind.isFor(root, name, elf))
                .findFirst()
                .orElse("/lib/ld-musl-unknown.so.1");
    }

    /** Where glibc's ports have their linker (its shlib-versions and nptl/shlib-versions). */
    private static String usual(RootFolder root, ElfFile elf) {
        List<String> names =
                switch (elf.machine()) {
                    case ElfFile.EM_X86_64 ->
                            List.of("/lib64/ld-linux-x86-64.so.2", "/libx32/ld-linux-x32.so.2");
                    case ElfFile.EM_386, ElfFile.EM_SPARC, ElfFile.EM_SH ->
                            List.of("/lib/ld-linux.so.2");
                    case ElfFile.EM_SPARCV9 -> List.of("/lib64/ld-linux.so.2");
                    case ElfFile.EM_AARCH64 ->
                            List.of("/lib/ld-linux-aarch64.so.1", "/lib/ld-linux-aarch64_be.so.1");
                    case ElfFile.EM_ARM ->
                            List.of("/lib/ld-linux-armhf.so.3", "/lib/ld-linux.so.3");
                    case ElfFile.EM_RISCV ->
                            List.of(
                                    "/lib/ld-linux-riscv64-lp64d.so.1",
                                    "/lib/ld-linux-riscv64-lp64.so.1",
                                    "/lib/ld-linux-riscv32-ilp32d.so.1",
                                    "/lib/ld-linux-riscv32-ilp32.so.1");
                    case ElfFile.EM_LOONGARCH -> List.of("/lib64/ld-linux-loongarch-lp64d.so.1");
                    case EM_PPC64 -> List.of("/lib64/ld64.so.2", "/lib64/ld64.so.1");
                    case ElfFile.EM_S390 -> List.of("/lib/ld64.so.1", "/lib/ld.so.1");
                    default ->
                            List.of(
                                    "/lib64/ld.so.1",
                                    "/lib32/ld.so.1",
                                    "/lib/ld.so.1",
                                    "/lib/ld-linux-mipsn8.so.1");
                };
        return names.stream()
                .filter(name -> MachineKind.isFor(root, name, elf))
                .findFirst()
                .orElse("");
    }
}
