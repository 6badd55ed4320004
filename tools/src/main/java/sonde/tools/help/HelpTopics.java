package sonde.tools.help;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import sonde.event.NearestNames;
import sonde.tools.option.CommandModel;
import sonde.tools.option.OptionModel;
import sonde.tools.report.NothingMatchesException;
import sonde.view.WrappedText;

/**
 * The pages below a folder as topics. A topic is a page by its file's name, or a section by its
 * heading; other words are searched in all sections and in the options of all commands.
 */
public final class HelpTopics {
    /** The page whose sections are answers of their own. */
    private static final String ANSWERS = "topics";

    /** Of longer pages the opening and the headings are shown. */
    private static final int LONGEST = 120;

    private static final int FOUND = 12;
    private static final int IN_TITLE = 8;

    private final List<PageSection> sections = new ArrayList<>();
    private final Supplier<Map<String, CommandModel>> commands;

    private HelpTopics(Supplier<Map<String, CommandModel>> commands) {
        this.commands = commands;
    }

    /**
     * Reads the pages.
     *
     * @param folder with Markdown files, also in folders below it
     * @param commands by name, whose options are searched too
     */
    public static HelpTopics read(Path folder, Supplier<Map<String, CommandModel>> commands)
            throws IOException {
        HelpTopics topics = new HelpTopics(commands);
        try (Stream<Path> files = Files.walk(folder.toRealPath())) {
            Path real = folder.toRealPath();
            for (Path file :
                    files.filter(one -> one.toString().endsWith(".md")).sorted().toList()) {
                String name = real.relativize(file).toString().replaceFirst("\\.md$", "");
                if (!name.equals("index") && !name.startsWith("decisions/")) {
                    topics.sections.addAll(PageSection.read(name, Files.readAllLines(file)));
                }
            }
        }
        return topics;
    }

    private List<String> names() {
        return sections.stream()
                .filter(one -> isAnswer(one) || one.depth() == 1)
                .map(one -> isAnswer(one) ? one.title() : one.page())
                .distinct()
                .toList();
    }

    private String list(int width) {
        StringBuilder out = new StringBuilder("Short answers:\n");
        String answers =
                String.join(
                        ", ",
                        named(PageSection::page, ANSWERS).stream()
                                .filter(one -> one.depth() > 1)
                                .map(PageSection::title)
                                .toList());
        out.append(WrappedText.of("  ", "  ", answers, wide(width))).append("\nPages:\n");
        for (PageSection one : sections) {
            if (one.depth() == 1 && !isAnswer(one) && !one.page().startsWith("tools/")) {
                String name = "  %-22s ".formatted(one.page());
                out.append(WrappedText.of(name, " ".repeat(25), one.title(), wide(width)));
            }
        }
        return out.append("\nEach tool has a page too: 'sonde help execsnoop'.\n").toString();
    }

    /** The text of a topic, or what was found; the terminal has so many columns, or 0. */
    public String answer(String topic, int width) throws NothingMatchesException {
        Optional<String> text = about(topic, width);
        if (text.isEmpty()) {
            String near = NearestNames.meant(topic, names());
            throw new NothingMatchesException(
                    "no page has '" + topic + "'" + near + "; 'sonde help topics' lists all");
        }
        return text.get();
    }

    private Optional<String> about(String topic, int width) {
        String wanted = key(topic);
        if (wanted.equals(ANSWERS)) {
            return Optional.of(list(width));
        }
        List<PageSection> page = named(one -> key(one.page()), wanted);
        if (page.isEmpty()) {
            page = named(one -> key(one.page()).replaceFirst(".*/", ""), wanted);
        }
        if (!page.isEmpty() && page.stream().anyMatch(one -> !isAnswer(one))) {
            return Optional.of(whole(page, width));
        }
        List<PageSection> exact = named(one -> key(one.title()), wanted);
        if (exact.isEmpty()) {
            exact = named(one -> key(one.page() + " " + one.title()), wanted);
        }
        Optional<PageSection> answer = exact.stream().filter(HelpTopics::isAnswer).findFirst();
        if (answer.isPresent() || exact.size() == 1) {
            return Optional.of(answer.orElseGet(exact::getFirst).text(wide(width)));
        }
        return found(topic, exact, width);
    }

