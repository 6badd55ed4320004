package sonde.bpf;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import sonde.binary.Input;
import sonde.binary.btf.Btf;
import sonde.bpf.call.BpfAttr;
import sonde.bpf.call.KernelObject;
import sonde.sys.Bpf;
import sonde.sys.Errno;
import sonde.sys.Fd;
import sonde.sys.SyscallException;

/**
 * Types given to the kernel (Documentation/bpf/btf.rst), for programs and maps to refer to. Maps
 * and programs keep their own reference, so it may be closed after them.
 */
public final class LoadedBtf implements AutoCloseable {
    /** Of {@link #sized}: the array of bytes; 1 is a 32-bit integer. */
    static final int SIZED = 3;

    private static final int LOG_BYTES = 64 << 10;

    private final int fd;
    private boolean closed;

    private LoadedBtf(int fd) {
        this.fd = fd;
    }

    /**
     * Loads types.
     *
     * @throws BpfRefusedException for want of rights, or of BTF in this kernel (before 4.18)
     * @throws SyscallException EINVAL with the kernel's last words when it finds fault with them
     */
    public static LoadedBtf load(byte[] btf) throws BpfRefusedException, SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = BpfAttr.allocate(arena);
            attr.set(JAVA_LONG, 0, arena.allocateFrom(JAVA_BYTE, btf).address());
            attr.set(JAVA_INT, 16, btf.length);
            long fd = Bpf.tryCall(BpfAttr.BTF_LOAD, attr);
            if (fd >= 0) {
                return new LoadedBtf((int) fd);
            }
            BpfRefusedException refused = RefusalCause.of("BTF", (int) -fd);
            if (refused != null) {
                throw refused;
            }
            MemorySegment log = arena.allocate(LOG_BYTES, 8);
            attr.set(JAVA_LONG, 8, log.address());
            attr.set(JAVA_INT, 20, LOG_BYTES);
            attr.set(JAVA_INT, 24, 1);
            long again = Bpf.tryCall(BpfAttr.BTF_LOAD, attr);
            if (again >= 0) {
                return new LoadedBtf((int) again);
            }
            List<String> lines = log.getString(0, StandardCharsets.ISO_8859_1).lines().toList();
            String last = lines.isEmpty() ? "" : ": " + lines.getLast();
            throw new SyscallException("bpf", "BTF" + last, (int) -fd);
        }
    }

    /** Types for a map whose key is a 32-bit integer and whose value has that many bytes. */
    static LoadedBtf sized(int valueBytes) throws BpfRefusedException, SyscallException {
        byte[] strings = "\0int\0char\0".getBytes(StandardCharsets.US_ASCII);
        int types = 16 + 16 + 24;
        ByteBuffer btf =
                ByteBuffer.allocate(24 + types + strings.length).order(ByteOrder.nativeOrder());
        // struct btf_header: magic, version, flags, hdr_len, type_off, type_len, str_off, str_len.
        btf.putShort((short) 0xeb9f).put((byte) 1).put((byte) 0);
        btf.putInt(24).putInt(0).putInt(types).putInt(types).putInt(strings.length);
        // 1: int, signed, 32 bits.
        btf.putInt(1).putInt(1 << 24).putInt(4).putInt(1 << 24 | 32);
        // 2: char, 8 bits.
        btf.putInt(5).putInt(1 << 24).putInt(1).putInt(8);
        // 3: array of 2, indexed by 1.
        btf.putInt(0).putInt(3 << 24).putInt(0).putInt(2).putInt(1).putInt(valueBytes);
        return load(btf.put(strings).array());
    }

    /** The numbers of all BTF objects: vmlinux, modules, programs'. */
    public static List<Integer> ids() throws SyscallException {
        return KernelObject.ids(BpfAttr.BTF_GET_NEXT_ID);
    }

    /** Opens one by its number. */
    public static LoadedBtf openId(int id) throws SyscallException {
        return new LoadedBtf(KernelObject.open(BpfAttr.BTF_GET_FD_BY_ID, id, "BTF " + id));
    }

    /** Its descriptor. */
    public int fd() {
        return fd;
    }

    /**
     * struct bpf_btf_info.
     *
     * @param kernel vmlinux or a module, which {@code name} says
     */
    public record BtfFacts(int id, int sizeBytes, boolean kernel, String name) {}

    /** What the kernel says of it; the name since Linux 5.11. */
    public BtfFacts facts() throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            // btf u64, btf_size, id u32, name u64, name_len, kernel_btf u32.
            MemorySegment facts = arena.allocate(40, 8);
            MemorySegment name = arena.allocate(64);
            facts.set(JAVA_LONG, 16, name.address());
            facts.set(JAVA_INT, 24, 64);
            KernelObject.info(fd, facts, "BTF");
            return new BtfFacts(
                    facts.get(JAVA_INT, 12),
                    facts.get(JAVA_INT, 8),
                    facts.get(JAVA_INT, 28) != 0,
                    KernelObject.text(name, 0, 64));
        }
    }

    /** The types themselves, as loaded. */
    public byte[] bytes() throws SyscallException {
        return bytes(fd);
    }

    /**
     * The types themselves, read; those of a module need the kernel's as their base and are not.
     *
     * @throws sonde.binary.MalformedInputException for those of a module
     */
    public Btf types() throws IOException {
        return Btf.read(Input.of("loaded BTF", MemorySegment.ofArray(bytes())));
    }

    /** The types behind a descriptor. */
    static byte[] bytes(int fd) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            // struct bpf_btf_info: btf u64, btf_size u32, id u32.
            MemorySegment facts = arena.allocate(40, 8);
            KernelObject.info(fd, facts, "BTF");
            int size = facts.get(JAVA_INT, 8);
            if (size < 0) {
                throw new SyscallException("bpf", "BTF of " + size + " bytes", Errno.EFBIG);
            }
            MemorySegment all = arena.allocate(Math.max(1, size));
            facts.fill((byte) 0);
            facts.set(JAVA_LONG, 0, all.address());
            facts.set(JAVA_INT, 8, size);
            KernelObject.info(fd, facts, "BTF");
            return all.asSlice(0, size).toArray(JAVA_BYTE);
        }
    }

    /** Closes the descriptor. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            Fd.discard(fd);
        }
    }
}
