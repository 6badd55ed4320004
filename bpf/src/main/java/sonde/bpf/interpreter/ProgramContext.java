package sonde.bpf.interpreter;

import org.jspecify.annotations.Nullable;
import sonde.bpf.interpreter.MemoryRegion.ContextFields;

/**
 * What R1 points to when a program begins, with the packet that some contexts lead to.
 *
 * @param region the context itself
 * @param packet what direct loads and {@code skb[…]} read; null when there is none
 */
public record ProgramContext(MemoryRegion region, @Nullable MemoryRegion packet) {
    // struct xdp_md and struct __sk_buff (include/uapi/linux/bpf.h).
    private static final int XDP_SIZE = 24;
    private static final int XDP_DATA = 0;
    private static final int XDP_DATA_END = 4;
    private static final int XDP_DATA_META = 8;
    private static final int SKB_SIZE = 192;
    private static final int SKB_LEN = 0;
    private static final int SKB_PROTOCOL = 16;
    private static final int SKB_CB = 48;
    private static final int SKB_CB_END = 68;
    private static final int SKB_DATA = 76;
    private static final int SKB_DATA_END = 80;

    /** Bytes of a context that programs only read: a tracepoint's record, struct pt_regs. */
    public static ProgramContext of(byte[] bytes) {
        return new ProgramContext(MemoryRegion.readOnly("context", bytes), null);
    }

    /** No context: R1 leads to nothing. */
    public static ProgramContext none() {
        return of(new byte[0]);
    }

    /** struct xdp_md of a packet, whose bytes the program may change. */
    public static ProgramContext xdp(byte[] packet) {
        MemoryRegion data = MemoryRegion.of("packet", packet);
        byte[] stored = new byte[XDP_SIZE];
        ContextFields fields =
                (offset, bytes) ->
                        bytes != 4
                                ? null
                                : switch (offset) {
                                    case XDP_DATA, XDP_DATA_META -> (Long) data.address;
                                    case XDP_DATA_END -> (Long) (data.address + packet.length);
                                    case 12, 16, 20 -> (Long) 0L;
                                    default -> null;
                                };
        return new ProgramContext(MemoryRegion.virtual("context", stored, fields), data);
    }

    /**
     * struct __sk_buff of a packet.
     *
     * @param protocol of the link layer, as on the wire: 0x0800
     */
    public static ProgramContext socketBuffer(byte[] packet, int protocol) {
        MemoryRegion data = MemoryRegion.of("packet", packet);
        byte[] stored = new byte[SKB_SIZE];
        long network = Short.reverseBytes((short) protocol) & 0xffffL;
        ContextFields fields =
                (offset, bytes) -> {
                    if (offset >= SKB_CB && offset + bytes <= SKB_CB_END) {
                        return number(stored, offset, bytes);
                    }
                    if (bytes != 4 || (offset & 3) != 0) {
                        return null;
                    }
                    return switch (offset) {
                        case SKB_LEN -> (Long) (long) packet.length;
                        case SKB_PROTOCOL -> (Long) network;
                        case SKB_DATA -> (Long) data.address;
                        case SKB_DATA_END -> (Long) (data.address + packet.length);
                        default -> number(stored, offset, bytes);
                    };
                };
        return new ProgramContext(MemoryRegion.virtual("context", stored, fields), data);
    }

    private static Long number(byte[] bytes, int offset, int count) {
        long value = 0;
        for (int i = count - 1; i >= 0; i--) {
            value = value << 8 | bytes[offset + i] & 0xff;
        }
        return value;
    }
}
