package sonde.bpf.interpreter;

import static sonde.bpf.insn.HelperFunctionId.number;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import sonde.sys.Errno;

/** Helpers about the task, the clock, memory and the packet (enum bpf_func_id). */
final class TaskFunctions {
    /** BPF_MAX_LOOPS: passes of bpf_loop. */
    private static final long MOST_PASSES = 8L * 1024 * 1024;

    private TaskFunctions() {}

    static void addTo(Map<Integer, HelperFunction> functions) {
        functions.put(number("bpf_probe_read"), c -> read(c, false));
        functions.put(number("bpf_ktime_get_ns"), c -> c.environment().nanoTime());
        functions.put(number("bpf_get_prandom_u32"), c -> c.environment().random() & 0xffffffffL);
        functions.put(number("bpf_get_smp_processor_id"), c -> c.environment().cpu());
        functions.put(number("bpf_get_current_pid_tgid"), c -> c.environment().pidTgid());
        functions.put(number("bpf_get_current_uid_gid"), c -> c.environment().uidGid());
        functions.put(number("bpf_get_current_comm"), TaskFunctions::comm);
        functions.put(number("bpf_skb_load_bytes"), TaskFunctions::packetBytes);
        functions.put(number("bpf_get_current_task"), c -> c.environment().task());
        functions.put(number("bpf_probe_read_str"), c -> readText(c, false));
        functions.put(number("bpf_probe_read_user"), c -> read(c, true));
        functions.put(number("bpf_probe_read_kernel"), c -> read(c, false));
        functions.put(number("bpf_probe_read_user_str"), c -> readText(c, true));
        functions.put(number("bpf_probe_read_kernel_str"), c -> readText(c, false));
        functions.put(number("bpf_ktime_get_boot_ns"), c -> c.environment().nanoTime());
        functions.put(number("bpf_ktime_get_coarse_ns"), c -> c.environment().nanoTime());
        functions.put(number("bpf_loop"), TaskFunctions::loop);
    }

    private static long comm(HelperCall call) throws ProgramFaultException {
        byte[] name = call.environment().comm().getBytes(StandardCharsets.UTF_8);
        byte[] out = Arrays.copyOf(name, call.size(2));
        if (out.length > 0) {
            out[out.length - 1] = 0;
        }
        call.write(1, out);
        return 0;
    }

    /** On failure what was to be filled is zero. */
    private static long read(HelperCall call, boolean user) throws ProgramFaultException {
        byte[] into = new byte[call.size(2)];
        boolean read = call.read(call.argument(3), into, user);
        if (!read) {
            Arrays.fill(into, (byte) 0);
        }
        call.write(1, into);
        return read ? 0 : -Errno.EFAULT;
    }

    /** Bytes copied with the NUL, which is always there. */
    private static long readText(HelperCall call, boolean user) throws ProgramFaultException {
        byte[] into = new byte[call.size(2)];
        byte[] one = new byte[1];
        int length = 0;
        while (length < into.length) {
            if (!call.read(call.argument(3) + length, one, user)) {
                call.write(1, new byte[into.length]);
                return -Errno.EFAULT;
            }
            into[length++] = one[0];
            if (one[0] == 0) {
                break;
            }
        }
        if (length > 0) {
            into[length - 1] = 0;
        }
        call.write(1, Arrays.copyOf(into, length));
        return length;
    }

    private static long packetBytes(HelperCall call) throws ProgramFaultException {
        MemoryRegion packet = call.packet();
        int size = call.size(4);
        int offset = (int) call.argument(2);
        if (packet == null || offset < 0 || (long) offset + size > packet.length || size == 0) {
            call.write(3, new byte[size]);
            return -Errno.EFAULT;
        }
        int from = packet.start + offset;
        call.write(3, Arrays.copyOfRange(packet.data, from, from + size));
        return 0;
    }

    /** Passes made, the last one included. */
    private static long loop(HelperCall call) throws ProgramFaultException {
        long passes = call.argument(1) & 0xffffffffL;
        long function = call.argument(2);
        long context = call.argument(3);
        if (call.argument(4) != 0) {
            return -Errno.EINVAL;
        }
        if (passes > MOST_PASSES) {
            return -Errno.E2BIG;
        }
        long made = 0;
        while (made < passes) {
            if (call.callBack(function, made++, context, 0, 0) != 0) {
                break;
            }
        }
        return made;
    }
}
