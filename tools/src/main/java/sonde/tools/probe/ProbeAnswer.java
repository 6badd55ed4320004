package sonde.tools.probe;

import java.util.List;
import sonde.event.result.Result;

/**
 * The answer to a question about probes.
 *
 * @param notes sentences about it for standard error
 * @param found whether anything matched or was changed
 */
public record ProbeAnswer(Result result, List<String> notes, boolean found) {
    public ProbeAnswer {
        notes = List.copyOf(notes);
    }
}
