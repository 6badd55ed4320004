package sonde.probe.stack;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Frame;
import sonde.probe.stack.PythonLayout.LayoutField;

/**
 * A function of a Python program, from its code object.
 *
 * @param name {@code co_qualname}, before 3.11 {@code co_name}
 * @param library whether it belongs to what comes with Python
 * @param lines format of the table ({@link LayoutField#LINE_FORMAT}); the line of each place by it
 * @param whole whether the table is read to its end
 */
record PythonFunction(
        String name,
        String file,
        String module,
        int firstLine,
        int lines,
        ByteBuffer table,
        boolean whole)
        implements RuntimeObject {
    private static final int MOST_TABLE = 1 << 20;
    private static final int MOST_LETTERS = 4096;

    // Of str and bytes objects (Include/cpython/unicodeobject.h, bytesobject.h).
    private static final int LENGTH = 16;
    private static final int STATE = 32;
    private static final int BYTES_HEAD = 32;

    /** Reads memory of a process. */
    interface TargetMemory {
        /** The bytes at an address, fewer where they end; empty when there are none. */
        MemorySegment read(long address, int bytes);
    }

    /**
     * A report of the kernel's program.
     *
     * @param process for what the report lacks
     * @return null when it is no code object, or its process is gone
     */
    static @Nullable PythonFunction of(
            MemorySegment report, PythonLayout layout, TargetMemory process) {
        MemorySegment code = part(report, 0, PythonReport.CODE);
        if (code.byteSize() < PythonReport.CODE_BYTES) {
            long address = report.get(JAVA_LONG_UNALIGNED, PythonReport.ADDRESS);
            code = process.read(address, PythonReport.CODE_BYTES);
            if (code.byteSize() < PythonReport.CODE_BYTES) {
                return null;
            }
        }
        StringPart names = new StringPart(layout.get(LayoutField.ASCII_BYTES), process);
        String name =
                names.string(
                        part(report, 1, PythonReport.NAME),
                        pointer(code, layout, LayoutField.NAME));
        String file =
                names.string(
                        part(report, 2, PythonReport.FILE),
                        pointer(code, layout, LayoutField.FILE));
        if (name == null || file == null) {
            return null;
        }
        MemorySegment lines = part(report, 3, PythonReport.LINES);
        long place = pointer(code, layout, LayoutField.LINES);
        if (lines.byteSize() < BYTES_HEAD) {
            lines = process.read(place, BYTES_HEAD);
        }
        int length =
                lines.byteSize() < BYTES_HEAD
                        ? 0
                        : Math.clamp(lines.get(JAVA_LONG_UNALIGNED, LENGTH), 0, MOST_TABLE);
        if (length > lines.byteSize() - BYTES_HEAD) {
            MemorySegment all = process.read(place, BYTES_HEAD + length);
            lines = all.byteSize() > lines.byteSize() ? all : lines;
        }
        int have = Math.clamp(lines.byteSize() - BYTES_HEAD, 0, length);
        byte[] table = have == 0 ? new byte[0] : lines.asSlice(BYTES_HEAD, have).toArray(JAVA_BYTE);
        return new PythonFunction(
                name,
                file,
                module(file, layout.version()),
                code.get(JAVA_INT_UNALIGNED, layout.get(LayoutField.FIRST_LINE)),
                layout.get(LayoutField.LINE_FORMAT),
                ByteBuffer.wrap(table),
                have == length);
    }

    /** What was read of a part. */
    private static MemorySegment part(MemorySegment report, int number, int place) {
        int read = report.get(JAVA_INT_UNALIGNED, PythonReport.READ + 4L * number);
        return report.asSlice(place, Math.clamp(read, 0, report.byteSize() - place));
    }

    private static long pointer(MemorySegment code, PythonLayout layout, LayoutField of) {
        int at = layout.get(of);
        return at + 8 <= code.byteSize() ? code.get(JAVA_LONG_UNALIGNED, at) : 0;
    }

    /** The source file's last name; what comes with Python belongs to the interpreter. */
    private static String module(String file, String version) {
        boolean library =
                file.startsWith("<frozen ")
                        || file.matches(".*/lib(64)?/python3[.\\d]*/(?!(site|dist)-packages/).*");
        return library ? "python" + version : file.substring(file.lastIndexOf('/') + 1);
    }

    /** Reads str objects. */
    private record StringPart(int asciiBytes, TargetMemory process) {
        /**
         * The letters of a str; null when it is none.
         *
         * @param reported its first bytes, or none
         */
        @Nullable String string(MemorySegment reported, long address) {
            MemorySegment all = reported;
            if (all.byteSize() < asciiBytes + 24) {
                MemorySegment more = process.read(address, asciiBytes + 24);
                all = more.byteSize() > all.byteSize() ? more : all;
                if (all.byteSize() < asciiBytes) {
                    return null;
                }
            }
            long length = all.get(JAVA_LONG_UNALIGNED, LENGTH);
            int state = all.get(JAVA_INT_UNALIGNED, STATE);
            // interned takes 2 bits, in some builds of 3.14 it takes 16.
            if ((state >>> 5 & 1) == 0 || Integer.bitCount(state >>> 2 & 7) != 1) {
                state = state >>> 14;
            }
            int width = state >>> 2 & 7;
            boolean compact = (state >>> 5 & 1) == 1 && Integer.bitCount(width) == 1;
            if (length < 0 || !compact) {
                return null;
            }
            boolean ascii = (state >>> 6 & 1) == 1;
            // struct PyCompactUnicodeObject: utf8_length, utf8, before 3.12 wstr_length
            int head = ascii ? asciiBytes : asciiBytes + (asciiBytes == 48 ? 24 : 16);
            int bytes = (int) Math.min(length, MOST_LETTERS) * width;
            if (head + bytes > all.byteSize()) {
                MemorySegment more = process.read(address, head + bytes);
                all = more.byteSize() > all.byteSize() ? more : all;
            }
            int have = Math.clamp(all.byteSize() - head, 0, bytes) / width * width;
            byte[] letters = have == 0 ? new byte[0] : all.asSlice(head, have).toArray(JAVA_BYTE);
            return switch (width) {
                case 1 -> new String(letters, StandardCharsets.ISO_8859_1);
                case 2 -> new String(letters, StandardCharsets.UTF_16LE);
                default -> new String(letters, java.nio.charset.Charset.forName("UTF-32LE"));
            };
        }
    }

    @Override
    public List<Frame> frames(int position) {
        int line = position == RuntimeWord.NO_POSITION ? 0 : line(position);
        return List.of(new Frame(name, module, Frame.Kind.JIT).at(file, Math.max(0, line)));
    }

    /** The line of a code unit; 0 when it is not known. */
    int line(int unit) {
        LineCursor cursor = new LineCursor(table.duplicate());
        int found =
                switch (lines) {
                    case 9 -> cursor.pairs(2 * unit, firstLine, true);
                    case 10 -> cursor.pairs(2 * unit, firstLine, false);
                    default -> cursor.locations(unit, firstLine);
                };
        return found < 0 && whole && lines == 9 ? firstLine : found;
    }

    /** Goes through a table of lines. */
    private record LineCursor(ByteBuffer table) {
        private int u8() {
            return table.hasRemaining() ? table.get() & 0xff : 0;
        }

        /**
         * Pairs of distances of bytes and lines: co_lnotab, where a line begins behind its pair
         * (Objects/lnotab_notes.txt), and that of PEP 626, where the pair itself has the line.
         */
        int pairs(int offset, int firstLine, boolean begins) {
            int at = 0;
            int line = firstLine;
            while (table.remaining() >= 2) {
                at += u8();
                byte more = table.get();
                if (begins && at > offset) {
                    return line;
                }
                boolean none = !begins && more == Byte.MIN_VALUE;
                line += none ? 0 : more;
                if (!begins && at > offset) {
                    return none ? 0 : line;
                }
            }
            return begins ? line : 0;
        }

        /** Objects/locations.md: an entry has 1 to 8 code units. */
        int locations(int unit, int firstLine) {
            int at = 0;
            int line = firstLine;
            while (table.hasRemaining()) {
                int first = u8();
                int kind = first >>> 3 & 15;
                boolean has = true;
                switch (kind) {
                    case 15 -> has = false;
                    case 14 -> {
                        line += signed();
                        number();
                        number();
                        number();
                    }
                    case 13 -> line += signed();
                    case 10, 11, 12 -> {
                        line += kind - 10;
                        u8();
                        u8();
                    }
                    default -> u8();
                }
                at += (first & 7) + 1;
                if (at > unit) {
                    return has ? line : 0;
                }
            }
            return 0;
        }

        private int number() {
            int value = 0;
            int shift = 0;
            int part;
            do {
                part = u8();
                value |= (part & 63) << shift;
                shift += 6;
            } while ((part & 64) != 0 && shift < 30);
            return value;
        }

        private int signed() {
            int value = number();
            return (value & 1) != 0 ? -(value >>> 1) : value >>> 1;
        }
    }
}
