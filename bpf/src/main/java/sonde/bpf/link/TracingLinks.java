package sonde.bpf.link;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import sonde.bpf.AttachType;
import sonde.bpf.Link;
import sonde.bpf.Program;
import sonde.bpf.call.BpfAttr;
import sonde.sys.Errno;
import sonde.sys.SyscallException;

/**
 * Attaches programs that name their target when they are loaded ({@link
 * sonde.bpf.ProgramSpec#targeting}): fentry, fexit, fmod_ret, LSM hooks, typed tracepoints.
 *
 * <p>Ladder: BPF_LINK_CREATE with a cookie (Linux 5.19) → BPF_RAW_TRACEPOINT_OPEN without a name
 * (5.5), which knows no cookie.
 */
public final class TracingLinks {
    private TracingLinks() {}

    /** Attaches. */
    public static Link attach(Program program) throws IOException {
        return attach(program, 0);
    }

    /**
     * Attaches with a number that the program finds by bpf_get_attach_cookie.
     *
     * @throws sonde.bpf.BpfRefusedException when the kernel cannot attach to functions (no dynamic
     *     ftrace with direct calls, or a policy against it)
     * @throws SyscallException EINVAL for a cookie before Linux 5.19, EBUSY when the function is
     *     taken
     */
    public static Link attach(Program program, long cookie) throws IOException {
        AttachType place = program.expected();
        if (place == null) {
            throw new IllegalArgumentException(program.name() + " was not loaded for a target");
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = BpfAttr.allocate(arena);
            attr.set(JAVA_INT, 8, place.code());
            attr.set(JAVA_LONG, 24, cookie);
            return Link.create(program, attr, place.kernelName() + " of " + program.name());
        } catch (SyscallException e) {
            if (e.errno() != Errno.EINVAL || cookie != 0) {
                throw e;
            }
            return Link.rawTracepoint(program, "");
        }
    }
}
