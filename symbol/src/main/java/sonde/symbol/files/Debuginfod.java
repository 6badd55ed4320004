package sonde.symbol.files;

import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardOpenOption.TRUNCATE_EXISTING;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import sonde.symbol.files.Attempt.AttemptResult;

/**
 * Asks debuginfod servers for files by build-id (debuginfod(8), "WEBAPI"). What comes is kept in
 * the folder and under the names that elfutils' client uses, so that either finds what the other
 * fetched. Nothing is believed: a file is used only when its build-id is the one asked for, and
 * size and time are bounded.
 */
public final class Debuginfod {
    /** An empty file of the cache says for so long that there is nothing; elfutils' default. */
    private static final Duration MISS = Duration.ofMinutes(10);

    private final List<URI> servers;
    private final Path cache;
    private final Bounds bounds;
    private final Consumer<String> progress;
    private final Map<String, FetchedFile> answers = new HashMap<>();

    /**
     * What fetching a file may cost.
     *
     * @param sizeBytes of a file
     * @param stall without 100 KB in so long, a server is given up
     * @param whole of one file
     */
    public record Bounds(long sizeBytes, Duration stall, Duration whole) {
        /** 4 GiB; 90 seconds, as elfutils has it; ten minutes. */
        public static final Bounds DEFAULT =
                new Bounds(4L << 30, Duration.ofSeconds(90), Duration.ofMinutes(10));
    }

    /** A fetched file, null for none, and what was asked. */
    record FetchedFile(@Nullable Path file, List<Attempt> tried) {}

    /**
     * Servers in the order to be asked.
     *
     * @param cache folder of the cache, made when needed
     * @param progress is told of every question, one line
     */
    public Debuginfod(List<URI> servers, Path cache, Bounds bounds, Consumer<String> progress) {
        this.servers = List.copyOf(servers);
        this.cache = cache;
        this.bounds = bounds;
        this.progress = progress;
    }

    /**
     * The servers of {@code DEBUGINFOD_URLS}; none when it is not set. For root only when asked for
     * by name: what a server sends is parsed by whoever asked.
     *
     * @param environment of the process; the other DEBUGINFOD_* variables count as in elfutils
     * @param isRoot whether the process runs as root
     * @param isAllowed whether the user said so on the command line
     */
    public static Optional<Debuginfod> of(
            Map<String, String> environment,
            boolean isRoot,
            boolean isAllowed,
            Consumer<String> progress) {
        List<URI> servers = new ArrayList<>();
        for (String word : environment.getOrDefault("DEBUGINFOD_URLS", "").trim().split("\\s+")) {
            uri(word).ifPresent(servers::add);
        }
        if (servers.isEmpty() || isRoot && !isAllowed) {
            return Optional.empty();
        }
        Bounds most = Bounds.DEFAULT;
        long size = number(environment, "DEBUGINFOD_MAXSIZE", most.sizeBytes());
        long stall = number(environment, "DEBUGINFOD_TIMEOUT", most.stall().toSeconds());
        long whole = number(environment, "DEBUGINFOD_MAXTIME", most.whole().toSeconds());
        Bounds bounds = new Bounds(size, Duration.ofSeconds(stall), Duration.ofSeconds(whole));
        return Optional.of(new Debuginfod(servers, cacheFolder(environment), bounds, progress));
    }

