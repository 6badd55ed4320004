package sonde.recording.ftrace;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.binary.MalformedInputException;
import sonde.event.EventType;
import sonde.event.Field;

/**
 * A {@code format} file of tracefs.
 *
 * @param name of the event
 * @param id the number in {@code common_type}
 * @param fields common ones included, in the order of the text; offsets count from the start of the
 *     event, so {@code common_type} is at 0
 * @param printFormat what stands behind {@code print fmt:}
 */
public record EventFormat(String name, int id, List<Field> fields, String printFormat) {
    private static final String FORMAT = "event format";
    private static final int MOST_FIELDS = 1024;
    // A ring buffer event is at most a sub-buffer: 64 KiB pages with buffer_subbuf_size_kb on top.
    private static final int MOST_BYTES = 1 << 20;

    /** The types that {@link ProbeField} declares: {@code s4}, {@code u64_plus_520}. */
    private static final Pattern DERIVED =
            Pattern.compile("([su])([1-9]|[1-5]\\d|6[0-4])(?:_(plus|minus)_(\\d{1,18}))? \\w+");

    public EventFormat {
        fields = List.copyOf(fields);
    }

    /** As {@link #parse(String, int)}, from the bytes of the file. */
    public static EventFormat parse(byte[] text, int longBytes) throws MalformedInputException {
        return parse(text, longBytes, new HashMap<>());
    }

    /** As above; most lines are those of an earlier format, whose fields {@code known} keeps. */
    public static EventFormat parse(byte[] text, int longBytes, Map<String, Field> known)
            throws MalformedInputException {
        int length = text.length;
        while (length > 0 && text[length - 1] == 0) {
            length--;
        }
        return parse(new String(text, 0, length, StandardCharsets.UTF_8), longBytes, known);
    }

    /**
     * Reads a format file.
     *
     * @param longBytes size of the kernel's {@code long}
     * @throws MalformedInputException when name, ID or a field's numbers are missing
     */
    public static EventFormat parse(String text, int longBytes) throws MalformedInputException {
        return parse(text, longBytes, new HashMap<>());
    }

    private static EventFormat parse(String text, int longBytes, Map<String, Field> known)
            throws MalformedInputException {
        String name = "";
        int id = -1;
        List<Field> fields = new ArrayList<>();
        int at = 0;
        while (at < text.length()) {
            int end = text.indexOf('\n', at);
            String line = text.substring(at, end < 0 ? text.length() : end);
            if (line.startsWith("name:")) {
                name = line.substring(5).strip();
            } else if (line.startsWith("ID:")) {
                id = number(line.substring(3), "ID", at, 0xffff);
            } else if (line.stripLeading().startsWith("field")) {
                if (fields.size() == MOST_FIELDS) {
                    throw new MalformedInputException(FORMAT, "field", at, "too many fields");
                }
                Field field = known.get(line);
                if (field == null) {
                    field = field(line.strip(), at, longBytes);
                    known.put(line, field);
                }
                fields.add(field);
            } else if (line.startsWith("print fmt:")) {
                // The rest of the file: some print formats run over several lines.
                String print = text.substring(at + "print fmt:".length()).strip();
                return checked(name, id, fields, print, at);
            }
            at = end < 0 ? text.length() : end + 1;
        }
        return checked(name, id, fields, "", at);
    }

    private static EventFormat checked(
            String name, int id, List<Field> fields, String print, int at)
            throws MalformedInputException {
        if (name.isEmpty() || id < 0) {
            throw new MalformedInputException(FORMAT, "name and ID", at, "missing");
        }
        return new EventFormat(name, id, fields, print);
    }

    /** The type as number {@code index} of a source. */
    public EventType toType(int index, String system) {
        return new EventType(index, system, name, fields, printFormat);
    }

    /**
     * Bytes the payload must have so that every integer in place lies in it. Arrays do not count:
     * kernel_stack's {@code caller[8]} is often shorter, and whoever reads one asks the payload.
     */
    public int fixedBytes() {
        int bytes = 0;
        for (Field field : fields) {
            switch (field.kind()) {
                case INTEGER, FLOAT, DATA_LOC, REL_LOC, SPAN ->
                        bytes = Math.max(bytes, field.offset() + field.sizeBytes());
                case ARRAY, CHARS, TAIL_STRING -> {}
            }
        }
        return bytes;
    }

