package sonde.lang.output;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.SeriesType;

/** A time series: the value of each interval that has one, as a drawing or as JSON. */
final class SeriesTable {
    private static final int WIDTH = 53;
    private static final int PADDING = 21;
    private static final int BUCKET_BYTES = 24;
    private static final long SECOND = 1_000_000_000;

    private record Point(long interval, @Nullable Long value) {}

    /** A part of a second: name and digits. */
    private record TimeUnitPart(String name, int digits, long nanos) {}

    private static final List<TimeUnitPart> UNITS =
            List.of(
                    new TimeUnitPart("s", 0, SECOND),
                    new TimeUnitPart("ms", 3, 1_000_000),
                    new TimeUnitPart("\u03bcs", 6, 1_000),
                    new TimeUnitPart("ns", 9, 1));

    private final SeriesType type;
    private final Map<Long, Long> values = new HashMap<>();
    private long latest;

    private SeriesTable(SeriesType type) {
        this.type = type;
    }

    /** What the bytes of a value hold; intervals without a value are all zeros. */
    static SeriesTable of(SeriesType type, byte[] bytes, int at) {
        SeriesTable table = new SeriesTable(type);
        for (int i = 0; i < type.buckets() && at + i * BUCKET_BYTES < bytes.length; i++) {
            int from = at + i * BUCKET_BYTES;
            long value = ValueBytes.u64(bytes, from);
            long meta = ValueBytes.u64(bytes, from + 8);
            long interval = ValueBytes.u64(bytes, from + 16);
            if (interval == 0) {
                // bpftrace takes the very first interval for one that was never used.
                if (value != 0 || meta != 0) {
                    table.values.putIfAbsent(0L, 0L);
                }
                continue;
            }
            if (type.kind() == ValueType.SeriesKind.AVERAGE && meta != 0) {
                value = type.signed() ? value / meta : Long.divideUnsigned(value, meta);
            }
            table.values.putIfAbsent(interval, value);
            if (Long.compareUnsigned(interval, table.latest) > 0) {
                table.latest = interval;
            }
        }
        return table;
    }

    /** Number of the last interval that has a value, 0 for none. */
    long latest() {
        return latest;
    }

    /** From the first interval with a value to the last one of the map. */
    private List<Point> points(long last) {
        long earliest = last - type.buckets() + 1;
        List<Point> points = new ArrayList<>();
        if (Long.compareUnsigned(earliest, last) > 0) {
            return points;
        }
        for (long i = 0; i < type.buckets(); i++) {
            Long value = values.get(earliest + i);
            if (value != null || !points.isEmpty() || i == type.buckets() - 1) {
                points.add(new Point(earliest + i, value));
            }
        }
        return points;
    }

    /** Objects with interval_start, in UTC, and value. */
    void writeJson(long last, TextSink out) {
        out.put('[');
        boolean isFirst = true;
        for (Point point : points(last)) {
            if (point.value != null) {
                out.put(isFirst ? "{\"interval_start\":\"" : ",{\"interval_start\":\"");
                isFirst = false;
                start(point, out);
                out.put("\",\"value\":");
                number(point.value, out);
                out.put('}');
            }
        }
        out.put(']');
    }

    /** A list for each interval that has a value: its start, in UTC, and the value. */
    List<List<String>> rows(long last) {
        List<List<String>> rows = new ArrayList<>();
        TextSink start = TextSink.raw();
        for (Point point : points(last)) {
            Long value = point.value;
            if (value != null) {
                start.clear();
                start(point, start);
                String text = type.signed() ? value.toString() : Long.toUnsignedString(value);
                rows.add(List.of(start.toString(), text));
            }
        }
        return rows;
    }

    /** When an interval begins, in UTC. */
    private void start(Point point, TextSink out) {
        LocalDateTime time = time(point, ZoneOffset.UTC);
        out.digits(time.getYear(), 4);
        out.put('-');
        out.digits(time.getMonthValue(), 2);
        out.put('-');
        out.digits(time.getDayOfMonth(), 2);
        out.put(' ');
        clock(time, UNITS.getLast(), out);
    }

    private LocalDateTime time(Point point, ZoneId zone) {
        long nanos = point.interval * type.intervalNanos();
        Instant instant =
                Instant.ofEpochSecond(Math.floorDiv(nanos, SECOND), Math.floorMod(nanos, SECOND));
        return LocalDateTime.ofInstant(instant, zone);
    }

