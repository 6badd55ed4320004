package sonde.symbol;

import java.util.Set;
import sonde.event.result.Frame;

/**
 * The functions that a whole stack ends with. A user stack whose outermost frame is none of these
 * was cut: frame pointers were missing, the copy was too short, or the chain had its limit.
 */
public final class StackEnds {
    private static final Set<String> ROOTS =
            Set.of(
                    // glibc and musl: process, thread
                    "_start",
                    "_dl_start_user",
                    "_dl_start",
                    "__libc_start_main",
                    "__libc_start_main_impl",
                    "__libc_start_call_main",
                    "__libc_start_main_stage2",
                    "_start_c",
                    "start_thread",
                    "start",
                    "__start_thread",
                    "__pthread_start",
                    "__libc_init",
                    "clone",
                    "__clone",
                    "clone3",
                    "__clone3",
                    "__GI___clone",
                    "__GI___clone3",
                    "__clone_internal",
                    "thread_start",
                    "__thread_start",
                    // Go
                    "runtime.goexit",
                    "runtime.goexit.abi0",
                    "runtime.mcall",
                    "runtime.mcall.abi0",
                    "runtime.mstart",
                    "runtime.mstart.abi0",
                    "runtime.mstart0",
                    "runtime.rt0_go",
                    "runtime.rt0_go.abi0",
                    "_rt0_amd64_linux",
                    "_rt0_arm64_linux",
                    // HotSpot: Thread::call_run's caller
                    "thread_native_entry(Thread*)",
                    "thread_native_entry",
                    "ThreadJavaMain",
                    // kernel: entries from user mode, threads, interrupts, idle
                    "ret_from_fork",
                    "ret_from_fork_asm",
                    "secondary_startup_64",
                    "secondary_startup_64_no_verify",
                    "__secondary_switched");

    private StackEnds() {}

    /** Whether a stack may end with this frame and be whole. */
    public static boolean isRoot(Frame frame) {
        String name = frame.name();
        int suffix = name.indexOf('@');
        return ROOTS.contains(suffix > 0 ? name.substring(0, suffix) : name)
                || name.startsWith("std::rt::lang_start")
                || name.startsWith("__libc_start_main")
                || name.startsWith("entry_SYSCALL")
                || name.startsWith("entry_INT80")
                || name.startsWith("asm_") && frame.kind() == Frame.Kind.KERNEL;
    }
}
