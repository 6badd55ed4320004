package sonde.exchange.heap;

import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.zip.GZIPOutputStream;
import sonde.event.heap.HeapProfile;
import sonde.event.heap.HeapStack;
import sonde.event.heap.HeapSums;
import sonde.event.result.Frame;
import sonde.exchange.ProtoBuffer;

/**
 * Writes a profile in pprof's format (google/pprof, {@code profile.proto}) with the sample types of
 * Go, and those of the peak, as far as they are known.
 */
public final class PprofHeapWriter {
    private record SampleType(String name, String unit, ToLongFunction<HeapSums> value) {}

    private static final List<SampleType> TYPES =
            List.of(
                    new SampleType("alloc_objects", "count", HeapSums::calls),
                    new SampleType("alloc_space", "bytes", HeapSums::bytes),
                    new SampleType("peak_objects", "count", HeapSums::peakBlocks),
                    new SampleType("peak_space", "bytes", HeapSums::peakBytes),
                    new SampleType("inuse_objects", "count", HeapSums::liveBlocks),
                    new SampleType("inuse_space", "bytes", HeapSums::liveBytes));

    private final Map<String, Integer> strings = new LinkedHashMap<>();
    private final Map<Frame, Integer> frames = new LinkedHashMap<>();
    private final Map<String, Integer> modules = new LinkedHashMap<>();

    private PprofHeapWriter() {
        string("");
    }

    /** Writes a whole profile, compressed; {@code out} stays open. */
    public static void write(HeapProfile profile, OutputStream out) throws IOException {
        GZIPOutputStream zipped = new GZIPOutputStream(out, 1 << 16);
        new PprofHeapWriter().message(profile).drainTo(zipped);
        zipped.finish();
    }

    private ProtoBuffer message(HeapProfile profile) {
        ProtoBuffer message = new ProtoBuffer();
        List<SampleType> known = new ArrayList<>();
        for (SampleType type : TYPES) {
            if (profile.stacks().stream()
                    .allMatch(stack -> type.value.applyAsLong(stack.sums()) != HeapSums.UNKNOWN)) {
                known.add(type);
                message.message(
                        1,
                        new ProtoBuffer()
                                .integer(1, string(type.name))
                                .integer(2, string(type.unit)));
            }
        }
        for (HeapStack stack : profile.stacks()) {
            long[] places = stack.frames().stream().mapToLong(this::number).toArray();
            long[] values =
                    known.stream()
                            .mapToLong(type -> type.value.applyAsLong(stack.sums()))
                            .toArray();
            message.message(2, new ProtoBuffer().packed(1, places).packed(2, values));
        }
        frames.forEach((frame, id) -> {
            int module = modules.computeIfAbsent(frame.module(), made -> modules.size() + 1);
            ProtoBuffer line = new ProtoBuffer().integer(1, id).integer(2, frame.line());
            message.message(
                    4, new ProtoBuffer().integer(1, id).integer(2, module).message(4, line));
            ProtoBuffer function =
                    new ProtoBuffer().integer(1, id).integer(2, string(frame.name()));
            message.message(5, function.integer(4, string(frame.file())));
        });
        modules.forEach((module, id) ->
                message.message(
                        3,
                        new ProtoBuffer().integer(1, id).integer(5, string(module)).integer(7, 1)));
        strings.keySet().forEach(text -> message.text(6, text));
        return profile.nanos() > 0 ? message.integer(10, profile.nanos()) : message;
    }

    private int string(String text) {
        return strings.computeIfAbsent(text, made -> strings.size());
    }

    private long number(Frame frame) {
        return frames.computeIfAbsent(frame, made -> frames.size() + 1);
    }
}
