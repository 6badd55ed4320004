package sonde.lang.probes;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import sonde.sys.Arch;
import sonde.sys.FileCalls;

/**
 * {@code /etc/ld.so.cache} in glibc's format 1.1 (sysdeps/generic/dl-cache.h): magic, u32 count,
 * u32 bytes of strings, flags, then 24 bytes a library: i32 flags, u32 offset of its name, u32
 * offset of its path, both from the magic. Older files have another table before it.
 */
final class LdSoCache {
    private static final String PATH = "/etc/ld.so.cache";
    private static final String MAGIC = "glibc-ld.so.cache1.1";
    private static final int MOST_BYTES = 64 << 20;
    private static final int HEADER_BYTES = 48;
    private static final int ENTRY_BYTES = 24;

    /** FLAG_ELF_LIBC6 with FLAG_X8664_LIB64 or FLAG_AARCH64_LIB64. */
    private static final int X86_64 = 0x0303;

    private static final int AARCH64 = 0x0a03;

    private LdSoCache() {}

    /**
     * Paths of the libraries of a name, the loader's first choice first.
     *
     * @param name {@code "libc"}, {@code "libc.so"} or {@code "libc.so.6"}
     */
    static List<String> find(String name) {
        try {
            return find(FileCalls.readAll(PATH, MOST_BYTES), name, Arch.current());
        } catch (IOException e) {
            return List.of();
        }
    }

    static List<String> find(byte[] bytes, String name, Arch arch) {
        int start = new String(bytes, StandardCharsets.ISO_8859_1).indexOf(MAGIC);
        if (start < 0 || bytes.length - start < HEADER_BYTES) {
            return List.of();
        }
        ByteBuffer buffer =
                ByteBuffer.wrap(bytes, start, bytes.length - start)
                        .slice()
                        .order(ByteOrder.LITTLE_ENDIAN);
        int count = buffer.getInt(MAGIC.length());
        int most = (buffer.capacity() - HEADER_BYTES) / ENTRY_BYTES;
        List<String> found = new ArrayList<>();
        int wanted = arch == Arch.X86_64 ? X86_64 : AARCH64;
        for (int i = 0; i < Math.clamp(count, 0, most); i++) {
            int at = HEADER_BYTES + i * ENTRY_BYTES;
            if (buffer.getInt(at) == wanted && fits(text(buffer, buffer.getInt(at + 4)), name)) {
                String path = text(buffer, buffer.getInt(at + 8));
                if (path.startsWith("/") && !found.contains(path)) {
                    found.add(path);
                }
            }
        }
        return found;
    }

    /** Whether a library's file name is meant by a name with more or less of its version. */
    static boolean fits(String fileName, String name) {
        String stem = name.contains(".so") ? name : name + ".so";
        return fileName.equals(stem) || fileName.startsWith(stem + ".");
    }

    private static String text(ByteBuffer buffer, int offset) {
        if (offset < 0 || offset >= buffer.capacity()) {
            return "";
        }
        int end = offset;
        int limit = Math.min(buffer.capacity(), offset + 4096);
        while (end < limit && buffer.get(end) != 0) {
            end++;
        }
        byte[] bytes = new byte[end - offset];
        buffer.get(offset, bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
