package sonde.exchange.export;

import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sonde.event.result.Frame;
import sonde.recording.JsonString;

/**
 * speedscope's JSON: for each track an evented profile of its slices, for each thread and event a
 * sampled one. Ends without a beginning are left out, slices that are open at the end are closed.
 */
final class SpeedscopeWriter implements ExportWriter {
    private final StackNumbers<Frame> stacks = new StackNumbers<>();
    private final Map<String, Evented> evented = new LinkedHashMap<>();
    private final Map<String, Sampled> sampled = new LinkedHashMap<>();
    private final Map<Integer, String> names = new LinkedHashMap<>();

    private static final class Evented {
        final int tid;
        final String id;
        final long start;
        final StringBuilder events = new StringBuilder();
        final Deque<long[]> open = new ArrayDeque<>();
        long last;

        Evented(int tid, String id, long start) {
            this.tid = tid;
            this.id = id;
            this.start = start;
        }

        void event(char type, long frame, long at) {
            last = Math.max(last, at);
            events.append(events.isEmpty() ? "\n" : ",\n").append("{\"type\":\"").append(type);
            events.append("\",\"frame\":").append(frame).append(",\"at\":").append(last);
            events.append('}');
        }

        /** Ends the complete slices that do so until a time. */
        void until(long time) {
            while (!open.isEmpty() && open.getLast()[1] <= time) {
                long[] slice = open.removeLast();
                event('C', slice[0], slice[1]);
            }
        }
    }

    private static final class Sampled {
        final int tid;
        final String event;
        final long start;
        final StringBuilder samples = new StringBuilder();
        final StringBuilder weights = new StringBuilder();
        long sum;

        Sampled(int tid, String event, long start) {
            this.tid = tid;
            this.event = event;
            this.start = start;
        }
    }

    @Override
    public void write(ExportRows rows, OutputStream out, ExportLosses losses) throws IOException {
        names.putAll(rows.comms());
        for (ExportRow row = rows.next(); row != null; row = rows.next()) {
            if (row.is("perf_record", "comm")) {
                names.put(row.tid(), row.text("comm"));
            } else if (row.isSample() || row.is("jdk", "ExecutionSample")) {
                sample(row);
            } else if (row.isFullSample()) {
                sample(row);
                losses.add("fields of " + row.type.qualifiedName());
            } else if (!row.type.system().equals("slice") || !slice(row, losses)) {
                losses.add(row.type.qualifiedName());
            }
        }
        StringBuilder text = new StringBuilder();
        text.append("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n");
        text.append("\"exporter\":\"sonde\",\"activeProfileIndex\":").append(mostSampled());
        text.append(",\"profiles\":[");
        List<String> profiles = new ArrayList<>();
        evented.values().forEach(one -> profiles.add(profile(one)));
        sampled.values().forEach(one -> profiles.add(profile(one)));
        text.append(String.join(",\n", profiles)).append("],\n\"shared\":{\"frames\":[");
        for (int i = 0; i < stacks.frames.size(); i++) {
            Frame frame = stacks.frames.get(i);
            JsonString.append(
                    text.append(i == 0 ? "\n" : ",\n").append("{\"name\":"), frame.name());
            String file = frame.file().isEmpty() ? frame.module() : frame.file();
            if (!file.isEmpty()) {
                JsonString.append(text.append(",\"file\":"), file);
            }
            if (frame.line() > 0) {
                text.append(",\"line\":").append(frame.line());
            }
            text.append('}');
        }
        JsonLinesWriter.drain(text.append("]}}\n"), out);
    }

    /** The profile to look at first: the thread with the most time, else of the most weight. */
    private int mostSampled() {
        int best = 0;
        long most = Long.MIN_VALUE;
        boolean ofTime = false;
        int index = evented.size();
        for (Sampled one : sampled.values()) {
            boolean time = SampleUnits.isOfTime(one.event);
            if (time == ofTime ? one.sum > most : time) {
                best = index;
                most = one.sum;
                ofTime = time;
            }
            index++;
        }
        return best;
    }

    private boolean slice(ExportRow row, ExportLosses losses) {
        String id = row.text("id");
        String key = row.tid() + " " + row.integer("track", 0) + " " + id;
        Evented track =
                evented.computeIfAbsent(key, ignored -> new Evented(row.tid(), id, row.time()));
        Frame frame = new Frame(row.text("name"), row.text("category"), Frame.Kind.USER);
        track.until(row.time());
        switch (row.type.name()) {
            case "begin" -> {
                int number = stacks.frame(frame);
                track.event('O', number, row.time());
                track.open.addLast(new long[] {number, Long.MAX_VALUE});
            }
            case "complete" -> {
                int number = stacks.frame(frame);
                long end = row.time() + row.integer("dur", 0);
                long[] around = track.open.peekLast();
                if (around != null && end > around[1]) {
                    losses.add("part of slice:complete behind the end of the slice around it");
                    end = around[1];
                }
                track.event('O', number, row.time());
                track.open.addLast(new long[] {number, end});
            }
            case "end" -> {
                if (track.open.isEmpty()) {
                    losses.add("slice:end without a beginning");
                } else {
                    track.event('C', track.open.removeLast()[0], row.time());
                }
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private void sample(ExportRow row) {
        String key = row.pid() + " " + row.tid() + " " + row.type.qualifiedName();
        Sampled thread =
                sampled.computeIfAbsent(
                        key, ignored -> new Sampled(row.tid(), row.type.name(), row.time()));
        boolean first = thread.weights.isEmpty();
        thread.samples.append(first ? "[" : ",[");
        List<Frame> frames = row.frames();
        for (int i = frames.size() - 1; i >= 0; i--) {
            thread.samples.append(stacks.frame(frames.get(i))).append(i > 0 ? "," : "");
        }
        thread.samples.append(']');
        long weight = row.batch.weight(row.row);
        thread.weights.append(first ? "" : ",").append(weight);
        thread.sum += weight;
    }

    private StringBuilder head(String type, int tid, String what) {
        StringBuilder text = new StringBuilder("{\"type\":\"").append(type).append("\",\"name\":");
        String name = names.getOrDefault(tid, tid < 0 ? "all threads" : "thread " + tid);
        return JsonString.append(text, what.isEmpty() ? name : name + " " + what);
    }

    private String profile(Evented one) {
        while (!one.open.isEmpty()) {
            long[] slice = one.open.removeLast();
            one.event('C', slice[0], slice[1] == Long.MAX_VALUE ? one.last : slice[1]);
        }
        StringBuilder text = head("evented", one.tid, one.id);
        text.append(",\"unit\":\"nanoseconds\",\"startValue\":").append(one.start);
        text.append(",\"endValue\":").append(Math.max(one.start, one.last));
        return text.append(",\"events\":[").append(one.events).append("]}").toString();
    }

    private String profile(Sampled one) {
        String known = SampleUnits.unit(one.event);
        String unit = known.equals(SampleUnits.COUNT) ? "none" : known;
        String what = one.event.equals("cpu-clock") || one.event.equals("samples") ? "" : one.event;
        long start = unit.equals(SampleUnits.NANOSECONDS) ? one.start : 0;
        StringBuilder text = head("sampled", one.tid, what);
        text.append(",\"unit\":\"").append(unit).append("\",\"startValue\":").append(start);
        text.append(",\"endValue\":").append(start + one.sum);
        text.append(",\"samples\":[").append(one.samples).append("],\"weights\":[");
        return text.append(one.weights).append("]}").toString();
    }
}
