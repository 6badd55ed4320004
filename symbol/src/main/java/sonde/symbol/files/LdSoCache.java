package sonde.symbol.files;

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
 * u32 bytes of strings, u8 flags (2 little, 3 big), then 24 bytes a library: i32 flags, u32 offset
 * of its name, u32 offset of its path, both from the magic, u32 osversion, u64 hwcap. A file of
 * both forms has the older table before it, at a multiple of four.
 */
public final class LdSoCache {
    /** Its usual place. */
    public static final String PATH = "/etc/ld.so.cache";

    private static final String MAGIC = "glibc-ld.so.cache1.1";
    private static final int MOST_BYTES = 64 << 20;
    private static final int HEADER_BYTES = 48;
    private static final int ENTRY_BYTES = 24;

    /** FLAG_ELF_LIBC6 with FLAG_X8664_LIB64 or FLAG_AARCH64_LIB64. */
    private static final int X86_64 = 0x0303;

    private static final int AARCH64 = 0x0a03;

    private LdSoCache() {}

    /**
     * A library.
     *
     * @param flags kind of file and machine
     * @param hwcap bit 62: a folder in glibc-hwcaps, which the path names; other bits: of glibc
     *     before 2.37
     */
    public record CachedLibrary(int flags, String name, String path, long hwcap) {}

    /** The libraries of the file in its order; none where there is no such file. */
    public static List<CachedLibrary> read(String file) {
        try {
            return parse(FileCalls.readAll(file, MOST_BYTES));
        } catch (IOException e) {
            return List.of();
        }
    }

    /** The libraries of a file's bytes. */
    public static List<CachedLibrary> parse(byte[] bytes) {
        int start = new String(bytes, StandardCharsets.ISO_8859_1).indexOf(MAGIC);
        if (start < 0 || bytes.length - start < HEADER_BYTES) {
            return List.of();
        }
        ByteBuffer in = ByteBuffer.wrap(bytes, start, bytes.length - start).slice();
        // Files from before glibc 2.33 do not say their byte order.
        byte order = in.get(28);
        boolean big =
                order == 3
                        || order == 0 && Integer.compareUnsigned(in.getInt(20), bytes.length) <= 0;
        in.order(big ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
        int count = Math.clamp(in.getInt(20), 0, (in.limit() - HEADER_BYTES) / ENTRY_BYTES);
        List<CachedLibrary> found = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int at = HEADER_BYTES + i * ENTRY_BYTES;
            String path = text(in, in.getInt(at + 8));
            if (path.startsWith("/")) {
                String name = text(in, in.getInt(at + 4));
                found.add(new CachedLibrary(in.getInt(at), name, path, in.getLong(at + 16)));
            }
        }
        return found;
    }

    /**
     * Paths of the libraries of a name, the loader's first choice first.
     *
     * @param name {@code "libc"}, {@code "libc.so"} or {@code "libc.so.6"}
     */
    public static List<String> find(List<CachedLibrary> libraries, String name, Arch arch) {
        int wanted = arch == Arch.X86_64 ? X86_64 : AARCH64;
        return libraries.stream()
                .filter(one -> one.flags == wanted && fits(one.name, name))
                .map(CachedLibrary::path)
                .distinct()
                .toList();
    }

    /** Whether a library's file name is meant by a name with more or less of its version. */
    public static boolean fits(String fileName, String name) {
        String stem = name.contains(".so") ? name : name + ".so";
        return fileName.equals(stem) || fileName.startsWith(stem + ".");
    }

    private static String text(ByteBuffer in, int offset) {
        if (offset < 0 || offset >= in.limit()) {
            return "";
        }
        int end = offset;
        int limit = Math.min(in.limit(), offset + 4096);
        while (end < limit && in.get(end) != 0) {
            end++;
        }
        byte[] bytes = new byte[end - offset];
        in.get(offset, bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
