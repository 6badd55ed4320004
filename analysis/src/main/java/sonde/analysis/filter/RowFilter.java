package sonde.analysis.filter;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import sonde.analysis.filter.FilterCondition.And;
import sonde.analysis.filter.FilterCondition.Comparand.NumberComparand;
import sonde.analysis.filter.FilterCondition.Comparand.TextComparand;
import sonde.analysis.filter.FilterCondition.Compare;
import sonde.analysis.filter.FilterCondition.Comparison;
import sonde.analysis.filter.FilterCondition.Not;
import sonde.analysis.filter.FilterCondition.Or;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.Glob;
import sonde.event.IntegerField;
import sonde.event.Source;

/**
 * Which rows are wanted: {@code [EVENTS:] CONDITION}. Without events it is for all that have the
 * fields it asks for. Besides an event's own fields there are {@code CPU}, {@code COMM} (in small
 * letters too where the event has no such field), {@code TIMESTAMP}, and {@code common_pid} in
 * events that are none of ftrace's.
 */
public final class RowFilter {
    private final String text;
    private final List<EventNameTest> events;
    private final @Nullable FilterCondition condition;

    /**
     * Events by name.
     *
     * @param system null for any, or for a name that is a system itself
     */
    record EventNameTest(@Nullable Glob system, Glob name) {
        boolean fits(EventType type) {
            if (system == null) {
                return name.matches(type.name()) || name.matches(type.system());
            }
            return system.matches(type.system()) && name.matches(type.name());
        }
    }

    RowFilter(String text, List<EventNameTest> events, @Nullable FilterCondition condition) {
        this.text = text;
        this.events = List.copyOf(events);
        this.condition = condition;
    }

    /**
     * Reads a filter.
     *
     * @throws FilterException when it cannot be understood
     */
    public static RowFilter parse(String text) {
        return new FilterParser(text).parse();
    }

    /** A test for the rows of a type; null when none of them can pass. */
    public @Nullable RowTest compile(EventType type, CommNames names) {
        if (!events.isEmpty() && events.stream().noneMatch(one -> one.fits(type))) {
            return null;
        }
        return condition == null
                ? (batch, row) -> true
                : compile(condition, new FieldScope(type, names));
    }

    /**
     * Refuses a filter that no event of a recording can pass.
     *
     * @throws FilterException naming the event or field that is nowhere
     */
    public void check(List<Source> sources) {
        Set<String> missing = new TreeSet<>();
        boolean anyType = false;
        for (Source source : sources) {
            for (EventType type : source.types()) {
                if (!events.isEmpty() && events.stream().noneMatch(one -> one.fits(type))) {
                    continue;
                }
                anyType = true;
                if (condition == null || compile(type, tid -> null) != null) {
                    return;
                }
            }
        }
        if (!anyType) {
            throw new FilterException(text, 0, "the recording has no such event");
        }
        if (condition != null) {
            missing(condition, sources, missing);
        }
        String field = missing.isEmpty() ? "" : missing.iterator().next();
        int at = field.isEmpty() ? 0 : Math.max(0, text.indexOf(field));
        throw new FilterException(
                text,
                at,
                field.isEmpty()
                        ? "no event has all of these fields, of these types"
                        : "no event has a field " + field + " that can be compared so");
    }

    private void missing(FilterCondition of, List<Source> sources, Set<String> into) {
        switch (of) {
            case And(FilterCondition left, FilterCondition right) -> {
                missing(left, sources, into);
                missing(right, sources, into);
            }
            case Or(FilterCondition left, FilterCondition right) -> {
                missing(left, sources, into);
                missing(right, sources, into);
            }
            case Not(FilterCondition operand) -> missing(operand, sources, into);
            case Compare compare -> {
                boolean found = false;
                for (Source source : sources) {
                    for (EventType type : source.types()) {
                        found |= compare(compare, new FieldScope(type, tid -> null)) != null;
                    }
                }
                if (!found) {
                    into.add(compare.field());
                }
            }
        }
    }

