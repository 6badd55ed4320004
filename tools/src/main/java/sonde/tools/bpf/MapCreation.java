package sonde.tools.bpf;

import java.io.IOException;
import java.util.List;
import sonde.bpf.BpfMap;
import sonde.bpf.MapSpec;
import sonde.bpf.MapType;

/** {@code sonde bpf map create}, with bpftool's words. */
public final class MapCreation {
    private MapCreation() {}

    /**
     * Makes a map and pins it.
     *
     * @param words the path, then pairs of a keyword and a value
     */
    public static void run(List<String> words) throws IOException {
        if (words.isEmpty() || words.size() % 2 == 0) {
            throw new BpfUseException(
                    "create takes a path, then type, key, value, entries and name");
        }
        String kind = value("type", "", words);
        MapType type = null;
        for (MapType one : MapType.values()) {
            if (one.kernelName().equals(kind)) {
                type = one;
            }
        }
        if (type == null) {
            throw new BpfUseException(
                    "'" + kind + "' is not a type of map; 'sonde bpf feature map_type' has all");
        }
        MapSpec spec =
                new MapSpec(
                                value("name", "", words),
                                type,
                                number("key", words),
                                number("value", words),
                                number("entries", words))
                        .with(number("flags", words));
        try (BpfMap map = BpfMap.create(spec)) {
            map.pin(words.getFirst());
        }
    }

    private static String value(String word, String otherwise, List<String> words) {
        for (int i = 1; i + 1 < words.size(); i += 2) {
            if (words.get(i).equals(word)) {
                return words.get(i + 1);
            }
        }
        return otherwise;
    }

    private static int number(String word, List<String> words) {
        String digits = value(word, "0", words);
        try {
            return Integer.decode(digits);
        } catch (NumberFormatException e) {
            throw new BpfUseException(word + " takes a number, not '" + digits + "'", e);
        }
    }
}
