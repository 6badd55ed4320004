package sonde.probe.dynamic;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.probe.dynamic.PointSpec.PointPlace.AddressPoint;
import sonde.probe.dynamic.PointSpec.PointPlace.FilePoint;
import sonde.probe.dynamic.PointSpec.PointPlace.FunctionPoint;
import sonde.probe.dynamic.PointSpec.PointPlace.LinePoint;
import sonde.probe.dynamic.PointSpec.PointPlace.MarkerPoint;
import sonde.probe.dynamic.PointSpec.PointPlace.TracepointPoint;

/**
 * What a user asked for: {@code [[GROUP:]NAME=][MODULE:]PLACE [ARGUMENT…]}, or in the form of
 * tracefs {@code p:[GROUP/]NAME PLACE [ARGUMENT…]}, with {@code r} for a return.
 *
 * @param module of the kernel; empty for what is probed anyway
 * @param group empty for the usual one
 * @param name empty for one made of the function
 * @param arguments {@code [name=]expression[:type]} each
 */
public record PointSpec(
        String text,
        String module,
        String group,
        String name,
        PointPlace place,
        List<String> arguments) {
    private static final Pattern NAMED =
            Pattern.compile("(?:([A-Za-z_]\\w*):)?(?!operator=)([A-Za-z_]\\w*)=(.+)");
    private static final Pattern TRACEFS =
            Pattern.compile("\\s*([a-z])(\\d*):(?:([A-Za-z_]\\w*)/)?([A-Za-z_]\\w*)\\s+(?=\\S)");
    private static final Pattern FILE_OFFSET =
            Pattern.compile("(/[^\\s:]*):0x([0-9a-fA-F]{1,16})(%return)?");
    private static final Pattern MODULE =
            Pattern.compile("(?!tracepoint:|sdt_)([A-Za-z_][\\w-]*):([A-Za-z_].*)");
    private static final Pattern LINE = Pattern.compile("@?([^:@]+):(\\d{1,9})");
    private static final Pattern MARKER =
            Pattern.compile("(?:%|sdt_)([A-Za-z_][\\w.-]*):([A-Za-z_][\\w.-]*)");
    private static final Pattern TRACEPOINT =
            Pattern.compile("tracepoint:(?:[A-Za-z_]\\w*:)?([A-Za-z_]\\w*)");
    private static final Pattern FUNCTION =
            Pattern.compile(
                    "(.+?)(?:@([^:+%@\\s]+))?"
                            + "(?:(?<!:):(\\d{1,9})|\\+(0x[0-9a-fA-F]{1,8}|\\d{1,9})|(%return))?");

    /** Where. */
    public sealed interface PointPlace {
        /**
         * A function, or a place in it.
         *
         * @param file part of the path of its source; empty for any
         * @param line from the function's own, -1 for none
         * @param offset in bytes, -1 for none
         */
        record FunctionPoint(String name, String file, int line, long offset, boolean isReturn)
                implements PointPlace {}

        /** A line of a source file, whose path ends with {@code file}. */
        record LinePoint(String file, int line) implements PointPlace {}

        /** An address as stated in the file. */
        record AddressPoint(long address) implements PointPlace {}

        /** A byte of a file, as tracefs names places of programs. */
        record FilePoint(String path, long offset, boolean isReturn) implements PointPlace {}

        /** A marker that the program's author placed (USDT). */
        record MarkerPoint(String provider, String name) implements PointPlace {}

        /** A tracepoint of the kernel, with its arguments. */
        record TracepointPoint(String name) implements PointPlace {}
    }

    /**
     * Reads one definition.
     *
     * @throws ProbeException with a caret where it is not understood
     */
    public static PointSpec parse(String text) throws ProbeException {
        Matcher written = TRACEFS.matcher(text);
        if (!written.lookingAt()) {
            return parsed(text);
        }
        PointSpec spec = parsed(text.substring(written.end()));
        if (!spec.name().isEmpty()
                || !written.group(1).matches("[pr]")
                || !written.group(2).isEmpty()) {
            throw ProbeException.at(
                    text, 0, "p:[GROUP/]NAME PLACE or r:[GROUP/]NAME FUNCTION was expected here");
        }
        return new PointSpec(
                text,
                spec.module(),
                written.group(3) == null ? "" : written.group(3),
                written.group(4),
                written.group(1).equals("r") ? returning(text, spec.place()) : spec.place(),
                spec.arguments());
    }

    private static PointPlace returning(String text, PointPlace place) throws ProbeException {
        if (place instanceof FunctionPoint(String name, String file, int line, long offset, _)
                && line < 0
                && offset <= 0) {
            return new FunctionPoint(name, file, -1, -1, true);
        } else if (place instanceof FilePoint(String path, long offset, _)) {
            return new FilePoint(path, offset, true);
        }
        throw ProbeException.at(text, 0, "'r' probes the return of a function: name one");
    }

    private static PointSpec parsed(String text) throws ProbeException {
        int end = ProbePointParser.end(text);
        String first = text.substring(0, end).strip();
        if (first.isEmpty()) {
            throw new ProbeException("a probe needs a place: FUNCTION, FUNCTION:LINE, FILE:LINE");
        }
        String group = "";
        String name = "";
        Matcher named = NAMED.matcher(first);
        if (named.matches()) {
            group = named.group(1) == null ? "" : named.group(1);
            name = named.group(2);
            first = named.group(3);
        }
        String module = module(first);
        return new PointSpec(
                text,
                module,
                group,
                name,
                place(withoutModule(first)),
                List.copyOf(words(text, end)));
    }

    /** The module in {@code MODULE:PLACE}; empty where there is none. */
    public static String module(String place) {
        Matcher matcher = MODULE.matcher(place);
        return matcher.matches() ? matcher.group(1) : "";
    }

    /** What stands behind the module. */
    public static String withoutModule(String place) {
        Matcher matcher = MODULE.matcher(place);
        return matcher.matches() ? matcher.group(2) : place;
    }

    private static long number(String text) {
        return text.startsWith("0x") ? Long.parseLong(text.substring(2), 16) : Long.parseLong(text);
    }

    /** The place alone: {@code FUNCTION:LINE}. */
    public static PointPlace place(String text) throws ProbeException {
        Matcher byOffset = FILE_OFFSET.matcher(text);
        if (byOffset.matches()) {
            long offset = Long.parseUnsignedLong(byOffset.group(2), 16);
            return new FilePoint(byOffset.group(1), offset, byOffset.group(3) != null);
        }
        Matcher marker = MARKER.matcher(text);
        if (marker.matches()) {
            return new MarkerPoint(marker.group(1), marker.group(2));
        }
        Matcher tracepoint = TRACEPOINT.matcher(text);
        if (tracepoint.matches()) {
            return new TracepointPoint(tracepoint.group(1));
        }
        Matcher line = LINE.matcher(text);
        if (line.matches() && isFile(text, line.group(1))) {
            return new LinePoint(line.group(1), Integer.parseInt(line.group(2)));
        }
        if (text.matches("0x[0-9a-fA-F]{1,16}")) {
            return new AddressPoint(Long.parseUnsignedLong(text.substring(2), 16));
        }
        Matcher function = FUNCTION.matcher(text);
        if (!function.matches() || !ProbePointParser.isFunction(function.group(1))) {
            throw ProbeException.at(
                    text, 0, "FUNCTION[@FILE][:LINE|+OFFSET|%return] or FILE:LINE was expected");
        }
        String file = function.group(2) == null ? "" : function.group(2);
        int relative = function.group(3) == null ? -1 : Integer.parseInt(function.group(3));
        long offset = function.group(4) == null ? -1 : number(function.group(4));
        return new FunctionPoint(
                function.group(1), file, relative, offset, function.group(5) != null);
    }

    private static boolean isFile(String text, String name) {
        return text.startsWith("@")
                || name.indexOf('/') >= 0
                || name.matches(".+\\.[A-Za-z][A-Za-z+]{0,3}");
    }

    /** Behind the place, at blanks that are in no brackets. */
    private static List<String> words(String text, int from) throws ProbeException {
        List<String> words = new ArrayList<>();
        StringBuilder word = new StringBuilder();
        int open = 0;
        for (int i = from; i < text.length(); i++) {
            char c = text.charAt(i);
            open += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
            if (open < 0) {
                throw ProbeException.at(text, i, "this bracket was not opened");
            }
            if (open == 0 && Character.isWhitespace(c)) {
                if (!word.isEmpty()) {
                    words.add(word.toString());
                    word.setLength(0);
                }
            } else {
                word.append(c);
            }
        }
        if (open > 0) {
            throw ProbeException.at(text, text.length(), "a bracket was not closed");
        }
        if (!word.isEmpty()) {
            words.add(word.toString());
        }
        return words;
    }
}
