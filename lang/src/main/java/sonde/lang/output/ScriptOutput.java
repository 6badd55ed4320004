package sonde.lang.output;

import java.nio.charset.StandardCharsets;
import java.util.List;
import sonde.lang.output.MapRows.MapOrder;
import sonde.lang.source.SourceSpan;
import sonde.lang.type.TupleType;
import sonde.lang.type.ValueType;

/**
 * Where a script's run prints. What is written is kept until {@link #flush}, or until it is much;
 * messages for people are written at once, behind what came before.
 *
 * <p>All methods throw {@link java.io.UncheckedIOException} when nobody reads any more. Places are
 * the call first, then the macro calls it was expanded from; none may be known. Texts that stand in
 * the script hold one char (0 to 255) for each byte, as in its syntax tree.
 */
public interface ScriptOutput {
    /** The script runs now. */
    void attachedProbes(int count);

    /** A text of printf that is rendered already. */
    void printf(String text);

    /** A text of printf: the fastest way. */
    void printf(PrintFormat format, TupleType arguments, byte[] bytes, int offset);

    /** A value of print, and a line end. */
    void value(ValueType type, byte[] bytes, int offset);

    /** A text that stands in the script itself, of print: its control characters count. */
    void literal(String text);

    /**
     * A map of print; a scalar one without a row shows 0.
     *
     * @param top how many rows, see {@link MapRows#ordered}
     * @param divisor of numbers; 0 is 1
     */
    void map(MapRows rows, MapOrder order, int top, long divisor);

    /** As {@link #map(MapRows, MapRows.MapOrder, int, long)} in the order of bpftrace. */
    default void map(MapRows rows, int top, long divisor) {
        map(rows, MapOrder.DEFAULT, top, divisor);
    }

    /** A map when the script has ended; one without a row is left out. */
    void mapAtEnd(MapRows rows);

    /** A text of strftime, as it is; its format stands in the script. */
    void time(String text);

    /** A file's contents. */
    void cat(byte[] contents);

    /** As {@link #cat(byte[])}. */
    default void cat(String contents) {
        cat(contents.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Words in a line.
     *
     * @param delimiter stands in the script
     */
    void join(List<String> words, String delimiter);

    /** As {@link #join(List, String)} with spaces between. */
    default void join(List<String> words) {
        join(words, " ");
    }

    /** What a command wrote. */
    void syscall(byte[] output);

    /** What a command wrote so far; more follows. */
    default void syscallPart(byte[] output) {
        syscall(output);
    }

    /** As {@link #syscall(byte[])}. */
    default void syscall(String output) {
        syscall(output.getBytes(StandardCharsets.UTF_8));
    }

    /** A text of errorf. */
    void errorf(String text, List<SourceSpan> places);

    /** A text of warnf. */
    void warnf(String text, List<SourceSpan> places);

    /** A map has no room for another key; told once of each program. */
    void mapFull();

    /** As many events found no room since the last time. */
    void lostEvents(long count);

    /** How many of these belong to one probe, and why; bpftrace has no such message. */
    void lost(String probe, String reason, long count);

    /**
     * A call of the kernel failed.
     *
     * @param helper without "bpf_": {@code "probe_read_user"}
     * @param returned minus errno
     */
    void helperError(String helper, long returned, List<SourceSpan> places);

    /** The script did what it should not. */
    void runtimeError(String message, List<SourceSpan> places);

    /** As {@link #runtimeError(String, List)}. */
    default void runtimeError(RuntimeFault fault, List<SourceSpan> places) {
        runtimeError(fault.message(), places);
    }

    /**
     * How a test ended; the last one is followed by a summary.
     *
     * @param index of this one in all
     * @param passed of all up to this one
     * @param output what the test printed
     */
    void testResult(List<String> all, int index, long nanos, List<Boolean> passed, String output);

    /**
     * How long a run of a benchmark takes; the first one is led by a head line.
     *
     * @param index of this one in all
     */
    void benchmarkResult(List<String> all, int index, long averageNanos, long iterations);

    /** The script has ended; its maps follow. */
    void end();

    /** Writes what was kept. */
    void flush();
}