    private static boolean isAnswer(PageSection section) {
        return section.page().equals(ANSWERS);
    }

    private static int wide(int width) {
        return width == 0 ? 80 : width;
    }

    private List<PageSection> named(Function<PageSection, String> name, String wanted) {
        return sections.stream().filter(one -> name.apply(one).equals(wanted)).toList();
    }

    /** Names are equal whatever their case, and whether they are joined by blanks or dashes. */
    private static String key(String name) {
        String low = name.toLowerCase(Locale.ROOT).replaceFirst("(: .*|\\.md)$", "");
        return low.replace('-', ' ').replace("'", "").strip();
    }

    private static String whole(List<PageSection> page, int width) {
        int lines = page.stream().mapToInt(one -> one.lines().size()).sum();
        if (lines <= LONGEST) {
            return String.join("\n", page.stream().map(one -> one.text(wide(width))).toList());
        }
        StringBuilder out = new StringBuilder(page.getFirst().text(wide(width)));
        out.append("\nSections of this page:\n");
        page.stream()
                .skip(1)
                .filter(one -> one.depth() == 2)
                .forEach(one -> out.append("  ").append(one.call()).append('\n'));
        return out.toString();
    }

    /** A place with the words, and how well it fits. */
    private record TopicMatch(String call, String excerpt, int fit) {}

    private Optional<String> found(String topic, List<PageSection> exact, int width) {
        // An option is searched as it is spelt.
        List<String> words =
                topic.startsWith("-")
                        ? List.of(topic.toLowerCase(Locale.ROOT))
                        : Stream.of(key(topic).split(" +"))
                                .filter(one -> !one.isEmpty())
                                .map(HelpTopics::stem)
                                .toList();
        List<TopicMatch> found = new ArrayList<>();
        for (PageSection section : exact.isEmpty() ? sections : exact) {
            if (isAnswer(section) && section.depth() == 1) {
                continue;
            }
            int fit = exact.isEmpty() ? section.fit(words, IN_TITLE) : 1;
            if (fit > 0) {
                found.add(new TopicMatch(section.call(), section.excerpt(words), fit));
            }
        }
        commands.get()
                .forEach((name, model) ->
                        model.options()
                                .filter(option ->
                                        !topic.startsWith("-") || option.head().contains(topic))
                                .forEach(option -> addOption(found, name, option, words)));
        if (found.isEmpty()) {
            return Optional.empty();
        }
        found.sort(Comparator.comparingInt(TopicMatch::fit).reversed());
        StringBuilder out = new StringBuilder();
        for (TopicMatch one : found.stream().limit(FOUND).toList()) {
            out.append(one.call()).append('\n');
            out.append(WrappedText.of("    ", "    ", one.excerpt(), wide(width)));
        }
        if (found.size() > FOUND) {
            out.append("and ").append(found.size() - FOUND).append(" other places\n");
        }
        return Optional.of(out.toString());
    }

    private static void addOption(
            List<TopicMatch> found, String command, OptionModel option, List<String> words) {
        String head = option.head().toLowerCase(Locale.ROOT);
        head += " " + head.replace('-', ' ');
        String all = head + " " + option.help().toLowerCase(Locale.ROOT);
        if (words.stream().allMatch(all::contains)) {
            boolean isName = words.stream().allMatch(head::contains);
            String call = "sonde help " + command;
            found.add(
                    new TopicMatch(
                            call, option.head() + ": " + option.help(), isName ? 2 * IN_TITLE : 1));
        }
    }

    /** Without the end that a plural has. */
    private static String stem(String word) {
        return word.length() > 3 && word.endsWith("s")
                ? word.substring(0, word.length() - 1)
                : word;
    }
}
