package sonde.analysis;

import org.jspecify.annotations.Nullable;

/**
 * An incident that the kernel's log reports.
 *
 * @param number from 1
 * @param begin time of its first line
 * @param end time of its last line
 * @param cpu of the first line; negative where it is not known
 * @param tid of the thread that printed the first line; negative where it is not known
 * @param kind its class
 * @param isFault whether it is a fault of the kernel or its hardware
 * @param identity one line that two reports of one fault have in common
 * @param what a sentence
 * @param function to blame; null where there is none
 * @param module of the function; null for the kernel itself
 * @param place source position of the function; null where it is not known
 * @param task the task that ran
 * @param after number of the incident that may have caused it; 0 for none
 * @param isDamaged whether the report is incomplete
 */
public record LogIncident(
        int number,
        long begin,
        long end,
        int cpu,
        int tid,
        String kind,
        String severity,
        boolean isFault,
        String identity,
        String what,
        @Nullable String function,
        @Nullable String module,
        @Nullable String place,
        @Nullable String task,
        int pid,
        @Nullable String kernel,
        int after,
        boolean isPanic,
        boolean isDamaged,
        String details) {
    /** Finds incidents among lines. */
    public interface IncidentSearch extends LogLines.LogSink {
        /** What was found; no further line comes. */
        java.util.List<LogIncident> incidents();
    }
}
