package sonde.format.tracedat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.event.Clock;
import sonde.format.Cursor;
import sonde.format.Input;
import sonde.format.MalformedInputException;

/** Walks the structure of a trace.dat, versions 6 and 7. */
final class TraceDatParser {
    static final byte[] MAGIC = {0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g'};
    private static final String FORMAT = "trace.dat";
    private static final int MOST_FORMATS = 100_000;
    private static final int MOST_CPUS = 1 << 16;
    private static final int MOST_PAGE_BYTES = 64 << 20;
    private static final int MOST_NAME_BYTES = 4096;
    private static final int MOST_OPTIONS = 100_000;
    // Tags of v6 fill ten bytes, NUL included.
    private static final int TAG_BYTES = 10;

    private final Input input;
    private final Cursor cursor;
    private final Content content;
    private final List<Instance> instances = new ArrayList<>();
    private int pageBytes;
    private Compression compression = Compression.NONE;

    /** An instance that v6's options name: its data directory comes at that offset. */
    private record Instance(String name, long offset) {}

    private TraceDatParser(Input input, ByteOrder order) {
        this.input = input;
        this.cursor = new Cursor(FORMAT, input.segment(), order);
        this.content = new Content(order);
    }

    static Content parse(Input input) throws IOException {
        Cursor start = new Cursor(FORMAT, input.segment(), ByteOrder.nativeOrder());
        if (!Arrays.equals(
                start.bytes("magic", Math.min(MAGIC.length, start.remaining())), MAGIC)) {
            throw new MalformedInputException(FORMAT, "magic", 0, "no trace.dat");
        }
        String version = start.text("version", 16);
        int endian = start.u8("endian");
        if (endian > 1) {
            throw start.malformed("endian", Integer.toString(endian));
        }
        TraceDatParser parser =
                new TraceDatParser(
                        input, endian == 0 ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN);
        parser.cursor.seek("long size", start.position());
        // User space's long; the kernel's is the size of commit in header_page.
        parser.cursor.u8("long size");
        parser.pageBytes = parser.pageBytes();
        switch (version) {
            case "6" -> parser.version6();
            case "7" -> parser.version7();
            default -> throw start.malformed("version", version + ", known are 6 and 7");
        }
        return parser.content;
    }

    private int pageBytes() throws MalformedInputException {
        int value = cursor.bounded("page size", cursor.u32("page size"), MOST_PAGE_BYTES);
        if (value < 64) {
            throw cursor.malformed("page size", Integer.toString(value));
        }
        return value;
    }

    private void version6() throws IOException {
        headerInfo(cursor);
        ftraceFormats(cursor);
        eventFormats(cursor);
        content.kallsyms = cursor.bytes("kallsyms", cursor.u32("kallsyms size"));
        content.printk = cursor.bytes("printk", cursor.u32("printk size"));
        content.cmdlines = cursor.bytes("cmdlines", cursor.u64("cmdlines size"));
        content.cpuCount = cpuCount(cursor.u32("CPU count"));
        directory("");
        for (Instance instance : instances) {
            cursor.seek("buffer " + instance.name, instance.offset);
            directory(instance.name);
        }
    }

    /** Options, then where each CPU's pages lie. */
    private void directory(String buffer) throws IOException {
        content.buffer(buffer);
        int listed = content.cpuCount;
        String tag = tag();
        if (tag.startsWith("options")) {
            options(cursor);
            tag = tag();
        }
        if (tag.startsWith("latency")) {
            content.latencyText = cursor.bytes("latency trace", cursor.remaining());
            content.notes.add("the file holds the text of a latency tracer, no events");
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
            area(buffer, clock, pageBytes, cpu, offset, size, Compression.NONE);
        }
    }

    private String tag() throws MalformedInputException {
        return Content.text(cursor.bytes("tag", TAG_BYTES));
    }

    private void version7() throws IOException {
        String name = cursor.text("compression", MOST_NAME_BYTES);
        cursor.text("compression version", MOST_NAME_BYTES);
        Compression known = Compression.named(name);
        if (known == null) {
            throw cursor.malformed("compression", name + ", known are none, zstd and zlib");
        }
        compression = known;
        long next = cursor.u64("options offset");
        Set<Long> seen = new HashSet<>();
        while (next != 0) {
            if (!seen.add(next) || seen.size() > MOST_OPTIONS) {
                throw new MalformedInputException(FORMAT, "options offset", next, "a loop");
            }
            Cursor section = section(Section.DONE, "options", next);
            next = options(section);
        }
        if (content.headerPage.length == 0) {
            throw new MalformedInputException(
                    FORMAT, "options", input.sizeBytes(), "no header info: the file was not ended");
        }
    }

    private Cursor section(int id, String field, long offset) throws IOException {
        cursor.seek(field + " offset", offset);
        int found = cursor.u16(field + " id");
        if (found != id) {
            throw cursor.malformed(field + " id", found + ", expected " + id);
        }
        int flags = cursor.u16(field + " flags");
        cursor.u32(field + " string id");
        long size = cursor.u64(field + " size");
        if ((flags & Section.COMPRESSED) != 0) {
            return new Cursor(FORMAT, compression.readBlock(field, cursor), content.order);
        }
        return new Cursor(FORMAT, cursor.slice(field, size), content.order);
    }

    private void metadata(int id, Cursor option) throws IOException {
        long offset = option.u64("section offset");
        switch (id) {
            case Section.HEADER_INFO -> headerInfo(section(id, "header info", offset));
            case Section.FTRACE_EVENTS -> ftraceFormats(section(id, "ftrace events", offset));
            case Section.EVENT_FORMATS -> eventFormats(section(id, "event formats", offset));
            case Section.KALLSYMS -> {
                Cursor kallsyms = section(id, "kallsyms", offset);
                content.kallsyms = kallsyms.bytes("kallsyms", kallsyms.u32("kallsyms size"));
            }
            case Section.PRINTK -> {
                Cursor printk = section(id, "printk", offset);
                content.printk = printk.bytes("printk", printk.u32("printk size"));
            }
            case Section.CMDLINES -> {
                Cursor cmdlines = section(id, "cmdlines", offset);
                content.cmdlines = cmdlines.bytes("cmdlines", cmdlines.u64("cmdlines size"));
            }
            default -> throw option.malformed("section", Integer.toString(id));
        }
    }

    // struct: u64 offset, name, clock, u32 page size, u32 CPUs, {u32 CPU, u64 offset, u64 size}
    private void buffer7(Cursor option) throws IOException {
        long section = option.u64("buffer offset");
        String name = option.text("buffer name", MOST_NAME_BYTES);
        Clock clock = Clock.named(option.text("buffer clock", MOST_NAME_BYTES));
        int subBufferBytes = option.bounded("page size", option.u32("page size"), MOST_PAGE_BYTES);
        if (subBufferBytes < 64) {
            throw option.malformed("page size", Integer.toString(subBufferBytes));
        }
        int cpus = cpuCount(option.u32("buffer CPUs"));
        content.buffer(name);
        Compression used = Compression.NONE;
        if (section <= input.sizeBytes() - 16) {
            cursor.seek("buffer", section);
            cursor.u16("buffer id");
            boolean compressed = (cursor.u16("buffer flags") & Section.COMPRESSED) != 0;
            used = compressed ? compression : Compression.NONE;
        }
        for (int i = 0; i < cpus; i++) {
            int cpu = option.s32("CPU");
            long offset = option.u64("data offset");
            long size = option.u64("data size");
            area(name, clock, subBufferBytes, cpu, offset, size, used);
        }
    }

    /** Reads options up to DONE; the offset of the next options section, 0 for none. */
    private long options(Cursor from) throws IOException {
        boolean sections = from != cursor;
        for (int i = 0; i < MOST_OPTIONS; i++) {
            if (sections && from.remaining() == 0) {
                return 0;
            }
            int id = from.u16("option id");
            if (id == Section.DONE && !sections) {
                return 0;
            }
            MemorySegment bytes = from.slice("option", from.u32("option size"));
            Cursor option = new Cursor(FORMAT, bytes, content.order);
            if (id == Section.DONE) {
                return option.remaining() >= 8 ? option.u64("next options") : 0;
            }
            option(id, option, sections);
        }
        throw from.malformed("options", "more than " + MOST_OPTIONS);
    }

    private void option(int id, Cursor option, boolean sections) throws IOException {
        switch (id) {
            case Section.DATE -> content.timeOffset += number(option) * 1000;
            case Section.OFFSET -> content.timeOffset += number(option);
            case Section.CPUSTAT -> content.cpuStats.add(trimmed(rest(option)));
            case Section.BUFFER -> {
                if (sections) {
                    buffer7(option);
                } else if (instances.size() < MOST_CPUS) {
                    long offset = option.u64("buffer offset");
                    instances.add(new Instance(option.text("name", MOST_NAME_BYTES), offset));
                }
            }
            case Section.TRACECLOCK -> {
                String clock = Content.text(rest(option)).strip();
                content.clock = clock.isEmpty() ? content.clock : clock;
            }
            case Section.UNAME -> content.uname = Content.text(rest(option));
            case Section.VERSION -> content.version = Content.text(rest(option));
            case Section.PROCMAPS -> content.procMaps = rest(option);
            case Section.CPUCOUNT -> content.cpuCount = cpuCount(option.u32("CPU count"));
            case Section.TRACEID -> content.traceId = option.u64("trace id");
            case Section.BUFFER_TEXT ->
                    content.notes.add("the file holds the text of a latency tracer, no events");
            case Section.HEADER_INFO,
                    Section.FTRACE_EVENTS,
                    Section.EVENT_FORMATS,
                    Section.KALLSYMS,
                    Section.PRINTK,
                    Section.CMDLINES ->
                    metadata(id, option);
            default -> {
                // Later versions add options; what they say is not needed to read the events.
            }
        }
    }

    private static byte[] rest(Cursor option) throws MalformedInputException {
        return option.bytes("option", option.remaining());
    }

    private static byte[] trimmed(byte[] text) {
        int length = text.length;
        while (length > 0 && (text[length - 1] == 0 || text[length - 1] == '\n')) {
            length--;
        }
        return Arrays.copyOf(text, length);
    }

    /** DATE and OFFSET are numbers as text, decimal or 0x. */
    private static long number(Cursor option) throws MalformedInputException {
        String text = Content.text(rest(option)).strip();
        try {
            return Long.decode(text);
        } catch (NumberFormatException e) {
            throw option.malformed("time offset", text);
        }
    }

    private int cpuCount(long value) throws MalformedInputException {
        return cursor.bounded("CPU count", value, MOST_CPUS);
    }

    private void headerInfo(Cursor from) throws MalformedInputException {
        tagged(from, "header_page");
        content.headerPage = from.bytes("header_page", from.u64("header_page size"));
        tagged(from, "header_event");
        content.headerEvent = from.bytes("header_event", from.u64("header_event size"));
    }

    private static void tagged(Cursor from, String tag) throws MalformedInputException {
        String found = from.text(tag, tag.length() + 1);
        if (!found.equals(tag)) {
            throw from.malformed(tag, found);
        }
    }

    private void ftraceFormats(Cursor from) throws MalformedInputException {
        formats(from, "ftrace format", content.ftraceFormats);
    }

    private void eventFormats(Cursor from) throws MalformedInputException {
        int systems = from.bounded("systems", from.u32("systems"), MOST_FORMATS);
        for (int i = 0; i < systems; i++) {
            String system = from.text("system", MOST_NAME_BYTES);
            List<byte[]> formats =
                    content.eventFormats.computeIfAbsent(system, name -> new ArrayList<>());
            formats(from, "event format", formats);
        }
    }

    private static void formats(Cursor from, String field, List<byte[]> into)
            throws MalformedInputException {
        int count = from.bounded(field + "s", from.u32(field + "s"), MOST_FORMATS);
        for (int i = 0; i < count; i++) {
            into.add(from.bytes(field, from.u64(field + " size")));
        }
    }

    private void area(
            String buffer,
            Clock clock,
            int subBufferBytes,
            int cpu,
            long offset,
            long size,
            Compression used) {
        if (size == 0) {
            return;
        }
        String where = (buffer.isEmpty() ? "" : buffer + ", ") + "CPU " + cpu;
        long there = input.sizeBytes();
        if (offset < 0 || size < 0 || offset >= there) {
            content.notes.add(where + ": its events are missing, the file ends before them");
            return;
        }
        // Compressed data say themselves how long they are; trace-cmd states some bytes less.
        boolean plain = used == Compression.NONE;
        long left = plain ? Math.min(size, there - offset) : there - offset;
        if (left < size) {
            content.notes.add(where + ": cut after " + left + " of " + size + " bytes");
        }
        content.areas.add(
                new Content.Area(buffer, clock, subBufferBytes, cpu, input, offset, left, used));
    }

    /** Runs of sub-buffers in compressed data: u32 chunks, each a block. */
    static @Nullable MemorySegment chunk(Content.Area area, Cursor chunks) throws IOException {
        if (chunks.remaining() == 0) {
            return null;
        }
        return area.compression().readBlock("chunk", chunks);
    }

    /** The area's bytes where they lie. */
    static MemorySegment bytes(Content.Area area) {
        return area.input().segment().asSlice(area.offset(), area.sizeBytes());
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
