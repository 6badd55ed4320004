package sonde.recording.perfdata;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import sonde.binary.FieldCursor;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.recording.perfdata.PerfDataWriter.FeatureSection;

/**
 * What stands before the records: struct perf_file_header of tools/perf/util/header.h, or struct
 * perf_pipe_file_header, which is its first 16 bytes.
 *
 * @param order of every integer in the file
 * @param pipe whether attrs and features come as records
 * @param attrs events of a file, in its order, names empty; none in pipe mode
 * @param dataOffset where the records begin
 * @param dataEnd where they end
 * @param finished false when the recorder did not write the size of the data
 * @param features where their contents lie, by number
 * @param eventTypes names of events by number, of perf before 3.3; pipes add to it
 * @param notes what was odd
 */
record PerfHeader(
        ByteOrder order,
        boolean pipe,
        List<AttrEntry> attrs,
        long dataOffset,
        long dataEnd,
        boolean finished,
        SortedMap<Integer, FeatureSection> features,
        SortedMap<Long, String> eventTypes,
        List<String> notes) {
    static final String FORMAT = "perf.data";

    // "PERFFILE", the magic before 3.2; it does not tell the byte order.
    private static final long MAGIC_1 = 0x454c494646524550L;
    private static final int PIPE_HEADER_BYTES = 16;
    private static final int MOST_ATTRS = 1 << 16;
    private static final int MOST_IDS = 1 << 22;

    // struct perf_trace_event_type: u64 event_id, char name[64]
    private static final int EVENT_TYPE_BYTES = 72;

    /** Whether it begins with one of the magics. */
    static boolean isPerfData(Input input) {
        if (input.sizeBytes() < 8) {
            return false;
        }
        long magic =
                input.segment()
                        .get(ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN), 0);
        return magic == PerfDataWriter.MAGIC
                || Long.reverseBytes(magic) == PerfDataWriter.MAGIC
                || magic == MAGIC_1;
    }

    static PerfHeader read(Input input) throws MalformedInputException {
        FieldCursor probe = new FieldCursor(FORMAT, input.segment(), ByteOrder.LITTLE_ENDIAN);
        long magic = probe.u64("magic");
        long size = probe.u64("header size");
        ByteOrder order;
        if (magic == PerfDataWriter.MAGIC) {
            order = ByteOrder.LITTLE_ENDIAN;
        } else if (Long.reverseBytes(magic) == PerfDataWriter.MAGIC) {
            order = ByteOrder.BIG_ENDIAN;
        } else if (magic == MAGIC_1) {
            order = size >>> 32 == 0 ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN;
        } else {
            throw new MalformedInputException(
                    FORMAT, "magic", 0, String.format("0x%016x, no perf.data", magic));
        }
        size = order == ByteOrder.LITTLE_ENDIAN ? size : Long.reverseBytes(size);
        if (size == PIPE_HEADER_BYTES) {
            return new PerfHeader(
                    order,
                    true,
                    List.of(),
                    PIPE_HEADER_BYTES,
                    input.sizeBytes(),
                    true,
                    new TreeMap<>(),
                    new TreeMap<>(),
                    List.of());
        }
        if (size < PerfDataWriter.FILE_HEADER_BYTES - 32 || size > 1 << 16) {
            throw new MalformedInputException(
                    FORMAT, "header size", 8, Long.toUnsignedString(size));
        }
        return new FileHeader(input, order, size).read();
    }

    /** The longer form. */
    private static final class FileHeader {
        private final Input input;
        private final ByteOrder order;
        private final long headerBytes;
        private final FieldCursor cursor;
        private final List<String> notes = new ArrayList<>();

        FileHeader(Input input, ByteOrder order, long headerBytes) {
            this.input = input;
            this.order = order;
            this.headerBytes = headerBytes;
            this.cursor = new FieldCursor(FORMAT, input.segment(), order);
        }

        PerfHeader read() throws MalformedInputException {
            cursor.seek("header", 16);
            long attrEntryBytes = cursor.u64("attr_size");
            FeatureSection attrs = section("attrs");
            FeatureSection data = section("data");
            FeatureSection types = section("event_types");
            long[] bitmap = new long[PerfFeatures.MAX_FEATURES / Long.SIZE];
            if (headerBytes >= PerfDataWriter.FILE_HEADER_BYTES) {
                for (int i = 0; i < bitmap.length; i++) {
                    bitmap[i] = cursor.u64("feature bitmap");
                }
            }
            List<AttrEntry> entries = attrs(attrs, attrEntryBytes);
            long dataOffset = data.offset();
            if (dataOffset < 0 || dataOffset > input.sizeBytes()) {
                throw new MalformedInputException(
                        FORMAT, "data offset", 40, Long.toUnsignedString(dataOffset));
            }
            boolean finished = data.sizeBytes() != 0;
            long room = input.sizeBytes() - dataOffset;
            long dataBytes = data.sizeBytes();
            if (!finished) {
                notes.add(
                        String.format(
                                "%s: the recorder did not finish this file (its data.size is 0):"
                                        + " read from byte %d to the last whole record before byte %d;"
                                        + " names and build ids may be missing",
                                input.name(), dataOffset, input.sizeBytes()));
                dataBytes = room;
            } else if (dataBytes < 0 || dataBytes > room) {
                notes.add(
                        String.format(
                                "%s is cut at byte %d: of %s bytes of records %d are there, header"
                                        + " features (names, formats, build ids) are missing",
                                input.name(),
                                input.sizeBytes(),
                                Long.toUnsignedString(dataBytes),
                                room));
                dataBytes = room;
            }
            SortedMap<Integer, FeatureSection> features = new TreeMap<>();
            if (!finished) {
                features = early(dataOffset);
            } else if (dataBytes == data.sizeBytes()) {
                features = features(bitmap, dataOffset + dataBytes);
            }
            return new PerfHeader(
                    order,
                    false,
                    entries,
                    dataOffset,
                    dataOffset + dataBytes,
                    finished,
                    features,
                    eventTypes(types),
                    notes);
        }

        private SortedMap<Long, String> eventTypes(FeatureSection place)
                throws MalformedInputException {
            SortedMap<Long, String> names = new TreeMap<>();
            long count = Math.min(place.sizeBytes() / EVENT_TYPE_BYTES, MOST_ATTRS);
            for (long i = 0; i < count; i++) {
                long at = place.offset() + i * EVENT_TYPE_BYTES;
                if (at < 0 || at > input.sizeBytes() - EVENT_TYPE_BYTES) {
                    notes.add("names of events lie outside the file: left out");
                    break;
                }
                cursor.seek("event type", at);
                long id = cursor.u64("event type id");
                byte[] name = cursor.bytes("event type name", EVENT_TYPE_BYTES - 8);
                names.put(id, FeatureReader.untilNul(name));
            }
            return names;
        }

        private FeatureSection section(String field) throws MalformedInputException {
            return new FeatureSection(cursor.u64(field + " offset"), cursor.u64(field + " size"));
        }

        private List<AttrEntry> attrs(FeatureSection place, long entryBytes)
                throws MalformedInputException {
            if (place.sizeBytes() == 0) {
                return List.of();
            }
            if (entryBytes < PerfAbi.PERF_ATTR_SIZE_VER0 + 16 || entryBytes > 4096) {
                throw new MalformedInputException(
                        FORMAT, "attr_size", 16, Long.toUnsignedString(entryBytes));
            }
            int count =
                    cursor.bounded(
                            "attrs",
                            Long.divideUnsigned(place.sizeBytes(), entryBytes),
                            MOST_ATTRS);
            List<AttrEntry> entries = new ArrayList<>();
            int ids = 0;
            for (int i = 0; i < count; i++) {
                cursor.seek("attr", place.offset() + i * entryBytes);
                byte[] attr = cursor.bytes("attr", entryBytes - 16);
                FeatureSection at = section("ids");
                cursor.seek("ids", at.sizeBytes() == 0 ? 0 : at.offset());
                long[] values =
                        new long[cursor.bounded("ids", at.sizeBytes() >>> 3, MOST_IDS - ids)];
                ids += values.length;
                for (int j = 0; j < values.length; j++) {
                    values[j] = cursor.u64("id");
                }
                entries.add(new AttrEntry(FeatureReader.attr(attr, order), values, ""));
            }
            return entries;
        }

        /** The table {offset, size}* behind the data, in the order of the bits. */
        private SortedMap<Integer, FeatureSection> features(long[] bitmap, long table) {
            SortedMap<Integer, FeatureSection> found = new TreeMap<>();
            try {
                cursor.seek("feature table", table);
                for (int feature = 0; feature < PerfFeatures.MAX_FEATURES; feature++) {
                    if ((bitmap[feature / Long.SIZE] >>> feature & 1) == 0) {
                        continue;
                    }
                    FeatureSection place = section("feature " + feature);
                    if (place.offset() >= 0
                            && place.sizeBytes() >= 0
                            && place.offset() <= input.sizeBytes() - place.sizeBytes()) {
                        found.put(feature, place);
                    } else {
                        notes.add(
                                String.format(
                                        "%s ends at byte %d: feature %d (bytes %s to %s) is left"
                                                + " out",
                                        input.name(),
                                        input.sizeBytes(),
                                        feature,
                                        Long.toUnsignedString(place.offset()),
                                        Long.toUnsignedString(place.offset() + place.sizeBytes())));
                    }
                }
            } catch (MalformedInputException e) {
                notes.add(input.name() + ": features are missing: " + e.getMessage());
            }
            return found;
        }

        /** What {@link PerfDataWriter} puts before the data of a file that is not finished. */
        private SortedMap<Integer, FeatureSection> early(long dataOffset)
                throws MalformedInputException {
            int bitmapBytes = PerfFeatures.MAX_FEATURES / 8;
            if (dataOffset < PerfDataWriter.FILE_HEADER_BYTES + bitmapBytes + 8) {
                return new TreeMap<>();
            }
            cursor.seek("early features", dataOffset - 8);
            if (cursor.u64("early features") != PerfDataWriter.EARLY_MAGIC) {
                return new TreeMap<>();
            }
            cursor.seek("early features", dataOffset - 8 - bitmapBytes);
            long[] bitmap = new long[bitmapBytes / 8];
            long count = 0;
            for (int i = 0; i < bitmap.length; i++) {
                bitmap[i] = cursor.u64("early feature bitmap");
                count += Long.bitCount(bitmap[i]);
            }
            return features(bitmap, dataOffset - 8 - bitmapBytes - 16 * count);
        }
    }
}
