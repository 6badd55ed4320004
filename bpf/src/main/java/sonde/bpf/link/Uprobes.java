package sonde.bpf.link;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import sonde.binary.elf.ElfFile;
import sonde.binary.machine.UprobeEmulation;
import sonde.bpf.AttachType;
import sonde.bpf.BpfRefusedException;
import sonde.bpf.Link;
import sonde.bpf.Program;
import sonde.bpf.call.BpfAttr;
import sonde.sys.Errno;
import sonde.sys.SyscallException;

/**
 * Attaches {@link sonde.bpf.ProgramType#KPROBE} programs to places in executables and libraries,
 * also to those of USDT.
 *
 * <p>Ladder of a single one: the perf PMU {@code uprobe} (Linux 4.17; semaphores 4.20) → a named
 * probe in tracefs's {@code uprobe_events}, removed on close. Many places of a file: {@link #multi}
 * (6.6) for programs loaded for it; {@link #usdt} takes either kind of program.
 */
public final class Uprobes {
    private static final int RETURN = 1;
    private static final int ENOTSUPP = 524;
    private static final int EI_CLASS = 4;
    private static final int CLASS_64 = 2;
    private static final int E_MACHINE = 18;

    /** For every process. */
    public static final int ALL_PROCESSES = -1;

    private Uprobes() {}

    /**
     * A place in a file.
     *
     * @param offset in the file, not the address
     * @param semaphore offset in the file of a u16 that the kernel counts up while the probe is
     *     there (USDT); 0 for none
     * @param cookie what bpf_get_attach_cookie returns (5.15); 0 for none
     */
    public record UprobePoint(long offset, long semaphore, long cookie) {
        /** Without semaphore and cookie. */
        public UprobePoint(long offset) {
            this(offset, 0, 0);
        }
    }

    /**
     * Attaches by whichever way there is.
     *
     * @param pid a process, or {@link #ALL_PROCESSES}
     * @throws sonde.sys.SyscallException ENOENT for a missing file, EINVAL for an offset that is no
     *     instruction
     */
    public static Link attach(
            Program program, String path, UprobePoint place, boolean atReturn, int pid)
            throws IOException {
        refuseMisread(path, List.of(place));
        return DynamicPmu.UPROBE.isPresent()
                ? byPmu(program, path, place, atReturn, pid)
                : byTracefs(program, path, place, atReturn, pid);
    }

    /** The kernel takes the instruction for another one. */
    private static final class MisreadPlaceException extends SyscallException {
        private static final long serialVersionUID = 1L;

        MisreadPlaceException(String place) {
            super(
                    "uprobe",
                    place,
                    ENOTSUPP,
                    "the kernel takes this vector instruction for a jump, so the program would"
                            + " compute with wrong values; probe a later instruction");
        }
    }

    /**
     * As the kernel refuses other instructions, so that callers leave out the place.
     *
     * @throws SyscallException for the first place with an instruction that the kernel misreads
     *     ({@link UprobeEmulation#misreads}), with the reason
     */
    public static void refuseMisread(String path, List<UprobePoint> places) throws IOException {
        Path file = Path.of(path);
        if (!Files.isRegularFile(file) || !Files.isReadable(file)) {
            return; // the kernel says what is wrong with it
        }
        try (FileChannel channel = FileChannel.open(file)) {
            ByteBuffer code = ByteBuffer.allocate(20).order(ByteOrder.LITTLE_ENDIAN);
            if (channel.read(code, 0) < code.capacity()
                    || code.get(EI_CLASS) != CLASS_64
                    || code.getShort(E_MACHINE) != ElfFile.EM_X86_64) {
                return;
            }
            for (UprobePoint place : places) {
                if (place.offset() >= 0
                        && channel.read(code.clear(), place.offset()) > 0
                        && UprobeEmulation.misreads(Arrays.copyOf(code.array(), code.position()))) {
                    throw new MisreadPlaceException(
                            path + ":0x" + Long.toHexString(place.offset()));
                }
            }
        }
    }