    /** A condition on fields that the type lacks cannot hold, nor can its opposite: null. */
    private static @Nullable RowTest compile(FilterCondition condition, FieldScope fields) {
        return switch (condition) {
            case And(FilterCondition left, FilterCondition right) -> {
                RowTest a = compile(left, fields);
                RowTest b = compile(right, fields);
                yield a == null || b == null
                        ? null
                        : (batch, row) -> a.test(batch, row) && b.test(batch, row);
            }
            case Or(FilterCondition left, FilterCondition right) -> {
                RowTest a = compile(left, fields);
                RowTest b = compile(right, fields);
                yield a == null
                        ? b
                        : b == null ? a : (batch, row) -> a.test(batch, row) || b.test(batch, row);
            }
            case Not(FilterCondition operand) -> {
                RowTest test = compile(operand, fields);
                yield test == null ? null : (batch, row) -> !test.test(batch, row);
            }
            case Compare compare -> compare(compare, fields);
        };
    }

    private static @Nullable RowTest compare(Compare compare, FieldScope fields) {
        Comparison operator = compare.operator();
        return switch (compare.value()) {
            case NumberComparand(long value) -> {
                Numeric numeric = fields.number(compare.field());
                yield numeric == null ? null : numeric.compared(operator, value);
            }
            case TextComparand word -> {
                Textual textual = fields.text(compare.field());
                yield textual == null ? null : textual.compared(operator, word);
            }
        };
    }

    /** A number of a row. */
    private record Numeric(NumberOfRow reader, boolean unsigned) {
        interface NumberOfRow {
            long of(Batch batch, int row);
        }

        RowTest compared(Comparison operator, long value) {
            NumberOfRow of = reader;
            return switch (operator) {
                case EQUAL -> (batch, row) -> of.of(batch, row) == value;
                case NOT_EQUAL -> (batch, row) -> of.of(batch, row) != value;
                case ANY_BIT -> (batch, row) -> (of.of(batch, row) & value) != 0;
                case LESS -> (batch, row) -> order(of.of(batch, row), value) < 0;
                case AT_MOST -> (batch, row) -> order(of.of(batch, row), value) <= 0;
                case GREATER -> (batch, row) -> order(of.of(batch, row), value) > 0;
                case AT_LEAST -> (batch, row) -> order(of.of(batch, row), value) >= 0;
                case GLOB, NOT_GLOB, MATCHES -> (batch, row) -> false;
            };
        }

        private int order(long a, long b) {
            return unsigned ? Long.compareUnsigned(a, b) : Long.compare(a, b);
        }
    }

    /** A text of a row. */
    private record Textual(TextOfRow reader) {
        interface TextOfRow {
            @Nullable String of(Batch batch, int row);
        }

        RowTest compared(Comparison operator, TextComparand word) {
            String text = word.text();
            return (batch, row) -> {
                String found = reader.of(batch, row);
                if (found == null) {
                    return false;
                }
                return switch (operator) {
                    case EQUAL -> found.equals(text);
                    case NOT_EQUAL -> !found.equals(text);
                    case GLOB, MATCHES -> word.test().test(found);
                    case NOT_GLOB -> !word.test().test(found);
                    case LESS, AT_MOST, GREATER, AT_LEAST, ANY_BIT -> false;
                };
            };
        }
    }

    /** What a type's rows have. */
    private record FieldScope(EventType type, CommNames names) {
        @Nullable Numeric number(String name) {
            Field field = type.field(name).orElse(null);
            if (field != null) {
                if (field.kind() != Field.Kind.INTEGER) {
                    return null;
                }
                IntegerField integer = IntegerField.of(field);
                return new Numeric(integer::of, !field.signed());
            }
            return switch (name) {
                case "CPU", "cpu", "common_cpu" -> new Numeric(Batch::cpu, false);
                case "common_pid" -> new Numeric(Batch::tid, false);
                case "TIMESTAMP" -> new Numeric(Batch::time, true);
                default -> null;
            };
        }

        @Nullable Textual text(String name) {
            Field field = type.field(name).orElse(null);
            if (field != null) {
                return field.isText() ? new Textual((batch, row) -> text(field, batch, row)) : null;
            }
            return switch (name) {
                case "COMM", "comm", "common_comm" ->
                        new Textual((batch, row) -> string(names.comm(batch.tid(row))));
                default -> null;
            };
        }

        private static String text(Field field, Batch batch, int row) {
            int offset = field.offset(batch, row);
            int length = field.sizeBytes(batch, row);
            byte[] bytes = batch.bytes(row, offset, length);
            int end = 0;
            while (end < length && bytes[end] != 0) {
                end++;
            }
            return new String(bytes, 0, end, StandardCharsets.UTF_8);
        }

        private static @Nullable String string(byte @Nullable [] bytes) {
            return bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
        }
    }
}