    private static Optional<URI> uri(String word) {
        try {
            URI uri = URI.create(word.endsWith("/") ? word.substring(0, word.length() - 1) : word);
            String scheme = String.valueOf(uri.getScheme()).toLowerCase(Locale.ROOT);
            boolean fits =
                    (scheme.equals("http") || scheme.equals("https")) && uri.getHost() != null;
            return fits ? Optional.of(uri) : Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private static long number(Map<String, String> environment, String name, long other) {
        String value = environment.getOrDefault(name, "");
        boolean number = value.matches("[0-9]{1,15}");
        long given = number ? Long.parseLong(value) : 0;
        return given > 0 ? given : other;
    }

    /** As debuginfod_find_debuginfo(3), "CACHE", has it; the old folder in the home is left. */
    private static Path cacheFolder(Map<String, String> environment) {
        String own = environment.getOrDefault("DEBUGINFOD_CACHE_PATH", "");
        if (!own.isEmpty()) {
            return Path.of(own);
        }
        String base = environment.getOrDefault("XDG_CACHE_HOME", "");
        Path folder =
                base.isEmpty()
                        ? Path.of(environment.getOrDefault("HOME", "/")).resolve(".cache")
                        : Path.of(base);
        return folder.resolve("debuginfod_client");
    }

    /** The servers. */
    public List<URI> servers() {
        return servers;
    }

    /**
     * The source file that a line table names, as the server has it: nothing says whether it is the
     * right one but the server.
     *
     * @param path as compiled, absolute
     */
    public DebugFile source(byte[] buildId, String path) {
        FetchedFile answer = fetch(buildId, "source" + (path.startsWith("/") ? path : "/" + path));
        Path file = answer.file();
        return file == null
                ? DebugFile.none(answer.tried())
                : new DebugFile(
                        FilePlace.named(file.toString()), DebugFile.Kind.SERVER, answer.tried());
    }

    /**
     * A file by build-id from cache or servers.
     *
     * @param what "debuginfo", "executable" or "source/PATH"
     */
    FetchedFile fetch(byte[] buildId, String what) {
        String id = HexFormat.of().formatHex(buildId);
        return answers.computeIfAbsent(id + "/" + what, key -> fetchNew(buildId, id, what));
    }

    private FetchedFile fetchNew(byte[] buildId, String id, String what) {
        List<Attempt> tried = new ArrayList<>();
        Path kept = cache.resolve(id).resolve(cacheName(what));
        boolean isElf = !what.startsWith("source/");
        Boolean state = cached(kept, isElf ? buildId : null);
        if (state != null) {
            tried.add(
                    new Attempt(
                            kept.toString(),
                            state ? AttemptResult.FOUND : AttemptResult.ABSENT,
                            ""));
            return new FetchedFile(state ? kept : null, tried);
        }
        Path draft = null;
        try {
            folder(kept.getParent());
            draft = Files.createTempFile(kept.getParent(), ".sonde", ".part"); // mode 0600
            boolean absent = true;
            for (URI server : servers) {
                URI from = URI.create(server + "/buildid/" + id + "/" + escaped(what));
                progress.accept("asking " + server + " for " + what + " of " + id);
                Attempt attempt = Download.of(from, draft, bounds).run();
                if (attempt.outcome() == AttemptResult.FOUND && isElf) {
                    attempt = verified(attempt, draft, buildId);
                }
                tried.add(attempt);
                if (attempt.outcome() == AttemptResult.FOUND) {
                    Files.move(draft, kept, ATOMIC_MOVE);
                    return new FetchedFile(kept, tried);
                }
                absent &= attempt.outcome() == AttemptResult.ABSENT;
            }
            if (absent) {
                // Renamed, not written: what lies there may be a link, or mapped by somebody.
                Files.newByteChannel(draft, Set.of(WRITE, TRUNCATE_EXISTING)).close();
                Files.move(draft, kept, ATOMIC_MOVE);
            }
        } catch (IOException | UnsupportedOperationException e) {
            tried.add(
                    new Attempt(
                            kept.toString(), AttemptResult.REFUSED, "cache: " + e.getMessage()));
        } finally {
            discard(draft);
        }
        return new FetchedFile(null, tried);
    }

    /** elfutils: {@code debuginfo}, {@code executable}, and sources with # for every slash. */
    private static String cacheName(String what) {
        return what.startsWith("source/")
                ? "source" + what.substring("source".length()).replace('/', '#')
                : what;
    }

    private static String escaped(String what) {
        StringBuilder out = new StringBuilder();
        for (byte b : what.getBytes(java.nio.charset.StandardCharsets.UTF_8)) {
            char c = (char) (b & 0xff);
            boolean plain =
                    c >= 'a' && c <= 'z'
                            || c >= 'A' && c <= 'Z'
                            || c >= '0' && c <= '9'
                            || "/-._~+".indexOf(c) >= 0;
            if (plain) {
                out.append(c);
            } else {
                out.append('%').append(HexFormat.of().withUpperCase().toHexDigits(b));
            }
        }
        return out.toString();
    }

    /** Whether the cache has a file or knows that there is none; null when it must be asked. */
    private static @Nullable Boolean cached(Path kept, byte @Nullable [] buildId) {
        try {
            if (!Files.isRegularFile(kept)) {
                return null;
            }
            if (Files.size(kept) == 0) {
                FileTime since = Files.getLastModifiedTime(kept);
                boolean fresh = since.toInstant().isAfter(Instant.now().minus(MISS));
                return fresh ? Boolean.FALSE : null;
            }
            return buildId == null || hasId(kept, buildId) ? Boolean.TRUE : null;
        } catch (IOException e) {
            return null;
        }
    }

    private static boolean hasId(Path file, byte[] buildId) {
        try (OpenElf elf = OpenElf.of(FilePlace.named(file.toString()))) {
            return DebugFileRequest.isSame(buildId, elf.elf().buildId().orElse(new byte[0]));
        } catch (IOException | InternalError e) {
            return false;
        }
    }

    private static Attempt verified(Attempt attempt, Path draft, byte[] buildId) {
        try (OpenElf file = OpenElf.of(FilePlace.named(draft.toString()))) {
            byte[] found = file.elf().buildId().orElse(new byte[0]);
            return DebugFileRequest.isSame(buildId, found)
                    ? attempt
                    : new Attempt(
                            attempt.place(),
                            AttemptResult.OTHER_BUILD,
                            DebugFileRequest.ids(buildId, found));
        } catch (IOException | InternalError e) {
            return new Attempt(
                    attempt.place(), AttemptResult.BROKEN, "what it sent is not an ELF file");
        }
    }

    private static void folder(@Nullable Path folder) throws IOException {
        if (folder != null && !Files.isDirectory(folder)) {
            Files.createDirectories(
                    folder,
                    PosixFilePermissions.asFileAttribute(
                            PosixFilePermissions.fromString("rwx------")));
        }
    }

    private static void discard(@Nullable Path draft) {
        try {
            if (draft != null) {
                Files.deleteIfExists(draft);
            }
        } catch (IOException e) {
            // It has mode 0600 and lies in a cache.
            return;
        }
    }
}
