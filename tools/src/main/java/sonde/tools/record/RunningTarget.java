package sonde.tools.record;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.sys.Errno;
import sonde.sys.FileCalls;
import sonde.sys.ProcessCalls;
import sonde.sys.SyscallException;

/** A process named with {@code -p}. */
public final class RunningTarget {
    // proc_pid_status(5)
    private static final Pattern STATE = Pattern.compile("(?m)^State:\\s+([A-Z])");
    private static final Pattern LEADER = Pattern.compile("(?m)^Tgid:\\s+(\\d{1,9})$");
    private static final Pattern PARENT = Pattern.compile("(?m)^PPid:\\s+(\\d{1,9})$");

    private RunningTarget() {}

    /**
     * Makes sure that there is something to record or trace.
     *
     * @throws IOException when it is not a process, has ended, or is this one; the message says it
     */
    public static void check(int pid) throws IOException {
        String status;
        try {
            byte[] text = FileCalls.readAll("/proc/" + pid + "/status", 1 << 16);
            status = new String(text, StandardCharsets.UTF_8);
        } catch (SyscallException e) {
            throw new IOException(
                    "no process has the number "
                            + pid
                            + "; it has ended, or 'ps -e' shows another one",
                    e);
        }
        int leader = field(LEADER, status, pid);
        if (leader != pid) {
            throw new IOException(
                    pid + " is a thread of process " + leader + "; record that: -p " + leader);
        }
        Matcher state = STATE.matcher(status);
        if (state.find() && "ZX".contains(state.group(1))) {
            throw new IOException(
                    "process "
                            + pid
                            + " has ended; its parent "
                            + field(PARENT, status, 1)
                            + " has not waited for it yet");
        }
        if (pid == ProcessCalls.getpid()) {
            throw new IOException("process " + pid + " is this sonde, which leaves itself out");
        }
    }

    private static int field(Pattern pattern, String status, int otherwise) {
        Matcher found = pattern.matcher(status);
        return found.find() ? Integer.parseInt(found.group(1)) : otherwise;
    }

    /** Whether it runs still, zombies not counted. */
    static boolean lives(int pid) {
        try {
            ProcessCalls.kill(pid, 0);
        } catch (SyscallException e) {
            return e.errno() == Errno.EPERM;
        }
        try {
            byte[] text = FileCalls.readAll("/proc/" + pid + "/status", 1 << 16);
            Matcher state = STATE.matcher(new String(text, StandardCharsets.UTF_8));
            return !state.find() || !"ZX".contains(state.group(1));
        } catch (SyscallException e) {
            return false;
        }
    }
}
