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
 *
 * <p>Six packages parse expressions, and each has a grammar of its own: print fmt is C after the
 * preprocessor and becomes code over rows; {@code lang.bpftrace.syntax} reads bpftrace's language
 * lazily, since its words depend on the place; {@code lang.declare} evaluates C constants after
 * macros; {@code probe.dynamic} knows members, casts and offsets of one variable; {@code
 * analysis.filter} has the comparisons of the kernel's filters; {@code recording.ctf.tsdl} has
 * numbers, but no operators. Their trees have no node in common. What they could share is a cursor
 * over tokens, 90 lines each, of which the tokens, the errors and the way back differ.
 */
package sonde.recording.ftrace;
