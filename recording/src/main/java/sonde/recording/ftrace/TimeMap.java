package sonde.recording.ftrace;

/** Turns the times of a ring to those of another clock; never makes them go back. */
@FunctionalInterface
public interface TimeMap {
    /** Times as they stand in the ring. */
    TimeMap SAME = time -> time;

    /** The time for the row. */
    long of(long ringTime);
}
