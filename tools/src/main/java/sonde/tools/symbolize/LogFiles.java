package sonde.tools.symbolize;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSection;
import sonde.binary.elf.SectionBytes;
import sonde.symbol.line.SourceOptions;
import sonde.symbol.line.SourceSymbols;

/** The program, libraries and modules that a log speaks of, each opened once. */
final class LogFiles implements AutoCloseable {
    private static final int MOST_FILES = 1 << 12;

    private static final int MOST_MODULES = 1 << 16;

    private static final int MOST_TOLD = 8;

    private static final int MOST_BANNER = 256;

    /** linux_banner of init/version.c. */
    private static final Pattern BANNER =
            Pattern.compile("^Linux version (?<release>\\S+) (?:.*? (?<build>#\\d\\S*)(?: |$))?");

    private static final Pattern MODULE =
            Pattern.compile("(?<name>.+)\\.ko(?<debug>\\.debug)?(?:\\.(?:xz|zst|gz))?");

    private final @Nullable SourceSymbols program;
    private final Path file;
    private final @Nullable Path folder;
    private final SourceOptions options;
    private final Map<String, Optional<SourceSymbols>> opened = new HashMap<>();
    private final Set<String> lackedModules = new TreeSet<>();
    private final Set<String> otherBuilds = new TreeSet<>();
    private @Nullable Map<String, Path> modules;

    /**
     * @param program what addresses and functions without a file belong to; null for nothing
     * @param file the program's
     * @param folder has the kernel's modules somewhere below; null for none
     */
    LogFiles(
            @Nullable SourceSymbols program,
            Path file,
            @Nullable Path folder,
            SourceOptions options) {
        this.program = program;
        this.file = file;
        this.folder = folder;
        this.options = options;
    }

    @Nullable SourceSymbols program() {
        return program;
    }

    /** The program when a log's name, in bytes, is that of its file. */
    Optional<SourceSymbols> ifProgram(String name) {
        Path named = path(name);
        boolean same =
                program != null
                        && named != null
                        && named.getFileName() != null
                        && named.getFileName().equals(file.getFileName());
        return same ? Optional.ofNullable(program) : Optional.empty();
    }

    private static @Nullable Path path(String bytes) {
        try {
            byte[] name = bytes.getBytes(StandardCharsets.ISO_8859_1);
            return Path.of(new String(name, StandardCharsets.UTF_8));
        } catch (InvalidPathException e) {
            return null; // a NUL, or bytes that are no text
        }
    }

    /** The program when it has that name, else the file itself when it is an ELF file here. */
    Optional<SourceSymbols> file(String name) {
        Path named = path(name);
        Optional<SourceSymbols> given = ifProgram(name);
        if (named == null || given.isPresent()) {
            return given;
        }
        Optional<SourceSymbols> known = opened.get("file " + name);
        if (known == null) {
            boolean wanted = opened.size() < MOST_FILES && Files.isRegularFile(named);
            known = wanted ? open(named) : Optional.empty();
            if (opened.size() < MOST_FILES) {
                opened.put("file " + name, known);
            }
        }
        return known;
    }

    private Optional<SourceSymbols> open(Path named) {
        try {
            return Optional.of(SourceSymbols.open(named, options));
        } catch (IOException e) {
            // A text may name anything; what is not a program leaves its line as it is.
            return Optional.empty();
        }
    }

    /** A module of the kernel, which the program itself may be. */
    Optional<SourceSymbols> module(String name) throws IOException {
        String wanted = plain(name);
        if (program != null && wanted.equals(moduleName(file))) {
            return Optional.of(program);
        }
        Optional<SourceSymbols> known = opened.get(wanted);
        if (known == null) {
            if (opened.size() >= MOST_FILES) {
                return Optional.empty();
            }
            Path found = modules().get(wanted);
            known = found == null ? Optional.empty() : open(found);
            opened.put(wanted, known);
            if (known.isEmpty()) {
                lackedModules.add(name);
            }
        }
        return known;
    }

    /** The file of a module may be written with a hyphen for each underscore. */
    private static String plain(String name) {
        return name.replace('-', '_').toLowerCase(Locale.ROOT);
    }

