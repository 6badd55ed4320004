package sonde.bpf.classic;

/** What the kernel knows of a packet beside its bytes. */
@FunctionalInterface
public interface Facts {
    /** Everything is 0. */
    Facts NONE = _ -> 0;

    /** The value of one of them. */
    int value(Ancillary what);
}
