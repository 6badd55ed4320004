package sonde.lang.bpftrace.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.sys.Clocks;
import sonde.sys.MachineFacts;
import sonde.sys.SyscallException;

/**
 * Facts of this machine that programs depend on.
 *
 * @param cpus that there can be
 * @param bootNanos the boot clock, now
 * @param taiOffsetNanos from the boot clock to the international atomic time
 * @param pidSpaceDevice of our name space of processes
 * @param pidSpaceInode its inode; 0 when it is the first one
 * @param major of the kernel's version
 */
public record TargetMachine(
        int cpus,
        long bootNanos,
        long taiOffsetNanos,
        long pidSpaceDevice,
        long pidSpaceInode,
        int major,
        int minor) {
    /** Inode of the first name space of processes: PROC_PID_INIT_INO. */
    private static final long FIRST_PID_SPACE = 0xeffffffcL;

    private static final int CLOCK_TAI = 11;

    private static final Pattern RELEASE = Pattern.compile("([0-9]+)\\.([0-9]+)");

    /** This one, now. */
    public static TargetMachine here() throws SyscallException {
        long boot = Clocks.nanos(Clocks.CLOCK_BOOTTIME);
        long tai = Clocks.nanos(CLOCK_TAI);
        long inode = 0;
        long device = 0;
        try {
            Path space = Path.of("/proc/self/ns/pid");
            inode = ((Number) Files.getAttribute(space, "unix:ino")).longValue();
            device = ((Number) Files.getAttribute(space, "unix:dev")).longValue();
        } catch (IOException | UnsupportedOperationException e) {
            inode = FIRST_PID_SPACE;
        }
        Matcher release = RELEASE.matcher(MachineFacts.uname().release());
        boolean known = release.find();
        return new TargetMachine(
                MachineFacts.possibleCpus().length(),
                boot,
                tai - boot,
                device,
                inode == FIRST_PID_SPACE ? 0 : inode,
                known ? Integer.parseInt(release.group(1)) : 6,
                known ? Integer.parseInt(release.group(2)) : 0);
    }

    /** The power of two above the highest CPU, less one. */
    int cpuMask() {
        return Integer.highestOneBit(Math.max(1, cpus * 2 - 1)) - 1;
    }

    /** With the oldest kernel that programs are made for. */
    TargetMachine oldest() {
        return new TargetMachine(
                cpus, bootNanos, taiOffsetNanos, pidSpaceDevice, pidSpaceInode, 5, 15);
    }

    /** Whether the kernel is at least that old. */
    public boolean hasVersion(int wantedMajor, int wantedMinor) {
        return major > wantedMajor || major == wantedMajor && minor >= wantedMinor;
    }
}
