package sonde.sys;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import sonde.sys.PosixSpawn.SpawnAction.SpawnClose;
import sonde.sys.PosixSpawn.SpawnAction.SpawnOpen;

/**
 * posix_spawn(3) of glibc. The child runs on this process's memory (CLONE_VM | CLONE_VFORK) with
 * all signals blocked, does the actions in order, then execve; the calling thread sleeps in the
 * kernel until then, so call it on a platform thread that may wait.
 *
 * <p>No path search and no retry by a shell happens: exactly one execve.
 */
public final class PosixSpawn {
    // sizeof is 336 and 80 with glibc 2.36 on 64-bit; both are opaque.
    private static final long OPAQUE_BYTES = 1024;
    private static final long SIGSET_BYTES = 128;
    private static final int SETSIGDEF = 0x04;
    private static final int SETSIGMASK = 0x08;

    private static final MemorySegment SPAWN = NativeSyscall.function("posix_spawn");
    private static final MemorySegment ATTR_INIT = NativeSyscall.function("posix_spawnattr_init");
    private static final MemorySegment ATTR_DESTROY =
            NativeSyscall.function("posix_spawnattr_destroy");
    private static final MemorySegment SET_FLAGS =
            NativeSyscall.function("posix_spawnattr_setflags");
    private static final MemorySegment SET_MASK =
            NativeSyscall.function("posix_spawnattr_setsigmask");
    private static final MemorySegment SET_DEFAULT =
            NativeSyscall.function("posix_spawnattr_setsigdefault");
    private static final MemorySegment ACTIONS_INIT =
            NativeSyscall.function("posix_spawn_file_actions_init");
    private static final MemorySegment ACTIONS_DESTROY =
            NativeSyscall.function("posix_spawn_file_actions_destroy");
    private static final MemorySegment ADD_OPEN =
            NativeSyscall.function("posix_spawn_file_actions_addopen");
    private static final MemorySegment ADD_CLOSE =
            NativeSyscall.function("posix_spawn_file_actions_addclose");

    private PosixSpawn() {}

    /** What the child does with its descriptors before execve. */
    public sealed interface SpawnAction {
        /** Opens a file at that descriptor number; may block. Whatever was there is closed. */
        record SpawnOpen(int fd, byte[] path, int flags) implements SpawnAction {}

        /** Closes a descriptor; one that is not open is no error. */
        record SpawnClose(int fd) implements SpawnAction {}
    }

    /**
     * What to start.
     *
     * @param path the file, resolved
     * @param defaultSignals set of signals that are put to their default action. glibc leaves 32
     *     and 33 ignored in the child unless they are in here
     * @param blockedSignals the signal mask at execve
     */
    public record SpawnRequest(
            byte[] path,
            List<byte[]> argv,
            List<byte[]> environment,
            long defaultSignals,
            long blockedSignals,
            List<SpawnAction> actions) {}

    /**
     * Starts the child.
     *
     * @return its pid; it is the caller's to wait for
     * @throws SyscallException when an action or execve failed; the child is gone and reaped
     */
    public static int spawn(SpawnRequest request) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pid = arena.allocate(JAVA_INT);
            MemorySegment attributes = arena.allocate(OPAQUE_BYTES, 16);
            MemorySegment actions = arena.allocate(OPAQUE_BYTES, 16);
            call(ATTR_INIT, attributes, 0, 0, 0);
            call(ACTIONS_INIT, actions, 0, 0, 0);
            try {
                prepare(request, attributes, actions, arena);
                long error =
                        NativeSyscall.call(
                                SPAWN,
                                pid.address(),
                                SyscallResults.cString(arena, request.path()).address(),
                                actions.address(),
                                attributes.address(),
                                vector(arena, request.argv()).address(),
                                vector(arena, request.environment()).address());
                check(error, SyscallResults.text(request.path()));
                return pid.get(JAVA_INT, 0);
            } finally {
                NativeSyscall.call(ACTIONS_DESTROY, actions.address(), 0, 0, 0, 0, 0);
                NativeSyscall.call(ATTR_DESTROY, attributes.address(), 0, 0, 0, 0, 0);
            }
        }
    }

    private static void prepare(
            SpawnRequest request, MemorySegment attributes, MemorySegment actions, Arena arena)
            throws SyscallException {
        call(SET_FLAGS, attributes, SETSIGDEF | SETSIGMASK, 0, 0);
        call(SET_DEFAULT, attributes, set(arena, request.defaultSignals()).address(), 0, 0);
        call(SET_MASK, attributes, set(arena, request.blockedSignals()).address(), 0, 0);
        for (SpawnAction action : request.actions()) {
            switch (action) {
                case SpawnOpen(int fd, byte[] path, int flags) ->
                        call(
                                ADD_OPEN,
                                actions,
                                fd,
                                SyscallResults.cString(arena, path).address(),
                                flags);
                case SpawnClose(int fd) -> call(ADD_CLOSE, actions, fd, 0, 0);
            }
        }
    }

    private static MemorySegment set(Arena arena, long signals) {
        MemorySegment set = arena.allocate(SIGSET_BYTES, 8);
        set.set(JAVA_LONG, 0, signals);
        return set;
    }

    /** A NULL-terminated array of C strings. */
    static MemorySegment vector(Arena arena, List<byte[]> strings) {
        MemorySegment vector = arena.allocate(ADDRESS, strings.size() + 1L);
        for (int i = 0; i < strings.size(); i++) {
            vector.setAtIndex(ADDRESS, i, SyscallResults.cString(arena, strings.get(i)));
        }
        return vector;
    }

    private static void call(MemorySegment function, MemorySegment first, long a1, long a2, long a3)
            throws SyscallException {
        check(NativeSyscall.call(function, first.address(), a1, a2, a3, 0, 0), "");
    }

    private static void check(long result, String object) throws SyscallException {
        int error = (int) result;
        if (error != 0) {
            throw new SyscallException("posix_spawn", object, error);
        }
    }
}
