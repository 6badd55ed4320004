package sonde.recording.syscall;

import java.util.List;

/** What lies behind a pointer. */
sealed interface TargetShape {
    /**
     * A struct.
     *
     * @param abbreviated how many fields are shown without -v
     */
    record StructShape(String name, int bytes, List<StructField> fields, int abbreviated)
            implements TargetShape {}

    /** A field at an offset in bytes. */
    record StructField(String name, ArgumentShape shape, int offset) {}

    /** One number, in brackets. */
    record Boxed(ArgumentShape number) implements TargetShape {}

    /** What needs code of its own. */
    record Special(SpecialForm form) implements TargetShape {}

    /** Kinds of memory that no list of fields describes. */
    enum SpecialForm {
        /** A string that is shown whole. */
        PATH(4096),
        /** A string that -s limits. */
        STR(0),
        BYTES(0),
        HEXBYTES(0),
        STRV(0),
        ENVP(8184),
        IOV(0),
        MSGHDR(0),
        SOCKADDR(128),
        SOCKLEN(4),
        SIGSET(8),
        SIGACTION(32),
        SIGINFO(80),
        SIGMASKPAIR(16),
        STAT(144),
        STATX(256),
        TERMIOS(36),
        DIRENTS(32760),
        FDSET(128),
        WSTATUS(4),
        CPUSET(128),
        NAME16(16),
        SOCKVALUE(128),
        CLONEARGS(88),
        UTIMES(32),
        REMAINING(16),
        SCHEDPARAM(4);

        /** Bytes to capture; 0 where -s decides. */
        final int bytes;

        SpecialForm(int bytes) {
            this.bytes = bytes;
        }

        /** Whether it is a string, which is shown where structs are not. */
        boolean isText() {
            return this == PATH || this == STR || this == BYTES || this == HEXBYTES;
        }
    }
}
