package sonde.tools.report;

import java.util.List;
import sonde.event.result.Result;

/**
 * A part of a report: its option, the analyses it needs, and the results it makes of them. Objects
 * of these classes have no state; {@code ReportSections} lists them.
 */
public interface ReportSection {
    /** The names of the option that asks for it, {@code --threads}; empty when no option does. */
    List<String> options();

    /** The help text of the option. */
    String help();

    /** The analyses to run while the recording is read. */
    default List<AnalysisKey<?>> needs() {
        return List.of();
    }

    /** Whether its results show call chains: only then are lines and inlined calls looked up. */
    default boolean showsChains() {
        return false;
    }

    /** Whether the notes of the report say why functions have no names. */
    default boolean explainsSymbols() {
        return false;
    }

    /** Whether it shows only the event types that {@code --event} names. */
    default boolean takesEventNames() {
        return false;
    }

    /** The tables and trees to show, in this order. */
    List<Result> results(ReportOperators found);

    /** Sentences that say what was slow or stuck. */
    default List<String> answer(ReportOperators found) {
        return List.of();
    }

    /** Sentences about the results; called after {@link #results}. */
    default List<String> notes(ReportOperators found) {
        return List.of();
    }
}
