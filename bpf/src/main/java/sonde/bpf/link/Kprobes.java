package sonde.bpf.link;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import sonde.bpf.AttachType;
import sonde.bpf.BpfRefusedException;
import sonde.bpf.Link;
import sonde.bpf.Program;
import sonde.bpf.call.BpfAttr;
import sonde.sys.Errno;

/**
 * Attaches {@link sonde.bpf.ProgramType#KPROBE} programs to functions of the kernel.
 *
 * <p>Ladder of a single one: the perf PMU {@code kprobe} (Linux 4.17), whose probes die with their
 * descriptor → a named probe in tracefs's {@code kprobe_events}, removed on close. Many at once:
 * {@link #multi} (5.18, needs CONFIG_FPROBE), hundreds of times faster; there is no ladder below
 * it, as the program must be loaded for it.
 */
public final class Kprobes {
    private static final int RETURN = 1;

    private Kprobes() {}

    /**
     * Where to probe.
     *
     * @param symbol of kallsyms
     * @param offset bytes into the function; 0 for returns
     * @param atReturn when it returns, with its result
     */
    public record KprobePoint(String symbol, long offset, boolean atReturn) {
        /** A function's begin. */
        public static KprobePoint entry(String symbol) {
            return new KprobePoint(symbol, 0, false);
        }

        /** A function's return. */
        public static KprobePoint exit(String symbol) {
            return new KprobePoint(symbol, 0, true);
        }

        @Override
        public String toString() {
            String at = offset == 0 ? symbol : symbol + "+0x" + Long.toHexString(offset);
            return (atReturn ? "kretprobe " : "kprobe ") + at;
        }
    }

    /**
     * Attaches by whichever way there is.
     *
     * @throws BpfRefusedException when this kernel has no kprobes
     * @throws sonde.sys.SyscallException ENOENT for an unknown symbol, EINVAL for one that may not
     *     be probed
     */
    public static Link attach(Program program, KprobePoint place, long cookie) throws IOException {
        return DynamicPmu.KPROBE.isPresent()
                ? byPmu(program, place, cookie)
                : byTracefs(program, place, cookie);
    }

    /** By the perf PMU. */
    public static Link byPmu(Program program, KprobePoint place, long cookie) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr =
                    DynamicPmu.KPROBE.attributes(
                            arena, place.symbol(), place.offset(), place.atReturn(), 0);
            return DynamicPmu.attach(program, place.toString(), attr, -1, cookie);
        }
    }

    /** By a named probe in tracefs. */
    public static Link byTracefs(Program program, KprobePoint place, long cookie)
            throws IOException {
        String offset = place.offset() == 0 ? "" : "+" + place.offset();
        NamedProbe probe =
                NamedProbe.make("kprobe_events", place.atReturn(), place.symbol() + offset);
        return probe.attach(program, place.toString(), -1, cookie);
    }

    /**
     * Attaches to many functions in one call.
     *
     * @param program loaded expecting {@link AttachType#TRACE_KPROBE_MULTI}, or {@link
     *     AttachType#TRACE_KPROBE_SESSION} (6.10) for both begin and return
     * @param symbols each of kallsyms
     * @param cookies one for each symbol, or empty
     * @throws BpfRefusedException where the kernel has none (before 5.18, or without FPROBE)
     */
    public static Link multi(
            Program program, List<String> symbols, List<Long> cookies, boolean atReturn)
            throws IOException {
        if (!cookies.isEmpty() && cookies.size() != symbols.size()) {
            throw new IllegalArgumentException(
                    cookies.size() + " cookies for " + symbols.size() + " symbols");
        }
        String target = symbols.size() == 1 ? symbols.getFirst() : symbols.size() + " functions";
        AttachType place =
                program.expected() == AttachType.TRACE_KPROBE_SESSION
                        ? AttachType.TRACE_KPROBE_SESSION
                        : AttachType.TRACE_KPROBE_MULTI;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment names = arena.allocate(JAVA_LONG, symbols.size());
            for (int i = 0; i < symbols.size(); i++) {
                names.setAtIndex(JAVA_LONG, i, arena.allocateFrom(symbols.get(i)).address());
            }
            MemorySegment attr = BpfAttr.allocate(arena);
            attr.set(JAVA_INT, 8, place.code());
            attr.set(JAVA_INT, 16, atReturn ? RETURN : 0);
            attr.set(JAVA_INT, 20, symbols.size());
            attr.set(JAVA_LONG, 24, names.address());
            attr.set(JAVA_LONG, 40, LongArrays.copy(arena, cookies));
            return Link.create(program, attr, "kprobe.multi " + target);
        } catch (sonde.sys.SyscallException e) {
            if (e.errno() == Errno.EOPNOTSUPP) {
                throw new BpfRefusedException(
                        "kprobe.multi " + target,
                        e.errno(),
                        "this kernel has no kprobe.multi",
                        "boot one with CONFIG_FPROBE=y, or use single kprobes");
            }
            throw e;
        }
    }
}
