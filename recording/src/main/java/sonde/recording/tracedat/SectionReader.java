package sonde.recording.tracedat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import sonde.binary.FieldCursor;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.event.Clock;
import sonde.recording.tracedat.SectionSalvage.SalvagedRun;
import sonde.recording.tracedat.SectionSalvage.SalvagedSection;
import sonde.recording.tracedat.TraceDatContent.BufferArea;

/** Version 7: sections that options point to, options in sections of their own. */
final class SectionReader {
    private static final int HEADER_BYTES = 16;
    private static final int MOST_NAME_BYTES = 4096;

    private final Input input;
    private final FieldCursor cursor;
    private final TraceDatContent content;
    private final MetadataSections sections;
    private final int pageBytes;
    private TraceDatCompression compression = TraceDatCompression.NONE;

    /**
     * @param cursor behind the page size
     * @param pageBytes of the machine, for buffers that do not say
     */
    SectionReader(Input input, FieldCursor cursor, TraceDatContent content, int pageBytes) {
        this.input = input;
        this.cursor = cursor;
        this.content = content;
        this.sections = new MetadataSections(content);
        this.pageBytes = pageBytes;
    }

    void read() throws IOException {
        String name = cursor.text("compression", MOST_NAME_BYTES);
        cursor.text("compression version", MOST_NAME_BYTES);
        TraceDatCompression known = TraceDatCompression.named(name);
        if (known == null) {
            throw cursor.malformed("compression", name + ", known are none, zstd and zlib");
        }
        compression = known;
        long next = cursor.u64("options offset");
        long sectionsAt = cursor.position();
        boolean whole = next != 0;
        if (!whole) {
            content.note("the recorder did not finish it: it does not say where its options are");
        }
        Set<Long> seen = new HashSet<>();
        try {
            while (next != 0) {
                if (!seen.add(next) || seen.size() > OptionReader.MOST_OPTIONS) {
                    throw new MalformedInputException(content.name, "options", next, "a loop");
                }
                FieldCursor section = section(TraceDatNumbers.DONE, "options", next);
                next = new OptionReader(content, new Pointers7()).read(section, false);
            }
        } catch (MalformedInputException e) {
            whole = false;
            content.note("its options end early, the file is cut short or damaged: " + e.reason());
        }
        if (!whole || content.headerPage.length == 0) {
            salvage(sectionsAt);
        }
        if (content.headerPage.length == 0) {
            throw new MalformedInputException(
                    content.name,
                    "header info",
                    input.sizeBytes(),
                    "missing: without it no event can be read");
        }
        if (content.buffers.isEmpty()) {
            content.note("it names no buffer, so there are no events");
        }
    }

    private FieldCursor section(int id, String field, long offset) throws IOException {
        cursor.seek(field + " offset", offset);
        int found = cursor.u16(field + " id");
        if (found != id) {
            throw cursor.malformed(field + " id", found + ", expected " + id);
        }
        int flags = cursor.u16(field + " flags");
        cursor.u32(field + " string id");
        long size = cursor.u64(field + " size");
        if ((flags & TraceDatNumbers.COMPRESSED) != 0) {
            return new FieldCursor(
                    content.name, compression.readBlock(field, cursor), content.order);
        }
        return new FieldCursor(content.name, cursor.slice(field, size), content.order);
    }

    /** What the options of this version point to. */
    private final class Pointers7 implements OptionReader.Pointers {
        @Override
        public void buffer(int id, FieldCursor option) throws IOException {
            if (id == TraceDatNumbers.BUFFER) {
                pages(option);
            } else {
                text(option);
            }
        }

        @Override
        public void section(int id, long offset) throws IOException {
            metadata(id, offset);
        }
    }

    private void metadata(int id, long offset) throws IOException {
        try {
            sections.read(id, section(id, "section " + id, offset));
        } catch (MalformedInputException e) {
            content.note("section " + id + " cannot be read: " + e.reason());
        }
    }

