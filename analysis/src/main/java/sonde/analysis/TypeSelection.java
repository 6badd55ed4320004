package sonde.analysis;

import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.IntegerField;
import sonde.event.Source;
import sonde.event.StringField;

/**
 * The types of one source that an operator wants, each with a code of the operator's choice. A row
 * too short for the fields asked for has code 0, so a corrupt file cannot lead beyond a payload.
 */
public final class TypeSelection {
    private final Source source;
    private final int[] codes;
    private final int[] bytes;

    /** Nothing yet. */
    public TypeSelection(Source source) {
        this.source = source;
        codes = new int[source.types().size()];
        bytes = new int[codes.length];
    }

    /** Wants a type where it exists and has the given integer or text fields. */
    public TypeSelection add(int code, String system, String name, String... fields) {
        type(system, name).ifPresent(type -> take(type, code, fields));
        return this;
    }

    /** The source's type that ftrace names so; LTTng's kernel events where it has these. */
    public Optional<EventType> type(String system, String name) {
        return source.type(system, name)
                .or(() ->
                        LttngEvents.has(system, name)
                                ? source.type(LttngEvents.SYSTEM, name)
                                : Optional.empty());
    }

    /** The field of a type that ftrace names so. */
    private static Optional<Field> field(EventType type, String name) {
        return type.field(
                type.system().equals(LttngEvents.SYSTEM)
                        ? LttngEvents.field(type.name(), name)
                        : name);
    }

    /** Wants every type that passes. */
    public TypeSelection addAll(int code, Predicate<EventType> which) {
        for (EventType type : source.types()) {
            if (which.test(type)) {
                take(type, code);
            }
        }
        return this;
    }

    private void take(EventType type, int code, String... fields) {
        int end = 0;
        for (String name : fields) {
            Field field = field(type, name).orElse(null);
            if (field == null || (field.kind() != Field.Kind.INTEGER && !field.isText())) {
                return;
            }
            if (field.kind() == Field.Kind.INTEGER && Integer.bitCount(field.sizeBytes()) != 1) {
                return;
            }
            end = Math.max(end, field.offset() + field.sizeBytes());
        }
        codes[type.id()] = code;
        bytes[type.id()] = end;
    }

    /** The code of a row, 0 when it is not wanted or too short. */
    public int code(Batch batch, int row) {
        int type = batch.type(row);
        return batch.payloadBytes(row) >= bytes[type] ? codes[type] : 0;
    }

    /** The codes by type, as {@link Operator#select} gives them. */
    public int[] codes() {
        return codes.clone();
    }

    /** An accessor for a field that was asked for; null when the source lacks the type or field. */
    public @Nullable IntegerField integer(String system, String name, String field) {
        return type(system, name)
                .flatMap(type -> field(type, field))
                .filter(found -> found.kind() == Field.Kind.INTEGER)
                .filter(found -> found.sizeBytes() <= 8 && Integer.bitCount(found.sizeBytes()) == 1)
                .map(IntegerField::of)
                .orElse(null);
    }

    /** An accessor for a text field; null when the source lacks the type or field. */
    public @Nullable StringField text(String system, String name, String field) {
        return type(system, name)
                .flatMap(type -> field(type, field))
                .filter(Field::isText)
                .map(StringField::of)
                .orElse(null);
    }
}
