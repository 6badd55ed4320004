package sonde.probe.syscall;

import java.io.IOException;
import sonde.sys.SyscallException;

/** What follows threads until none is left: their calls as records, or counted. */
public sealed interface CallSource extends AutoCloseable permits CallSource.Streamed, CallCounter {
    /** Calls as records. */
    sealed interface Streamed extends CallSource
            permits CallSession, LibrarySession, PtraceSession {
        /** The records. */
        CallStream stream();

        /** Reads what is left; afterwards the stream ends. */
        void finish();

        /** Records that found no room, so far. */
        long lost() throws SyscallException;
    }

    /** Follows a command that waits for its execve, too. */
    void follow(int pid) throws IOException;

    /** Whether no followed thread is left. */
    boolean isAlone() throws SyscallException;

    @Override
    void close() throws IOException;
}