    private static void clock(LocalDateTime time, TimeUnitPart unit, TextSink out) {
        out.digits(time.getHour(), 2);
        out.put(':');
        out.digits(time.getMinute(), 2);
        out.put(':');
        out.digits(time.getSecond(), 2);
        if (unit.digits > 0) {
            out.put('.');
            out.digits(time.getNano() / unit.nanos, unit.digits);
        }
    }

    private void number(long value, TextSink out) {
        if (type.signed()) {
            out.decimal(value);
        } else {
            out.unsigned(value);
        }
    }

    /** A line for each interval with a star where its value lies between the least and the most. */
    void write(long last, ZoneId zone, TextSink out) {
        List<Point> points = points(last);
        if (points.isEmpty()) {
            out.put("<no data>");
            return;
        }
        Scale scale = scale(points);
        TimeUnitPart unit = unit(points);
        String format = unit.digits == 0 ? "hh:mm:ss" : "hh:mm:ss." + unit.name;
        int timeWidth = unit.digits == 0 ? 8 : 9 + unit.digits;
        out.fill(' ', timeWidth + 1);
        bounds(scale, out);
        int start = out.size();
        out.put(format);
        out.fill(' ', start + timeWidth + 1 - out.size());
        out.put('|');
        out.fill('_', WIDTH - 2);
        out.put("|\n");
        for (Point point : points) {
            clock(time(point, zone), unit, out);
            out.put(' ');
            line(point.value, scale, out);
            out.put(' ');
            if (point.value == null) {
                out.put('-');
            } else {
                number(point.value, out);
            }
            out.put('\n');
        }
        out.fill(' ', timeWidth + 1);
        out.put('v');
        out.fill('_', WIDTH - 2);
        out.put("v\n");
        out.fill(' ', timeWidth + 1);
        bounds(scale, out);
    }

    private TimeUnitPart unit(List<Point> points) {
        long interval = points.size() > 1 ? type.intervalNanos() : 0;
        for (TimeUnitPart unit : UNITS) {
            if (interval >= unit.nanos) {
                return unit;
            }
        }
        return UNITS.getLast();
    }

    /** What the left and the right edge stand for; {@code known} when there is any value. */
    private record Scale(long min, long max, boolean known) {}

    private Scale scale(List<Point> points) {
        long min = 0;
        long max = 0;
        boolean known = false;
        for (Point point : points) {
            if (point.value != null) {
                min = !known || compare(point.value, min) < 0 ? point.value : min;
                max = !known || compare(point.value, max) > 0 ? point.value : max;
                known = true;
            }
        }
        if (known && min == max) {
            min -= min != (type.signed() ? Long.MIN_VALUE : 0) ? 1 : 0;
            max += max != (type.signed() ? Long.MAX_VALUE : -1) ? 1 : 0;
        }
        return new Scale(min, max, known);
    }

    private int compare(long one, long other) {
        return type.signed() ? Long.compare(one, other) : Long.compareUnsigned(one, other);
    }

    private void bounds(Scale scale, TextSink out) {
        int start = out.size();
        bound(scale, scale.min, out);
        out.fill(' ', start + PADDING - out.size());
        start = out.size();
        bound(scale, scale.max, out);
        out.pad(start, WIDTH - PADDING, false);
        out.put('\n');
    }

    private void bound(Scale scale, long value, TextSink out) {
        if (scale.known) {
            number(value, out);
        } else {
            out.put("null");
        }
    }

    private void line(@Nullable Long value, Scale scale, TextSink out) {
        int start = out.size();
        out.put('|');
        out.fill(' ', WIDTH - 2);
        out.put('|');
        float whole = scale.min - scale.max;
        if (type.signed() && scale.min < 0 && scale.max > 0) {
            int zero = (int) (WIDTH * (float) scale.min / whole);
            if (zero > 0) {
                out.set(start + Math.min(WIDTH - 1, zero), '.');
            }
        }
        if (value != null) {
            float part = scale.min - value;
            int place = scale.min == scale.max ? WIDTH / 2 : (int) ((WIDTH - 1) * part / whole);
            out.set(start + Math.clamp(place, 0, WIDTH - 1), '*');
        }
    }
}
