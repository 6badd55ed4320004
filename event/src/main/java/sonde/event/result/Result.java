package sonde.event.result;

/** Something to show. Renderers switch over the kinds exhaustively. */
public sealed interface Result
        permits Table,
                Histogram,
                CallTree,
                Timeline,
                Report,
                IncidentList,
                Document,
                TextLayout,
                Listing,
                RowStream,
                LiveResult {
    /** A heading, unique within a report; also the key in JSON. */
    String title();
}
