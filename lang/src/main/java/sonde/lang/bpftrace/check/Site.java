package sonde.lang.bpftrace.check;

import org.jspecify.annotations.Nullable;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.type.Composite;
import sonde.lang.type.Type;

/**
 * Where a probe's block runs, as far as types depend on it.
 *
 * @param name what the builtin {@code probe} says
 * @param target of a tracepoint its subsystem, of a user probe its file, of an iterator where it is
 *     pinned; empty for none
 * @param arguments what the builtin {@code args} is, its members at their offsets from the context;
 *     null for none
 * @param why nothing is known of its arguments; empty when they are
 * @param result what {@code retval} is; null for none
 */
public record Site(
        Kind kind,
        String name,
        String target,
        @Nullable Composite arguments,
        String why,
        @Nullable Type result) {
    /** Whether a type is that of its arguments. */
    public boolean isArguments(Type type) {
        return arguments != null && arguments.equals(type);
    }

    /** Whether the probed code is a process's. */
    public boolean isUser() {
        return kind == Kind.UPROBE || kind == Kind.URETPROBE || kind == Kind.USDT;
    }

    /** Whether what is printed goes to who reads the file that an iterator is pinned as. */
    public boolean isPinned() {
        return kind == Kind.ITER && !target.isEmpty();
    }

    /** What the builtin {@code probetype} says. */
    public String family() {
        return switch (kind) {
            case BEGIN, END, SELF -> "special";
            case TEST -> "test";
            case BENCH -> "benchmark";
            default -> kind.longName();
        };
    }

    /** How addresses are read that do not say whose they are. */
    public Type.Space space() {
        return isUser() ? Type.Space.USER : Type.Space.KERNEL;
    }

    /** Whether its context is struct pt_regs. */
    public boolean hasRegisters() {
        return isUser() || kind == Kind.KPROBE || kind == Kind.KRETPROBE;
    }

    /** Whether its context is struct bpf_perf_event_data. */
    public boolean isPerfEvent() {
        return switch (kind) {
            case INTERVAL, PROFILE, SOFTWARE, HARDWARE, WATCHPOINT -> true;
            default -> false;
        };
    }
}
