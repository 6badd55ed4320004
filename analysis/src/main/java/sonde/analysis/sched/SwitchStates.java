package sonde.analysis.sched;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.event.EventType;

/**
 * What {@code prev_state} of {@code sched_switch} means in one file. The bits changed with the
 * kernels, and the print format of the file says which letter each has:
 *
 * <ul>
 *   <li>before 4.14: 16 zombie, 32 dead, 64 dead ({@code x}), 128 wakekill, 256 waking, 512 parked,
 *       1024 no load; a preempted thread has the bit TASK_STATE_MAX above all of these;
 *   <li>4.14.0 to 4.14.4: the index of the state instead of a bit (mended by kernel commit
 *       3f5fe9fef5b2); its print format tests preemption with 4096 and prints {@code t} for idle;
 *   <li>since then: 16 dead, 32 zombie, 64 parked, 128 idle, 256 preempted.
 * </ul>
 *
 * <p>A file without a print format (Perfetto, texts) is taken to be of 4.14.5 or later. LTTng
 * writes the scheduler's own bits (include/linux/sched.h): dead is 128 since 4.14 and 64 before,
 * where it is parked since; threads that park are rarer than those that end.
 */
final class SwitchStates {
    private static final Pattern FLAG =
            Pattern.compile("\\{ *(0x[0-9a-fA-F]{1,8}|[0-9]{1,9})[UuLl]* *, *\"([A-Za-z])\" *}");

    /** Bits from the lowest on; the state of a bit that is not named does not count. */
    private static final String SINCE_4_14 = "SDTtXZPI";

    private static final String TASK_BITS = "SDTtXZxXKWN";

    private final char[] letters;
    private final boolean indexed;

    private SwitchStates(char[] letters, boolean indexed) {
        this.letters = letters;
        this.indexed = indexed;
    }

    static SwitchStates of(EventType type) {
        String format = type.printFormat();
        if (!type.system().equals("sched")) {
            return new SwitchStates(TASK_BITS.toCharArray(), false);
        }
        char[] letters = new char[32];
        boolean some = false;
        Matcher matcher = FLAG.matcher(format);
        while (matcher.find()) {
            int bit = Long.numberOfTrailingZeros(Long.decode(matcher.group(1)));
            if (bit < letters.length) {
                letters[bit] = matcher.group(2).charAt(0);
                some = true;
            }
        }
        if (!some) {
            return new SwitchStates(SINCE_4_14.toCharArray(), false);
        }
        boolean indexed = letters[7] == 'I' && format.contains("prev_state & 4096");
        return new SwitchStates(letters, indexed);
    }

    /** The state that a thread was switched out in; {@link Reported#RUNNABLE} when preempted. */
    Reported of(int reported) {
        if (indexed) {
            int index = reported & 0xf;
            return index == 0 || index > letters.length
                    ? Reported.RUNNABLE
                    : of(letters[index - 1], Reported.RUNNABLE);
        }
        Reported state = Reported.RUNNABLE;
        for (int bit = 0; bit < letters.length; bit++) {
            if ((reported >>> bit & 1) != 0) {
                state = of(letters[bit], state);
            }
        }
        return state;
    }

    /** A letter beside those of lower bits: 128 is wakekill beside others, dead alone. */
    private static Reported of(char letter, Reported before) {
        return switch (letter) {
            case 'X', 'Z', 'x' ->
                    before == Reported.RUNNABLE || before == Reported.STOPPED
                            ? Reported.DEAD
                            : before;
            case 'S', 'P', 'I' -> before == Reported.RUNNABLE ? Reported.SLEEPING : before;
            case 'D' -> Reported.BLOCKED;
            case 'N' -> before == Reported.BLOCKED ? Reported.SLEEPING : before;
            case 'T', 't' -> before == Reported.RUNNABLE ? Reported.STOPPED : before;
            default -> before;
        };
    }

    /** What the scheduler says of the thread that leaves the CPU. */
    enum Reported {
        RUNNABLE,
        SLEEPING,
        STOPPED,
        BLOCKED,
        DEAD
    }
}
