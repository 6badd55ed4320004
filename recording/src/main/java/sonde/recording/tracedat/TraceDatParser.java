package sonde.recording.tracedat;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import sonde.binary.FieldCursor;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.event.Clock;
import sonde.recording.tracedat.TraceDatContent.BufferArea;

/**
 * Walks the structure of a trace.dat: its start, which both versions share, and version 6, where
 * one thing follows the other.
 */
final class TraceDatParser {
    static final byte[] MAGIC = {0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g'};
    static final int MOST_PAGE_BYTES = 64 << 20;

    // Tags of v6 fill ten bytes, NUL included.
    private static final int TAG_BYTES = 10;

    private final Input input;
    private final FieldCursor cursor;
    private final TraceDatContent content;
    private final MetadataSections sections;
    private final List<Instance> instances = new ArrayList<>();
    private int pageBytes;

    /** An instance that v6's options name: its data directory comes at that offset. */
    private record Instance(String name, long offset) {}

    private TraceDatParser(Input input, ByteOrder order) {
        this.input = input;
        this.cursor = new FieldCursor(input.name(), input.segment(), order);
        this.content = new TraceDatContent(order, input.name());
        this.sections = new MetadataSections(content);
    }

    static TraceDatContent parse(Input input) throws IOException {
        FieldCursor start = new FieldCursor(input.name(), input.segment(), ByteOrder.nativeOrder());
        if (!hasMagic(input)) {
            throw start.malformed("magic", "no trace.dat");
        }
        start.bytes("magic", MAGIC.length);
        String version = start.text("version", 16);
        int endian = start.u8("endian");
        if (endian > 1) {
            throw start.malformed("endian", Integer.toString(endian));
        }
        TraceDatParser parser =
                new TraceDatParser(
                        input, endian == 0 ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN);
        FieldCursor cursor = parser.cursor;
        TraceDatContent content = parser.content;
        cursor.seek("long size", start.position());
        // User space's long; the kernel's is the size of commit in header_page.
        content.userLongBytes = cursor.u8("long size");
        parser.pageBytes = pageBytes(cursor, cursor.u32("page size"));
        switch (version) {
            case "6" -> parser.version6();
            case "7" -> new SectionReader(input, cursor, content, parser.pageBytes).read();
            default -> throw start.malformed("version", version + ", known are 6 and 7");
        }
        return content;
    }

    static int pageBytes(FieldCursor from, long value) throws MalformedInputException {
        int bytes = from.bounded("page size", value, MOST_PAGE_BYTES);
        if (bytes < 64) {
            throw from.malformed("page size", Integer.toString(bytes));
        }
        return bytes;
    }

    private void version6() throws IOException {
        sections.headerInfo(cursor);
        try {
            sections.ftraceFormats(cursor);
            sections.eventFormats(cursor);
            sections.kallsyms(cursor);
            sections.printk(cursor);
            sections.cmdlines(cursor);
            content.cpuCount =
                    cursor.bounded("CPU count", cursor.u32("CPU count"), OptionReader.MOST_CPUS);
            directory("");
        } catch (MalformedInputException e) {
            content.note("cut or damaged before its events: " + e.reason());
            return;
        }
        String clock = content.clock;
        int cpus = content.cpuCount;
        for (Instance instance : instances) {
            try {
                cursor.seek("buffer " + instance.name, instance.offset);
                directory(instance.name);
            } catch (MalformedInputException e) {
                content.note("buffer " + instance.name + " cannot be read: " + e.reason());
            }
            // Options of an instance are about itself.
            content.clock = clock;
            content.cpuCount = cpus;
        }
    }

    /** Options, then where each CPU's pages lie. */
    private void directory(String buffer) throws IOException {
        content.buffer(buffer);
        int listed = content.cpuCount;
        String tag = tag();
        if (tag.startsWith("options")) {
            new OptionReader(content, new Pointers6()).read(cursor, true);
            tag = tag();
        }
        if (tag.startsWith("latency")) {
            content.latencyText = cursor.bytes("latency trace", cursor.remaining());
            return;
        }
        if (!tag.startsWith("flyrecord")) {
            throw cursor.malformed("data tag", tag);
        }
        // CPUCOUNT comes with the options, the list behind them may be of either length.
        int cpus = Math.max(content.cpuCount, listed);
        Clock clock = Clock.named(content.metadata().clockName());
        for (int cpu = 0; cpu < cpus; cpu++) {
            long offset = cursor.u64("data offset");
            long size = cursor.u64("data size");
            BufferArea area =
                    new BufferArea(
                            buffer,
                            clock,
                            pageBytes,
                            cpu,
                            input,
                            offset,
                            size,
                            0,
                            TraceDatCompression.NONE);
            BufferAreas.add(content, area, size);
        }
    }

    private String tag() throws MalformedInputException {
        return TraceDatContent.text(cursor.bytes("tag", TAG_BYTES));
    }

    /** Version 6 names instances only; everything else has come before the options. */
    private final class Pointers6 implements OptionReader.Pointers {
        @Override
        public void buffer(int id, FieldCursor option) throws IOException {
            if (id == TraceDatNumbers.BUFFER && instances.size() < OptionReader.MOST_CPUS) {
                long offset = option.u64("buffer offset");
                instances.add(new Instance(OptionReader.name(option, "buffer name"), offset));
            }
        }

        @Override
        public void section(int id, long offset) {
            content.note("option " + id + " has no meaning in version 6 and is skipped");
        }
    }

    /** Whether it is worth trying {@link #parse}. */
    static boolean hasMagic(Input input) {
        if (input.sizeBytes() < MAGIC.length) {
            return false;
        }
        byte[] start = input.segment().asSlice(0, MAGIC.length).toArray(ValueLayout.JAVA_BYTE);
        return Arrays.equals(start, MAGIC);
    }
}