    /** By the perf PMU. */
    public static Link byPmu(
            Program program, String path, UprobePoint place, boolean atReturn, int pid)
            throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr =
                    DynamicPmu.UPROBE.attributes(
                            arena, path, place.offset(), atReturn, place.semaphore());
            return DynamicPmu.attach(
                    program, target(path, place, atReturn), attr, pid, place.cookie());
        }
    }

    /** By a named probe in tracefs. */
    public static Link byTracefs(
            Program program, String path, UprobePoint place, boolean atReturn, int pid)
            throws IOException {
        String semaphore =
                place.semaphore() == 0 ? "" : "(0x" + Long.toHexString(place.semaphore()) + ")";
        String where = path + ":0x" + Long.toHexString(place.offset()) + semaphore;
        NamedProbe probe = NamedProbe.make("uprobe_events", atReturn, where);
        return probe.attach(program, target(path, place, atReturn), pid, place.cookie());
    }

    private static String target(String path, UprobePoint place, boolean atReturn) {
        return (atReturn ? "uretprobe " : "uprobe ")
                + path
                + ":0x"
                + Long.toHexString(place.offset());
    }

    /**
     * Attaches to many places of a file in one call.
     *
     * @param program loaded expecting {@link AttachType#TRACE_UPROBE_MULTI}, or {@link
     *     AttachType#TRACE_UPROBE_SESSION} (6.13) for both begin and return
     * @param pid a process, or {@link #ALL_PROCESSES}
     * @throws BpfRefusedException before Linux 6.6
     */
    public static Link multi(
            Program program, String path, List<UprobePoint> places, boolean atReturn, int pid)
            throws IOException {
        AttachType kind =
                program.expected() == AttachType.TRACE_UPROBE_SESSION
                        ? AttachType.TRACE_UPROBE_SESSION
                        : AttachType.TRACE_UPROBE_MULTI;
        refuseMisread(path, places);
        String target = "uprobe.multi " + places.size() + " places of " + path;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = BpfAttr.allocate(arena);
            attr.set(JAVA_INT, 8, kind.code());
            attr.set(JAVA_LONG, 16, arena.allocateFrom(path).address());
            attr.set(
                    JAVA_LONG,
                    24,
                    LongArrays.copy(arena, places.stream().map(UprobePoint::offset).toList()));
            if (places.stream().anyMatch(place -> place.semaphore() != 0)) {
                attr.set(
                        JAVA_LONG,
                        32,
                        LongArrays.copy(
                                arena, places.stream().map(UprobePoint::semaphore).toList()));
            }
            if (places.stream().anyMatch(place -> place.cookie() != 0)) {
                attr.set(
                        JAVA_LONG,
                        40,
                        LongArrays.copy(arena, places.stream().map(UprobePoint::cookie).toList()));
            }
            attr.set(JAVA_INT, 48, places.size());
            attr.set(JAVA_INT, 52, atReturn ? RETURN : 0);
            attr.set(JAVA_INT, 56, pid == ALL_PROCESSES ? 0 : pid);
            return Link.create(program, attr, target);
        } catch (SyscallException e) {
            if (e.errno() == Errno.EOPNOTSUPP) {
                throw new BpfRefusedException(
                        target, e.errno(), "this kernel has no uprobe.multi", "use single ones");
            }
            throw e;
        }
    }

    /**
     * Attaches to all locations of a USDT probe, as its notes ({@code .note.stapsdt}) state them:
     * in one link where the program was loaded for that, else one uprobe each.
     *
     * @param name for messages: {@code "hotspot:gc__begin"}
     */
    public static Link usdt(
            Program program, String path, String name, List<UprobePoint> locations, int pid)
            throws IOException {
        if (program.expected() == AttachType.TRACE_UPROBE_MULTI) {
            return multi(program, path, locations, false, pid);
        }
        List<Link> links = new ArrayList<>();
        try {
            for (UprobePoint location : locations) {
                links.add(attach(program, path, location, false, pid));
            }
            return Link.of("usdt " + name, links);
        } catch (IOException e) {
            links.forEach(Link::close);
            throw e;
        }
    }
}
