package sonde.analysis.syscall;

import org.jspecify.annotations.Nullable;
import sonde.analysis.TypeSelection;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.IntegerField;
import sonde.event.Source;
import sonde.sys.Arch;
import sonde.sys.SyscallNames;

/**
 * Which rows of a source begin and end system calls:
 *
 * <table>
 * <caption>by who recorded them</caption>
 * <tr><td>ftrace, perf</td><td>{@code raw_syscalls:sys_enter}, {@code sys_exit}</td></tr>
 * <tr><td>ftrace, perf</td><td>{@code syscalls:sys_enter_NAME}, {@code sys_exit_NAME}; the field
 * {@code __syscall_nr} ({@code nr} before 4.17) has the number, the arguments follow it as one word
 * each (kernel/trace/trace_syscalls.c)</td></tr>
 * <tr><td>LTTng</td><td>{@code syscall_entry_NAME}, {@code syscall_exit_NAME}; before LTTng 2.5
 * {@code sys_NAME} and {@code exit_syscall}</td></tr>
 * </table>
 *
 * <p>A file with {@code raw_syscalls} rows may have those of single calls beside; {@link #isCopy}
 * says which rows are the second report of the same call.
 */
public final class SyscallEvents {
    /** An argument on a machine of 64 bits; those of others are not read. */
    private static final int WORD_BYTES = 8;

    private static final String RAW = "raw_syscalls";
    private static final String NAMED = "syscalls";
    private static final String LTTNG = "kernel";

    // By type.
    private final boolean[] named;
    private final int[] numbers;
    private final @Nullable IntegerField[] numberFields;
    private final @Nullable IntegerField[] results;
    private final int[] arguments;
    private boolean sawRaw;

    /** Asks {@code wanted} for the source's rows, with these codes. */
    public SyscallEvents(Source source, TypeSelection wanted, int enter, int exit) {
        int types = source.types().size();
        named = new boolean[types];
        numbers = new int[types];
        numberFields = new IntegerField[types];
        results = new IntegerField[types];
        arguments = new int[types];
        wanted.add(enter, RAW, "sys_enter", "id").add(exit, RAW, "sys_exit");
        for (EventType type : source.types()) {
            int id = type.id();
            arguments[id] = -1;
            numbers[id] = -1;
            switch (type.system()) {
                case RAW -> raw(type);
                case NAMED -> named(type, wanted, enter, exit);
                case LTTNG -> lttng(type, wanted, enter, exit);
                default -> {}
            }
        }
    }

    private void raw(EventType type) {
        numberFields[type.id()] = integer(type, "id");
        results[type.id()] = integer(type, "ret");
        arguments[type.id()] =
                type.field("args")
                        .filter(field -> field.kind() == Field.Kind.ARRAY)
                        .filter(field -> field.elementBytes() == 8 && field.sizeBytes() >= 48)
                        .map(Field::offset)
                        .orElse(-1);
    }

    private void named(EventType type, TypeSelection wanted, int enter, int exit) {
        String number = type.field("__syscall_nr").isPresent() ? "__syscall_nr" : "nr";
        int id = type.id();
        named[id] = true;
        numberFields[id] = integer(type, number);
        if (type.name().startsWith("sys_enter_")) {
            wanted.add(enter, NAMED, type.name(), number);
            arguments[id] = type.field(number).map(field -> argumentsAt(type, field)).orElse(-1);
        } else if (type.name().startsWith("sys_exit_")) {
            results[id] = integer(type, "ret");
            wanted.add(exit, NAMED, type.name(), "ret");
        }
    }

    /** Where the words behind the number begin; -1 on machines whose words have 4 bytes. */
    private static int argumentsAt(EventType type, Field number) {
        for (Field field : type.fields()) {
            if (field.offset() > number.offset() && field.sizeBytes() == WORD_BYTES) {
                return field.offset();
            }
        }
        return -1;
    }

    private void lttng(EventType type, TypeSelection wanted, int enter, int exit) {
        String name = type.name();
        name = name.startsWith("compat_") ? name.substring("compat_".length()) : name;
        String entered =
                name.startsWith("syscall_entry_")
                        ? name.substring("syscall_entry_".length())
                        : name.startsWith("sys_") ? name.substring("sys_".length()) : "";
        int id = type.id();
        named[id] = true;
        if (!entered.isEmpty()) {
            numbers[id] = SyscallNames.of(Arch.current()).numberOf(entered);
            wanted.add(enter, LTTNG, type.name());
        } else if (name.startsWith("syscall_exit_") || name.equals("exit_syscall")) {
            results[id] = integer(type, "ret");
            wanted.add(exit, LTTNG, type.name());
        }
    }

    private static @Nullable IntegerField integer(EventType type, String name) {
        return type.field(name)
                .filter(field -> field.kind() == Field.Kind.INTEGER)
                .filter(field -> field.sizeBytes() <= 8 && Integer.bitCount(field.sizeBytes()) == 1)
                .map(IntegerField::of)
                .orElse(null);
    }

    /** Whether the row tells what a raw row tells too; to be asked once for each row, in order. */
    public boolean isCopy(Batch batch, int row) {
        if (named[batch.type(row)]) {
            return sawRaw;
        }
        sawRaw = true;
        return false;
    }

    /** The number of the call that begins, -1 when unknown. */
    public int number(Batch batch, int row) {
        int type = batch.type(row);
        IntegerField field = numberFields[type];
        return field == null ? numbers[type] : (int) field.of(batch, row);
    }

    /** What the call returned, 0 when the row does not tell. */
    public long result(Batch batch, int row) {
        IntegerField field = results[batch.type(row)];
        return field == null ? 0 : field.of(batch, row);
    }

    /** Copies the first arguments, 0 for those that the call lacks; false when none are told. */
    public boolean arguments(Batch batch, int row, long[] into) {
        int type = batch.type(row);
        int at = arguments[type];
        if (at < 0 || (!named[type] && batch.payloadBytes(row) < at + WORD_BYTES * into.length)) {
            return false;
        }
        for (int i = 0; i < into.length; i++) {
            int end = at + WORD_BYTES * (i + 1);
            into[i] = end <= batch.payloadBytes(row) ? batch.u64(row, end - WORD_BYTES) : 0;
        }
        return true;
    }
}
