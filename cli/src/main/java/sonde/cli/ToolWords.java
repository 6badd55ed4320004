package sonde.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import sonde.lang.bpftrace.expand.Option;

/**
 * The words behind {@code sonde tool NAME}, sorted: options of {@code sonde trace}, options of the
 * script, and the rest, which the script sees as {@code $1} and so on.
 */
final class ToolWords {
    private static final Set<String> WITH_VALUE =
            Set.of("--pid", "--cmd", "--output", "--duration", "--include", "--probe-filter");
    private static final Set<String> WITHOUT_VALUE =
            Set.of(
                    "--plan",
                    "--quiet",
                    "--verbose",
                    "--warnings",
                    "--no-warnings",
                    "--dry-run",
                    "--json",
                    "--debug");
    private static final String LETTERS_WITH_VALUE = "cpofBd";

    private final List<String> general = new ArrayList<>();
    private final List<String> named = new ArrayList<>();
    private final List<String> rest = new ArrayList<>();
    private final List<String> words;
    private final List<Option> options;
    private int at;
    private boolean help;
    private boolean script;

    private ToolWords(List<String> words, List<Option> options) {
        this.words = words;
        this.options = options;
    }

    static ToolWords of(List<String> words, List<Option> options)
            throws TraceArguments.UsageException {
        ToolWords read = new ToolWords(words, options);
        while (read.at < words.size()) {
            read.word(words.get(read.at++));
        }
        return read;
    }

    boolean help() {
        return help;
    }

    boolean script() {
        return script;
    }

    /** As if they had been given to {@code sonde trace} with a program. */
    TraceArguments arguments(String program) throws TraceArguments.UsageException {
        List<String> all = new ArrayList<>(general);
        all.addAll(List.of("-e", program));
        all.addAll(rest);
        all.add("--");
        all.addAll(named);
        return TraceArguments.parse(all);
    }

    private void word(String word) throws TraceArguments.UsageException {
        if (word.equals("--")) {
            named.addAll(words.subList(at, words.size()));
            at = words.size();
        } else if (word.startsWith("--")) {
            longOption(word);
        } else if (word.startsWith("-") && word.length() > 1) {
            letters(word);
        } else {
            rest.add(word);
        }
    }

    private void longOption(String word) throws TraceArguments.UsageException {
        int equals = word.indexOf('=');
        String name = equals < 0 ? word : word.substring(0, equals);
        Optional<Option> option =
                options.stream().filter(one -> name.equals("--" + one.name())).findFirst();
        if (option.isPresent()) {
            boolean whole = equals >= 0 || option.get().kind() == Option.Kind.BOOLEAN;
            named.add(whole ? word : word + "=" + value(word));
        } else if (name.equals("--help")) {
            help = true;
        } else if (name.equals("--script")) {
            script = true;
        } else if (WITH_VALUE.contains(name)) {
            general.add(equals >= 0 ? word : word + "=" + value(word));
        } else if (WITHOUT_VALUE.contains(word)) {
            general.add(word);
        } else {
            throw new TraceArguments.UsageException("unknown option " + name, true);
        }
    }

    private void letters(String word) throws TraceArguments.UsageException {
        if (word.equals("-h")) {
            help = true;
            return;
        }
        general.add(word);
        for (int i = 1; i < word.length(); i++) {
            if (LETTERS_WITH_VALUE.indexOf(word.charAt(i)) >= 0) {
                if (i == word.length() - 1) {
                    general.add(value(word));
                }
                return;
            }
        }
    }

    private String value(String word) throws TraceArguments.UsageException {
        if (at >= words.size()) {
            throw new TraceArguments.UsageException(word + " needs a value", true);
        }
        return words.get(at++);
    }
}
