package sonde.tools.explain;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
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
import org.jspecify.annotations.Nullable;

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

    /** A log, in a file of its own or in parts that were put together. */
    record CrashLog(String name, @Nullable Path file, byte[] text) {}

    private record Part(Path file, int number, byte[] text) {}

    private CrashRecords() {}

    static List<CrashLog> of(Path folder) throws IOException {
        List<Path> files;
        try (Stream<Path> listed = Files.list(folder)) {
            List<Path> all = listed.sorted().limit(MOST_FILES).toList();
            files = all.stream().filter(Files::isRegularFile).toList();
            if (files.isEmpty() && !all.isEmpty()) {
                throw new IOException(folder + ": there are no files, only folders; name one");
            }
        }
        List<CrashLog> records = new ArrayList<>();
        Map<String, List<Part>> parts = new TreeMap<>();
        long left = MOST_BYTES;
        for (Path file : files) {
            try (InputStream in = Files.newInputStream(file)) {
                byte[] begin = in.readNBytes(80);
                Matcher part = PART.matcher(new String(begin, StandardCharsets.ISO_8859_1));
                if (!part.find()) {
                    records.add(new CrashLog(file.toString(), file, new byte[0]));
                    continue;
                }
                left -= Files.size(file);
                if (left < 0) {
                    throw new IOException(
                            "%s: the parts in a folder may have %d bytes together"
                                    .formatted(file, MOST_BYTES));
                }
                ByteArrayOutputStream text = new ByteArrayOutputStream();
                text.write(begin);
                in.transferTo(text);
                String key = part.group("reason") + "#" + part.group("count");
                parts.computeIfAbsent(key, _ -> new ArrayList<>())
                        .add(
                                new Part(
                                        file,
                                        Integer.parseInt(part.group("part")),
                                        text.toByteArray()));
            }
        }
        for (Map.Entry<String, List<Part>> one : parts.entrySet()) {
            one.getValue().sort(Comparator.comparingInt(Part::number).reversed());
            ByteArrayOutputStream whole = new ByteArrayOutputStream();
            for (Part part : one.getValue()) {
                whole.write(part.text());
                whole.write('\n');
            }
            records.add(new CrashLog(folder + " " + one.getKey(), null, whole.toByteArray()));
        }
        return records;
    }
}
