package sonde.bpf.interpreter;

/**
 * What a program asks the machine it runs on. Each method has an answer that is always the same, so
 * that a run can be repeated; override those that a test is about.
 */
public interface MachineEnvironment {
    /** One that answers what the methods say. */
    MachineEnvironment FIXED = new MachineEnvironment() {};

    /** The clock of bpf_ktime_get_ns: 1 s. */
    default long nanoTime() {
        return 1_000_000_000L;
    }

    /** Process in the upper, thread in the lower half: process 1000 and its first thread. */
    default long pidTgid() {
        return 1000L << 32 | 1000;
    }

    /** Group in the upper, user in the lower half: root. */
    default long uidGid() {
        return 0;
    }

    /** The thread's name, at most 15 bytes of it. */
    default String comm() {
        return "program";
    }

    /** The CPU that it runs on, below {@link #cpuCount}. */
    default int cpu() {
        return 0;
    }

    /** Possible CPUs, the values of a per-CPU entry. */
    default int cpuCount() {
        return 1;
    }

    /** 32 bits of bpf_get_prandom_u32: 4, chosen by a fair dice. */
    default int random() {
        return 4;
    }

    /** The address of the current task_struct: 0. */
    default long task() {
        return 0;
    }

    /**
     * Fills bytes from the memory of the kernel or of the process.
     *
     * @param user whose memory it is
     * @return false when the address cannot be read: a program then sees -EFAULT
     */
    default boolean read(long address, byte[] into, boolean user) {
        return false;
    }

    /** A line of bpf_trace_printk: dropped. */
    default void trace(String line) {
        // nobody listens
    }
}
