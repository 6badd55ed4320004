package sonde.lang.probes;

import java.util.List;
import java.util.OptionalInt;

/**
 * What attach points are read with.
 *
 * @param parameters texts for {@code $1}, {@code $2}, …; missing ones are empty
 * @param pid the process that is traced: user probes then need no file
 * @param unsafe whether kernel addresses and files that are no programs may be probed
 */
public record ParseSettings(List<String> parameters, OptionalInt pid, boolean unsafe) {
    /** None of it. */
    public static final ParseSettings PLAIN =
            new ParseSettings(List.of(), OptionalInt.empty(), false);

    public ParseSettings {
        parameters = List.copyOf(parameters);
    }
}
