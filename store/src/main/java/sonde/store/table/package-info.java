/**
 * Events as tables: what {@code events} and {@code "sched.sched_switch"} are to SQL.
 *
 * {@snippet :
 * EventTable switches = EventTable.of("sched.sched_switch", traces, utids);
 * connection.register("sonde_event", name -> switches);
 * }
 */
@org.jspecify.annotations.NullMarked
package sonde.store.table;
