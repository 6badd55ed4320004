package sonde.cli;

import java.util.List;
import sonde.tools.option.OptionException;

/** The first word after {@code prog}, {@code map}, {@code link}. */
final class BpfActions {
    private BpfActions() {}

    /** The words, when the first is one of the actions. */
    static List<String> check(List<String> words, List<String> actions) {
        if (words.isEmpty() || !actions.contains(words.getFirst())) {
            throw new OptionException(
                    "'%s' is none of %s"
                            .formatted(
                                    words.isEmpty() ? "" : words.getFirst(),
                                    String.join(", ", actions)));
        }
        return words;
    }
}
