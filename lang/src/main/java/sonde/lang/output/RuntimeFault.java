package sonde.lang.output;

/** What a running script did wrong, apart from calls of the kernel that failed. */
public enum RuntimeFault {
    DIVIDE_BY_ZERO(
            "Divide or modulo by 0 detected. This can lead to unexpected results. "
                    + "1 is being used as the result."),
    ARRAY_OUT_OF_BOUNDS("Array access out of bounds. This can lead to unexpected results."),
    LOOP_TOO_LONG(
            "A for loop has more than 8388608 rounds, the kernel's limit (BPF_MAX_LOOPS). It is"
                    + " left out."),
    NO_SUCH_CPU("CPU count mismatch; there is no value of that CPU."),
    KERNEL_STACK("Error reading kstack."),
    USER_STACK("Error reading ustack."),
    NO_UNWIND_TABLES("No unwind tables are loaded for this process.");

    private final String message;

    RuntimeFault(String message) {
        this.message = message;
    }

    /** As a warning says it. */
    public String message() {
        return message;
    }
}
