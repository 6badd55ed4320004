package sonde.recording.library;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import sonde.recording.JsonString;
import sonde.recording.library.LibraryLines.LibraryFunction;
import sonde.recording.library.LibraryLines.LibraryTally;
import sonde.recording.syscall.CallLines.CallSink;
import sonde.recording.syscall.CallRecord;

/** Writes calls of library functions as JSON, an object a line. */
public final class LibraryJson implements LibraryTally {
    private static final int CALLER = 7;

    private final LibraryText text;
    private final CallSink sink;
    private final long epochOffset;
    private final StringBuilder out = new StringBuilder();

    /**
     * Writes to a sink.
     *
     * @param epochOffset nanoseconds from CLOCK_MONOTONIC to the time of day
     */
    public LibraryJson(LibraryText text, CallSink sink, long epochOffset) {
        this.text = text;
        this.sink = sink;
        this.epochOffset = epochOffset;
    }

    @Override
    public void called(
            LibraryFunction function, CallRecord entry, @Nullable CallRecord exit, int depth)
            throws IOException {
        begin(entry);
        field("call", function.name());
        field("library", function.library());
        field("caller", "0x" + Long.toHexString(entry.argument(CALLER)));
        out.append(", \"depth\": ").append(depth).append(", \"args\": [");
        String comma = "";
        for (String one : text.words(function.type(), entry, exit, 0)) {
            JsonString.append(out.append(comma), one);
            comma = ", ";
        }
        out.append(']');
        if (exit == null) {
            out.append(", \"result\": null");
        } else {
            field("result", text.result(function.type(), exit));
            out.append(", \"duration\": ").append(exit.nanos() - entry.nanos());
        }
        send();
    }

    @Override
    public void lost(CallRecord record, long count) throws IOException {
        begin(record);
        out.append(", \"lost\": ").append(count);
        send();
    }

    @Override
    public void signal(CallRecord record, String name, String meaning) throws IOException {
        begin(record);
        field("signal", name);
        field("info", meaning);
        send();
    }

    @Override
    public void end(CallRecord record, String words) throws IOException {
        begin(record);
        field("end", words);
        send();
    }

    private void begin(CallRecord record) {
        out.setLength(0);
        out.append("{\"time\": ").append(record.nanos() + epochOffset);
        out.append(", \"pid\": ").append(record.pid());
        out.append(", \"tid\": ").append(record.tid());
    }

    private void field(String name, String value) {
        out.append(", \"").append(name).append("\": ");
        JsonString.append(out, value);
    }

    private void send() throws IOException {
        sink.text(out.append("}\n"));
    }
}
