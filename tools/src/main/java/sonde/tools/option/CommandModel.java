package sonde.tools.option;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A command: how it is called, what it takes, and what help says of it.
 *
 * <p>It is written as text, which {@link #parse} reads and {@link HelpText} prints in the same
 * order:
 *
 * <pre>{@code
 * sonde list [OPTIONS] [PATTERN]
 *
 * List the events that can be recorded.
 *
 * Arguments:
 *   [PATTERN]  a name or a glob
 *
 * Options:
 *   -v, --verbose   show fields with their types
 *   --rows N        print at most N rows of a table (at least 1, default 40)
 *
 * Old spellings:
 *   --fields = --verbose
 *
 * Examples:
 *   sonde list 'sched:*'
 * }</pre>
 *
 * <p>Two blanks or a line's end separate names from help. Parts whose lines begin with a dash are
 * options; {@code Arguments} are words without a name: {@code X} is one, {@code [X]} one or none,
 * {@code X...} one or more, {@code [X...]} any number, and {@code -- X} ends the options. All other
 * parts are printed as they are.
 *
 * @param usage lines that say how it is called
 * @param about paragraphs; the first sentence is the summary
 * @param arguments words without a name, then their help
 * @param groups options by the title of their part
 * @param notes other parts by their title
 */
public record CommandModel(
        List<String> usage,
        List<String> about,
        List<Argument> arguments,
        Map<String, List<OptionModel>> groups,
        Map<String, List<String>> notes) {
    private static final String INDENT = "  ";
    private static final String END = "-- ";

    /** The title of options that are accepted and not shown. */
    public static final String HIDDEN = "Not in help";

    /** The options of every command, as a part of a model. */
    public static final String COMMON =
            """

            Every command:
              -h, --help      print this help and end
              -V, --version   print the version and end
              --debug         print the stack of an error
            """;

    /**
     * A word without a name.
     *
     * @param label as it is written in the text
     */
    public record Argument(String label, String help) {
        /** Whether options end at it. */
        boolean endsOptions() {
            return label.startsWith(END);
        }

        /** As help shows it. */
        String shown() {
            return endsOptions() ? label.substring(END.length()) : label;
        }

        private boolean isOptional() {
            return shown().startsWith("[");
        }

        private boolean isMany() {
            return label.contains("...");
        }
    }

    /** Reads a model's text. */
    public static CommandModel parse(String text) {
        Reader reader = new Reader();
        text.lines().forEach(reader::line);
        reader.flush();
        return reader.model();
    }

    /** The first sentence about it, without the stop. */
    public String summary() {
        return about.isEmpty() ? "" : about.getFirst().replaceFirst("(?s)\\.(\\s.*)?$", "");
    }

    /** All options. */
    public Stream<OptionModel> options() {
        return groups.values().stream().flatMap(List::stream);
    }

    /** The option of a spelling, with its dashes. */
    public Optional<OptionModel> option(String spelling) {
        return options().filter(one -> one.spellings().anyMatch(spelling::equals)).findFirst();
    }

    /** Whether options end at the first word. */
    public boolean endsOptionsAtWord() {
        return arguments.stream().anyMatch(Argument::endsOptions);
    }

    /** Refuses too few words and too many. */
    void checkWords(List<String> words) {
        long least = arguments.stream().filter(one -> !one.isOptional()).count();
        if (words.size() < least) {
            Argument missing = arguments.get(words.size());
            throw new OptionException("a word is missing: " + missing.shown());
        }
        boolean any = arguments.stream().anyMatch(Argument::isMany);
        if (!any && words.size() > arguments.size()) {
            throw new OptionException("unexpected word '" + words.get(arguments.size()) + "'");
        }
    }

    /** Reads a text line by line. */
    private static final class Reader {
        private final List<String> usage = new ArrayList<>();
        private final List<String> about = new ArrayList<>();
        private final List<Argument> arguments = new ArrayList<>();
        private final Map<String, List<OptionModel>> groups = new LinkedHashMap<>();
        private final Map<String, List<String>> notes = new LinkedHashMap<>();
        private String title = "";
        private String head = "";
        private final StringBuilder help = new StringBuilder();

        private void line(String line) {
            boolean isTitle = line.endsWith(":") && !line.startsWith(" ") && usage.size() > 0;
            if (isTitle || line.isEmpty()) {
                flush();
            }
            if (isTitle) {
                title = line.substring(0, line.length() - 1);
            } else if (title.isEmpty() && line.startsWith("sonde ")) {
                usage.add(line);
            } else if (title.isEmpty()) {
                add(line);
            } else {
                part(line);
            }
        }

        private void part(String line) {
            boolean isOptions =
                    title.equals(HIDDEN)
                            || line.startsWith(INDENT + "-")
                            || groups.containsKey(title);
            boolean isEntry = line.startsWith(INDENT) && !line.startsWith(INDENT + INDENT);
            if (title.equals("Old spellings")) {
                old(line);
            } else if (!isOptions && !title.equals("Arguments")) {
                notes.computeIfAbsent(title, _ -> new ArrayList<>()).add(line);
            } else if (isEntry) {
                flush();
                int blanks = line.indexOf(INDENT, INDENT.length());
                head = line.substring(INDENT.length(), blanks < 0 ? line.length() : blanks);
                add(blanks < 0 ? "" : line.substring(blanks));
                if (!title.equals("Arguments")) {
                    groups.computeIfAbsent(title, _ -> new ArrayList<>());
                }
            } else {
                add(line);
            }
        }

        private void add(String text) {
            help.append(help.isEmpty() || text.isBlank() ? "" : " ").append(text.strip());
        }

        /** Ends a paragraph, an argument or an option. */
        private void flush() {
            String text = help.toString();
            help.setLength(0);
            if (title.isEmpty() && !text.isEmpty()) {
                about.add(text);
            } else if (!head.isEmpty() && title.equals("Arguments")) {
                arguments.add(new Argument(head, text));
            } else if (!head.isEmpty()) {
                groups.getOrDefault(title, new ArrayList<>()).add(OptionModel.of(head, text));
            }
            head = "";
        }

        /** {@code SPELLING... = NAME}. */
        private void old(String line) {
            int equals = line.indexOf(" = ");
            if (equals < 0) {
                return;
            }
            String name = line.substring(equals + 3).strip();
            String[] spellings = line.substring(0, equals).strip().split(" ");
            groups.values()
                    .forEach(group ->
                            group.replaceAll(
                                    one -> one.name().equals(name) ? one.alias(spellings) : one));
        }

        private CommandModel model() {
            notes.values()
                    .forEach(lines -> {
                        while (!lines.isEmpty() && lines.getLast().isEmpty()) {
                            lines.removeLast();
                        }
                    });
            return new CommandModel(usage, about, arguments, groups, notes);
        }
    }
}
