package sonde.tools.explain;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.symbol.demangle.Demangler;

/**
 * A frame of a stack as a log has it.
 *
 * @param function as printed, without {@code .isra.0} and the like
 * @param offset in the function and its size, {@code 0x1f/0x40}; empty for an inlined call
 * @param module empty for the kernel itself
 * @param place {@code file:line} where the log was decoded before; else empty
 * @param isSure whether the unwinder found it; a frame with ? is what lay on the stack
 * @param isExact whether the address is the instruction itself, not the one behind a call
 * @param raw the text to be decoded with symbols
 */
record LogFrame(
        String function,
        String offset,
        String module,
        String place,
        boolean isSure,
        boolean isExact,
        String raw) {
    private static final String NAME = "[A-Za-z_.$][\\w.$]*+";

    /** What LogFilter adds. */
    private static final String PLACES =
            "(?: \\((?<places>[^<>]{1,200}:\\d+(?: < [^<>]{1,200}:\\d+)*(?: or another)?)\\))?";

    /** x86, arm64, riscv and others: {@code [<addr>] ? func+0x1f/0x40 [module] file:line}. */
    private static final Pattern FRAME =
            Pattern.compile(
                    "^(?:#\\d+:?)?\\s*+"
                            // the address, in one of its forms
                            + "(?:\\[[0-9a-f]{8,16}\\]\\s*"
                            + "|(?:\\[ *)?\\(?\\[?<(?:(?:0x)?[0-9a-f]{8,16}|\\(_*ptrval_*\\))>"
                            + "\\]?\\)?(?: *\\])?\\s*"
                            + "|[0-9a-f]{16}:? "
                            + "|\\[[0-9a-f]{16}\\] \\[[0-9a-f]{16}\\] )?"
                            + "(?<maybe>\\? )?\\s*(?:\\[<[0-9a-f]{8,16}>\\] )?(?<mayber>\\? )?"
                            + ("(?<name>" + NAME + ")")
                            + "(?:(?<offset>\\+0x[0-9a-f]{1,8}/0x[0-9a-f]{1,8})"
                            + "|(?= [\\w./+-]+:\\d+(?: \\[inline\\])?$))"
                            + PLACES
                            + "(?: \\[(?<module>[\\w-]{1,64})(?: [0-9a-f]{8,64})?\\])?"
                            + "(?<tail>.*)$");

    private static final Pattern PLACE = Pattern.compile("^\\s*\\(?(?<place>[\\w./+-]+:\\d+)");

    /**
     * arm: {@code [<a>] (func) from [<b>] (caller+0x1/0x2)} and {@code func from caller+0x1/0x2}.
     */
    private static final Pattern FROM =
            Pattern.compile(
                    "^\\s*(?:\\[<[0-9a-f]{8,16}>\\] \\()?"
                            + ("(?<name>" + NAME + ")")
                            + "(?:\\+0x[0-9a-f]+/0x[0-9a-f]+)?\\)?(?: \\[(?<own>[\\w-]+)\\])? from "
                            + "(?:\\[<[0-9a-f]{8,16}>\\] \\()?"
                            + ("(?<caller>" + NAME + ")")
                            + "(?<offset>\\+0x[0-9a-f]+/0x[0-9a-f]+)(?<tail>.*)$");

    private static final Pattern TOP =
            Pattern.compile(
                    "^(?:.*\\s)?(?:(?:RIP|EIP)(?:: |:)(?:(?<segment>[0-9a-f]{4}):)?"
                            + "|IP: |TPC: <|Krnl PSW : [0-9a-f]{16} [0-9a-f]{16} \\("
                            + "|(?:pc|epc|PC is at|PC)\\s*:? |NIP(?: \\[[0-9a-f]+\\])? )"
                            + "\\s*(?:\\[<[0-9a-f]{8,16}>\\]\\s*)*(?:\\[<[0-9a-f]{8,16}>\\] )?"
                            + ("(?<name>" + NAME + ")")
                            + "(?<offset>\\+0x[0-9a-f]+/0x[0-9a-f]+)"
                            + PLACES
                            + "(?: \\[(?<module>[\\w-]{1,64})[^\\]]*\\])?(?<tail>.*)$");

    private static final Pattern SUFFIX =
            Pattern.compile("\\.(?:isra|part|constprop|cold|llvm|lto_priv|__uniq)(?:[.\\w]*)$");

    /** How machines and versions call the function of a system call. */
    private static final Pattern ENTRY =
            Pattern.compile(
                    "^__(?:x64|ia32|arm64|riscv|s390x?|loongarch|powerpc|x32)_(?:compat_)?(?=sys_)"
                            + "|^(?:compat_)?(?:SyS_|SYSC_)|^__(?:se|do)_(?:compat_)?sys_");

    /** The function without what the compiler appended, or what is put before system calls. */
    static String plain(String name) {
        if (name.startsWith("_R")) {
            return Demangler.demangle(name);
        }
        String cut = name.indexOf('.', 1) < 0 ? name : SUFFIX.matcher(name).replaceFirst("");
        return cut.contains("sys_") || cut.contains("SyS_") || cut.contains("SYSC_")
                ? ENTRY.matcher(cut).replaceFirst("")
                : cut;
    }

    private static LogFrame of(
            Matcher found, String name, boolean sure, boolean exact, String text) {
        String offset = found.group("offset");
        String module = group(found, "module");
        String places = group(found, "places");
        Matcher place = PLACE.matcher(group(found, "tail"));
        boolean placed = place.lookingAt();
        return new LogFrame(
                plain(name),
                offset == null ? "" : offset.substring(1),
                module,
                places.isEmpty() ? placed ? place.group("place") : "" : places,
                sure,
                exact,
                text);
    }

    private static String group(Matcher found, String name) {
        String value = found.namedGroups().containsKey(name) ? found.group(name) : null;
        return value == null ? "" : value;
    }

    /** The frames of a line: none, one, or of arm two. */
    static List<LogFrame> of(String text) {
        if (text.length() > 400) {
            return List.of();
        }
        LogFrame usual = usual(text);
        if (usual != null) {
            return List.of(usual);
        }
        if (text.contains(" from ")) {
            Matcher from = FROM.matcher(text);
            if (from.lookingAt()) {
                return List.of(
                        new LogFrame(
                                plain(from.group("name")),
                                "",
                                group(from, "own"),
                                "",
                                true,
                                false,
                                ""),
                        of(from, from.group("caller"), true, false, text));
            }
        }
        if (!text.contains("+0x")
                && !text.contains(".c:")
                && !text.contains(".h:")
                && !text.contains(".S:")
                && !text.contains(".rs:")) {
            return List.of();
        }
        Matcher frame = FRAME.matcher(text);
        if (!frame.lookingAt()) {
            return List.of();
        }
        boolean isSure = frame.group("maybe") == null && frame.group("mayber") == null;
        boolean unreliable = frame.group("tail").startsWith(" (unreliable)");
        return List.of(of(frame, frame.group("name"), isSure && !unreliable, false, text));
    }

    /** As {@link #FRAME}, of {@code ? func+0x1f/0x40 [module]} alone. */
    private static @Nullable LogFrame usual(String text) {
        int length = text.length();
        int at = 0;
        while (at < length && text.charAt(at) == ' ') {
            at++;
        }
        boolean isMaybe = text.startsWith("? ", at);
        int from = isMaybe ? at + 2 : at;
        at = from;
        while (at < length && isName(text.charAt(at))) {
            at++;
        }
        boolean hasName = at > from && (text.charAt(from) < '0' || text.charAt(from) > '9');
        int slash = hasName ? hexEnd(text, at, '+') : -1;
        int end = slash < 0 ? -1 : hexEnd(text, slash, '/');
        int module = end + 2;
        boolean hasModule =
                end > 0
                        && text.startsWith(" [", end)
                        && text.indexOf(']') == length - 1
                        && length - module < 65
                        && text.indexOf(' ', module) < 0;
        return end == length || hasModule
                ? new LogFrame(
                        plain(text.substring(from, at)),
                        text.substring(at + 1, end),
                        hasModule ? text.substring(module, length - 1) : "",
                        "",
                        !isMaybe,
                        false,
                        text)
                : null;
    }

    private static boolean isName(char c) {
        return c >= 'a' && c <= 'z'
                || c >= '0' && c <= '9'
                || c >= 'A' && c <= 'Z'
                || c == '_'
                || c == '.'
                || c == '$';
    }

    /** Where {@code +0x1f} ends; -1 where there is none. */
    private static int hexEnd(String text, int from, char sign) {
        if (!text.startsWith("0x", from + 1) || text.charAt(from) != sign) {
            return -1;
        }
        int at = from + 3;
        while (at < text.length() && Character.digit(text.charAt(at), 16) >= 0) {
            at++;
        }
        return at > from + 3 && at < from + 12 ? at : -1;
    }

    /** The place of the instruction that a line of registers names, if it is the kernel's. */
    static @Nullable LogFrame top(String text) {
        boolean may =
                text.contains("IP")
                        || text.contains("pc")
                        || text.contains("PC")
                        || text.contains("PSW");
        if (!may || !text.contains("+0x") || text.length() > 400) {
            return null;
        }
        Matcher top = TOP.matcher(text);
        boolean found = top.lookingAt();
        return found && !"0033".equals(top.group("segment"))
                ? of(top, top.group("name"), true, true, text)
                : null;
    }

    /** All frames but those that the unwinder doubts. */
    static List<LogFrame> sure(List<LogFrame> frames) {
        List<LogFrame> sure = new ArrayList<>();
        for (LogFrame frame : frames) {
            if (frame.isSure()) {
                sure.add(frame);
            }
        }
        return sure;
    }

    /** The same frame under another name. */
    LogFrame named(String name) {
        return new LogFrame(name, offset, module, place, isSure, isExact, raw);
    }

    /** The first frame of a function that the unwinder found; null for none. */
    static @Nullable LogFrame find(List<LogFrame> frames, String function) {
        for (LogFrame frame : frames) {
            if (frame.isSure() && frame.function().equals(function)) {
                return frame;
            }
        }
        return null;
    }

    /** The source file; empty where it is not known. */
    String file() {
        String own = place.substring(place.lastIndexOf(" < ") + 1);
        int colon = own.lastIndexOf(':');
        return colon < 0 ? "" : own.substring(own.lastIndexOf(' ', colon) + 1, colon);
    }

    /** The line in that file; 0 where it is not known. */
    int line() {
        String digits = place.substring(place.lastIndexOf(':') + 1).replaceFirst(" .*", "");
        return file().isEmpty() || !digits.matches("\\d{1,7}") ? 0 : Integer.parseInt(digits);
    }

    /** The function, its module and place. */
    String shown() {
        return function
                + (module.isEmpty() ? "" : " [" + module + "]")
                + (place.isEmpty() ? "" : " at " + place);
    }
}
