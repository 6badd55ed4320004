package sonde.recording.ftrace;

/** Names code of user processes for the lines of samples. */
@FunctionalInterface
public interface AddressNames {
    /** No names. */
    AddressNames NONE = (pid, address) -> "";

    /**
     * The name of the function at an address of a process at the time of the latest row; empty when
     * there is none. Asked by one thread.
     */
    String name(int pid, long address);
}
