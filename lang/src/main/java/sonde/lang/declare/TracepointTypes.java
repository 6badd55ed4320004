package sonde.lang.declare;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.lang.type.StructType;
import sonde.lang.type.TypeField;
import sonde.lang.type.TypeField.FieldPlace;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.ArrayType;
import sonde.lang.type.ValueType.BoolType;
import sonde.lang.type.ValueType.EnumType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.PointerSpace;
import sonde.lang.type.ValueType.PointerType;
import sonde.probe.tracefs.Tracefs;
import sonde.recording.ftrace.EventFormat;
import sonde.sys.SyscallException;

/**
 * What tracepoints hand to programs, from their {@code format} files: offsets are those of the
 * program's context. The first fields are those of every event, {@code common_type} to {@code
 * common_pid}, which programs may not read.
 */
public final class TracepointTypes {
    private static final int LONG_BYTES = 8;

    /** First bytes of the context, which no program may read (tp_prog_is_valid_access). */
    public static final int CLOSED_BYTES = 8;

    private TracepointTypes() {}

    /**
     * As {@link #arguments(TypeSource, String, String)}, with types from the running kernel's BTF.
     */
    public static @Nullable StructType arguments(String subsystem, String event) {
        return arguments(KernelTypeSource.shared(), subsystem, event);
    }

    /**
     * The fields of an event. Text whose length differs is an array of 0 elements that lies where
     * {@link TypeField.FieldPlace} says.
     *
     * @param kernel where structures that fields point to come from
     * @return null where there is no such event, or no tracefs to ask
     */
    public static @Nullable StructType arguments(
            TypeSource kernel, String subsystem, String event) {
        EventFormat format = format(subsystem, event);
        return format == null ? null : arguments(kernel, subsystem, format);
    }

    /** The fields of a format, as {@link #arguments(TypeSource, String, String)}. */
    static StructType arguments(TypeSource kernel, String subsystem, EventFormat format) {
        boolean entry = subsystem.equals("syscalls") && format.name().startsWith("sys_enter");
        PointerSpace space = entry ? PointerSpace.USER : PointerSpace.KERNEL;
        List<TypeField> fields = new ArrayList<>();
        int end = 0;
        for (sonde.event.Field field : format.fields()) {
            fields.add(field(kernel, field, space, entry));
            end = Math.max(end, field.offset() + field.sizeBytes());
        }
        return new StructType(format.name(), false, end, 8, () -> fields);
    }

    /** The fields of an event as its format file declares them, without the common ones. */
    public static List<String> declarations(String subsystem, String event) {
        EventFormat format = format(subsystem, event);
        return format == null
                ? List.of()
                : format.fields().stream()
                        .filter(field -> !field.name().startsWith("common_"))
                        .map(sonde.event.Field::declaration)
                        .toList();
    }

    private static @Nullable EventFormat format(String subsystem, String event) {
        Optional<Tracefs> tracefs = Tracefs.find();
        boolean named = (subsystem + event).matches("[A-Za-z0-9_-]+");
        if (tracefs.isEmpty() || !named || subsystem.isEmpty() || event.isEmpty()) {
            return null;
        }
        try {
            String file = "events/" + subsystem + "/" + event + "/format";
            return EventFormat.parse(tracefs.get().text(file), LONG_BYTES);
        } catch (SyscallException | MalformedInputException e) {
            return null;
        }
    }

    private static TypeField field(
            TypeSource kernel, sonde.event.Field field, PointerSpace space, boolean registers) {
        ValueType declared = declared(kernel, field);
        FieldPlace place =
                switch (field.kind()) {
                    case DATA_LOC -> FieldPlace.DATA_LOC;
                    case REL_LOC -> FieldPlace.RELATIVE_LOC;
                    case INTEGER, ARRAY, CHARS, TAIL_STRING, FLOAT, SPAN ->
                            isClosed(field) ? FieldPlace.CLOSED : FieldPlace.HERE;
                };
        ValueType type =
                switch (field.kind()) {
                    case DATA_LOC, REL_LOC, TAIL_STRING ->
                            new ArrayType(element(field, declared), 0);
                    case CHARS -> new ArrayType(LinuxBasicTypes.CHAR, field.sizeBytes());
                    case ARRAY -> array(field, declared);
                    case INTEGER, FLOAT, SPAN -> scalar(field, declared, registers);
                };
        return new TypeField(
                field.name(), ScriptTypes.in(space, type), 8L * field.offset(), 0, place);
    }

    private static boolean isClosed(sonde.event.Field field) {
        return field.name().startsWith("common_") && field.offset() < CLOSED_BYTES;
    }

    /** The type before the name; null for one that is not known. */
    private static @Nullable ValueType declared(TypeSource kernel, sonde.event.Field field) {
        String text = field.declaration();
        int bracket = text.indexOf('[');
        int name = text.lastIndexOf(field.name());
        String type = name > 0 ? text.substring(0, name) : text;
        type = bracket > 0 && bracket < type.length() ? type.substring(0, bracket) : type;
        type = type.replaceFirst("^__(data|rel)_loc\\s", "").replace("__user", "").strip();
        return CParser.type(type, kernel);
    }

    /**
     * The format's size and sign count, but of registers: the low bytes hold the number that is
     * declared, the others may be any.
     */
    private static ValueType scalar(
            sonde.event.Field field, @Nullable ValueType declared, boolean registers) {
        int size = field.sizeBytes();
        return switch (declared) {
            case IntType number when registers && number.sizeBytes() < size -> number;
            case EnumType one when registers && one.sizeBytes() < size -> one;
            case PointerType pointer when size == 8 -> pointer;
            case BoolType bool when size == 1 -> bool;
            case EnumType one -> new EnumType(one.name(), size, field.signed(), one.names());
            case StructType struct when struct.sizeBytes() == size -> struct;
            case IntType number -> new IntType(size, field.signed(), number.isChar() && size == 1);
            case null, default -> new IntType(size, field.signed());
        };
    }

    private static ValueType array(sonde.event.Field field, @Nullable ValueType declared) {
        int size = field.sizeBytes();
        boolean bracket = field.declaration().indexOf('[') > 0;
        if (declared != null && !bracket && declared.sizeBytes() == size) {
            return declared;
        }
        ValueType element = element(field, declared);
        int count = size / Math.max(1, element.sizeBytes());
        return count * element.sizeBytes() == size
                ? new ArrayType(element, count)
                : new ArrayType(new IntType(1, false), size);
    }

    private static ValueType element(sonde.event.Field field, @Nullable ValueType declared) {
        if (declared != null && declared.sizeBytes() > 0 && !(declared instanceof ArrayType)) {
            return declared;
        }
        int size = Integer.highestOneBit(Math.clamp(field.elementBytes(), 1, 8));
        return new IntType(size, field.signed());
    }
}
