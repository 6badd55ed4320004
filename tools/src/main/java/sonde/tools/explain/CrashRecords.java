package sonde.tools.explain;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The logs in a folder. In pstore's the kernel cuts the end of its log into parts, of which the
 * first one is the newest; they are put together in the order of time.
 */
final class CrashRecords {
    private static final int MOST_FILES = 1 << 14;
    private static final long MOST_BYTES = 256L << 20;

    /** fs/pstore/platform.c: {@code Oops#1 Part3}. */
    private static final Pattern PART =
            Pattern.compile(
                    "^(?<reason>[A-Z][\\w ]{2,30})#(?<count>\\d{1,9}) Part(?<part>\\d{1,9})\\n");

    /** A log. */
    record CrashLog(String name, byte[] text) {}

    private record Part(Path file, int number, byte[] text) {}

    private CrashRecords() {}

    static List<CrashLog> of(Path folder) throws IOException {
        List<Path> files;
        try (Stream<Path> listed = Files.list(folder)) {
            files = listed.filter(Files::isRegularFile).sorted().limit(MOST_FILES).toList();
        }
        List<CrashLog> records = new ArrayList<>();
        Map<String, List<Part>> parts = new TreeMap<>();
        long left = MOST_BYTES;
        for (Path file : files) {
            long size = Files.size(file);
            if (size > left) {
                throw new IOException(
                        "%s: the files of a folder may have %d bytes together; name this one"
                                .formatted(file, MOST_BYTES));
            }
            left -= size;
            byte[] text = Files.readAllBytes(file);
            String begin =
                    new String(text, 0, Math.min(text.length, 80), StandardCharsets.ISO_8859_1);
            Matcher part = PART.matcher(begin);
            if (part.find()) {
                String key = part.group("reason") + "#" + part.group("count");
                parts.computeIfAbsent(key, _ -> new ArrayList<>())
                        .add(new Part(file, Integer.parseInt(part.group("part")), text));
            } else {
                records.add(new CrashLog(file.toString(), text));
            }
        }
        for (Map.Entry<String, List<Part>> one : parts.entrySet()) {
            one.getValue().sort(Comparator.comparingInt(Part::number).reversed());
            ByteArrayOutputStream whole = new ByteArrayOutputStream();
            for (Part part : one.getValue()) {
                whole.write(part.text());
                whole.write('\n');
            }
            records.add(new CrashLog(folder + " " + one.getKey(), whole.toByteArray()));
        }
        return records;
    }
}
