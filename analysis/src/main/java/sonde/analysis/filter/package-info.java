/**
 * Filters of events in the kernel's syntax (Documentation/trace/events.rst, "Event filtering"),
 * with the events they are for in front, as {@code trace-cmd report -F} has it.
 *
 * {@snippet :
 * RowFilter filter = RowFilter.parse("sched/sched_switch: prev_pid == 1 && prev_comm ~ \"sh*\"");
 * RowTest test = filter.compile(type, names);
 * boolean shown = test != null && test.test(batch, row);
 * }
 */
package sonde.analysis.filter;
