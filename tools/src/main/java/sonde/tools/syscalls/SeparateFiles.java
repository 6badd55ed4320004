package sonde.tools.syscalls;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import sonde.probe.launch.PrivateOutput;
import sonde.recording.syscall.CallLines;
import sonde.recording.syscall.CallLines.CallSink;
import sonde.recording.syscall.CallRecord;

/** The lines of each thread in a file of its own: {@code FILE.TID} (-ff). */
final class SeparateFiles implements AutoCloseable {
    private record ThreadFile(CallLines lines, OutputStream out) {}

    private final Path base;
    private final Function<CallSink, CallLines> writers;
    private final Map<Integer, ThreadFile> files = new HashMap<>();

    /**
     * Makes no file yet.
     *
     * @param writers make what writes the lines of a thread
     */
    SeparateFiles(Path base, Function<CallSink, CallLines> writers) {
        this.base = base;
        this.writers = writers;
    }

    /** Takes the next record; the file of a thread is closed with its end. */
    void accept(CallRecord record) throws IOException {
        int tid = record.tid();
        ThreadFile file = files.get(tid);
        if (file == null && record.kind() == CallRecord.SENT) {
            return; // to a thread that has ended: its file is complete
        } else if (file == null) {
            OutputStream out =
                    new BufferedOutputStream(
                            PrivateOutput.open(
                                    base.resolveSibling(base.getFileName() + "." + tid)));
            CallSink sink =
                    text -> out.write(text.toString().getBytes(StandardCharsets.ISO_8859_1));
            file = new ThreadFile(writers.apply(sink), out);
            files.put(tid, file);
        }
        file.lines().accept(record);
        if (record.kind() == CallRecord.END) {
            files.remove(tid);
            file.out().close();
        }
    }

    /** Shows what was written so far. */
    void flush() throws IOException {
        for (ThreadFile file : files.values()) {
            file.out().flush();
        }
    }

    @Override
    public void close() throws IOException {
        for (ThreadFile file : files.values()) {
            file.lines().finish();
            file.out().close();
        }
    }
}
