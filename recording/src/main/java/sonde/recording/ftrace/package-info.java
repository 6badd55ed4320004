/**
 * Reads ftrace's formats: the {@code format} files of events, the pages of the ring buffer, and the
 * {@code print fmt} language that converts an event to text.
 *
 * <p>Kernel: {@code include/linux/ring_buffer.h}, {@code kernel/trace/ring_buffer.c}, {@code
 * include/trace/stages/}. The same pages come out of {@code trace_pipe_raw}, stand in a trace.dat
 * and in the spool of a recorder:
 *
 * {@snippet :
 * EventFormat format = EventFormat.parse(text, 8);
 * EventTable table = EventTable.of(Map.of("sched", List.of(format)), PageLayout.NATIVE);
 * Source source = new Source("cpu0.spool", Clock.MONO, table.types());
 * }
 */
package sonde.recording.ftrace;
