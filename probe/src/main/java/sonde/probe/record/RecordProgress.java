package sonde.probe.record;

/**
 * How a recording goes.
 *
 * @param nanos since the sources were switched on
 * @param events taken from the rings so far
 * @param bytes in the files so far
 * @param lost as far as known: what perf's LOST records and ftrace's accounts say
 * @param failure why it ended by itself (full disk), empty while it runs well
 */
public record RecordProgress(long nanos, long events, long bytes, long lost, String failure) {}
