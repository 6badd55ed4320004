package sonde.bpf.classic;

import org.jspecify.annotations.Nullable;

/** What loads beyond SKF_AD_OFF read instead of the packet (include/uapi/linux/filter.h). */
public enum Ancillary {
    /** The protocol that the link layer names, as a number: 0x0800. */
    PROTOCOL(0, 16),
    PACKET_TYPE(4, 4),
    INTERFACE(8, 40),
    MARK(20, 8),
    QUEUE(24, 12),
    HASH(32, 68),
    CPU(36, -1),
    /** No load: A becomes A xor X. */
    XOR_X(40, -1),
    VLAN_TAG(44, 24),
    VLAN_TAG_PRESENT(48, 20),
    RANDOM(56, -1),
    VLAN_PROTOCOL(60, 28);

    /** SKF_AD_OFF. */
    static final int OFFSET = -0x1000;

    private static final Ancillary[] ALL = values();

    private final int offset;
    private final int contextOffset;

    Ancillary(int offset, int contextOffset) {
        this.offset = offset;
        this.contextOffset = contextOffset;
    }

    /** The offset that loads of it have. */
    int k() {
        return OFFSET + offset;
    }

    /** Its place in struct __sk_buff; negative when it has none. */
    int contextOffset() {
        return contextOffset;
    }

    /** Whether struct __sk_buff has it in network order. */
    boolean isNetworkOrder() {
        return this == PROTOCOL || this == VLAN_PROTOCOL;
    }

    /** What a load from that offset reads; null when it is none of these. */
    static @Nullable Ancillary at(int k) {
        for (Ancillary one : ALL) {
            if (one.offset == k - OFFSET) {
                return one;
            }
        }
        return null;
    }
}
