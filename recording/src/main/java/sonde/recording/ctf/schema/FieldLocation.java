package sonde.recording.ctf.schema;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where an earlier field is found that says a length or makes a choice.
 *
 * @param start from where the path goes
 * @param path names of members to follow; null is the structure around the current one
 */
public record FieldLocation(PathStart start, List<@Nullable String> path) {
    /** Where a path begins. */
    public sealed interface PathStart {}

    /** At a root of the packet or event. */
    public record RootStructure(RootScope scope) implements PathStart {}

    /** At the structure that holds the dependent field (CTF2-SPEC-2.0, 6.4.2). */
    public record SameStructure() implements PathStart {}

    /** At the nearest structure around that has the first name (CTF 1.8.3, 7.3.2). */
    public record NearestStructure() implements PathStart {}

    public FieldLocation {
        path = Collections.unmodifiableList(new ArrayList<>(path));
    }

    @Override
    public String toString() {
        String root =
                switch (start) {
                    case RootStructure at -> at.scope().label() + ".";
                    case SameStructure here -> "";
                    case NearestStructure nearest -> "";
                };
        List<String> names = new ArrayList<>();
        for (String name : path) {
            names.add(name == null ? ".." : name);
        }
        return root + String.join(".", names);
    }
}
