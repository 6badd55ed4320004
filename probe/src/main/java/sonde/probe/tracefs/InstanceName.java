package sonde.probe.tracefs;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.sys.FileCalls;
import sonde.sys.ProcessCalls;
import sonde.sys.SyscallException;

/**
 * Name of an instance of ours: {@code sonde-BOOT8-PIDNS-PID-STARTTIME-SUFFIX}. It tells whose it
 * is, so that a leftover is known from one in use, and ours from another pid namespace's.
 *
 * @param boot first 8 characters of the boot id
 * @param pidNamespace inode of the maker's pid namespace
 * @param pid of the maker, in that namespace
 * @param startTicks field 22 of /proc/PID/stat: a later process of that pid has another
 * @param suffix which of the maker's instances
 */
public record InstanceName(
        String boot, long pidNamespace, int pid, long startTicks, String suffix) {
    private static final Pattern FORM =
            Pattern.compile("sonde-([0-9a-f]{8})-(\\d{1,18})-(\\d{1,9})-(\\d{1,18})-([a-z0-9]+)");
    private static final int SMALL = 4096;

    /** The name of an instance of this process. */
    public static InstanceName ofThisProcess(String suffix) throws SyscallException {
        int pid = ProcessCalls.getpid();
        return new InstanceName(
                bootId().substring(0, 8), namespace(), pid, startTicks(pid), suffix);
    }

    /** Inode of the initial pid namespace: PROC_PID_INIT_INO of include/linux/proc_ns.h. */
    public static final long INITIAL_NAMESPACE = 0xEFFFFFFCL;

    /** What a directory name says, if it is of our form. */
    public static Optional<InstanceName> parse(String name) {
        Matcher matcher = FORM.matcher(name);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        return Optional.of(
                new InstanceName(
                        matcher.group(1),
                        Long.parseLong(matcher.group(2)),
                        Integer.parseInt(matcher.group(3)),
                        Long.parseLong(matcher.group(4)),
                        matcher.group(5)));
    }

    /** Whether its maker cannot be alive: same boot, same namespace, and no such process. */
    public boolean isLeftover() {
        try {
            return bootId().startsWith(boot)
                    && namespace() == pidNamespace
                    && startTicks(pid) != startTicks;
        } catch (SyscallException e) {
            return false;
        }
    }

    /** The boot id, a UUID. */
    public static String bootId() throws SyscallException {
        return text("/proc/sys/kernel/random/boot_id").strip();
    }

    /** Inode of this process's pid namespace. */
    public static long namespace() throws SyscallException {
        return ProcessCalls.pidNamespace();
    }

    /** Start time of a process in clock ticks since boot; -1 when none of that pid lives. */
    public static long startTicks(int pid) {
        return ProcessCalls.startTicks(pid);
    }

    private static String text(String path) throws SyscallException {
        return new String(FileCalls.readAll(path, SMALL), StandardCharsets.UTF_8);
    }

    @Override
    public String toString() {
        return "sonde-" + boot + "-" + pidNamespace + "-" + pid + "-" + startTicks + "-" + suffix;
    }
}
