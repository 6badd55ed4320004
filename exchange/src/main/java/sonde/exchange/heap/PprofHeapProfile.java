package sonde.exchange.heap;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sonde.binary.MalformedInputException;
import sonde.event.heap.HeapProfile;
import sonde.event.heap.HeapSums;
import sonde.event.result.Frame;
import sonde.exchange.ProtoReader;
import sonde.recording.LongList;

/**
 * Reads a heap profile in pprof's format (google/pprof, {@code profile.proto}): what Go and
 * tcmalloc write, with the sample types {@code inuse_*} and {@code alloc_*}.
 */
final class PprofHeapProfile {
    private static final String FORMAT = "pprof";
    private static final int MOST_BYTES = 1 << 29;
    private static final int MOST_FRAMES = 4096;
    private static final List<String> TYPES =
            List.of("alloc_objects", "alloc_space", "inuse_objects", "inuse_space");

    private final List<String> strings = new ArrayList<>();
    private final int[] columns = {-1, -1, -1, -1};
    private final Map<Long, Long> mappings = new HashMap<>();
    private final Map<Long, long[]> functions = new HashMap<>();
    private final Map<Long, List<Frame>> locations = new HashMap<>();
    private final StackTotals totals = new StackTotals();

    private PprofHeapProfile() {}

    /** Whether it begins with the type of a sample, a message of two numbers. */
    static boolean isOne(byte[] head) {
        ProtoReader profile = new ProtoReader(FORMAT, MemorySegment.ofArray(head));
        try {
            if (!profile.next() || profile.field() != 1 || profile.wire() != ProtoReader.LENGTH) {
                return false;
            }
            ProtoReader type = profile.message();
            int numbers = 0;
            while (type.next()) {
                numbers++;
                if (type.field() > 2 || type.wire() != ProtoReader.VARINT) {
                    return false;
                }
            }
            return numbers > 0 && profile.next() && profile.field() <= 14;
        } catch (MalformedInputException e) {
            return false;
        }
    }

    static HeapFile read(InputStream in) throws IOException {
        byte[] bytes = in.readNBytes(MOST_BYTES + 1);
        if (bytes.length > MOST_BYTES) {
            throw new MalformedInputException(FORMAT, "size", -1, "more than 512 MiB");
        }
        return new PprofHeapProfile().read(new ProtoReader(FORMAT, MemorySegment.ofArray(bytes)));
    }

    private HeapFile read(ProtoReader profile) throws MalformedInputException {
        List<long[]> types = new ArrayList<>();
        long nanos = HeapSums.UNKNOWN;
        long period = 0;
        ProtoReader first = profile.copy();
        while (first.next()) {
            switch (first.field()) {
                case 1 -> types.add(numbers(first.message(), 3));
                case 3 -> {
                    long[] mapping = numbers(first.message(), 7);
                    mappings.put(mapping[1], mapping[5]);
                }
                case 5 -> {
                    long[] function = numbers(first.message(), 6);
                    functions.put(function[1], function);
                }
                case 6 -> strings.add(first.text());
                case 10 -> nanos = first.value() > 0 ? first.value() : HeapSums.UNKNOWN;
                case 12 -> period = first.value();
                default -> {}
            }
        }
        List<String> names = types.stream().map(type -> string(type[1])).toList();
        for (int i = 0; i < columns.length; i++) {
            columns[i] = names.indexOf(TYPES.get(i));
        }
        // tcmalloc's own names for what lives.
        columns[2] = columns[2] < 0 ? names.indexOf("objects") : columns[2];
        columns[3] = columns[3] < 0 ? names.indexOf("space") : columns[3];
        if (columns[1] < 0 && columns[3] < 0) {
            throw MalformedInputException.refusal(
                    "is a pprof profile of "
                            + String.join(", ", names)
                            + ", not of a heap; sonde report shows it");
        }
        ProtoReader located = profile.copy();
        while (located.next()) {
            if (located.field() == 4) {
                location(located.message());
            }
        }
        while (profile.next()) {
            if (profile.field() == 2) {
                sample(profile.message());
            }
        }
        List<String> notes =
                period > 1
                        ? List.of(
                                "Numbers are estimates: one sample stands for about %,d bytes."
                                        .formatted(period))
                        : List.of();
        HeapProfile whole =
                new HeapProfile(
                        "",
                        FORMAT,
                        nanos,
                        "ns",
                        totals.total(),
                        HeapSums.UNKNOWN,
                        HeapSums.UNKNOWN,
                        totals.stacks(),
                        List.of(),
                        List.of(),
                        List.of(),
                        notes);
        return new HeapFile(whole, List.of(), List.of());
    }

    private String string(long index) {
        return index >= 0 && index < strings.size() ? strings.get((int) index) : "";
    }

    /** The integers of a message by field; those of fields that are not integers stay 0. */
    private static long[] numbers(ProtoReader message, int fields) throws MalformedInputException {
        long[] numbers = new long[fields];
        while (message.next()) {
            if (message.field() < fields && message.wire() == ProtoReader.VARINT) {
                numbers[message.field()] = message.value();
            }
        }
        return numbers;
    }

    /** A function and those that were inlined into it, the innermost first. */
    private void location(ProtoReader message) throws MalformedInputException {
        long id = 0;
        long mapping = 0;
        long address = 0;
        List<long[]> lines = new ArrayList<>();
        while (message.next()) {
            switch (message.field()) {
                case 1 -> id = message.value();
                case 2 -> mapping = message.value();
                case 3 -> address = message.value();
                case 4 -> lines.add(numbers(message.message(), 4));
                default -> {}
            }
        }
        String module = string(mappings.getOrDefault(mapping, 0L));
        List<Frame> frames = new ArrayList<>();
        for (int i = 0; i < lines.size() && i < MOST_FRAMES; i++) {
            long[] function = functions.getOrDefault(lines.get(i)[1], new long[6]);
            long line = lines.get(i)[2];
            frames.add(
                    new Frame(
                            string(function[2]),
                            module,
                            Frame.Kind.USER,
                            i < lines.size() - 1,
                            string(function[4]),
                            line > 0 && line < Integer.MAX_VALUE ? (int) line : 0));
        }
        if (frames.isEmpty()) {
            String hex = Long.toHexString(address);
            frames.add(new Frame("[0x" + hex + "]", module, Frame.Kind.USER));
        }
        locations.put(id, frames);
    }

    private void sample(ProtoReader message) throws MalformedInputException {
        LongList ids = new LongList();
        LongList values = new LongList();
        while (message.next()) {
            if (message.field() == 1) {
                message.integers(ids);
            } else if (message.field() == 2) {
                message.integers(values);
            }
        }
        List<Frame> frames = new ArrayList<>();
        for (int i = 0; i < ids.size() && frames.size() < MOST_FRAMES; i++) {
            frames.addAll(locations.getOrDefault(ids.at(i), List.of()));
        }
        long[] sums = new long[4];
        for (int i = 0; i < 4; i++) {
            long value = columns[i] < 0 ? -1 : values.at(columns[i], 0);
            sums[i] = columns[i] < 0 ? HeapSums.UNKNOWN : Math.max(0, value);
        }
        totals.add(frames, new HeapSums(sums[0], sums[1], sums[2], sums[3], -1, -1, -1, -1));
    }
}
