package sonde.tools.elf;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What ldconfig knows: {@code ld.so.cache} by name, and the folders of {@code ld.so.conf}. */
final class LibraryLookup {
    private static final byte[] MAGIC =
            "glibc-ld.so.cache1.1".getBytes(StandardCharsets.ISO_8859_1);
    private static final int LIMIT_BYTES = 64 << 20;
    private static final int HEADER_BYTES = 48;
    private static final int ENTRY_BYTES = 24;
    private static final int DEPTH_LIMIT = 8;
    private static final int FILE_LIMIT = 1000;

    private LibraryLookup() {}

    /** Paths by name of library, in the order of the cache; empty where there is no cache. */
    static Map<String, List<String>> read(Path file) {
        Map<String, List<String>> paths = new HashMap<>();
        try {
            if (Files.isRegularFile(file) && Files.size(file) <= LIMIT_BYTES) {
                parse(Files.readAllBytes(file), paths);
            }
        } catch (IOException e) {
            // Not readable: the default folders are left.
            return paths;
        }
        return paths;
    }

    /**
     * struct cache_file_new: magic, count u32, strings u32, flags u8 (2 little, 3 big), …; entries
     * of flags i32, key u32, value u32, osversion u32, hwcap u64, offsets from the magic. A file of
     * both forms has the older one before it, at a multiple of eight.
     */
    static void parse(byte[] bytes, Map<String, List<String>> paths) {
        int start = start(bytes);
        if (start < 0) {
            return;
        }
        byte flags = bytes[start + 28];
        boolean big = flags == 3 || flags == 0 && isBig(bytes, start);
        ByteBuffer in =
                ByteBuffer.wrap(bytes, start, bytes.length - start)
                        .slice()
                        .order(big ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
        int count = Math.clamp(in.getInt(20), 0, (in.limit() - HEADER_BYTES) / ENTRY_BYTES);
        for (int i = 0; i < count; i++) {
            int at = HEADER_BYTES + i * ENTRY_BYTES;
            String name = text(in, in.getInt(at + 4));
            String path = text(in, in.getInt(at + 8));
            // Bit 62: a folder in glibc-hwcaps, which the path names; other bits: of glibc < 2.37.
            long kind = in.getLong(at + 16);
            boolean known = kind == 0 || kind >>> 62 == 1;
            if (known && !name.isEmpty() && path.startsWith("/")) {
                paths.computeIfAbsent(name, n -> new ArrayList<>()).add(path);
            }
        }
    }

    /** Of a cache that does not say its byte order, from before glibc 2.33. */
    private static boolean isBig(byte[] bytes, int start) {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        return Integer.compareUnsigned(in.getInt(start + 20), bytes.length) <= 0;
    }

    private static int start(byte[] bytes) {
        for (int at = 0; at + HEADER_BYTES <= bytes.length; at += 4) {
            if (java.util.Arrays.equals(bytes, at, at + MAGIC.length, MAGIC, 0, MAGIC.length)) {
                return at;
            }
        }
        return -1;
    }

    private static String text(ByteBuffer in, int offset) {
        if (offset < 0 || offset >= in.limit()) {
            return "";
        }
        int end = offset;
        while (end < in.limit() && end - offset < 4096 && in.get(end) != 0) {
            end++;
        }
        byte[] raw = new byte[end - offset];
        in.get(offset, raw);
        return new String(raw, StandardCharsets.UTF_8);
    }

    /** The folders that {@code ld.so.conf} and what it includes name (ldconfig(8)). */
    static List<String> folders(RootFolder root, String configuration) {
        Set<String> folders = new LinkedHashSet<>();
        folders(root, configuration, folders, new int[] {0}, 0);
        return List.copyOf(folders);
    }

    private static void folders(
            RootFolder root, String configuration, Set<String> folders, int[] files, int depth) {
        if (depth > DEPTH_LIMIT || ++files[0] > FILE_LIMIT) {
            return;
        }
        for (String line : root.lines(configuration)) {
            String plain = line.replaceFirst("#.*", "").strip();
            if (plain.startsWith("include ") || plain.startsWith("include\t")) {
                String pattern = plain.substring(8).strip();
                String parent = configuration.substring(0, configuration.lastIndexOf('/') + 1);
                String full = pattern.startsWith("/") ? pattern : parent + pattern;
                for (String file : matches(root, full)) {
                    folders(root, file, folders, files, depth + 1);
                }
            } else if (plain.startsWith("/")) {
                folders.add(plain.replaceFirst("=.*", "").replaceFirst("(?<=.)/+$", ""));
            }
        }
    }

    private static List<String> matches(RootFolder root, String pattern) {
        int slash = pattern.lastIndexOf('/');
        String folder = pattern.substring(0, slash);
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> list =
                Files.newDirectoryStream(root.real(folder), pattern.substring(slash + 1))) {
            list.forEach(file -> names.add(folder + "/" + file.getFileName()));
        } catch (IOException | RuntimeException e) {
            // No such folder, or no pattern: nothing is included.
            return List.of();
        }
        names.sort(null);
        return names;
    }
}
