package sonde.tools.option;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The options and words of a command line. Options are asked for by their names of {@link
 * OptionModel#name}; a name that the model does not have is a fault of the program.
 */
public final class GivenOptions {
    /**
     * An option as it was written.
     *
     * @param spelling with its dashes
     * @param value empty for a flag
     */
    public record Given(OptionModel option, String spelling, String value) {
        /** Whether it is the option of a name. */
        public boolean has(String name) {
            return option.name().equals(name);
        }
    }

    private final CommandModel model;
    private final Map<String, OptionModel> names = new HashMap<>();
    private final List<Given> options = new ArrayList<>();
    private final List<String> words = new ArrayList<>();

    /** Nothing given yet. */
    public GivenOptions(CommandModel model) {
        this.model = model;
        model.groups().values().forEach(group -> group.forEach(one -> names.put(one.name(), one)));
    }

    /** Adds an option behind the others. */
    public void add(OptionModel option, String spelling, String value) {
        options.add(new Given(option, spelling, value));
    }

    /** Adds a word. */
    public void addWord(String word) {
        words.add(word);
    }

    /** Adds what was given elsewhere on the same line. */
    public void addOptions(GivenOptions others) {
        options.addAll(others.options);
    }

    /**
     * Checks kinds and ranges of all values, and how many words there are.
     *
     * @throws OptionException for the first that is wrong
     */
    public void check() {
        for (Given one : options) {
            if (one.option().isFlag() && !one.value().isEmpty()) {
                throw new OptionException(one.spelling() + " takes no value");
            }
            for (String part : parts(one)) {
                one.option().value().check(one.spelling(), part);
            }
        }
        model.checkWords(words);
    }

    private static List<String> parts(Given one) {
        return one.option().value().list()
                ? List.of(one.value().split(",", -1))
                : List.of(one.value());
    }

    /** The model that they were read by. */
    public CommandModel model() {
        return model;
    }

    /** All options in their order. */
    public List<Given> options() {
        return List.copyOf(options);
    }

    /** Words without a name. */
    public List<String> words() {
        return List.copyOf(words);
    }

    /** Words without a name, as paths. */
    public List<Path> paths() {
        return words.stream().map(Path::of).toList();
    }

    private OptionModel option(String name) {
        OptionModel option = names.get(name);
        if (option == null) {
            throw new IllegalArgumentException("no option is called " + name);
        }
        return option;
    }

    /** Whether an option was given. */
    public boolean has(String name) {
        String known = option(name).name();
        return options.stream().anyMatch(one -> one.option().name().equals(known));
    }

    /** All values of an option, lists taken apart; not its default. */
    public List<String> texts(String name) {
        String known = option(name).name();
        return options.stream()
                .filter(one -> one.option().name().equals(known))
                .flatMap(one -> parts(one).stream())
                .toList();
    }

    /** The last value of an option, or its default; null for neither. */
    public @Nullable String text(String name) {
        List<String> all = texts(name);
        String standard = option(name).value().standard();
        return !all.isEmpty() ? all.getLast() : standard.isEmpty() ? null : standard;
    }

    /** The same, or another word where there is neither. */
    public String text(String name, String otherwise) {
        String text = text(name);
        return text == null ? otherwise : text;
    }

    /** The last value of an option as a path. */
    public @Nullable Path path(String name) {
        String text = text(name);
        return text == null ? null : Path.of(text);
    }

    /** All values of an option as numbers. */
    public List<Integer> numbers(String name) {
        return texts(name).stream().map(Integer::valueOf).toList();
    }

    /** A number; empty when it was not given and has no default. */
    public OptionalLong number(String name) {
        String text = text(name);
        return text == null ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(text));
    }

    /** A time in nanoseconds; empty when it was not given and has no default. */
    public OptionalLong nanos(String name) {
        String text = text(name);
        return text == null
                ? OptionalLong.empty()
                : OptionalLong.of(TimeOption.SECONDS.nanos(name, text));
    }
}