    // field:char prev_comm[16];	offset:8;	size:16;	signed:0;
    private static Field field(String line, int at, int longBytes) throws MalformedInputException {
        String declaration = part(line, line.indexOf(':') + 1, at);
        int offset = number(after(line, "offset:", at), "offset", at, MOST_BYTES);
        int size = number(after(line, "size:", at), "size", at, MOST_BYTES);
        boolean signed = line.contains("signed:1");
        return field(declaration, offset, size, signed, longBytes);
    }

    private static Field field(
            String declaration, int offset, int size, boolean signed, int longBytes) {
        boolean array = declaration.endsWith("]") && declaration.indexOf('[') > 0;
        String head = array ? declaration.substring(0, declaration.lastIndexOf('[')) : declaration;
        head = head.strip();
        String name = head.substring(lastWord(head));
        boolean located =
                declaration.startsWith("__data_loc") || declaration.startsWith("__rel_loc");
        if (located && size == 4) {
            Field.Kind kind =
                    declaration.startsWith("__rel") ? Field.Kind.REL_LOC : Field.Kind.DATA_LOC;
            int element = CTypes.sizeBytes(CTypes.element(declaration), longBytes, 1);
            return new Field(name, declaration, kind, offset, size, element, signed);
        }
        boolean text = head.contains("char") && !head.contains("unsigned") && !head.contains("*");
        if (array && text) {
            Field.Kind kind = size == 0 ? Field.Kind.TAIL_STRING : Field.Kind.CHARS;
            return new Field(name, declaration, kind, offset, size, 1, signed);
        }
        if (array) {
            String type = head.substring(0, head.length() - name.length()).strip();
            int element = CTypes.sizeBytes(type, longBytes, 1);
            if (size % element != 0) {
                element = 1;
            }
            return new Field(name, declaration, Field.Kind.ARRAY, offset, size, element, signed);
        }
        boolean integer = size == 1 || size == 2 || size == 4 || size == 8;
        int real = head.startsWith("double ") ? 8 : head.startsWith("float ") ? 4 : 0;
        if (real > 0 && real <= size) {
            return new Field(name, declaration, Field.Kind.FLOAT, offset, real, real, true);
        }
        boolean mayDerive = head.length() > 1 && head.charAt(1) >= '1' && head.charAt(1) <= '9';
        Matcher derived = integer && mayDerive ? DERIVED.matcher(head) : null;
        if (derived != null && derived.matches()) {
            int bits = Integer.parseInt(derived.group(2));
            long sum = derived.group(4) == null ? 0 : Long.parseLong(derived.group(4));
            sum = "minus".equals(derived.group(3)) ? -sum : sum;
            if (bits < 8 * size || sum != 0 && bits == 8 * size) {
                boolean sign = derived.group(1).equals("s");
                return new Field(
                        name, declaration, Field.Kind.INTEGER, offset, size, size, sign, bits, sum);
            }
        }
        return integer
                ? new Field(name, declaration, Field.Kind.INTEGER, offset, size, size, signed)
                : new Field(name, declaration, Field.Kind.ARRAY, offset, size, 1, false);
    }

    private static int lastWord(String text) {
        int i = text.length();
        while (i > 0
                && (Character.isLetterOrDigit(text.charAt(i - 1)) || text.charAt(i - 1) == '_')) {
            i--;
        }
        return i;
    }

    private static String after(String line, String key, int at) throws MalformedInputException {
        int found = line.indexOf(key);
        if (found < 0) {
            throw new MalformedInputException(FORMAT, key, at, line);
        }
        return part(line, found + key.length(), at);
    }

    private static String part(String line, int from, int at) throws MalformedInputException {
        int end = line.indexOf(';', from);
        if (end < 0) {
            throw new MalformedInputException(FORMAT, "field", at, line);
        }
        return line.substring(from, end).strip();
    }

    private static int number(String text, String what, int at, int limit)
            throws MalformedInputException {
        String digits = text.strip();
        try {
            int value = Integer.parseInt(digits);
            if (value >= 0 && value <= limit) {
                return value;
            }
        } catch (NumberFormatException e) {
            // Falls to the one exception for both: not a number, and a number out of range.
        }
        throw new MalformedInputException(FORMAT, what, at, digits);
    }
}
