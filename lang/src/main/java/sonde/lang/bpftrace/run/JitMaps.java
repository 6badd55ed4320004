package sonde.lang.bpftrace.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.probe.launch.PerfMapFile;
import sonde.probe.launch.ProcessIdentity;
import sonde.symbol.resolve.SymbolResolver;
import sonde.sys.Clocks;
import sonde.sys.TargetFile;

/** Reads the lists that compilers at run time leave of their code: {@code /tmp/perf-PID.map}. */
final class JitMaps {
    /** A list is looked at again so long after the last time when it lacks an address. */
    private static final long SOON_NANOS = 20_000_000;

    /** And so long after when it has it: the place may hold something newer. */
    private static final long LATER_NANOS = 1_000_000_000;

    private static final int MOST_OWNERS = 1 << 16;

    private final SymbolResolver resolver;
    private final Map<Integer, ProcessOwner> owners = new HashMap<>();
    private final Map<Integer, Read> reads = new HashMap<>();

    JitMaps(SymbolResolver resolver) {
        this.resolver = resolver;
    }

    /** Who a process was; elsewhere: with files of its own. */
    private record ProcessOwner(int uid, int innerPid, boolean elsewhere) {}

    private record Read(long atNanos, long sizeBytes, long modifiedNanos) {}

    /** A process has code without a file: who it is must be known once it has ended. */
    void sawCode(int pid) {
        if (owners.containsKey(pid) || owners.size() >= MOST_OWNERS) {
            return;
        }
        try {
            ProcessIdentity who = ProcessIdentity.of(pid);
            owners.put(pid, new ProcessOwner(who.uid(), who.innerPid(), isElsewhere(pid)));
        } catch (IOException e) {
            // It has ended already.
        }
    }

    /** Whether a process has another mount namespace than we; false when it has ended. */
    static boolean isElsewhere(int pid) {
        try {
            Path own = Files.readSymbolicLink(Path.of("/proc/self/ns/mnt"));
            return !Files.readSymbolicLink(Path.of("/proc/" + pid + "/ns/mnt")).equals(own);
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Reads the list of a process when it is due.
     *
     * @param lacking an address was not in what was read before
     * @return whether anything new was read
     */
    boolean refresh(int pid, boolean lacking) {
        long now = Clocks.nanos(Clocks.CLOCK_MONOTONIC);
        Read before = reads.get(pid);
        if (before != null && now - before.atNanos() < (lacking ? SOON_NANOS : LATER_NANOS)) {
            return false;
        }
        try (TargetFile file = open(pid)) {
            if (file == null) {
                reads.put(pid, new Read(now, 0, 0));
                return false;
            }
            long size = file.status().sizeBytes();
            long modified = file.status().modifiedNanos();
            reads.put(pid, new Read(now, size, modified));
            if (before != null
                    && before.sizeBytes() == size
                    && before.modifiedNanos() == modified) {
                return false;
            }
            resolver.perfMap(pid, file.read(PerfMapFile.LIMIT));
            return true;
        } catch (IOException e) {
            reads.put(pid, new Read(now, 0, 0));
            return false;
        }
    }

    private @Nullable TargetFile open(int pid) throws IOException {
        try {
            return PerfMapFile.open(pid);
        } catch (IOException e) {
            ProcessOwner owner = owners.get(pid);
            if (owner == null || owner.elsewhere() || Files.exists(Path.of("/proc/" + pid))) {
                throw e;
            }
            TargetFile left =
                    TargetFile.open("/tmp/perf-" + owner.innerPid() + ".map", PerfMapFile.LIMIT);
            int uid = left.status().uid();
            if (uid != owner.uid() && uid != 0) {
                left.close();
                throw e;
            }
            return left;
        }
    }
}
