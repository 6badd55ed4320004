package sonde.exchange.export;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.event.EventType;
import sonde.event.Field;

/**
 * Where the fields of an event lie that ftrace has no format for, and that format. First what every
 * event of the kernel has (type, flags, preempt count, pid), then the fields in their order, then
 * what rows have besides fields; text and arrays stand behind as {@code __data_loc}.
 */
final class FtraceLayout {
    /** Bytes of the common fields. */
    static final int COMMON_BYTES = 8;

    /** common_type, common_flags, common_preempt_count, common_pid. */
    static final String COMMON =
            field("unsigned short common_type", 0, 2, false)
                    + field("unsigned char common_flags", 2, 1, false)
                    + field("unsigned char common_preempt_count", 3, 1, false)
                    + field("int common_pid", 4, 4, true);

    /** How a slot is filled. */
    enum SlotForm {
        /** An integer in place. */
        INTEGER,
        /** A floating-point number, which ftrace does not know, in decimals. */
        REAL,
        /** An array in place. */
        FIXED,
        /** Text behind the fields. */
        TEXT,
        /** An array behind the fields. */
        ARRAY,
        /** The row's process. */
        PID,
        /** The row's weight. */
        WEIGHT,
        /** The row's call chain as addresses. */
        CHAIN,
        /** The row's call chain as names. */
        NAMES
    }

    /**
     * A place in the payload.
     *
     * @param field the source's field, null for what rows have besides
     */
    record PayloadSlot(
            @Nullable Field field, SlotForm form, int offset, int sizeBytes, int elementBytes) {}

    final List<PayloadSlot> slots = new ArrayList<>();
    private final StringBuilder text = new StringBuilder();
    private final List<String> shown = new ArrayList<>();
    private final List<String> arguments = new ArrayList<>();
    private final Set<String> names = new HashSet<>();
    private int end = COMMON_BYTES;

    /** What rows of a type have besides fields, and whether chains are names. */
    record Extras(boolean pid, boolean weight, boolean chain, boolean named) {
        static Extras of(EventType type, RowSurvey.Usage usage, boolean named) {
            boolean says = type.field("pid").isPresent();
            return new Extras(usage.pids && !says, usage.weights, usage.stacks, named);
        }
    }

    FtraceLayout(List<Field> fields, Extras extras) {
        for (Field field : fields) {
            add(field);
        }
        if (extras.pid) {
            put(null, SlotForm.PID, "s32", name("pid"), 4);
        }
        if (extras.weight) {
            put(null, SlotForm.WEIGHT, "u64", name("period"), 8);
        }
        if (extras.chain && extras.named) {
            located(null, SlotForm.NAMES, "char", name("stack"), 1);
        } else if (extras.chain) {
            located(null, SlotForm.CHAIN, "u64", name("callchain"), 8);
        }
    }

    /** Bytes before the texts and arrays. */
    int fixedBytes() {
        return end;
    }

    /** Whether it has a place for call chains. */
    boolean hasChain() {
        return slots.stream()
                .anyMatch(slot -> slot.form == SlotForm.CHAIN || slot.form == SlotForm.NAMES);
    }

    private void add(Field field) {
        String name = name(field.name());
        int size = field.sizeBytes();
        String prefix = field.signed() ? "s" : "u";
        int element = FieldValues.elementBytes(field);
        if (ExportRow.isInteger(field)) {
            String type = prefix + 8 * size;
            boolean same = name.equals(field.name()) && field.declaration().endsWith(" " + name);
            boolean word = same && !field.declaration().startsWith("bool") && !field.isDerived();
            String declared = word ? field.declaration() : type + " " + name;
            place(field, SlotForm.INTEGER, declared, name, size);
        } else if (field.kind() == Field.Kind.FLOAT) {
            located(field, SlotForm.REAL, "char", name, 1);
        } else if (field.isText()) {
            if (field.kind() == Field.Kind.CHARS && size > 0) {
                array(field, "char", name, 1);
            } else {
                located(field, SlotForm.TEXT, "char", name, 1);
            }
        } else if (field.kind() == Field.Kind.ARRAY && size > 0 && size % element == 0) {
            array(field, prefix + 8 * element, name, element);
        } else {
            located(field, SlotForm.ARRAY, prefix + 8 * element, name, element);
        }
    }

    private String name(String wanted) {
        String plain = FieldValues.identifier(wanted);
        String name = plain;
        for (int i = 2; name.startsWith("common_") || !names.add(name); i++) {
            name = "_" + plain + (i == 2 ? "" : "_" + i);
        }
        return name;
    }

    private int offset(int alignment, int size) {
        int at = end + alignment - 1 & -alignment;
        end = at + size;
        return at;
    }

    private void put(@Nullable Field field, SlotForm form, String type, String name, int size) {
        place(field, form, type + " " + name, name, size);
    }

    private void place(
            @Nullable Field field, SlotForm form, String declared, String name, int size) {
        int at = offset(size, size);
        boolean signed = field == null ? form == SlotForm.PID : field.signed();
        slots.add(new PayloadSlot(field, form, at, size, size));
        text.append(field(declared, at, size, signed));
        shown.add(name + "=%" + (size == 8 ? "ll" : "") + (signed ? "d" : "u"));
        arguments.add("REC->" + name);
    }

    private void array(Field field, String type, String name, int element) {
        int size = field.sizeBytes();
        int at = offset(element, size);
        slots.add(new PayloadSlot(field, SlotForm.FIXED, at, size, element));
        String declared = type + " " + name + "[" + size / element + "]";
        text.append(field(declared, at, size, field.signed()));
        shown.add(name + "=%s");
        arguments.add(
                field.isText()
                        ? "REC->" + name
                        : "__print_array(REC->%s, %d, %d)"
                                .formatted(name, size / element, element));
    }

    private void located(
            @Nullable Field field, SlotForm form, String type, String name, int element) {
        int at = offset(4, 4);
        slots.add(new PayloadSlot(field, form, at, 4, element));
        boolean signed = field != null && field.signed() && !type.equals("char");
        text.append(field("__data_loc " + type + "[] " + name, at, 4, signed));
        shown.add(name + "=%s");
        arguments.add(
                type.equals("char")
                        ? "__get_str(" + name + ")"
                        : "__print_array(__get_dynamic_array(%s), %s, %d)"
                                .formatted(name, length(name, element), element));
    }

    private static String length(String name, int element) {
        String bytes = "__get_dynamic_array_len(" + name + ")";
        // libtraceevent of perf 6.1 takes an operator in parentheses only.
        return element == 1 ? bytes : "(" + bytes + " / " + element + ")";
    }

    static String field(String declaration, int offset, int size, boolean signed) {
        return "\tfield:%s;\toffset:%d;\tsize:%d;\tsigned:%d;\n"
                .formatted(declaration, offset, size, signed ? 1 : 0);
    }

    /**
     * The format file.
     *
     * @param print the source's own print format, empty when it has none
     */
    String format(String name, int id, String print) {
        String made = "\"" + String.join(" ", shown) + "\"";
        if (!arguments.isEmpty()) {
            made += ", " + String.join(", ", arguments);
        }
        return "name: %s\nID: %d\nformat:\n%s\n%s\nprint fmt: %s\n"
                .formatted(name, id, COMMON, text, print.isEmpty() ? made : print);
    }
}