    private static String moduleName(Path file) {
        Matcher name = MODULE.matcher(String.valueOf(file.getFileName()));
        return name.matches() ? plain(name.group("name")) : "";
    }

    private Map<String, Path> modules() throws IOException {
        Map<String, Path> known = modules;
        if (known == null) {
            known = new HashMap<>();
            if (folder != null) {
                Files.walkFileTree(folder, new Modules(known));
            }
            modules = known;
        }
        return known;
    }

    /** Takes modules by their names; what cannot be read has none. */
    private static final class Modules extends SimpleFileVisitor<Path> {
        private final Map<String, Path> found;

        Modules(Map<String, Path> found) {
            this.found = found;
        }

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            String name = moduleName(file);
            if (!name.isEmpty() && Files.isRegularFile(file)) {
                boolean better = file.toString().contains(".ko.debug");
                if (better || !found.containsKey(name)) {
                    found.put(name, file);
                }
            }
            return found.size() < MOST_MODULES
                    ? FileVisitResult.CONTINUE
                    : FileVisitResult.TERMINATE;
        }

        @Override
        public FileVisitResult visitFileFailed(Path file, IOException failure) {
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult postVisitDirectory(Path visited, @Nullable IOException failure) {
            return FileVisitResult.CONTINUE;
        }
    }

    /**
     * Whether a file is of the build that a log says; a file without a build-id may be.
     *
     * @param id in hexadecimal; null where the log says none
     */
    boolean isBuild(SourceSymbols symbols, String name, @Nullable String id) {
        Optional<byte[]> own = id == null ? Optional.empty() : symbols.elf().buildId();
        boolean same = own.isEmpty() || HexFormat.of().formatHex(own.get()).equals(id);
        if (!same && otherBuilds.size() < MOST_TOLD) {
            otherBuilds.add(name);
        }
        return same;
    }

    /**
     * Who the kernel is that the program is; an empty text where that is not known.
     *
     * @param release as uname -r prints it
     * @param build {@code #1}, the begin of uname -v
     * @param id in hexadecimal
     */
    record KernelBuild(String release, String build, String id) {
        static final KernelBuild UNKNOWN = new KernelBuild("", "", "");
    }

    /** The kernel by its banner. */
    KernelBuild kernel() throws IOException {
        SourceSymbols kernel = program;
        long[] banners = kernel == null ? new long[0] : kernel.addresses("linux_banner");
        if (kernel == null || banners.length == 0) {
            return KernelBuild.UNKNOWN;
        }
        String id = kernel.elf().buildId().map(HexFormat.of()::formatHex).orElse("");
        for (ElfSection section : kernel.elf().sections()) {
            if (section.type() != ElfFile.SHT_PROGBITS || !section.contains(banners[0])) {
                continue;
            }
            SectionBytes bytes = kernel.elf().bytes(section);
            StringBuilder text = new StringBuilder();
            for (long at = banners[0] - section.address();
                    at < bytes.sizeBytes() && text.length() < MOST_BANNER;
                    at++) {
                int letter = bytes.at(at) & 0xff;
                if (letter < ' ') {
                    break;
                }
                text.append((char) letter);
            }
            Matcher banner = BANNER.matcher(text);
            return banner.find()
                    ? new KernelBuild(
                            banner.group("release"),
                            Objects.requireNonNullElse(banner.group("build"), ""),
                            id)
                    : KernelBuild.UNKNOWN;
        }
        return KernelBuild.UNKNOWN;
    }

    /** Whether somebody said where the kernel's modules are. */
    boolean hasFolder() {
        return folder != null;
    }

    /** Modules that frames were of and that have no file below the folder of modules. */
    List<String> lackedModules() {
        return lackedModules.stream().limit(MOST_TOLD).toList();
    }

    /** Files whose build-id is not the one that the log says. */
    List<String> otherBuilds() {
        return List.copyOf(otherBuilds);
    }

    @Override
    public void close() {
        opened.values().forEach(one -> one.ifPresent(SourceSymbols::close));
    }
}
