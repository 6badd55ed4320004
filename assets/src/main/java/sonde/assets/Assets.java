package sonde.assets;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;

/** Reads the page's files from this module. */
public final class Assets {
    /** Modules of the page, each after those it imports from. */
    private static final List<String> MODULES =
            List.of(
                    """
                    numbers.js data.js dom.js surface.js rows.js tree.js flame.js \
                    timeline.js curve.js table.js incidents.js main.js\
                    """
                            .split(" "));

    private Assets() {}

    /**
     * The text of one file.
     *
     * @throws IllegalArgumentException when there is no such file
     */
    public static String text(String name) {
        try (InputStream in = Assets.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalArgumentException("no asset " + name);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("asset " + name, e);
        }
    }

    /**
     * All modules as one. Their top-level names are distinct, so that joining them takes no more
     * than leaving out {@code import} lines and the word {@code export}.
     */
    public static String script() {
        return MODULES.stream()
                .flatMap(name -> text(name).lines())
                .filter(line -> !line.startsWith("import "))
                .map(line -> line.startsWith("export ") ? line.substring(7) : line)
                .collect(Collectors.joining("\n", "", "\n"));
    }
}
