package sonde.tools.elf;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.PrintWriter;

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

    /** Writes one JSON value. */
    void json(JsonGenerator out) throws IOException;
}
