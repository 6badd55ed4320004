package sonde.bpf.classic;

/** What the kernel knows of a packet beside its bytes. */
@FunctionalInterface
public interface PacketFacts {
    /** Everything is 0. */
    PacketFacts NONE = _ -> 0;

    /** The value of one of them. */
    int value(Ancillary what);
}
