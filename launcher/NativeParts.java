import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/**
 * The native parts of libraries. A package has them as files, so that nothing is unpacked when a
 * command runs, and they have to run with the C library of old distributions.
 */
final class NativeParts {
    /** Of Debian 10, RHEL 8 and Ubuntu 18.10; a package asks for no newer one. */
    static final String NEWEST_GLIBC = "GLIBC_2.28";

    /** elf.h. */
    private static final int SHT_GNU_VERNEED = 0x6ffffffe;

    private static final int HEADER = 64;

    private NativeParts() {}

    /** Copies a jar without its native parts, and one of these, for this processor, as a file. */
    static void split(Path jar, String part, Path plain, Path library) throws IOException {
        try (ZipFile from = new ZipFile(jar.toFile());
                ZipOutputStream to = new ZipOutputStream(Files.newOutputStream(plain))) {
            for (ZipEntry entry : Collections.list(from.entries())) {
                String name = entry.getName();
                if (name.equals(part)) {
                    byte[] bytes = from.getInputStream(entry).readAllBytes();
                    Files.write(library, forOldLibc(bytes));
                } else if (!name.endsWith(".so") && !name.endsWith(".dylib")) {
                    ZipEntry copy = new ZipEntry(name);
                    copy.setTime(entry.getTime());
                    to.putNextEntry(copy);
                    try (InputStream in = from.getInputStream(entry)) {
                        in.transferTo(to);
                    }
                    to.closeEntry();
                }
            }
        }
    }

    /**
     * The library with the least version of libc in place of versions above {@link #NEWEST_GLIBC}.
     * What newer ones are asked for is pthread_create and pthread_join, which glibc 2.34 moved from
     * libpthread to libc without a change; the older version of both is there in all (glibc's
     * nptl/Versions).
     */
    static byte[] forOldLibc(byte[] elf) throws IOException {
        List<Need> needs = needs(elf);
        ByteBuffer bytes = ByteBuffer.wrap(elf).order(ByteOrder.LITTLE_ENDIAN);
        for (Need need : needs) {
            if (need.isGlibc() && compare(need.version(), NEWEST_GLIBC) > 0) {
                Need least =
                        needs.stream()
                                .filter(one -> one.isGlibc() && one.file().equals(need.file()))
                                .min((a, b) -> compare(a.version(), b.version()))
                                .orElseThrow();
                bytes.putInt(need.place(), bytes.getInt(least.place()));
                bytes.putInt(need.place() + 8, bytes.getInt(least.place() + 8));
            }
        }
        return elf;
    }

    /** The newest version of glibc that a file asks for; empty for none. */
    static String newestGlibc(byte[] elf) throws IOException {
        return needs(elf).stream()
                .filter(Need::isGlibc)
                .map(Need::version)
                .max(NativeParts::compare)
                .orElse("");
    }

    /** An entry of the version needs: of which library, which version, and where it lies. */
    private record Need(String file, String version, int place) {
        boolean isGlibc() {
            return version.matches("GLIBC_[0-9.]+");
        }
    }

    /** ELF's .gnu.version_r (Elf64_Verneed and Elf64_Vernaux in elf.h), of 64-bit little-endian. */
    private static List<Need> needs(byte[] elf) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(elf).order(ByteOrder.LITTLE_ENDIAN);
        if (elf.length < HEADER || bytes.getInt(0) != 0x464c457f) {
            throw new IOException("not an ELF file");
        }
        List<Need> needs = new ArrayList<>();
        int sections = (int) bytes.getLong(40);
        int count = bytes.getShort(60);
        for (int i = 0; i < count; i++) {
            int section = sections + i * HEADER;
            if (bytes.getInt(section + 4) != SHT_GNU_VERNEED) {
                continue;
            }
            int names = (int) bytes.getLong(sections + bytes.getInt(section + 40) * HEADER + 24);
            int file = (int) bytes.getLong(section + 24);
            for (int left = bytes.getInt(section + 44); left > 0; left--) {
                String name = text(elf, names + bytes.getInt(file + 4));
                int place = file + bytes.getInt(file + 8);
                for (int versions = bytes.getShort(file + 2); versions > 0; versions--) {
                    needs.add(new Need(name, text(elf, names + bytes.getInt(place + 8)), place));
                    place += bytes.getInt(place + 12);
                }
                file += bytes.getInt(file + 12);
            }
        }
        return needs;
    }

    private static String text(byte[] elf, int at) {
        int end = at;
        while (elf[end] != 0) {
            end++;
        }
        return new String(elf, at, end - at, StandardCharsets.US_ASCII);
    }

    static int compare(String one, String other) {
        String[] a = one.replace("GLIBC_", "").split("\\.");
        String[] b = other.replace("GLIBC_", "").split("\\.");
        for (int i = 0; i < Math.min(a.length, b.length); i++) {
            int order = Integer.compare(Integer.parseInt(a[i]), Integer.parseInt(b[i]));
            if (order != 0) {
                return order;
            }
        }
        return Integer.compare(a.length, b.length);
    }
}
