package sonde.sys;

import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Becoming another program, and before that another user. */
public final class Execve {
    private static final int EXECVE = SyscallNames.number("execve");
    private static final int SETGROUPS = SyscallNames.number("setgroups");
    private static final int SETRESGID = SyscallNames.number("setresgid");
    private static final int SETRESUID = SyscallNames.number("setresuid");

    private Execve() {}

    /**
     * Replaces this process; returns only by throwing. The kernel ends all other threads and gives
     * the new program the calling thread's user.
     *
     * @param path of the program
     * @param words its arguments, the name first
     * @param environment {@code NAME=value} each
     */
    public static void run(String path, List<byte[]> words, List<byte[]> environment)
            throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            SyscallResults.check(
                    "execve",
                    path,
                    NativeSyscall.syscall(
                            EXECVE,
                            arena.allocateFrom(path, StandardCharsets.UTF_8).address(),
                            PosixSpawn.vector(arena, words).address(),
                            PosixSpawn.vector(arena, environment).address()));
        }
    }

    /**
     * Makes the calling thread another user, for good, without any other group. As raw system calls
     * these hold for one thread only (credentials(7)), which is what {@link #run} passes on.
     */
    public static void becomeUser(int uid, int gid) throws SyscallException {
        SyscallResults.check("setgroups", "0 groups", NativeSyscall.syscall(SETGROUPS, 0, 0, 0));
        SyscallResults.check(
                "setresgid", "gid " + gid, NativeSyscall.syscall(SETRESGID, gid, gid, gid));
        SyscallResults.check(
                "setresuid", "uid " + uid, NativeSyscall.syscall(SETRESUID, uid, uid, uid));
    }
}
