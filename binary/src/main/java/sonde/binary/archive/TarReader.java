package sonde.binary.archive;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;

/**
 * The regular files of a tar archive, in place. POSIX.1-2017 pax interchange format (headers of 512
 * bytes, type x for long names) and GNU's long names (type L).
 */
final class TarReader {
    private static final int BLOCK_BYTES = 512;
    private static final int SIZE_OFFSET = 124;
    private static final int SIZE_BYTES = 12;
    private static final int TYPE_OFFSET = 156;
    private static final int PREFIX_OFFSET = 345;
    private static final int PREFIX_BYTES = 155;
    private static final int MOST_NAME_BYTES = 1 << 16;

    private final MemorySegment bytes;
    private final String archive;
    private String longName = "";

    TarReader(Input archive) {
        this.bytes = archive.segment();
        this.archive = archive.name();
    }

    /** The files; ends without a word at two empty blocks or where the archive is cut. */
    List<Input> files(int mostFiles) throws MalformedInputException {
        List<Input> files = new ArrayList<>();
        long at = 0;
        while (bytes.byteSize() - at >= BLOCK_BYTES && bytes.get(ValueLayout.JAVA_BYTE, at) != 0) {
            long size = number(at + SIZE_OFFSET, SIZE_BYTES);
            long room = bytes.byteSize() - at - BLOCK_BYTES;
            if (size < 0) {
                throw new MalformedInputException("tar", "size", at + SIZE_OFFSET, "no number");
            }
            MemorySegment content = bytes.asSlice(at + BLOCK_BYTES, Math.min(size, room));
            switch (bytes.get(ValueLayout.JAVA_BYTE, at + TYPE_OFFSET)) {
                case 'L' -> longName = text(content, 0, MOST_NAME_BYTES);
                case 'x' -> longName = paxPath(text(content, 0, MOST_NAME_BYTES));
                case '0', 0 -> {
                    if (files.size() == mostFiles) {
                        throw new MalformedInputException(
                                "tar", "files", at, "more than " + mostFiles);
                    }
                    files.add(Input.of(archive + "/" + name(at), content));
                }
                default -> longName = "";
            }
            if (size > room) {
                break;
            }
            at += BLOCK_BYTES + (size + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
        }
        return files;
    }

    private String name(long at) {
        if (!longName.isEmpty()) {
            String name = longName;
            longName = "";
            return name;
        }
        String prefix = text(bytes.asSlice(at, BLOCK_BYTES), PREFIX_OFFSET, PREFIX_BYTES);
        String name = text(bytes.asSlice(at, BLOCK_BYTES), 0, 100);
        boolean posix = bytes.get(ValueLayout.JAVA_BYTE, at + 262) == 0;
        return posix && !prefix.isEmpty() ? prefix + "/" + name : name;
    }

    /** The path of a pax extended header, {@code "LENGTH KEY=VALUE\n"} each. */
    private static String paxPath(String records) {
        int at = records.indexOf(" path=");
        int end = at < 0 ? -1 : records.indexOf('\n', at);
        return end < 0 ? "" : records.substring(at + " path=".length(), end);
    }

    private static String text(MemorySegment from, long offset, int most) {
        int room = (int) Math.min(most, from.byteSize() - offset);
        byte[] bytes = from.asSlice(offset, room).toArray(ValueLayout.JAVA_BYTE);
        int length = 0;
        while (length < bytes.length && bytes[length] != 0) {
            length++;
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }

    /** Octal digits, or GNU's base 256 with the top bit set; -1 for neither. */
    private long number(long at, int length) {
        int first = bytes.get(ValueLayout.JAVA_BYTE, at) & 0xff;
        long value = first & 0x7f;
        if (first >= 0x80) {
            for (int i = 1; i < length; i++) {
                value = value << 8 | bytes.get(ValueLayout.JAVA_BYTE, at + i) & 0xff;
            }
            return first == 0x80 ? value : -1;
        }
        String digits = text(bytes, at, length).strip();
        if (digits.isEmpty() || !digits.chars().allMatch(c -> c >= '0' && c <= '7')) {
            return -1;
        }
        return Long.parseLong(digits, 8);
    }
}
