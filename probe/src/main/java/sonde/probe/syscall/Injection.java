package sonde.probe.syscall;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.recording.syscall.CallTable;
import sonde.sys.Errno;
import sonde.sys.SignalNames;

/**
 * What is done to some calls: {@code -e inject=SET:...} of strace.
 *
 * @param calls by number
 * @param result in place of the call, which is not made; an error is negative
 * @param signal sent when the call begins; 0 for none
 * @param call made in its place, without arguments; -1 for none
 * @param delays in nanoseconds, before the begin and behind the end
 * @param pokes what is written to memory
 * @param times which calls of a thread
 */
public record Injection(
        BitSet calls,
        OptionalLong result,
        int signal,
        int call,
        Delays delays,
        List<Poke> pokes,
        Times times) {
    private static final int MOST_ERROR = 4095;
    private static final Pattern WHEN =
            Pattern.compile("(\\d{1,9})(?:\\.\\.(\\d{1,9}))?(?:(\\+)(\\d{1,9})?)?");
    private static final Pattern POKE = Pattern.compile("@arg([1-7])=((?:[0-9a-fA-F]{2}){1,512})");
    private static final Pattern DURATION = Pattern.compile("(\\d{1,12})(us|ms|s|ns)?");

    /** Delays in nanoseconds. */
    public record Delays(long enter, long exit) {}

    /**
     * Bytes that are written where an argument points to.
     *
     * @param argument 0 to 5
     */
    public record Poke(boolean atExit, int argument, byte[] bytes) {}

    /**
     * Calls of a thread by their count, which begins at 1.
     *
     * @param step from one to the next; 0 for the first alone
     */
    public record Times(long first, long last, long step) {
        boolean has(long count) {
            return count >= first
                    && count <= last
                    && (step == 0 ? count == first : (count - first) % step == 0);
        }
    }

    /** A text that says no injection; the message is for the user. */
    public static final class InjectionException extends RuntimeException {
        private static final long serialVersionUID = 1;

        InjectionException(String message) {
            super(message);
        }
    }

    /** Sets of calls as the user writes them. */
    @FunctionalInterface
    public interface CallSetReader {
        /** The numbers. */
        BitSet calls(String set);
    }

    /**
     * Reads {@code SET[:error=E|:retval=N][:signal=S][:syscall=C][:delay_enter=D][:delay_exit=D]
     * [:poke_enter=P][:poke_exit=P][:when=W]}.
     *
     * @param fault ENOSYS is returned where nothing else is asked for (-e fault)
     */
    public static Injection parse(String text, boolean fault, CallSetReader sets) {
        String[] parts = text.split(":", -1);
        OptionalLong result = OptionalLong.empty();
        int signal = 0;
        int call = -1;
        long enter = 0;
        long exit = 0;
        List<Poke> pokes = new ArrayList<>();
        Times times = new Times(1, Long.MAX_VALUE, 1);
        for (int i = 1; i < parts.length; i++) {
            int equals = parts[i].indexOf('=');
            String value = parts[i].substring(equals + 1);
            switch (equals < 0 ? "" : parts[i].substring(0, equals)) {
                case "error" -> result = OptionalLong.of(-error(value));
                case "retval" -> result = OptionalLong.of(returned(value));
                case "signal" -> signal = signal(value);
                case "syscall" -> call = call(value);
                case "delay_enter" -> enter = duration(value);
                case "delay_exit" -> exit = duration(value);
                case "poke_enter" -> pokes.addAll(pokes(value, false));
                case "poke_exit" -> pokes.addAll(pokes(value, true));
                case "when" -> times = times(value);
                default -> throw wrong(parts[i]);
            }
        }
        boolean nothing = result.isEmpty() && signal == 0 && call < 0 && enter + exit == 0;
        if (nothing && pokes.isEmpty()) {
            if (!fault) {
                throw wrong(text);
            }
            result = OptionalLong.of(-Errno.ENOSYS);
        }
        BitSet calls = sets.calls(parts[0]);
        return new Injection(
                calls, result, signal, call, new Delays(enter, exit), List.copyOf(pokes), times);
    }

    private static InjectionException wrong(String part) {
        return new InjectionException(
                "inject: '"
                        + part
                        + "' is none of error=, retval=, signal=, syscall=, delay_enter=,"
                        + " delay_exit=, poke_enter=, poke_exit=, when=");
    }

    private static int error(String value) {
        for (int errno = 1; errno <= MOST_ERROR; errno++) {
            if (value.equals(Integer.toString(errno)) || Errno.name(errno).equals(value)) {
                return errno;
            }
        }
        throw new InjectionException("inject: no error is called '" + value + "'");
    }

    private static long returned(String value) {
        try {
            return Long.decode(value);
        } catch (NumberFormatException e) {
            throw new InjectionException("inject: retval='" + value + "' is no number");
        }
    }

    private static int signal(String value) {
        return SignalNames.number(value.toUpperCase(Locale.ROOT))
                .orElseThrow(() ->
                        new InjectionException("inject: no signal is called '" + value + "'"));
    }

    private static int call(String name) {
        int number = CallTable.number(name);
        if (number < 0) {
            throw new InjectionException("inject: no system call is called '" + name + "'");
        }
        return number;
    }

    private static long duration(String value) {
        Matcher matcher = DURATION.matcher(value);
        if (!matcher.matches()) {
            throw new InjectionException(
                    "inject: '" + value + "' is no duration; write 100, 100us, 5ms or 2s");
        }
        long number = Long.parseLong(matcher.group(1));
        return switch (matcher.group(2)) {
            case "ns" -> number;
            case "ms" -> number * 1_000_000;
            case "s" -> number * 1_000_000_000;
            case null, default -> number * 1000;
        };
    }

    private static List<Poke> pokes(String value, boolean atExit) {
        List<Poke> pokes = new ArrayList<>();
        for (String one : value.split(",", -1)) {
            Matcher matcher = POKE.matcher(one);
            if (!matcher.matches()) {
                throw new InjectionException("inject: '" + one + "' is not @argN=HEX");
            }
            int argument = Integer.parseInt(matcher.group(1)) - 1;
            pokes.add(new Poke(atExit, argument, HexFormat.of().parseHex(matcher.group(2))));
        }
        return pokes;
    }

    private static Times times(String value) {
        Matcher matcher = WHEN.matcher(value);
        if (!matcher.matches() || value.startsWith("0")) {
            throw new InjectionException(
                    "inject: when='" + value + "' is not FIRST, FIRST+, FIRST+STEP or FIRST..LAST");
        }
        long first = Long.parseLong(matcher.group(1));
        boolean steps = matcher.group(3) != null;
        String last = matcher.group(2);
        long step = matcher.group(4) != null ? Long.parseLong(matcher.group(4)) : steps ? 1 : 0;
        return new Times(
                first,
                last == null ? Long.MAX_VALUE : Long.parseLong(last),
                step == 0 && last != null ? 1 : step);
    }
}
