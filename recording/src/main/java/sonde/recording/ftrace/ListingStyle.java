package sonde.recording.ftrace;

import java.io.IOException;
import java.util.List;
import sonde.event.Recording;
import sonde.event.Source;

/** How the events of a recording are listed: as the tool lists them that its file belongs to. */
public interface ListingStyle {
    /** That of a recording; fields by name for one that has none of its own. */
    static ListingStyle of(Recording recording) {
        return recording
                .capability(ListingStyle.class)
                .orElseGet(() -> new PlainListing(recording.frames()));
    }

    /** A text that goes before the first line. */
    default byte[] preface() {
        return new byte[0];
    }

    /** Names of the buffers, which stand before their lines; the top one's is empty. */
    default List<String> buffers() {
        return List.of();
    }

    /**
     * Whether a recording that is listed alone shows samples only, with the fields that were asked
     * for: its other rows are followed, not written.
     */
    default boolean showsSamplesOnly() {
        return false;
    }

    /** Writes the rows of a source as lines. */
    RowText text(Source of, ListingRequest request) throws IOException;

    /** Writes the rows of a source as JSON, an object a line. */
    default RowText json(Source of, ListingRequest request) throws IOException {
        return new EventJson(of, TextContext.NONE, request.threads(), AddressNames.NONE);
    }

    /** Writes what an event says, where fields were asked for. */
    default FieldText.Details details(Source of, ListingRequest request) throws IOException {
        return FieldText.Details.FIELDS;
    }
}
