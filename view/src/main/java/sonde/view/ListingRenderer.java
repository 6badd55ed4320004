package sonde.view;

import java.io.IOException;
import java.io.OutputStream;
import sonde.event.result.Listing;
import sonde.event.result.Listing.ListingForm;

/**
 * Writes the rows of a listing: as text with every byte made harmless that a terminal could obey,
 * or as lines of JSON. Such rows need no other renderer, which keeps the start of a script short.
 */
public final class ListingRenderer {
    private ListingRenderer() {}

    /** Writes all rows and flushes; {@code out} stays open. */
    public static void render(Listing listing, ListingForm form, OutputStream out)
            throws IOException {
        if (form == ListingForm.JSON_LINES) {
            listing.rows().writeTo(out, form);
        } else {
            SafeOutput safe = new SafeOutput(new StaysOpen(out));
            listing.rows().writeTo(safe, form);
            safe.flush();
        }
        out.flush();
    }
}
