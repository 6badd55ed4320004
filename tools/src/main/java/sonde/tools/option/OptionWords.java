package sonde.tools.option;

import java.util.List;
import java.util.Optional;
import sonde.event.NearestNames;

/**
 * Reads a command line by a model: {@code --name=value}, {@code --name value}, letters in one word,
 * and {@code --} before words that are none.
 */
public final class OptionWords {
    private final CommandModel model;
    private final List<String> words;
    private final GivenOptions given;
    private int at;

    private OptionWords(CommandModel model, List<String> words) {
        this.model = model;
        this.words = words;
        this.given = new GivenOptions(model);
    }

    /**
     * Reads all words; where {@link CommandModel#endsOptionsAtWord} holds, the first word and all
     * behind it are {@link GivenOptions#words()}, {@code --} among them.
     *
     * @throws OptionException for an option that there is not, or one without its value
     */
    public static GivenOptions read(CommandModel model, List<String> words) {
        OptionWords reader = new OptionWords(model, words);
        boolean stops = model.endsOptionsAtWord();
        boolean ended = false;
        while (reader.at < words.size()) {
            String word = words.get(reader.at);
            if (ended || word.equals("-") || !word.startsWith("-")) {
                ended |= stops;
                reader.given.addWord(word);
                reader.at++;
            } else if (word.equals("--")) {
                ended = true;
                reader.at += stops ? 0 : 1;
            } else {
                reader.at++;
                reader.option(word);
            }
        }
        return reader.given;
    }

    private void option(String word) {
        if (!word.startsWith("--")) {
            letters(word);
            return;
        }
        int equals = word.indexOf('=');
        String name = equals < 0 ? word : word.substring(0, equals);
        OptionModel option = named(name);
        if (equals >= 0) {
            given.add(option, name, word.substring(equals + 1));
        } else {
            given.add(option, name, option.isFlag() ? "" : value(option, name));
        }
    }

    private void letters(String word) {
        for (int i = 1; i < word.length(); i++) {
            String name = "-" + word.charAt(i);
            OptionModel option = named(name);
            String rest = word.substring(i + 1);
            if (option.isFlag()) {
                given.add(option, name, "");
            } else {
                given.add(option, name, rest.isEmpty() ? value(option, name) : rest);
                return;
            }
        }
    }

    private OptionModel named(String name) {
        Optional<OptionModel> option = model.option(name);
        return option.orElseThrow(
                () -> new OptionException("unknown option " + name + meant(model, name), name));
    }

    /** What is like an option that there is not. */
    public static String meant(CommandModel model, String name) {
        return name.startsWith("--")
                ? NearestNames.meant(
                        name, model.options().flatMap(one -> one.names().stream()).toList())
                : "";
    }

    private String value(OptionModel option, String name) {
        boolean there = at < words.size();
        if (option.value().optional()) {
            return there && option.value().mayBe(words.get(at)) ? words.get(at++) : "";
        }
        if (!there) {
            throw new OptionException(name + " needs a value", name);
        }
        return words.get(at++);
    }
}
