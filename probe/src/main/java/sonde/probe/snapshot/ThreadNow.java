package sonde.probe.snapshot;

import java.util.List;

/**
 * What a thread is in at a moment.
 *
 * @param cpu on which it runs or ran last
 * @param sinceNanos when it left the CPU, CLOCK_MONOTONIC; 0 when that is not known
 * @param state the letter of /proc/PID/stat
 * @param syscall number of the system call it is in; -1 for none, or when it cannot be known
 * @param call the call with its main arguments, {@code "read(3)"}; empty for none
 * @param object what it waits for: path, socket with its peer, pipe with its other end, child,
 *     lock; empty when nothing says it
 * @param holder thread that holds the lock, or a process at the other end; 0 for none
 * @param wchan function of the kernel in which it sleeps; empty when that is hidden
 * @param kernelStack addresses, callee first
 * @param userStack addresses, callee first
 */
public record ThreadNow(
        int pid,
        int tid,
        String comm,
        int cpu,
        long atNanos,
        long sinceNanos,
        char state,
        int syscall,
        String call,
        String object,
        int holder,
        String wchan,
        List<Long> kernelStack,
        List<Long> userStack) {
    public ThreadNow {
        kernelStack = List.copyOf(kernelStack);
        userStack = List.copyOf(userStack);
    }

    /** With a user stack. */
    ThreadNow with(List<Long> stack) {
        return new ThreadNow(
                pid,
                tid,
                comm,
                cpu,
                atNanos,
                sinceNanos,
                state,
                syscall,
                call,
                object,
                holder,
                wchan,
                kernelStack,
                stack);
    }
}
