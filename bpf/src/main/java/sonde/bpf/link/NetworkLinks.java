package sonde.bpf.link;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import sonde.bpf.AttachType;
import sonde.bpf.Link;
import sonde.bpf.Program;
import sonde.bpf.call.BpfAttr;
import sonde.sys.Fd;
import sonde.sys.FileCalls;

/**
 * Attaches programs to network devices, network namespaces and cgroups, by links alone: what older
 * kernels do without one (netlink, BPF_PROG_ATTACH) outlives a killed process and is not done.
 */
public final class NetworkLinks {
    private NetworkLinks() {}

    /** How xdp runs. */
    public enum XdpMode {
        /** In the driver where it can, else after the kernel has made its packet. */
        ANY(0),
        /** After the kernel has made its packet (XDP_FLAGS_SKB_MODE): every device. */
        GENERIC(2),
        DRIVER(4);

        private final int flag;

        XdpMode(int flag) {
            this.flag = flag;
        }
    }

    /**
     * Packets of a device, before the stack (Linux 5.9).
     *
     * @throws sonde.sys.SyscallException EBUSY when another is attached, ENODEV
     */
    public static Link xdp(Program program, int device, XdpMode mode) throws IOException {
        return link(program, AttachType.XDP, device, mode.flag, "xdp of device " + device);
    }

    /** A device's traffic, in or out, after those that are there (Linux 6.6). */
    public static Link tcx(Program program, int device, boolean ingress) throws IOException {
        AttachType place = ingress ? AttachType.TCX_INGRESS : AttachType.TCX_EGRESS;
        return link(program, place, device, 0, place.kernelName() + " of device " + device);
    }

    /**
     * Everything in a cgroup and below (Linux 5.7).
     *
     * @param folder of cgroup2
     */
    public static Link cgroup(Program program, AttachType place, String folder) throws IOException {
        return inFolder(program, place, folder, FileCalls.O_RDONLY | FileCalls.O_DIRECTORY);
    }

    /**
     * Flow dissector or socket lookup of a network namespace (Linux 5.8).
     *
     * @param file {@code /proc/PID/ns/net}
     */
    public static Link netns(Program program, AttachType place, String file) throws IOException {
        return inFolder(program, place, file, FileCalls.O_RDONLY);
    }

    private static Link inFolder(Program program, AttachType place, String path, int flags)
            throws IOException {
        int fd = FileCalls.open(path, flags | FileCalls.O_CLOEXEC);
        try {
            return link(program, place, fd, 0, place.kernelName() + " of " + path);
        } finally {
            Fd.discard(fd);
        }
    }

    private static Link link(Program program, AttachType place, int where, int flags, String target)
            throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = BpfAttr.allocate(arena);
            attr.set(JAVA_INT, 4, where);
            attr.set(JAVA_INT, 8, place.code());
            attr.set(JAVA_INT, 12, flags);
            return Link.create(program, attr, target);
        }
    }
}
