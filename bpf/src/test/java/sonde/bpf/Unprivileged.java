package sonde.bpf;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import sonde.sys.NativeSyscall;
import sonde.sys.SyscallNames;

/** Runs code on a thread without capabilities: they belong to threads, so the JVM keeps its own. */
public final class Unprivileged {
    /** _LINUX_CAPABILITY_VERSION_3. */
    private static final int VERSION = 0x20080522;

    private Unprivileged() {}

    /** What the code throws; fails when it throws nothing. */
    public static Throwable call(Callable<?> code) throws InterruptedException {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread thread =
                Thread.ofPlatform()
                        .start(() -> {
                            try (Arena arena = Arena.ofConfined()) {
                                MemorySegment header = arena.allocate(8, 4);
                                header.set(JAVA_INT, 0, VERSION);
                                MemorySegment none = arena.allocate(24, 4);
                                NativeSyscall.syscall(
                                        SyscallNames.number("capset"),
                                        header.address(),
                                        none.address(),
                                        0);
                                code.call();
                            } catch (Throwable e) {
                                thrown.set(e);
                            }
                        });
        thread.join();
        Throwable result = thrown.get();
        if (result == null) {
            throw new AssertionError("succeeded without capabilities");
        }
        return result;
    }
}
