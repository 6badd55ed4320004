package sonde.cli;

import java.io.IOException;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import sonde.bpf.BpfMap;
import sonde.bpf.MapSpec;
import sonde.bpf.MapType;

/** {@code sonde bpf map create}, with bpftool's words. */
final class BpfMapCreate {
    private BpfMapCreate() {}

    /**
     * Makes a map and pins it.
     *
     * @param words the path, then pairs of a keyword and a value
     */
    static int run(List<String> words, CommandLine line) throws IOException {
        if (words.isEmpty() || words.size() % 2 == 0) {
            throw new ParameterException(
                    line, "create takes a path, then type, key, value, entries and name");
        }
        String kind = value("type", "", words);
        MapType type = null;
        for (MapType one : MapType.values()) {
            if (one.kernelName().equals(kind)) {
                type = one;
            }
        }
        if (type == null) {
            throw new ParameterException(
                    line, "'" + kind + "' is no type of map; 'sonde bpf feature map_type' has all");
        }
        MapSpec spec =
                new MapSpec(
                                value("name", "", words),
                                type,
                                number("key", words, line),
                                number("value", words, line),
                                number("entries", words, line))
                        .with(number("flags", words, line));
        try (BpfMap map = BpfMap.create(spec)) {
            map.pin(words.getFirst());
        }
        return ExitCode.DONE;
    }

    private static String value(String word, String otherwise, List<String> words) {
        for (int i = 1; i + 1 < words.size(); i += 2) {
            if (words.get(i).equals(word)) {
                return words.get(i + 1);
            }
        }
        return otherwise;
    }

    private static int number(String word, List<String> words, CommandLine line) {
        String digits = value(word, "0", words);
        try {
            return Integer.decode(digits);
        } catch (NumberFormatException e) {
            throw new ParameterException(line, word + " takes a number, not '" + digits + "'", e);
        }
    }
}
