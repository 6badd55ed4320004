package sonde.probe.tracefs;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.event.Field;
import sonde.recording.ftrace.EventFormat;
import sonde.recording.ftrace.KallsymsText;

/**
 * An event filter as people type it, put into the kernel's spelling
 * (Documentation/trace/events.rst, 5.1): names of functions become ranges of addresses, names that
 * the event prints for a value become that value, and text that lacks its quotes gets them.
 */
public final class FilterText {
    /** A comparison: field, operator, value in quotes or a word; or anything else in quotes. */
    private static final Pattern PART =
            Pattern.compile(
                    "(?<field>[A-Za-z_]\\w*)\\s*(?<op>==|!=|<=|>=|<|>|~|&(?!&))\\s*"
                            + "(?<value>\"[^\"]*\"|'[^']*'|[^\\s()&|\"']+)"
                            + "|\"[^\"]*\"|'[^']*'");

    private static final Pattern NUMBER = Pattern.compile("[-~]?(0[xX][0-9a-fA-F]+|\\d+)");
    private static final Pattern CPUS = Pattern.compile("CPUS\\{.*");
    private static final Pattern NAMED =
            Pattern.compile("\\{\\s*(-?(?:0x[0-9a-fA-F]+|\\d+))[uUlL]*\\s*,\\s*\"([^\"]*)\"\\s*}");
    private static final Pattern TABLE = Pattern.compile("__print_(?:symbolic|flags)(?:64)?\\(");

    private final String text;
    private final StringBuilder kernel = new StringBuilder();
    private final List<Integer> places = new ArrayList<>();
    private final List<String> unknown = new ArrayList<>();

    /** The addresses from the start of a symbol to the start of the next. */
    public record SymbolRange(long start, long end) {}

    private FilterText(String text) {
        this.text = text;
    }

    /**
     * Rewrites a filter.
     *
     * @param symbols ranges of the symbols of a name; more than one where static functions share it
     */
    public static FilterText of(
            String text, EventFormat format, Function<String, List<SymbolRange>> symbols) {
        FilterText filter = new FilterText(text);
        Matcher part = PART.matcher(text);
        int at = 0;
        while (part.find()) {
            filter.copy(at, part.start());
            filter.part(part, format, symbols);
            at = part.end();
        }
        filter.copy(at, text.length());
        return filter;
    }

    /** As the kernel takes it. */
    public String kernel() {
        return kernel.toString();
    }

    /** The words that stand for a value and name nothing. */
    public List<String> unknown() {
        return List.copyOf(unknown);
    }

    /** Where in the user's text the character of the kernel's text comes from. */
    public int place(int kernelPosition) {
        return places.isEmpty()
                ? 0
                : kernelPosition < places.size() ? places.get(kernelPosition) : text.length();
    }

    private void copy(int from, int end) {
        for (int i = from; i < end; i++) {
            kernel.append(text.charAt(i));
            places.add(i);
        }
    }

    private void put(String word, int place) {
        kernel.append(word);
        for (int i = 0; i < word.length(); i++) {
            places.add(place);
        }
    }

    private void part(
            Matcher part, EventFormat format, Function<String, List<SymbolRange>> symbols) {
        String name = part.group("field");
        Optional<Field> known =
                format.fields().stream().filter(one -> one.name().equals(name)).findFirst();
        String value = part.group("value");
        boolean suffix = part.start() > 0 && this.text.charAt(part.start() - 1) == '.';
        if (name == null || value == null || suffix || NUMBER.matcher(value).matches()) {
            copy(part.start(), part.end());
            return;
        }
        boolean quoted = value.startsWith("\"") || value.startsWith("'");
        boolean text = known.map(FilterText::isText).orElse(name.equalsIgnoreCase("comm"));
        if (text) {
            copy(part.start(), part.start("value"));
            put(quoted ? "" : "\"", part.start("value"));
            copy(part.start("value"), part.end());
            put(quoted ? "" : "\"", part.end() - 1);
            return;
        }
        String word = quoted ? value.substring(1, value.length() - 1) : value;
        OptionalLong named = known.isPresent() ? named(format, name, word) : OptionalLong.empty();
        if (known.isEmpty() || CPUS.matcher(word).matches()) {
            copy(part.start(), part.end());
        } else if (named.isPresent()) {
            copy(part.start(), part.start("value"));
            put(Long.toString(named.getAsLong()), part.start("value"));
        } else {
            symbol(part, known.get(), word, symbols);
        }
    }

