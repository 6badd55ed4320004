package sonde.lang.bpftrace.run;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import sonde.binary.btf.BtfType;
import sonde.bpf.link.KernelTypes;
import sonde.lang.bpftrace.lower.SymbolAddresses;
import sonde.lang.bpftrace.lower.UserVariable;
import sonde.recording.ftrace.KallsymsText;
import sonde.sys.FileCalls;
import sonde.sys.SyscallNames;

/** Names of a script on this machine. */
final class HostAddresses implements SymbolAddresses {
    private static final int MOST_KALLSYMS = 64 << 20;

    private static final int SYSTEM_CALLS = 512;

    private final int maxText;
    private final Map<String, Long> kernel = new HashMap<>();

    HostAddresses(int maxText) {
        this.maxText = maxText;
    }

    @Override
    public long kernel(String symbol) {
        return kernel.computeIfAbsent(symbol, HostAddresses::find);
    }

    /** Address of a symbol of the kernel; 0 for none. */
    static long find(String symbol) {
        try {
            long[] found = new long[1];
            KallsymsText.named(
                    FileCalls.readAll("/proc/kallsyms", MOST_KALLSYMS),
                    symbol,
                    (address, _, _) -> found[0] = found[0] == 0 ? address : found[0]);
            return found[0];
        } catch (IOException e) {
            return 0;
        }
    }

    @Override
    public @Nullable UserVariable user(String path, String symbol) {
        return UserVariables.find(path, symbol);
    }

    @Override
    public long stated(String path, long fileOffset) {
        return UserVariables.address(path, fileOffset);
    }

    @Override
    public long cgroup(String path) {
        return ControlGroups.id(path);
    }

    @Override
    public int variable(String name) {
        try (KernelTypes types = KernelTypes.open()) {
            return types.btf().find(name, BtfType.Var.class::isInstance);
        } catch (IOException e) {
            return 0;
        }
    }

    @Override
    public List<String> systemCalls() {
        return IntStream.range(0, SYSTEM_CALLS)
                .mapToObj(SyscallNames::name)
                .map(name -> name.startsWith("syscall ") ? "" : name)
                .toList();
    }

    @Override
    public int maxText() {
        return maxText;
    }
}
