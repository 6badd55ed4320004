package sonde.recording.text;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.event.FrameNames;
import sonde.event.KernelIdentity;
import sonde.event.Lane;
import sonde.event.Recording;
import sonde.event.Source;
import sonde.recording.ftrace.FieldText;
import sonde.recording.ftrace.ListingRequest;
import sonde.recording.ftrace.ListingStyle;
import sonde.recording.ftrace.RowText;

/**
 * A text that a tracing tool printed, as events. Opening reads it once, for the types of its events
 * and the order of its times; each lane reads it again.
 */
public final class TextRecording implements Recording, ListingStyle {
    private final Input input;
    private final TextFormat format;
    private final MemorySegment text;
    private final TextModel model;
    private final Source source;
    private final @Nullable RowSorter[] orders;

    private TextRecording(Input input, TextFormat format, MemorySegment text) {
        this.input = input;
        this.format = format;
        this.text = text;
        this.model = format.model();
        boolean[] unsorted = survey();
        source = new Source(format.fileName(), model.clock(), model.schema.build());
        model.learning = false;
        orders = new RowSorter[unsorted.length];
        sort(unsorted);
    }

    /**
     * Reads a text of any format of {@link TextFormat}.
     *
     * @param input is not closed by the recording, and must stay open as long as it
     * @throws MalformedInputException when it is none of them
     */
    public static TextRecording open(Input input) throws MalformedInputException {
        TextFormat format = TextFormat.of(input);
        if (format == null) {
            throw new MalformedInputException("text", "first lines", 0, "no format known to us");
        }
        return new TextRecording(input, format, format.content(input));
    }

    private LineWindow lines() {
        return new LineWindow(text, 0, text.byteSize());
    }

    /** Learns the types; which buffers are not sorted by time. */
    private boolean[] survey() {
        TextItems items = model.items(lines());
        long[] last = new long[model.buffers.size() + 64];
        boolean[] unsorted = new boolean[last.length];
        java.util.Arrays.fill(last, Long.MIN_VALUE);
        long corrupt = 0;
        while (items.next()) {
            corrupt += items.corrupt();
            int buffer = items.buffer();
            for (int row = 0; row < items.rows(); row++) {
                items.learn(row);
                long time = items.time(row);
                unsorted[buffer] |= time < last[buffer];
                last[buffer] = time;
            }
        }
        if (corrupt > 0) {
            model.note(corrupt + (corrupt == 1 ? " line" : " lines") + " could not be read.");
        }
        if (model.schema.isFull()) {
            model.note("More than " + TextSchema.MOST_NAMES + " names of events: the rest is one.");
        }
        return java.util.Arrays.copyOf(unsorted, model.buffers.size());
    }

    private void sort(boolean[] unsorted) {
        boolean any = false;
        for (int buffer = 0; buffer < unsorted.length; buffer++) {
            orders[buffer] = unsorted[buffer] ? new RowSorter() : null;
            any |= unsorted[buffer];
        }
        if (!any) {
            return;
        }
        TextItems items = model.items(lines());
        while (items.next()) {
            int buffer = items.buffer();
            RowSorter order = orders[buffer];
            for (int row = 0; order != null && row < items.rows(); row++) {
                if (!order.add(items.time(row), items.offset(), row)) {
                    model.note("Too long to be sorted: late rows have the time before them.");
                    orders[buffer] = null;
                    break;
                }
            }
        }
        for (RowSorter order : orders) {
            if (order != null) {
                order.sort();
            }
        }
    }

    /** Which format it is. */
    public TextFormat format() {
        return format;
    }

    @Override
    public List<Source> sources() {
        return List.of(source);
    }

    @Override
    public List<Lane> lanes() {
        List<Lane> lanes = new ArrayList<>();
        for (int buffer = 0; buffer < orders.length; buffer++) {
            TextItems items = model.items(lines());
            lanes.add(
                    new TextLane(
                            source, items, model.buffers.text(buffer), buffer, orders[buffer]));
        }
        return lanes;
    }

    @Override
    public List<String> notes() {
        return List.copyOf(model.notes());
    }

    @Override
    public @Nullable FrameNames frames() {
        return model.frames.isEmpty() ? null : model.frames;
    }

    /** The first name of each thread that the text tells. */
    @Override
    public Optional<Map<Integer, String>> threadNames() {
        return Optional.of(model.comms.all());
    }

    /** The architecture is the one that its system calls belong to. */
    @Override
    public KernelIdentity kernel() {
        return KernelIdentity.of("", "", model.machine());
    }

    @Override
    public List<String> moreCalls() {
        return model.moreCalls();
    }

    /** Writes rows as lines: {@code comm-tid [cpu] time: event: what the text has behind it}. */
    @Override
    public RowText text(Source of, ListingRequest request) {
        // A line of strace is two rows and more, each a part of it; an entry of hist several lines.
        boolean asFields = format == TextFormat.STRACE || format == TextFormat.HISTOGRAM;
        FieldText.Details details =
                asFields || format == TextFormat.PROBE_PROFILE
                        ? FieldText.Details.FIELDS
                        : new TextRows(source, text);
        return new FieldText(source, request.threads(), frames(), details);
    }

    @Override
    public void close() {
        input.close();
    }
}
