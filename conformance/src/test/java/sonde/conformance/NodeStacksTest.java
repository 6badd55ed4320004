package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** User stacks of a Node program, against what the program says of its own stack. */
@Tag("kernel")
class NodeStacksTest {
    @TempDir Path folder;

    /** The distribution's Node, those of nvm, and the folders that {@code SONDE_NODES} names. */
    static List<Path> nodes() throws Exception {
        String more = Objects.requireNonNullElse(System.getenv("SONDE_NODES"), "");
        Path[] places =
                Stream.concat(
                                Stream.of(
                                        "/usr",
                                        System.getProperty("user.home") + "/.nvm/versions/node"),
                                Stream.of(more.split(":")).filter(place -> !place.isEmpty()))
                        .map(Path::of)
                        .toArray(Path[]::new);
        List<Path> found = ParentCalls.programs(".*/bin/node", places);
        return found.isEmpty() ? List.of(Path.of("/usr/bin/node")) : found;
    }

    @ParameterizedTest
    @MethodSource("nodes")
    void namesAreWhatTheProgramSays(Path node) throws Exception {
        ParentCalls recorded = ParentCalls.record(folder, node, "stacks.js");
        List<ParentCalls.ParentCall> calls = recorded.calls();
        assertThat(calls).hasSameSizeAs(recorded.told);
        List<String> wrong = new ArrayList<>();
        for (int i = 0; i < calls.size(); i++) {
            List<String> own = List.of(recorded.told.get(i).split("\t"));
            List<String> seen = calls.get(i).names();
            // The getter of ppid is Node's own; timers call main.
            seen.subList(0, Math.max(0, seen.indexOf("leaf"))).clear();
            own = own.subList(0, own.indexOf("main") + 1);
            seen = seen.subList(0, seen.indexOf("main") + 1);
            if (!own.equals(seen)) {
                wrong.add(own + " but " + seen);
            }
        }
        assertThat(calls).hasSizeGreaterThan(100);
        String first = wrong.isEmpty() ? "" : wrong.getFirst();
        assertThat(wrong.size())
                .as("of %d: %s", calls.size(), first)
                .isLessThanOrEqualTo(calls.size() / 50);
    }
}
