package sonde.probe.dynamic;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import sonde.probe.dynamic.PointSpec.PointPlace.LinePoint;
import sonde.symbol.files.GivenPlaces;

/** Where a line of source is in a program, for those who set probes by other ways than tracefs. */
public final class SourcePlaces {
    private SourcePlaces() {}

    /**
     * Addresses of a line, as stated in the file: one for each copy of the code. Debugging
     * information that was split from the program is found as {@link ProbedObject} finds it.
     *
     * @param file the last parts of its path
     * @return empty when the line has no code, or nothing is known of lines
     */
    public static List<Long> ofLine(String program, String file, int line) {
        List<Long> found = new ArrayList<>();
        try (ProbedObject subject = ProbedObject.program(program, GivenPlaces.NONE)) {
            if (subject.hasEntries()) {
                for (ProbeLocation spot :
                        new PointResolver(subject).spots(new LinePoint(file, line))) {
                    found.add(spot.address());
                }
            }
        } catch (IOException e) {
            // There is no such line; who asks has a sentence of his own for that.
            return found;
        }
        return found;
    }
}
