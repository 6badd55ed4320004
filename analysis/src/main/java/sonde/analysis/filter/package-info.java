/**
 * Filters events by the kernel's syntax (Documentation/trace/events.rst, "Event filtering"). The
 * names of the events come first, as in {@code trace-cmd report -F}.
 *
 * {@snippet :
 * RowFilter filter = RowFilter.parse("sched/sched_switch: prev_pid == 1 && prev_comm ~ \"sh*\"");
 * RowTest test = filter.compile(type, names);
 * boolean shown = test != null && test.test(batch, row);
 * }
 */
package sonde.analysis.filter;
