package sonde.recording.ftrace;

import org.jspecify.annotations.Nullable;
import sonde.event.FrameNames;
import sonde.event.Source;

/**
 * Fields by name, for recordings of no tool that lists them.
 *
 * @param frames names of call chains; null where they have none
 */
record PlainListing(@Nullable FrameNames frames) implements ListingStyle {
    @Override
    public RowText text(Source of, ListingRequest request) {
        return new FieldText(of, request.threads(), frames, FieldText.Details.FIELDS);
    }

    @Override
    public RowText json(Source of, ListingRequest request) {
        FrameNames known = frames;
        AddressNames chains =
                known == null ? AddressNames.NONE : (pid, entry) -> known.frame(entry).name();
        return new EventJson(of, TextContext.NONE, request.threads(), chains);
    }
}
