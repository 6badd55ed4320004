package sonde.tools.elf;

import java.io.IOException;
import java.io.PrintWriter;
import sonde.event.result.Document;
import sonde.event.result.Listing;
import sonde.event.result.Result;
import sonde.event.result.ValueOutput;

/** The answer to one question about a file. Names in it are escaped. */
public interface ElfPage {
    /** Key in JSON: "sections". */
    String key();

    /**
     * Writes lines for people.
     *
     * @throws IOException when what it is about is damaged; what was written before holds
     */
    void text(PrintWriter out) throws IOException;

    /** Gives one value, whose JSON it is. */
    void values(ValueOutput out) throws IOException;

    /** Both. */
    default Result result() {
        return new Document(this::values, Listing.ofLines(this::text));
    }
}
