package sonde.event.result;

import sonde.event.result.Listing.ListingLines;

/**
 * A result that people read in a layout of its own: a classic tool's, or source with line numbers.
 *
 * @param values what JSON, CSV and the page show
 * @param lines the text; escape control characters of foreign names before they are written
 */
public record TextLayout(Result values, ListingLines lines) implements Result {
    @Override
    public String title() {
        return values.title();
    }
}
