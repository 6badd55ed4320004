package sonde.lang.output;

import java.time.ZoneId;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import sonde.lang.type.ValueType;

/**
 * Names of stacks of the kernel without the frames by which the probe itself was called: a program
 * of a tracepoint finds itself, {@code bpf_trace_run2} and {@code __traceiter_sched_switch} above
 * the function that it is about.
 */
public final class WithoutTracer implements ValueNames {
    // kernel/trace/bpf_trace.c, include/linux/tracepoint.h, arch/x86/net/bpf_jit_comp.c
    private static final Pattern OWN =
            Pattern.compile(
                    "bpf_prog_[0-9a-f]{6,16}.*|bpf_trace_run[0-9]{1,2}|__bpf_trace_.*"
                            + "|__traceiter_.*|__probestub_.*|bpf_trampoline_[0-9]+.*"
                            + "|trace_call_bpf(_faultable)?|perf_trace_.*|perf_call_bpf_.*");

    private final ValueNames names;

    /** Leaves them out of what others name. */
    public WithoutTracer(ValueNames names) {
        this.names = names;
    }

    @Override
    public long[] kernelPart(long[] addresses) {
        int first = 0;
        while (first < addresses.length
                && OWN.matcher(names.kernelSymbol(addresses[first])).matches()) {
            first++;
        }
        return first == addresses.length
                ? addresses
                : Arrays.copyOfRange(addresses, first, addresses.length);
    }

    @Override
    public List<String> kernelStack(long[] addresses, ValueType.StackMode mode) {
        return names.kernelStack(kernelPart(addresses), mode);
    }

    @Override
    public String kernelSymbol(long address) {
        return names.kernelSymbol(address);
    }

    @Override
    public String userSymbol(long address, int pid) {
        return names.userSymbol(address, pid);
    }

    @Override
    public List<String> userStack(long[] addresses, int pid, ValueType.StackMode mode) {
        return names.userStack(addresses, pid, mode);
    }

    @Override
    public long[] unwind(byte[] bytes, int at, int frames) {
        return names.unwind(bytes, at, frames);
    }

    @Override
    public String cgroupPath(long pattern, long id) {
        return names.cgroupPath(pattern, id);
    }

    @Override
    public String userName(long uid) {
        return names.userName(uid);
    }

    @Override
    public String timestamp(int format, int clock, long nanos) {
        return names.timestamp(format, clock, nanos);
    }

    @Override
    public String moment(int clock, long nanos) {
        return names.moment(clock, nanos);
    }

    @Override
    public String truncated() {
        return names.truncated();
    }

    @Override
    public ZoneId zone() {
        return names.zone();
    }
}