    private void symbol(
            Matcher part, Field field, String word, Function<String, List<SymbolRange>> symbols) {
        List<SymbolRange> found = field.sizeBytes() == 8 ? symbols.apply(word) : List.of();
        String op = part.group("op");
        if (found.isEmpty()) {
            unknown.add(word);
            copy(part.start(), part.end());
        } else if (op.equals("==") || op.equals("!=")) {
            boolean in = op.equals("==");
            List<String> ranges = new ArrayList<>();
            for (SymbolRange range : found) {
                ranges.add(
                        "("
                                + (field.name() + (in ? " >= " : " < "))
                                + address(range.start, field)
                                + (in ? " && " : " || ")
                                + (field.name() + (in ? " < " : " >= "))
                                + address(range.end, field)
                                + ")");
            }
            put("(" + String.join(in ? " || " : " && ", ranges) + ")", part.start("value"));
        } else {
            copy(part.start(), part.start("value"));
            put(address(found.getFirst().start, field), part.start("value"));
        }
    }

    /** The kernel reads a value of a signed field by kstrtoll, which takes no great hex number. */
    private static String address(long address, Field field) {
        return field.signed() ? Long.toString(address) : "0x" + Long.toHexString(address);
    }

    /** As trace_events.c, filter_assign_type: {@code char *} is text, too. */
    private static boolean isText(Field field) {
        String type = field.declaration().replaceAll("\\s+", " ");
        return field.isText() || type.matches("(const )?char ?\\* ?\\w+");
    }

    /** The value for which the event prints a name: {@code __print_symbolic(REC->vec, {…}, …)}. */
    private static OptionalLong named(EventFormat format, String field, String name) {
        String print = format.printFormat();
        Pattern mentions = Pattern.compile("REC->" + Pattern.quote(field) + "\\b");
        Matcher table = TABLE.matcher(print);
        while (table.find()) {
            int begin = print.indexOf('{', table.end());
            int end = begin < 0 ? -1 : print.indexOf(')', begin);
            if (end < 0 || !mentions.matcher(print.substring(table.end(), begin)).find()) {
                continue;
            }
            Matcher pair = NAMED.matcher(print).region(begin, end);
            while (pair.find()) {
                if (pair.group(2).equals(name)) {
                    return OptionalLong.of(Long.decode(pair.group(1)));
                }
            }
        }
        return OptionalLong.empty();
    }

    /** The symbols of a name in the text of {@code /proc/kallsyms}; none where it hides them. */
    public static List<SymbolRange> symbols(byte[] kallsyms, String name) {
        List<Long> starts = new ArrayList<>();
        KallsymsText.named(
                kallsyms,
                name,
                (address, _, _) -> {
                    if (address != 0 && !starts.contains(address)) {
                        starts.add(address);
                    }
                });
        long[] ends = new long[starts.size()];
        KallsymsText.forEach(
                kallsyms,
                (address, type, at) -> {
                    for (int i = 0; i < ends.length; i++) {
                        boolean above = Long.compareUnsigned(address, starts.get(i)) > 0;
                        if (above && (ends[i] == 0 || Long.compareUnsigned(address, ends[i]) < 0)) {
                            ends[i] = address;
                        }
                    }
                });
        List<SymbolRange> ranges = new ArrayList<>();
        for (int i = 0; i < ends.length; i++) {
            long start = starts.get(i);
            ranges.add(new SymbolRange(start, ends[i] == 0 ? start + 1 : ends[i]));
        }
        return ranges;
    }
}
