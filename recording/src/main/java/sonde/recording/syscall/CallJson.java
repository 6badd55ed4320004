package sonde.recording.syscall;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.recording.JsonString;
import sonde.recording.syscall.CallLines.CallSink;
import sonde.recording.syscall.CallText.ArgumentWords;
import sonde.recording.syscall.LineStyle.CallStatus;
import sonde.recording.syscall.LineStyle.LineFilter;
import sonde.sys.Errno;

/** Writes records as JSON, an object a line: a call when it has ended, a signal, an end. */
public final class CallJson {
    private final CallText text;
    private final LineFilter filter;
    private final CallSink sink;
    private final long epochOffset;
    private final Map<Integer, CallRecord> begun = new HashMap<>();
    private final StringBuilder out = new StringBuilder();

    /**
     * Writes to a sink.
     *
     * @param epochOffset nanoseconds from CLOCK_MONOTONIC to the time of day
     */
    public CallJson(CallText text, LineStyle lines, CallSink sink, long epochOffset) {
        this.text = text;
        filter = lines.filter();
        this.sink = sink;
        this.epochOffset = epochOffset;
    }

    /** Takes the next record. */
    public void accept(CallRecord record) throws IOException {
        text.see(record);
        switch (record.kind()) {
            case CallRecord.ENTER -> begun.put(record.tid(), record.copy());
            case CallRecord.EXIT -> {
                CallRecord entry = begun.remove(record.tid());
                if (entry != null || !CallLines.isNewborn(record)) {
                    call(entry, record);
                }
            }
            case CallRecord.SIGNAL -> signal(record);
            case CallRecord.SENT -> {
                if (record.result() == CallLines.IS_IGNORED) {
                    signal(record);
                }
            }
            case CallRecord.END -> end(record);
            case CallRecord.EXEC -> {
                CallRecord entry = begun.remove((int) record.result());
                if (entry != null) {
                    begun.put(record.tid(), entry);
                }
            }
            default -> {}
        }
    }

    private void call(@Nullable CallRecord entry, CallRecord exit) throws IOException {
        CallRecord first = entry == null ? exit : entry;
        boolean failed = CallView.isError(exit.result());
        if (!filter.shows(first)
                || !text.uses(first, filter.descriptors())
                || !CallLines.isWanted(filter, text, entry, exit)) {
            return;
        }
        begin(first);
        field("call", CallTable.name(first.number()));
        arguments(text.arguments(entry, exit));
        out.append(", \"result\": ").append(exit.result());
        if (failed) {
            field("error", Errno.name((int) -exit.result()));
        }
        if (entry != null) {
            out.append(", \"duration\": ").append(exit.nanos() - entry.nanos());
        }
        send();
    }

    private void arguments(List<ArgumentWords> words) {
        out.append(", \"args\": {");
        String comma = "";
        for (ArgumentWords one : words) {
            out.append(comma);
            JsonString.append(out, one.name());
            out.append(": ");
            JsonString.append(out, one.text());
            comma = ", ";
        }
        out.append('}');
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

    private void signal(CallRecord record) throws IOException {
        if (filter.signals().get((int) record.number()) && record.number() != CallLines.SIGKILL) {
            String words = text.signal(record);
            int blank = words.indexOf(' ');
            begin(record);
            field("signal", words.substring(0, blank));
            field("info", words.substring(blank + 1));
            send();
        }
    }

    private void end(CallRecord record) throws IOException {
        CallRecord entry = begun.remove(record.tid());
        if (entry != null
                && filter.shows(entry)
                && filter.shows(CallStatus.UNFINISHED)
                && filter.slower() == 0
                && text.touches(entry, null, filter.paths())) {
            begin(entry);
            field("call", CallTable.name(entry.number()));
            arguments(text.arguments(entry, null));
            out.append(", \"result\": null");
            send();
        }
        if (filter.exits()) {
            begin(record);
            field("end", text.end(record));
            send();
        }
    }
}
