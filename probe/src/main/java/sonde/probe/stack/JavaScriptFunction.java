package sonde.probe.stack;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Frame;
import sonde.probe.stack.PythonFunction.TargetMemory;
import sonde.probe.stack.ScriptLayout.ScriptNumber;

/**
 * A function of JavaScript, from its SharedFunctionInfo.
 *
 * @param name empty for one without
 * @param file of the script; empty for a function of V8 itself
 */
record JavaScriptFunction(String name, String file, int firstLine) implements RuntimeObject {
    @Override
    public List<Frame> frames(int position) {
        boolean own = !file.isEmpty() && !file.startsWith("node:");
        String module = own ? file.substring(file.lastIndexOf('/') + 1) : "node";
        String shown = name.isEmpty() ? "(anonymous)" : name;
        // Which line ran is not known.
        return List.of(new Frame(shown, module, Frame.Kind.JIT).at(file, 0));
    }

    /** Reads objects of a process; not for several threads. */
    static final class ScriptReader {
        private static final int MOST_LETTERS = 1024;
        private static final int MOST_DEPTH = 8;
        private static final int MOST_INLINE_NAMES = 75; // kScopeInfoMaxInlinedLocalNamesSize
        private static final int MOST_MORE = 5;

        /** Word of a ScopeInfo where the begin of the source is, if that is before the names. */
        private static final int PLACE_FIRST = 4;

        private static final int MOST_SOURCE = 8 << 20;
        private static final int MOST_LOCALS = 1 << 12;

        // src/objects/instance-type.h: bits of the type of a string.
        private static final int REPRESENTATION = 7;
        private static final int CONS = 1;
        private static final int THIN = 5;
        private static final int ONE_BYTE = 8;

        private final ScriptLayout layout;
        private final TargetMemory memory;
        private final Map<Long, int[]> sources;

        /**
         * @param sources ends of lines by script of this process; scripts that are read are added
         */
        ScriptReader(ScriptLayout layout, TargetMemory memory, Map<Long, int[]> sources) {
            this.sources = sources;
            this.layout = layout;
            this.memory = memory;
        }

        /** Null when it is none, or its memory is gone. */
        @Nullable JavaScriptFunction read(long shared) {
            if (type(shared + 1) != layout.get(ScriptNumber.TYPE_SHAREDFUNCTIONINFO__)) {
                return null;
            }
            long named =
                    field(shared + 1, ScriptNumber.CLASS_SHAREDFUNCTIONINFO__NAME_OR_SCOPE_INFO__);
            long script = field(shared + 1, ScriptNumber.CLASS_SHAREDFUNCTIONINFO__SCRIPT);
            boolean scripted = type(script) == layout.get(ScriptNumber.TYPE_SCRIPT__);
            String file =
                    scripted ? string(field(script, ScriptNumber.CLASS_SCRIPT__NAME__), 0) : "";
            String path = file.startsWith("file://") ? file.substring(7) : file;
            if (isString(named)) {
                return new JavaScriptFunction(string(named, 0), path, 0);
            }
            if (type(named) != layout.get(ScriptNumber.TYPE_SCOPEINFO__)) {
                return new JavaScriptFunction("", path, 0);
            }
            return scoped(named, path, scripted ? script : 0);
        }

        /**
         * A ScopeInfo (src/objects/scope-info.tq): flags, parameters, locals as numbers, then names
         * and facts of the locals, perhaps more, then the function's name and its slot, perhaps a
         * name that was inferred, and the begin and end of its source. Since V8 13 the begin and
         * end come before the names of the locals.
         */
        private JavaScriptFunction scoped(long scope, String path, long script) {
            long locals = word(scope - 1 + 3 * 8) >> 32;
            if (locals < 0 || locals > MOST_LOCALS) {
                return new JavaScriptFunction("", path, 0);
            }
            int first = 1 + layout.get(ScriptNumber.SCOPEINFO_IDX_FIRST_VARS);
            long at = scope - 1 + 8 * (first + locals + (locals > MOST_INLINE_NAMES ? 1 : locals));
            String name = "";
            for (int i = 0; i < MOST_MORE; i++, at += 8) {
                if (isString(word(at))) {
                    name = string(word(at), 0);
                    if (isObject(word(at + 16))) {
                        at += 16; // undefined where none was inferred
                        name = name.isEmpty() ? string(word(at), 0) : name;
                    }
                    // With a slot there are three numbers.
                    long start =
                            first > PLACE_FIRST
                                    ? word(scope - 1 + 8 * PLACE_FIRST)
                                    : isNumber(word(at + 24)) ? word(at + 16) : word(at + 8);
                    int line = isNumber(start) && script != 0 ? line(script, start >> 32) : 0;
                    return new JavaScriptFunction(name, path, line);
                }
            }
            return new JavaScriptFunction(name, path, 0);
        }

        private static boolean isNumber(long word) {
            return (int) word == 0;
        }

