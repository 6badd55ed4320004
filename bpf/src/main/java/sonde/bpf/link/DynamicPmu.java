package sonde.bpf.link;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import sonde.bpf.BpfRefusedException;
import sonde.bpf.Link;
import sonde.bpf.Program;
import sonde.sys.Errno;
import sonde.sys.FileCalls;
import sonde.sys.MachineFacts;
import sonde.sys.SyscallException;

/**
 * The perf PMUs that make probes (Linux 4.17): a probe lives as long as its descriptor. Their
 * struct perf_event_attr: type 0 as {@code /sys/bus/event_source/devices/NAME/type} says, size 4,
 * config 8 (bit 0 return, bits 32 to 63 the semaphore's offset), config1 56 the name's address,
 * config2 64 the offset.
 */
enum DynamicPmu {
    KPROBE("kprobe"),
    UPROBE("uprobe");

    private static final int ATTR_SIZE = 136;

    private final String folder;

    DynamicPmu(String name) {
        folder = "/sys/bus/event_source/devices/" + name;
    }

    boolean isPresent() {
        try {
            FileCalls.readAll(folder + "/type", 32);
            return true;
        } catch (SyscallException e) {
            return false;
        }
    }

    MemorySegment attributes(
            Arena arena, String name, long offset, boolean atReturn, long semaphore)
            throws IOException {
        MemorySegment attr = arena.allocate(ATTR_SIZE, 8);
        attr.set(JAVA_INT, 0, type());
        attr.set(JAVA_INT, 4, ATTR_SIZE);
        attr.set(JAVA_LONG, 8, (atReturn ? 1 : 0) | semaphore << 32);
        attr.set(JAVA_LONG, 56, arena.allocateFrom(name).address());
        attr.set(JAVA_LONG, 64, offset);
        return attr;
    }

    private int type() throws IOException {
        try {
            byte[] text = FileCalls.readAll(folder + "/type", 32);
            return Integer.parseInt(new String(text, StandardCharsets.US_ASCII).strip());
        } catch (SyscallException e) {
            throw new BpfRefusedException(
                    folder.substring(folder.lastIndexOf('/') + 1) + " by perf",
                    Errno.ENOENT,
                    "this kernel has no such PMU",
                    "boot one with CONFIG_KPROBE_EVENTS or CONFIG_UPROBE_EVENTS");
        }
    }

    /** For all processes the event hangs on one CPU and fires on all. */
    static Link attach(Program program, String target, MemorySegment attr, int pid, long cookie)
            throws IOException {
        int cpu = pid == -1 ? MachineFacts.onlineCpus().nextSetBit(0) : -1;
        return Link.perfEvent(program, target, attr, pid, cpu, cookie, () -> {});
    }
}
