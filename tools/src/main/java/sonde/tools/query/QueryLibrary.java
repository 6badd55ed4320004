package sonde.tools.query;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import sonde.event.result.Document;
import sonde.event.result.Listing;
import sonde.event.result.Result;

/** Queries that come with sonde: a .sql file each, whose first line says what it answers. */
public final class QueryLibrary {
    private static final List<String> NAMES =
            List.of(
                    """
                    run-queue-latency longest-blocked syscall-latency wake-up-chains \
                    critical-path irq-time block-io page-cache-misses \
                    lock-contention lost-events\
                    """
                            .split(" "));

    private QueryLibrary() {}

    /**
     * A query.
     *
     * @param description one line
     */
    public record Query(String name, String description, String sql) {}

    /** All of them. */
    static List<Query> all() {
        return NAMES.stream().map(QueryLibrary::read).toList();
    }

    /** The query of that name. */
    public static Optional<Query> named(String name) {
        return NAMES.contains(name) ? Optional.of(read(name)) : Optional.empty();
    }

    /** Names and what each answers. */
    public static Result listing() {
        List<Query> all = all();
        return new Document(
                out -> {
                    out.beginArray();
                    for (Query query : all) {
                        out.beginObject();
                        out.field("name", query.name());
                        out.field("description", query.description());
                        out.endObject();
                    }
                    out.endArray();
                },
                Listing.ofLines(out -> {
                    for (Query query : all) {
                        out.printf("%-20s %s%n", query.name(), query.description());
                    }
                }));
    }

    private static Query read(String name) {
        try (InputStream in = QueryLibrary.class.getResourceAsStream("library/" + name + ".sql")) {
            if (in == null) {
                throw new IllegalStateException("no query " + name);
            }
            String sql = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            String first = sql.lines().findFirst().orElse("");
            return new Query(name, first.substring(Math.min(3, first.length())), sql);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