        /** The line of a position in a script, from 1; 0 when its source cannot be read. */
        private int line(long script, long position) {
            int[] ends = sources.computeIfAbsent(script, this::lineEnds);
            int at = Arrays.binarySearch(ends, (int) position);
            return ends.length == 0 ? 0 : (at < 0 ? -at - 1 : at) + 1;
        }

        /** Positions of the ends of lines; none for a source that is not in the heap. */
        private int[] lineEnds(long script) {
            long source = field(script, ScriptNumber.CLASS_SCRIPT__SOURCE__);
            if (isString(source) && (type(source) & REPRESENTATION) == THIN) {
                source = field(source, ScriptNumber.CLASS_THINSTRING__ACTUAL__);
            }
            if (!isString(source) || (type(source) & REPRESENTATION) != 0) {
                return new int[0];
            }
            boolean narrow = (type(source) & ONE_BYTE) != 0;
            MemorySegment size =
                    memory.read(source - 1 + layout.get(ScriptNumber.CLASS_STRING__LENGTH__), 4);
            int length = size.byteSize() < 4 ? 0 : size.get(JAVA_INT_UNALIGNED, 0);
            length = Math.clamp(length, 0, MOST_SOURCE);
            ScriptNumber chars =
                    narrow
                            ? ScriptNumber.CLASS_SEQONEBYTESTRING__CHARS__
                            : ScriptNumber.CLASS_SEQTWOBYTESTRING__CHARS__;
            int width = narrow ? 1 : 2;
            MemorySegment text = memory.read(source - 1 + layout.get(chars), width * length);
            int have = (int) (text.byteSize() / width);
            return IntStream.range(0, have + 1)
                    .filter(i -> i == have || letter(text, i, narrow) == '\n')
                    .toArray();
        }

        private static int letter(MemorySegment text, int index, boolean narrow) {
            return narrow ? text.get(JAVA_BYTE, index) : text.get(JAVA_SHORT_UNALIGNED, 2L * index);
        }

        private long word(long address) {
            MemorySegment read = memory.read(address, 8);
            return read.byteSize() < 8 ? 0 : read.get(JAVA_LONG_UNALIGNED, 0);
        }

        /** A field of a tagged object. */
        private long field(long object, ScriptNumber field) {
            return isObject(object) ? word(object - 1 + layout.get(field)) : 0;
        }

        private static boolean isObject(long word) {
            return (word & 3) == 1;
        }

        /** The type of a tagged object; -1 for none. */
        private int type(long object) {
            long map = field(object, ScriptNumber.CLASS_HEAPOBJECT__MAP__);
            if (!isObject(map)) {
                return -1;
            }
            MemorySegment read =
                    memory.read(map - 1 + layout.get(ScriptNumber.CLASS_MAP__INSTANCE_TYPE__), 2);
            return read.byteSize() < 2 ? -1 : read.get(JAVA_SHORT_UNALIGNED, 0) & 0xffff;
        }

        private boolean isString(long object) {
            int type = type(object);
            return type >= 0 && type < layout.get(ScriptNumber.FIRSTNONSTRINGTYPE);
        }

        /** The letters of a string, as far as they are wanted. */
        private String string(long object, int depth) {
            if (depth > MOST_DEPTH || !isString(object)) {
                return "";
            }
            int type = type(object);
            switch (type & REPRESENTATION) {
                case CONS -> {
                    long second = field(object, ScriptNumber.CLASS_CONSSTRING__SECOND__);
                    String all =
                            string(field(object, ScriptNumber.CLASS_CONSSTRING__FIRST__), depth + 1)
                                    + string(second, depth + 1);
                    return all.substring(0, Math.min(all.length(), MOST_LETTERS));
                }
                case THIN -> {
                    return string(
                            field(object, ScriptNumber.CLASS_THINSTRING__ACTUAL__), depth + 1);
                }
                case 0 -> {
                    MemorySegment size =
                            memory.read(
                                    object - 1 + layout.get(ScriptNumber.CLASS_STRING__LENGTH__),
                                    4);
                    int length =
                            size.byteSize() < 4
                                    ? 0
                                    : Math.clamp(size.get(JAVA_INT_UNALIGNED, 0), 0, MOST_LETTERS);
                    boolean narrow = (type & ONE_BYTE) != 0;
                    ScriptNumber chars =
                            narrow
                                    ? ScriptNumber.CLASS_SEQONEBYTESTRING__CHARS__
                                    : ScriptNumber.CLASS_SEQTWOBYTESTRING__CHARS__;
                    byte[] letters =
                            memory.read(
                                            object - 1 + layout.get(chars),
                                            narrow ? length : 2 * length)
                                    .toArray(JAVA_BYTE);
                    return new String(
                            letters,
                            narrow ? StandardCharsets.ISO_8859_1 : StandardCharsets.UTF_16LE);
                }
                default -> {
                    return ""; // outside of the heap, or a part of another
                }
            }
        }
    }
}
