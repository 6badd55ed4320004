package sonde.lang.declare;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.lang.type.Field;
import sonde.lang.type.Struct;
import sonde.lang.type.Type;
import sonde.lang.type.Type.Int;
import sonde.lang.type.Type.Space;
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

    /** Of the context, which the verifier lets no program read (tp_prog_is_valid_access). */
    public static final int CLOSED_BYTES = 8;

    private TracepointTypes() {}

    /**
     * As {@link #arguments(TypeSource, String, String)}, with types from the running kernel's BTF.
     */
    public static @Nullable Struct arguments(String subsystem, String event) {
        return arguments(KernelTypeSource.shared(), subsystem, event);
    }

    /**
     * The fields of an event. Text whose length differs is an array of 0 elements that lies where
     * {@link Field.Place} says.
     *
     * @param kernel where structures that fields point to come from
     * @return null where there is no such event, or no tracefs to ask
     */
    public static @Nullable Struct arguments(TypeSource kernel, String subsystem, String event) {
        EventFormat format = format(subsystem, event);
        return format == null ? null : arguments(kernel, subsystem, format);
    }

    /** The fields of a format, as {@link #arguments(TypeSource, String, String)}. */
    static Struct arguments(TypeSource kernel, String subsystem, EventFormat format) {
        boolean entry = subsystem.equals("syscalls") && format.name().startsWith("sys_enter");
        Space space = entry ? Space.USER : Space.KERNEL;
        List<Field> fields = new ArrayList<>();
        int end = 0;
        for (sonde.event.Field field : format.fields()) {
            fields.add(field(kernel, field, space, entry));
            end = Math.max(end, field.offset() + field.sizeBytes());
        }
        return new Struct(format.name(), false, end, 8, () -> fields);
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

    private static Field field(
            TypeSource kernel, sonde.event.Field field, Space space, boolean registers) {
        Type declared = declared(kernel, field);
        Field.Place place =
                switch (field.kind()) {
                    case DATA_LOC -> Field.Place.DATA_LOC;
                    case REL_LOC -> Field.Place.RELATIVE_LOC;
                    case INTEGER, ARRAY, CHARS, TAIL_STRING, FLOAT, SPAN ->
                            isClosed(field) ? Field.Place.CLOSED : Field.Place.HERE;
                };
        Type type =
                switch (field.kind()) {
                    case DATA_LOC, REL_LOC, TAIL_STRING ->
                            new Type.Array(element(field, declared), 0);
                    case CHARS -> new Type.Array(BasicTypes.CHAR, field.sizeBytes());
                    case ARRAY -> array(field, declared);
                    case INTEGER, FLOAT, SPAN -> scalar(field, declared, registers);
                };
        return new Field(field.name(), ScriptTypes.in(space, type), 8L * field.offset(), 0, place);
    }

    private static boolean isClosed(sonde.event.Field field) {
        return field.name().startsWith("common_") && field.offset() < CLOSED_BYTES;
    }

    /** The type before the name; null for one that is not known. */
    private static @Nullable Type declared(TypeSource kernel, sonde.event.Field field) {
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
    private static Type scalar(
            sonde.event.Field field, @Nullable Type declared, boolean registers) {
        int size = field.sizeBytes();
        return switch (declared) {
            case Type.Int number when registers && number.sizeBytes() < size -> number;
            case Type.Enum one when registers && one.sizeBytes() < size -> one;
            case Type.Pointer pointer when size == 8 -> pointer;
            case Type.Bool bool when size == 1 -> bool;
            case Type.Enum one -> new Type.Enum(one.name(), size, field.signed(), one.names());
            case Struct struct when struct.sizeBytes() == size -> struct;
            case Type.Int number -> new Int(size, field.signed(), number.isChar() && size == 1);
            case null, default -> new Int(size, field.signed());
        };
    }

    private static Type array(sonde.event.Field field, @Nullable Type declared) {
        int size = field.sizeBytes();
        boolean bracket = field.declaration().indexOf('[') > 0;
        if (declared != null && !bracket && declared.sizeBytes() == size) {
            return declared;
        }
        Type element = element(field, declared);
        int count = size / Math.max(1, element.sizeBytes());
        return count * element.sizeBytes() == size
                ? new Type.Array(element, count)
                : new Type.Array(new Int(1, false), size);
    }

    private static Type element(sonde.event.Field field, @Nullable Type declared) {
        if (declared != null && declared.sizeBytes() > 0 && !(declared instanceof Type.Array)) {
            return declared;
        }
        int size = Integer.highestOneBit(Math.clamp(field.elementBytes(), 1, 8));
        return new Int(size, field.signed());
    }
}
