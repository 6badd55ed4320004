package sonde.lang.output;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.lang.output.PrintFormat.FormatWord;
import sonde.lang.output.PrintFormat.WordPart;
import sonde.lang.type.TupleType;
import sonde.lang.type.TypeField;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.SpecialType;
import sonde.lang.type.ValueType.SpecialValue;
import sonde.lang.type.ValueType.TextType;

/**
 * What a script prints line by line below a head line, as JSON objects ({@code {"pid": 1, "comm":
 * "init"}}) or comma separated values. The first line has the names of the columns. A column of
 * another line is a word of the format, whatever its value holds: one conversion alone keeps its
 * type, several are text or a decimal number. What is behind the last column belongs to it.
 */
final class HeadedRows {
    private static final Pattern DECIMAL = Pattern.compile("-?(0|[1-9][0-9]{0,18})\\.[0-9]{1,9}");

    private final ValueNames names;
    private final boolean csv;
    private final TextSink head = TextSink.raw();
    private final TextSink text = TextSink.raw();
    private final List<RowCell> cells = new ArrayList<>();
    private List<String> columns = List.of();

    private HeadedRows(ValueNames names, boolean csv) {
        this.names = names;
        this.csv = csv;
    }

    static HeadedRows json(ValueNames names) {
        return new HeadedRows(names, false);
    }

    static HeadedRows csv(ValueNames names) {
        return new HeadedRows(names, true);
    }

    /**
     * A value of a line.
     *
     * @param value a number; null for text
     */
    private record RowCell(byte[] text, @Nullable String value) {}

    /** Takes a piece of a line; writes the line when this was its end. */
    void accept(PrintFormat format, TupleType arguments, byte[] bytes, int offset, TextSink out) {
        if (columns.isEmpty()) {
            format.render(arguments, bytes, offset, names, head);
            if (format.endsLine()) {
                columns = columns(head.toString());
                if (csv) {
                    out.put(String.join(",", columns));
                    out.put('\n');
                }
            }
            return;
        }
        for (FormatWord word : format.words()) {
            if (!word.isRule()) {
                cells.add(cell(word, arguments, bytes, offset));
            }
        }
        if (format.endsLine()) {
            write(out);
        }
    }

    /** Takes a text that ends a line, for what is left of its columns. */
    void last(byte[] rest, TextSink out) {
        String line = new String(rest, StandardCharsets.UTF_8).strip();
        cells.add(new RowCell(line.getBytes(StandardCharsets.UTF_8), null));
        write(out);
    }

    /** Whether a line has begun and not ended. */
    boolean isOpen() {
        return !cells.isEmpty();
    }

    /** {@code "TIME(ms)"} is {@code time_ms}, {@code "HIT%"} is {@code hit_percent}. */
    static List<String> columns(String headLine) {
        List<String> names = new ArrayList<>();
        for (String word : headLine.strip().split("\\s+")) {
            if (word.chars().anyMatch(Character::isLetter)) {
                String key = word.toLowerCase(Locale.ROOT).replace("%", "_percent");
                names.add(key.replaceAll("[^a-z0-9]+", "_").replaceAll("^_|_$", ""));
            }
        }
        return names;
    }

    private RowCell cell(FormatWord word, TupleType arguments, byte[] bytes, int offset) {
        text.clear();
        FormatConversion only = word.only();
        List<TypeField> fields = arguments.fields();
        for (WordPart part : word.parts()) {
            FormatConversion conversion = part.conversion();
            if (conversion == null) {
                text.put(part.literal());
            } else if (part.argument() < fields.size()) {
                TypeField field = fields.get(part.argument());
                int at = offset + field.offsetBytes();
                if (!moment(field.type(), bytes, at)) {
                    conversion.unpadded().write(field.type(), bytes, at, names, text);
                }
            }
        }
        String decimal = null;
        if (only == null ? DECIMAL.matcher(text.toString()).matches() : only.isDecimal()) {
            decimal = text.toString();
        } else if (only != null && isNothing(fields.get(word.first()).type())) {
            decimal = "null";
        }
        return new RowCell(text.since(0), decimal);
    }

    /** A time of day is written with its date. */
    private boolean moment(ValueType type, byte[] bytes, int at) {
        if (!(type instanceof SpecialType named) || named.kind() != SpecialValue.TIMESTAMP) {
            return false;
        }
        text.put(names.moment(ValueBytes.s32(bytes, at + 4), ValueBytes.u64(bytes, at + 8)));
        return true;
    }

    /** The script itself says that there is no value: a literal of one dash. */
    private boolean isNothing(ValueType type) {
        return type instanceof TextType literal
                && literal.sizeBytes() == 2
                && text.toString().equals("-");
    }

    private void write(TextSink out) {
        if (csv) {
            separated(out);
        } else {
            object(out);
        }
        cells.clear();
    }

    private void separated(TextSink out) {
        for (int i = 0; i < columns.size(); i++) {
            out.put(i == 0 ? "" : ",");
            text.clear();
            if (i == columns.size() - 1) {
                join(i);
            } else if (i < cells.size() && !isNull(cells.get(i))) {
                text.put(cells.get(i).text());
            }
            CsvRows.cell(text.toString(), out);
        }
        out.put('\n');
    }

    private static boolean isNull(RowCell cell) {
        return "null".equals(cell.value());
    }

    private void object(TextSink out) {
        out.put('{');
        for (int i = 0; i < columns.size(); i++) {
            out.put(i == 0 ? "" : ", ");
            out.json(columns.get(i));
            out.put(": ");
            if (i == columns.size() - 1 && cells.size() > columns.size()) {
                rest(i, out);
            } else if (i < cells.size()) {
                value(cells.get(i), out);
            } else {
                out.put("null");
            }
        }
        out.put("}\n");
    }

    private static void value(RowCell cell, TextSink out) {
        if (cell.value() != null) {
            out.put(cell.value());
        } else {
            out.json(cell.text(), 0, cell.text().length);
        }
    }

    private void rest(int from, TextSink out) {
        text.clear();
        join(from);
        out.json(text);
    }

    private void join(int from) {
        for (int i = from; i < cells.size(); i++) {
            if (!isNull(cells.get(i))) {
                text.put(i == from ? "" : " ");
                text.put(cells.get(i).text());
            }
        }
    }
}
