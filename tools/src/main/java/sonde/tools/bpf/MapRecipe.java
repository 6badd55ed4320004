package sonde.tools.bpf;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.bpf.BpfMap;
import sonde.bpf.BpfMap.UpdateMode;
import sonde.bpf.inventory.MapEntries;
import sonde.event.result.Document;
import sonde.event.result.Listing;
import sonde.event.result.Listing.ListingForm;
import sonde.event.result.Result;
import sonde.sys.Errno;
import sonde.view.JsonRenderer;

/**
 * What is in a map, and changes to it.
 *
 * @param words bpftool's, behind the map's name: {@code key 7 value 42}
 */
public record MapRecipe(BpfMap map, List<String> words) {
    private static final byte[] NO_KEY = {};

    /** All entries. */
    public Result dump() throws IOException {
        List<MapEntries.Entry> entries = MapEntries.of(map);
        return Document.of(
                entries.stream().map(MapRecipe::tree).toList(),
                Listing.ofLines(out -> {
                    entries.forEach(entry -> out.println(text(entry)));
                    out.println(entries.size() == 1 ? "1 entry" : entries.size() + " entries");
                }));
    }

    /** The entry of the key given; nothing when there is none. */
    public Optional<Result> lookup() throws IOException {
        return shown(MapEntries.get(map, key()));
    }

    /** The entry that a queue or stack gives next. */
    public Optional<Result> peek() throws IOException {
        return shown(MapEntries.get(map, NO_KEY));
    }

    /** The same, taken out. */
    public Optional<Result> take() throws IOException {
        return shown(MapEntries.take(map, NO_KEY));
    }

    private static Optional<Result> shown(MapEntries.@Nullable Entry entry) {
        return Optional.ofNullable(entry)
                .map(one -> Document.of(tree(one), Listing.ofLines(out -> out.println(text(one)))));
    }

    /** The key behind the one given, the first without one; as bpftool's getnext. */
    public Optional<Result> next() throws IOException {
        byte[] key = words.isEmpty() ? null : key();
        byte[] next = MapEntries.next(map, key);
        if (next == null) {
            return Optional.empty();
        }
        Map<String, @Nullable Object> tree = new LinkedHashMap<>();
        tree.put("key", key == null ? null : MapBytes.texts(key));
        tree.put("next_key", MapBytes.texts(next));
        return Optional.of(
                Document.of(
                        tree,
                        Listing.ofLines(out -> out.println("next key " + MapBytes.shown(next)))));
    }

    /** Removes the entry of the key given; false when there is none. */
    public boolean delete() throws IOException {
        return MapEntries.delete(map, key());
    }

    /** Writes the value given under the key given; the last word may say when. */
    public void update() throws IOException {
        String last = words.isEmpty() ? "" : words.getLast();
        UpdateMode mode =
                switch (last) {
                    case "noexist" -> UpdateMode.IF_ABSENT;
                    case "exist" -> UpdateMode.IF_PRESENT;
                    default -> UpdateMode.ANY;
                };
        boolean said = mode != UpdateMode.ANY || last.equals("any");
        MapRecipe rest = said ? new MapRecipe(map, words.subList(0, words.size() - 1)) : this;
        byte[] key = map.spec().keyBytes() == 0 ? NO_KEY : rest.key();
        byte[] value = MapBytes.parse(rest.after("value"), map.spec().valueBytes());
        MapEntries.put(map, key, value, mode);
    }

    private byte[] key() {
        return MapBytes.parse(after("key"), map.spec().keyBytes());
    }

    /** The words between a keyword and the next, or the end. */
    private List<String> after(String keyword) {
        int from = words.indexOf(keyword);
        if (from < 0) {
            throw new BpfUseException("say '" + keyword + "' and its bytes");
        }
        int to = keyword.equals("key") ? words.indexOf("value") : words.size();
        return words.subList(from + 1, to < from ? words.size() : to);
    }

    /** bpftool's shape: bytes as texts, per CPU under "values", typed under "formatted". */
    private static Map<String, Object> tree(MapEntries.Entry entry) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("key", MapBytes.texts(entry.key()));
        if (entry.problem() != 0) {
            tree.put("value", Map.of("error", Errno.meaning(entry.problem())));
        } else if (entry.values().size() == 1) {
            tree.put("value", MapBytes.texts(entry.values().getFirst()));
        } else {
            List<Map<String, Object>> cpus = new ArrayList<>();
            for (int cpu = 0; cpu < entry.values().size(); cpu++) {
                Map<String, Object> one = new LinkedHashMap<>();
                one.put("cpu", (long) cpu);
                one.put("value", MapBytes.texts(entry.values().get(cpu)));
                cpus.add(one);
            }
            tree.put("values", cpus);
        }
        if (!entry.formatted().isEmpty()) {
            tree.put("formatted", entry.formatted());
        }
        return tree;
    }

    private static String text(MapEntries.Entry entry) {
        if (!entry.formatted().isEmpty()) {
            return JsonRenderer.text(entry.formatted());
        }
        StringBuilder line = new StringBuilder("key " + MapBytes.shown(entry.key()));
        if (entry.problem() != 0) {
            boolean empty = entry.problem() == Errno.ENOENT;
            line.append(empty ? "  no entry" : "  " + Errno.meaning(entry.problem()));
        }
        for (byte[] value : entry.values()) {
            line.append("  value ").append(MapBytes.shown(value));
        }
        return line.toString();
    }

    /**
     * What has come, changed or gone since the last look, as it is seen.
     *
     * @param looks after so many it ends; 0 for never
     */
    public Result watch(long nanos, int looks) {
        return new Listing(
                "",
                List.of(),
                (out, form) -> watch(out, form == ListingForm.JSON_LINES, nanos, looks));
    }

    private void watch(OutputStream stream, boolean json, long nanos, int looks)
            throws IOException {
        PrintWriter out = new PrintWriter(stream, false, StandardCharsets.UTF_8);
        Map<String, String> last = new LinkedHashMap<>();
        for (int look = 0; looks == 0 || look < looks; look++) {
            if (look > 0) {
                sleep(nanos);
            }
            Map<String, String> now = new LinkedHashMap<>();
            for (MapEntries.Entry entry : MapEntries.of(map)) {
                String key = MapBytes.shown(entry.key());
                String text = text(entry);
                now.put(key, text);
                if (!text.equals(last.get(key))) {
                    String sign = last.containsKey(key) ? "~ " : "+ ";
                    out.println(sign + (json ? JsonRenderer.text(tree(entry)) : text));
                }
            }
            for (String key : last.keySet()) {
                if (!now.containsKey(key)) {
                    out.println("- key " + key);
                }
            }
            out.flush();
            last = now;
        }
    }

    static void sleep(long nanos) throws InterruptedIOException {
        try {
            Thread.sleep(nanos / 1_000_000, (int) (nanos % 1_000_000));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting");
        }
    }
}
