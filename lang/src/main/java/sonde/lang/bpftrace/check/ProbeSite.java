package sonde.lang.bpftrace.check;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.type.CompositeType;
import sonde.lang.type.TypeField;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.PointerSpace;

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
 * @param elsewhere arguments that are not in {@code arguments}
 */
public record ProbeSite(
        Kind kind,
        String name,
        String target,
        @Nullable CompositeType arguments,
        String why,
        @Nullable ValueType result,
        MemoryArguments elsewhere) {
    /**
     * Parameters of a function that are not in one register.
     *
     * @param fields those in several registers and in memory, members of {@code args} by name
     * @param unread by name, why a parameter cannot be read: "is in …"
     */
    public record MemoryArguments(List<TypeField> fields, Map<String, String> unread) {
        public static final MemoryArguments NONE = new MemoryArguments(List.of(), Map.of());

        public MemoryArguments {
            fields = List.copyOf(fields);
            unread = Map.copyOf(unread);
        }
    }

    /** A member of what a type is, its arguments' with those that lie elsewhere; null for none. */
    public @Nullable TypeField field(CompositeType of, String name) {
        if (isArguments(of)) {
            for (TypeField field : elsewhere.fields()) {
                if (field.name().equals(name)) {
                    return field;
                }
            }
        }
        return of.field(name);
    }

    /** Whether a type is that of its arguments. */
    public boolean isArguments(ValueType type) {
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
    public PointerSpace space() {
        return isUser() ? PointerSpace.USER : PointerSpace.KERNEL;
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
