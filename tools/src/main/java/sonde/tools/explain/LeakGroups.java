package sonde.tools.explain;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Puts leaked objects that one place allocated into one incident, those with most bytes first. */
final class LeakGroups implements IncidentFinder.IncidentSink {
    private static final int MOST_GROUPS = 4096;
    private static final int MOST_TASKS = 4;

    /** Leaked objects of one stack. */
    private static final class Leak {
        final Incident first;
        final Set<String> tasks = new LinkedHashSet<>();
        long objects;
        long bytes;
        double youngest = Double.POSITIVE_INFINITY;
        double oldest = -1;

        Leak(Incident first) {
            this.first = first;
        }

        void add(Map<String, String> fields) {
            objects++;
            bytes += number(fields.get("size"));
            if (tasks.size() <= MOST_TASKS) {
                tasks.add(fields.getOrDefault("task", "?") + "/" + fields.getOrDefault("pid", "?"));
            }
            String age = fields.get("age");
            if (age != null && age.matches("\\d{1,12}(?:\\.\\d{1,9})?")) {
                youngest = Math.min(youngest, Double.parseDouble(age));
                oldest = Math.max(oldest, Double.parseDouble(age));
            }
        }

        private static long number(@Nullable String text) {
            return text != null && text.matches("\\d{1,15}") ? Long.parseLong(text) : 0;
        }

        Incident incident() {
            if (objects == 1) {
                return first;
            }
            List<String> details = new ArrayList<>(first.details());
            String ages =
                    oldest < 0 ? "" : "; they are %.0f to %.0f s old".formatted(youngest, oldest);
            List<String> names = new ArrayList<>(tasks);
            boolean isMore = names.size() > MOST_TASKS;
            details.addFirst(
                    "allocated by "
                            + String.join(
                                    ", ", names.subList(0, Math.min(MOST_TASKS, names.size())))
                            + (isMore ? " and others" : "")
                            + ages);
            Map<String, String> fields = new LinkedHashMap<>(first.fields());
            fields.put("objects", Long.toString(objects));
            fields.put("bytes", Long.toString(bytes));
            return first.with(fields, details);
        }
    }

    private final IncidentFinder.IncidentSink sink;
    private final Map<String, Leak> leaks = new LinkedHashMap<>();

    LeakGroups(IncidentFinder.IncidentSink sink) {
        this.sink = sink;
    }

    @Override
    public void incident(Incident incident) throws IOException {
        if (!incident.kind().group().equals("leak") || leaks.size() >= MOST_GROUPS) {
            flush();
        }
        if (!incident.kind().group().equals("leak")) {
            sink.incident(incident);
            return;
        }
        StringBuilder place = new StringBuilder(incident.identity());
        for (LogStack stack : incident.stacks()) {
            stack.frames()
                    .forEach(frame -> place.append('\n').append(frame.function() + frame.offset()));
        }
        leaks.computeIfAbsent(place.toString(), _ -> new Leak(incident)).add(incident.fields());
    }

    /** Passes on what was held back. */
    void flush() throws IOException {
        List<Leak> sorted = new ArrayList<>(leaks.values());
        leaks.clear();
        sorted.sort((a, b) -> Long.compare(b.bytes, a.bytes));
        for (Leak leak : sorted) {
            sink.incident(leak.incident());
        }
    }
}
