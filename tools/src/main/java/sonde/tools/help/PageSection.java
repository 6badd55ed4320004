package sonde.tools.help;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import sonde.view.TextEscape;
import sonde.view.WrappedText;

/**
 * A part of a page of Markdown, from a heading to the next.
 *
 * @param page the file's path below the folder of the pages, without its ending
 * @param title of the heading, as text
 * @param depth of the heading, 1 for the page's own
 * @param lines below it, as they are in the file
 */
record PageSection(String page, String title, int depth, List<String> lines) {
    private static final String FENCE = "```";
    private static final int INDENT = 4;
    private static final int NARROWEST_CELL = 20;
    private static final int EXCERPT = 160;

    static List<PageSection> read(String page, List<String> lines) {
        List<PageSection> sections = new ArrayList<>();
        boolean fenced = false;
        for (String line : lines) {
            fenced ^= line.startsWith(FENCE);
            int depth = fenced ? 0 : line.replaceFirst("^(#*) .*", "$1").length();
            if (!fenced && line.startsWith("#") && depth < line.length()) {
                String title = plain(line.substring(depth).strip());
                sections.add(new PageSection(page, title, depth, new ArrayList<>()));
            } else if (!sections.isEmpty()) {
                sections.getLast().lines.add(line);
            }
        }
        return sections;
    }

    /** How it is shown. */
    String call() {
        String topic = page.equals("topics") ? title : page + (depth == 1 ? "" : " " + title);
        return "sonde help " + topic.replace("'", "");
    }

    /** How well it fits words that are in lower case; 0 where one of them is missing. */
    int fit(List<String> words, int inTitle) {
        String heading = (title + " " + page).toLowerCase(Locale.ROOT);
        String text = String.join("\n", lines).toLowerCase(Locale.ROOT);
        int fit = 0;
        for (String word : words) {
            int here = (heading.contains(word) ? inTitle : 0) + (text.contains(word) ? 1 : 0);
            if (here == 0) {
                return 0;
            }
            fit += here;
        }
        fit += text.contains(String.join(" ", words)) ? inTitle : 0;
        return fit + (page.equals("topics") ? 2 * inTitle : 0);
    }

    /** The line with the first of the words, else the first line. */
    String excerpt(List<String> words) {
        List<String> texts =
                lines.stream().map(PageSection::plain).filter(one -> one.matches("\\w.*")).toList();
        String line =
                texts.stream()
                        .filter(one ->
                                words.stream().anyMatch(one.toLowerCase(Locale.ROOT)::contains))
                        .findFirst()
                        .orElse(texts.isEmpty() ? title : texts.getFirst());
        return line.length() <= EXCERPT ? line : line.substring(0, EXCERPT) + "…";
    }

    /** The section for a terminal of so many columns. */
    String text(int width) {
        StringBuilder out = new StringBuilder();
        String head = TextEscape.line(title);
        out.append(depth == 1 ? head.toUpperCase(Locale.ROOT) : head).append('\n');
        List<String> block = new ArrayList<>();
        boolean fenced = false;
        for (String line : lines) {
            boolean isFence = line.startsWith(FENCE);
            if (fenced && !isFence || !isFence && block.isEmpty() && line.startsWith("    ")) {
                String code = TextEscape.line(line);
                out.append(" ".repeat(fenced ? INDENT : 0)).append(code).append('\n');
            } else if (isFence || line.isBlank()) {
                flush(out, block, width);
                out.append(line.isBlank() && !endsEmpty(out) ? "\n" : "");
                fenced ^= isFence;
            } else if (!line.startsWith("<!--")) {
                if (line.matches("(- |\\d+\\. ).*")) {
                    flush(out, block, width);
                }
                block.add(line);
            }
        }
        flush(out, block, width);
        return out.toString().stripTrailing() + "\n";
    }

    private static boolean endsEmpty(StringBuilder out) {
        return out.toString().endsWith("\n\n");
    }

    /** Ends a paragraph, an entry of a list, or a table. */
    private static void flush(StringBuilder out, List<String> block, int width) {
        if (block.isEmpty()) {
            return;
        }
        if (block.getFirst().startsWith("|")) {
            table(out, block, width);
        } else {
            String text = plain(String.join(" ", block.stream().map(String::strip).toList()));
            String indent = " ".repeat(text.matches("(- |\\d+\\. ).*") ? text.indexOf(' ') + 1 : 0);
            out.append(WrappedText.of("", indent, text, width));
        }
        block.clear();
    }

    private static void table(StringBuilder out, List<String> block, int width) {
        List<List<String>> rows = new ArrayList<>();
        for (String line : block) {
            if (!line.matches("[|: -]+")) {
                String inside = line.strip().replaceFirst("^\\|", "").replaceFirst("\\|$", "");
                rows.add(
                        List.of(inside.replace("\\|", "\0").split("\\|")).stream()
                                .map(cell -> plain(cell.replace('\0', '|').strip()))
                                .toList());
            }
        }
        int[] widths = new int[rows.stream().mapToInt(List::size).max().orElse(0)];
        for (List<String> row : rows) {
            for (int i = 0; i < row.size(); i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        }
        // The widest column gives way, until all have room.
        for (int over = overhang(widths, width); over > 0; over = overhang(widths, width)) {
            int widest = 0;
            for (int i = 1; i < widths.length; i++) {
                widest = widths[i] > widths[widest] ? i : widest;
            }
            if (widths[widest] <= NARROWEST_CELL) {
                break;
            }
            widths[widest]--;
        }
        rows.forEach(row -> row(out, row, widths));
    }

    private static int overhang(int[] widths, int width) {
        return IntStream.of(widths).sum() + 2 * widths.length - width;
    }

    private static void row(StringBuilder out, List<String> row, int[] widths) {
        List<List<String>> cells = new ArrayList<>();
        for (int i = 0; i < row.size(); i++) {
            cells.add(WrappedText.of("", "", row.get(i), widths[i]).lines().toList());
        }
        int height = cells.stream().mapToInt(List::size).max().orElse(0);
        for (int at = 0; at < height; at++) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < cells.size(); i++) {
                String cell = at < cells.get(i).size() ? cells.get(i).get(at) : "";
                line.append("  ").append(cell);
                line.append(" ".repeat(Math.max(0, widths[i] - cell.length())));
            }
            out.append(line.toString().stripTrailing()).append('\n');
        }
    }

    /** A line without what makes it links and code. */
    private static String plain(String line) {
        return line.replaceAll("<!--.*?-->", "")
                .replaceAll("!?\\[([^]]*)]\\([^)]*\\)", "$1")
                .replaceAll("`([^` ]+)`", "$1")
                .replace('`', '\'')
                .replace("**", "");
    }
}
