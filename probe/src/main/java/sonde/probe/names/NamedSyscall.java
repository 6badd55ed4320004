package sonde.probe.names;

import java.util.List;
import sonde.recording.names.NamedCall.Kind;

/**
 * A system call whose argument points to a name. Argument positions count from 0; -1 when the call
 * has none.
 *
 * @param descriptor position of the directory or socket; of the number of descriptors, or of the
 *     value that a futex is to have
 * @param pointer position of the path or address, the array or set, the futex
 * @param length position of the address's length, or of the pointer to it; of the timeout, of the
 *     set to be written, of the futex's operation
 */
record NamedSyscall(String name, Kind kind, int descriptor, int pointer, int length) {
    /** All of them; what an architecture lacks has no tracepoint and is skipped. */
    static final List<NamedSyscall> ALL =
            List.of(
                    new NamedSyscall("open", Kind.OPEN, -1, 0, -1),
                    new NamedSyscall("openat", Kind.OPEN, 0, 1, -1),
                    new NamedSyscall("openat2", Kind.OPEN, 0, 1, -1),
                    new NamedSyscall("creat", Kind.OPEN, -1, 0, -1),
                    new NamedSyscall("mq_open", Kind.OPEN, -1, 0, -1),
                    new NamedSyscall("execve", Kind.EXECUTE, -1, 0, -1),
                    new NamedSyscall("execveat", Kind.EXECUTE, 0, 1, -1),
                    new NamedSyscall("connect", Kind.CONNECT, 0, 1, 2),
                    new NamedSyscall("bind", Kind.BIND, 0, 1, 2),
                    new NamedSyscall("accept", Kind.ACCEPT, 0, 1, 2),
                    new NamedSyscall("accept4", Kind.ACCEPT, 0, 1, 2),
                    new NamedSyscall("pipe", Kind.PIPE, -1, 0, -1),
                    new NamedSyscall("pipe2", Kind.PIPE, -1, 0, -1));

    /** Those that look at a path or change its entry: only some of many are told. */
    static final List<NamedSyscall> SAMPLED =
            List.of(
                    new NamedSyscall("stat", Kind.PATH, -1, 0, -1),
                    new NamedSyscall("lstat", Kind.PATH, -1, 0, -1),
                    new NamedSyscall("newfstatat", Kind.PATH, 0, 1, -1),
                    new NamedSyscall("statx", Kind.PATH, 0, 1, -1),
                    new NamedSyscall("access", Kind.PATH, -1, 0, -1),
                    new NamedSyscall("faccessat", Kind.PATH, 0, 1, -1),
                    new NamedSyscall("faccessat2", Kind.PATH, 0, 1, -1),
                    new NamedSyscall("readlink", Kind.PATH, -1, 0, -1),
                    new NamedSyscall("readlinkat", Kind.PATH, 0, 1, -1),
                    new NamedSyscall("unlink", Kind.PATH, -1, 0, -1),
                    new NamedSyscall("unlinkat", Kind.PATH, 0, 1, -1),
                    new NamedSyscall("rename", Kind.PATH, -1, 0, -1),
                    new NamedSyscall("mkdir", Kind.PATH, -1, 0, -1),
                    new NamedSyscall("rmdir", Kind.PATH, -1, 0, -1));

    /** Those that wait for something that their arguments point to. */
    static final List<NamedSyscall> WAITS =
            List.of(
                    new NamedSyscall("poll", Kind.POLL, 1, 0, 2),
                    new NamedSyscall("ppoll", Kind.POLL, 1, 0, -1),
                    new NamedSyscall("select", Kind.SELECT, 0, 1, 2),
                    new NamedSyscall("pselect6", Kind.SELECT, 0, 1, 2),
                    new NamedSyscall("futex", Kind.FUTEX, 2, 0, 1),
                    new NamedSyscall("connect", Kind.CONNECT, 0, 1, 2));
}
