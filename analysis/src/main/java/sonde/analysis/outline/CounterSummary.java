package sonde.analysis.outline;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.analysis.Operator;
import sonde.analysis.SourceBindings;
import sonde.analysis.TimeWindow;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.FloatField;
import sonde.event.IntegerField;
import sonde.event.Source;
import sonde.event.StringField;

/** Rows of {@code counter:value} by name: how many, least, most, last. */
public final class CounterSummary implements Operator {
    private static final int MOST_NAMES = 1 << 16;

    private final TimeWindow window;
    private final SourceBindings<Fields> bindings = new SourceBindings<>(Fields::new);
    private final Map<String, CounterTotal> sums = new HashMap<>();

    /** Nothing yet. */
    public CounterSummary(TimeWindow window) {
        this.window = window;
    }

    /** Where name and value lie; null where a type has none. */
    private static final class Fields {
        final int[] codes;
        final @Nullable StringField name;
        final @Nullable FloatField real;
        final @Nullable IntegerField whole;
        final int leastBytes;

        Fields(Source source) {
            EventType type = source.type("counter", "value").orElse(null);
            Field text = field(type, "name");
            Field value = field(type, "value");
            boolean number =
                    value != null
                            && value.kind() == Field.Kind.INTEGER
                            && Integer.bitCount(value.sizeBytes()) == 1;
            boolean fraction = value != null && value.kind() == Field.Kind.FLOAT;
            codes = new int[source.types().size()];
            if (type != null && (number || fraction)) {
                codes[type.id()] = 1;
            }
            name = text != null && text.isText() ? StringField.of(text) : null;
            real = value != null && fraction ? FloatField.of(value) : null;
            whole = value != null && number ? IntegerField.of(value) : null;
            leastBytes = value == null ? 0 : value.offset() + value.sizeBytes();
        }

        private static @Nullable Field field(@Nullable EventType type, String name) {
            return type == null ? null : type.field(name).orElse(null);
        }
    }

    /** The values of a counter. */
    public static final class CounterTotal {
        private final String name;
        private long count;
        private double least = Double.POSITIVE_INFINITY;
        private double most = Double.NEGATIVE_INFINITY;
        private double last;

        private CounterTotal(String name) {
            this.name = name;
        }

        /** What it counts. */
        public String name() {
            return name;
        }

        /** How often it was told. */
        public long count() {
            return count;
        }

        /** The least value. */
        public double least() {
            return least;
        }

        /** The greatest value. */
        public double most() {
            return most;
        }

        /** The latest value. */
        public double last() {
            return last;
        }
    }

    @Override
    public int[] select(Source source) {
        return bindings.of(source).codes;
    }

    @Override
    public void accept(Batch batch, int from, int to) {
        Fields fields = bindings.of(batch);
        for (int row = from; row < to; row++) {
            if (window.contains(batch.time(row)) && batch.payloadBytes(row) >= fields.leastBytes) {
                add(fields, batch, row);
            }
        }
    }

    private void add(Fields fields, Batch batch, int row) {
        String name = fields.name == null ? "" : fields.name.of(batch, row);
        CounterTotal sum = sums.get(name);
        if (sum == null) {
            String key = sums.size() < MOST_NAMES ? name : "…";
            sum = sums.computeIfAbsent(key, CounterTotal::new);
        }
        double value =
                fields.real != null
                        ? fields.real.of(batch, row)
                        : fields.whole == null ? 0 : fields.whole.of(batch, row);
        if (Double.isNaN(value)) {
            return; // told, but not counted
        }
        sum.count++;
        sum.least = Math.min(sum.least, value);
        sum.most = Math.max(sum.most, value);
        sum.last = value;
    }

    /** Every counter, most told first. */
    public List<CounterTotal> sums() {
        List<CounterTotal> all = new ArrayList<>(sums.values());
        all.sort(
                Comparator.comparingLong((CounterTotal sum) -> -sum.count)
                        .thenComparing(sum -> sum.name));
        return all;
    }
}
