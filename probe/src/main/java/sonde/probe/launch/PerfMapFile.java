package sonde.probe.launch;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import sonde.sys.Errno;
import sonde.sys.SyscallException;
import sonde.sys.TargetFile;

/** The symbols a JIT leaves for its process: {@code /tmp/perf-PID.map}. */
public final class PerfMapFile {
    /** Greatest that is read: 64 MiB hold about a million compiled methods. */
    public static final int LIMIT = 64 << 20;

    private PerfMapFile() {}

    /**
     * Opens it in the process's root, with its pid in its own namespace. Anybody may write to /tmp,
     * so it counts only when it belongs to the process's effective user or to root.
     *
     * @return null when there is none
     */
    public static @Nullable TargetFile open(int pid) throws IOException {
        ProcessIdentity identity = ProcessIdentity.of(pid);
        String path = "/tmp/perf-" + identity.innerPid() + ".map";
        TargetFile map;
        try {
            map = TargetFile.openIn("/proc/" + pid + "/root", path, LIMIT);
        } catch (SyscallException e) {
            if (e.errno() == Errno.ENOENT) {
                return null;
            }
            throw e;
        }
        int owner = map.status().uid();
        if (owner != identity.uid() && owner != 0) {
            map.close();
            throw new IOException(
                    path
                            + " belongs to user "
                            + owner
                            + ", neither to the process's user "
                            + identity.uid()
                            + " nor to root");
        }
        return map;
    }
}
