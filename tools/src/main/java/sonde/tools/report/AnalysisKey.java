package sonde.tools.report;

import java.util.function.Function;

/**
 * Names an analysis that sections of a report share. All sections of one report that list the same
 * key get the same instance, and the instance sees the rows of the recording once.
 *
 * @param <T> the analysis, for example an operator
 */
public final class AnalysisKey<T> {
    private final Function<ReportOperators, T> start;

    /**
     * @param start makes the analysis before the first row is read, and adds its operators with
     *     {@link ReportOperators#add} or {@link ReportOperators#addStates}
     */
    public AnalysisKey(Function<ReportOperators, T> start) {
        this.start = start;
    }

    T start(ReportOperators found) {
        return start.apply(found);
    }
}
