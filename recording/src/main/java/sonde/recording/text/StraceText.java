package sonde.recording.text;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.event.Clock;
import sonde.event.EventType;
import sonde.recording.TypeBuilder;
import sonde.sys.Arch;
import sonde.sys.Errno;
import sonde.sys.SyscallNames;

/** A text of strace as a whole. */
final class StraceText extends TextModel {
    /** Numbers of calls that no table has begin here. */
    static final int FIRST_OWN = 512;

    private static final int MOST_OWN = 2048;
    private static final int LAST_ERRNO = 133;

    /** The beginning of a call. */
    final EventType enter =
            schema.fixed(
                    line("raw_syscalls", "sys_enter")
                            .integer("id", 8, true)
                            .text("name")
                            .text("arguments"));

    /** The end of a call. */
    final EventType exit =
            schema.fixed(
                    line("raw_syscalls", "sys_exit")
                            .integer("id", 8, true)
                            .integer("ret", 8, true)
                            .integer("duration", 8, true)
                            .text("name")
                            .text("error"));

    final EventType signal =
            schema.fixed(line("signal", "signal_deliver").integer("sig", 4, true).text("info"));
    final EventType fork =
            schema.fixed(
                    line("sched", "sched_process_fork")
                            .integer("parent_pid", 4, true)
                            .integer("child_pid", 4, true));
    final EventType exec =
            schema.fixed(
                    line("sched", "sched_process_exec")
                            .integer("pid", 4, true)
                            .integer("old_pid", 4, true)
                            .text("filename"));
    final EventType death =
            schema.fixed(
                    line("sched", "sched_process_exit")
                            .integer("pid", 4, true)
                            .integer("exit_code", 4, true));

    private final Map<String, Integer> errnos = new HashMap<>();
    private final ByteTable calls = new ByteTable(MOST_OWN);
    private int[] numbers = new int[MOST_OWN];
    private final List<String> own = new ArrayList<>();
    private @Nullable Arch arch;

    /** Whether times are of the day, without a date; or since the epoch. */
    boolean epoch;

    boolean timed;
    boolean durations;

    /** Lines that are none of strace's. */
    long foreign;

    private int first = 1;

    StraceText() {
        for (int errno = 1; errno <= LAST_ERRNO; errno++) {
            errnos.putIfAbsent(Errno.name(errno), errno);
        }
    }

    private static TypeBuilder line(String system, String name) {
        return new TypeBuilder(system, name)
                .integer(LearntType.LINE, 8, false)
                .integer(LearntType.LINE_BYTES, 4, false);
    }

    /** The thread of lines without a number: 1 when no line has one. */
    int first() {
        return first;
    }

    /** Notes a thread that no call of the text made. */
    void learnFirst(int tid) {
        if (first == 1) {
            first = tid;
            comms.move(1, tid);
        }
    }

    /** The number of an errno by name; 0 when unknown. */
    int errno(byte[] b, int from, int to) {
        String name = new String(b, from, to - from, java.nio.charset.StandardCharsets.US_ASCII);
        return errnos.getOrDefault(name, 0);
    }

    /** The number of a call by name. */
    int number(byte[] b, int from, int to) {
        int known = calls.size();
        int index = learning ? calls.add(b, from, to) : calls.find(b, from, to);
        if (index < 0) {
            return FIRST_OWN + MOST_OWN;
        }
        if (index == known) {
            String name = calls.text(index);
            int number = SyscallNames.of(arch()).numberOf(name);
            if (number < 0) {
                number = FIRST_OWN + own.size();
                own.add(name);
            }
            numbers[index] = number;
        }
        return numbers[index];
    }

    /** Names are those of the machine that reads: strace tells none of its own. */
    private Arch arch() {
        Arch found = arch;
        if (found == null) {
            found = Arch.current();
            arch = found;
        }
        return found;
    }

    @Override
    String machine() {
        return arch().machine();
    }

    @Override
    List<String> moreCalls() {
        return own;
    }

    @Override
    TextItems items(LineWindow lines) {
        return new StraceItems(this, lines);
    }

    @Override
    Clock clock() {
        if (!timed) {
            note("The lines have no times: they are as far apart as the calls lasted.");
        }
        if (foreign > 0) {
            note(foreign + " lines are none of strace's: output of the program itself?");
        }
        if (!durations) {
            note("The lines have no durations (strace -T): calls seem to take no time.");
        }
        return epoch ? Clock.REALTIME : Clock.LOCAL;
    }
}