    // struct: u64 offset, name, clock, u32 page size, u32 CPUs, {u32 CPU, u64 offset, u64 size}
    private void pages(FieldCursor option) throws IOException {
        long section = option.u64("buffer offset");
        String name = OptionReader.name(option, "buffer name");
        Clock clock = Clock.named(OptionReader.name(option, "buffer clock"));
        int subBufferBytes = TraceDatParser.pageBytes(option, option.u32("page size"));
        int cpus = option.bounded("buffer CPUs", option.u32("buffer CPUs"), OptionReader.MOST_CPUS);
        content.buffer(name);
        TraceDatCompression used = TraceDatCompression.NONE;
        if (section >= 0 && section <= input.sizeBytes() - HEADER_BYTES) {
            cursor.seek("buffer", section);
            cursor.u16("buffer id");
            used =
                    isCompressed(cursor.u16("buffer flags"))
                            ? compression
                            : TraceDatCompression.NONE;
        } else {
            // Its flags are gone with its pages: whatever lies before the end is as elsewhere.
            used = compression;
        }
        for (int i = 0; i < cpus; i++) {
            int cpu = option.s32("CPU");
            long offset = option.u64("data offset");
            long size = option.u64("data size");
            BufferArea area =
                    new BufferArea(name, clock, subBufferBytes, cpu, input, offset, size, 0, used);
            BufferAreas.add(content, area, size);
        }
    }

    private static boolean isCompressed(int flags) {
        return (flags & TraceDatNumbers.COMPRESSED) != 0;
    }

    /** A latency tracer's text: in chunks when compressed, else all that the section has. */
    private void text(FieldCursor option) throws IOException {
        long offset = option.u64("text offset");
        content.buffer(OptionReader.name(option, "buffer name"));
        cursor.seek("latency text", offset);
        cursor.u16("latency text id");
        boolean compressed = isCompressed(cursor.u16("latency text flags"));
        cursor.u32("latency text string id");
        long size = cursor.u64("latency text size");
        if (!compressed) {
            // trace-cmd reads to the end of the file; the size may not have been filled in.
            long there = size <= 0 ? cursor.remaining() : Math.min(size, cursor.remaining());
            content.latencyText = cursor.bytes("latency text", there);
            return;
        }
        long chunks = cursor.u32("latency text chunks");
        List<byte[]> parts = new ArrayList<>();
        long total = 0;
        for (long i = 0; i < chunks && total < TraceDatCompression.MOST_BYTES; i++) {
            byte[] part = compression.readBytes("latency text", cursor);
            total += part.length;
            parts.add(part);
        }
        content.latencyText = SectionSalvage.joined(parts);
    }

    /** Reads what the options would have pointed to. */
    private void salvage(long sectionsAt) throws IOException {
        boolean metadata = content.headerPage.length == 0;
        SectionSalvage salvage = new SectionSalvage(input, cursor);
        for (SalvagedSection found : salvage.sections(sectionsAt)) {
            switch (found.id()) {
                case TraceDatNumbers.DONE -> {
                    if (metadata) {
                        tolerantOptions(found.offset());
                    }
                }
                case TraceDatNumbers.BUFFER -> {
                    if (content.areas.isEmpty()) {
                        buffer(salvage, found);
                    }
                }
                default -> {
                    if (metadata && TraceDatNumbers.isPointer(found.id())) {
                        metadata(found.id(), found.offset());
                    }
                }
            }
        }
    }

    private void tolerantOptions(long offset) throws IOException {
        try {
            FieldCursor section = section(TraceDatNumbers.DONE, "options", offset);
            new OptionReader(content, new Pointers7()).read(section, false);
        } catch (MalformedInputException e) {
            content.note("options cannot be read: " + e.reason());
        }
    }

    private void buffer(SectionSalvage salvage, SalvagedSection found) throws IOException {
        Clock clock = Clock.named(content.metadata().clockName());
        List<SalvagedRun> runs = salvage.runs(found, pageBytes, content);
        content.buffer("");
        for (int cpu = 0; cpu < runs.size(); cpu++) {
            SalvagedRun run = runs.get(cpu);
            content.areas.add(
                    new BufferArea(
                            "",
                            clock,
                            pageBytes,
                            cpu,
                            input,
                            run.offset(),
                            run.sizeBytes(),
                            cpu == runs.size() - 1 ? -1 : 0,
                            found.compressed() ? compression : TraceDatCompression.NONE));
        }
        content.note(
                "the list of its buffers is missing; pages of "
                        + runs.size()
                        + " CPUs were found by their times, how the CPUs are numbered is a guess");
    }
}
