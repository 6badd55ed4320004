package sonde.event;

import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;

/**
 * What one kind of event carries.
 *
 * @param id the index of this type in its source's {@link Source#types()}
 * @param system group of the event as the kernel names it ("sched"); {@link #PERF_RECORD} for
 *     records of perf itself
 * @param name name in the group ("sched_switch")
 * @param fields in the order of the format
 * @param printFormat the {@code print fmt} text of an ftrace format, or empty
 */
public record EventType(
        int id, String system, String name, List<Field> fields, String printFormat) {

    /** System of the records that perf itself makes (mmap2, comm, fork, exit, …). */
    public static final String PERF_RECORD = "perf_record";

    /**
     * System of the pseudo-events that every reader makes: {@code lost} (the row's weight is the
     * number of events lost before this time, 0 when the number is unknown), {@code throttle},
     * {@code unthrottle}, {@code corrupt}, {@code unknown} (an event whose format is not there).
     */
    public static final String NOTICE = "notice";

    public EventType {
        fields = List.copyOf(fields);
    }

    /** The field of that name, if the type has it. */
    public Optional<Field> field(String fieldName) {
        for (Field field : fields) {
            if (field.name().equals(fieldName)) {
                return Optional.of(field);
            }
        }
        return Optional.empty();
    }

    /**
     * An accessor for an integer field.
     *
     * @throws NoSuchElementException when the type has no such integer field
     */
    public IntegerField integer(String fieldName) {
        return IntegerField.of(require(fieldName));
    }

    /**
     * An accessor for a text field.
     *
     * @throws NoSuchElementException when the type has no such field
     */
    public StringField string(String fieldName) {
        return StringField.of(require(fieldName));
    }

    private Field require(String fieldName) {
        return field(fieldName)
                .orElseThrow(
                        () -> new NoSuchElementException(qualifiedName() + " has no " + fieldName));
    }

    /** {@code system:name}. */
    public String qualifiedName() {
        return system + ":" + name;
    }
}
