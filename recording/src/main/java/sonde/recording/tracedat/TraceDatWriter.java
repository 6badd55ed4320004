package sonde.recording.tracedat;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import sonde.binary.ZstdLibrary;
import sonde.recording.GrowableBytes;

/**
 * Writes a trace.dat v7: metadata sections first, compressed with zstd where it is there, then the
 * options that point to them, then per buffer a section with the pages.
 *
 * <p>Pages are moved by the kernel ({@code copy_file_range} behind {@link FileChannel#transferTo})
 * unless they are compressed too.
 */
public final class TraceDatWriter {
    private static final int PAGE = 4096;
    // What trace-cmd writes: pages are compressed in runs of this size.
    private static final int CHUNK_BYTES = 4 << 20;
    private static final int SECTION_HEADER_BYTES = 16;

    /**
     * A buffer's pages.
     *
     * @param name of the instance; the first buffer of a file has the empty name
     * @param clock tracefs name
     * @param pageBytes size of a sub-buffer
     */
    public record BufferPages(String name, String clock, int pageBytes, List<CpuPages> cpus) {
        public BufferPages {
            cpus = List.copyOf(cpus);
        }
    }

    /**
     * A CPU's pages.
     *
     * @param spool where they lie now; its position is left alone
     * @param offset of the first
     * @param sizeBytes a multiple of the sub-buffer size, else the rest is filled with zeros
     */
    public record CpuPages(int cpu, FileChannel spool, long offset, long sizeBytes) {}

    /**
     * Of which machine the pages are.
     *
     * @param longBytes of its programs' long
     * @param timeOffset nanoseconds that readers add to every time they show (OFFSET)
     */
    public record PageOrigin(ByteOrder order, int longBytes, long timeOffset) {
        /** This machine. */
        public static final PageOrigin HERE =
                new PageOrigin(ByteOrder.nativeOrder(), Long.BYTES, 0);
    }

    private final FileChannel target;
    private final PageOrigin origin;
    private final boolean compressedData;
    private final boolean hasZstd;
    private long position;

    /**
     * A writer.
     *
     * @param hasZstd whether there is a libzstd; without it nothing is compressed
     */
    TraceDatWriter(FileChannel target, PageOrigin origin, boolean compressedData, boolean hasZstd) {
        this.target = target;
        this.origin = origin;
        this.compressedData = compressedData;
        this.hasZstd = hasZstd;
    }

    /** As below, with pages of this machine. */
    public static void write(
            FileChannel target,
            TraceDatMetadata metadata,
            List<BufferPages> buffers,
            boolean compressedData)
            throws IOException {
        write(target, PageOrigin.HERE, metadata, buffers, compressedData);
    }

    /**
     * Writes a whole file from position 0 and leaves the channel open.
     *
     * @param target empty, writable
     * @param buffers at least one, the first with the empty name
     * @param compressedData whether pages are compressed with zstd too
     */
    public static void write(
            FileChannel target,
            PageOrigin origin,
            TraceDatMetadata metadata,
            List<BufferPages> buffers,
            boolean compressedData)
            throws IOException {
        if (buffers.isEmpty() || !buffers.getFirst().name.isEmpty()) {
            throw new IllegalArgumentException("the first buffer has the empty name");
        }
        new TraceDatWriter(target, origin, compressedData, ZstdLibrary.isThere())
                .write(metadata, buffers);
    }

    void write(TraceDatMetadata metadata, List<BufferPages> buffers) throws IOException {
        GrowableBytes start = output(64);
        start.raw(TraceDatParser.MAGIC).text("7");
        start.u8(origin.order == ByteOrder.LITTLE_ENDIAN ? 0 : 1);
        // trace-cmd 3.1 maps pages of this size, whatever a buffer says of its own.
        int pageBytes = Math.max(PAGE, buffers.getFirst().pageBytes);
        start.u8(origin.longBytes).u32(pageBytes);
        start.text(hasZstd ? "zstd" : "none").text(hasZstd ? "1.5" : "");
        long optionsPointer = start.size();
        put(start.u64(0));

        GrowableBytes options = output(4096);
        metadataSections(metadata, options);
        options(metadata, options);
        long optionsAt = position;
        long nextPointer = optionsAt + SECTION_HEADER_BYTES + options.size() + 6;
        put(section(TraceDatNumbers.DONE, false, withDone(options, 0)));

        List<GrowableBytes> descriptions = new ArrayList<>();
        for (BufferPages buffer : buffers) {
            descriptions.add(buffer(buffer));
        }
        GrowableBytes bufferOptions = output(4096);
        for (GrowableBytes description : descriptions) {
            option(bufferOptions, TraceDatNumbers.BUFFER, description.toBytes());
        }
        long buffersAt = position;
        put(section(TraceDatNumbers.DONE, false, withDone(bufferOptions, 0)));
        // Last, so that a file cut before this point is known to be unfinished.
        patch(nextPointer, buffersAt);
        patch(optionsPointer, optionsAt);
    }

    private void metadataSections(TraceDatMetadata metadata, GrowableBytes options)
            throws IOException {
        GrowableBytes header = output(1024);
        header.text("header_page").u64(metadata.headerPage().length).raw(metadata.headerPage());
        header.text("header_event").u64(metadata.headerEvent().length).raw(metadata.headerEvent());
        metadataSection(options, TraceDatNumbers.HEADER_INFO, header);

        GrowableBytes ftrace = output(1 << 14);
        formats(ftrace, metadata.ftraceFormats());
        metadataSection(options, TraceDatNumbers.FTRACE_EVENTS, ftrace);

        GrowableBytes events = output(1 << 20).u32(metadata.eventFormats().size());
        for (Map.Entry<String, List<byte[]>> system : metadata.eventFormats().entrySet()) {
            formats(events.text(system.getKey()), system.getValue());
        }
        metadataSection(options, TraceDatNumbers.EVENT_FORMATS, events);

        byte[] kallsyms = metadata.kallsyms();
        metadataSection(
                options,
                TraceDatNumbers.KALLSYMS,
                output(kallsyms.length + 4).u32(kallsyms.length).raw(kallsyms));
        byte[] printk = metadata.printk();
        metadataSection(
                options,
                TraceDatNumbers.PRINTK,
                output(printk.length + 4).u32(printk.length).raw(printk));
        byte[] cmdlines = metadata.cmdlines();
        metadataSection(
                options,
                TraceDatNumbers.CMDLINES,
                output(cmdlines.length + 8).u64(cmdlines.length).raw(cmdlines));
    }

    private static void formats(GrowableBytes output, List<byte[]> formats) {
        output.u32(formats.size());
        for (byte[] format : formats) {
            output.u64(format.length).raw(format);
        }
    }

    private void metadataSection(GrowableBytes options, int id, GrowableBytes content)
            throws IOException {
        option(options, id, output(8).u64(position).toBytes());
        byte[] plain = content.toBytes();
        put(
                hasZstd
                        ? section(id, true, TraceDatCompression.zstdBlock(plain, origin.order))
                        : section(id, false, plain));
    }

    private void options(TraceDatMetadata metadata, GrowableBytes options) {
        optionText(options, TraceDatNumbers.TRACECLOCK, metadata.clock());
        optionText(options, TraceDatNumbers.UNAME, metadata.uname());
        optionText(options, TraceDatNumbers.VERSION, metadata.version());
        option(options, TraceDatNumbers.TRACEID, output(8).u64(metadata.traceId()).toBytes());
        for (byte[] stat : metadata.cpuStats()) {
            // A reader overwrites the last byte with a line feed.
            option(
                    options,
                    TraceDatNumbers.CPUSTAT,
                    output(256).raw(stat).u8('\n').u8(0).toBytes());
        }
        if (origin.timeOffset != 0) {
            optionText(options, TraceDatNumbers.OFFSET, Long.toString(origin.timeOffset));
        }
        option(options, TraceDatNumbers.CPUCOUNT, output(4).u32(metadata.cpuCount()).toBytes());
    }

    private void optionText(GrowableBytes options, int id, String text) {
        GrowableBytes content = output(64).raw(text.getBytes(StandardCharsets.UTF_8));
        option(options, id, content.u8(0).toBytes());
    }

    private GrowableBytes output(int expectedBytes) {
        return new GrowableBytes(expectedBytes, origin.order);
    }

    private static void option(GrowableBytes options, int id, byte[] content) {
        options.u16(id).u32(content.length).raw(content);
    }

    private byte[] withDone(GrowableBytes options, long next) {
        option(options, TraceDatNumbers.DONE, output(8).u64(next).toBytes());
        return options.toBytes();
    }

    private GrowableBytes section(int id, boolean compressed, byte[] content) {
        return output(content.length + SECTION_HEADER_BYTES)
                .u16(id)
                .u16(compressed ? TraceDatNumbers.COMPRESSED : 0)
                .u32(0)
                .u64(content.length)
                .raw(content);
    }

    /** Writes a buffer's section; what its option says. */
    private GrowableBytes buffer(BufferPages buffer) throws IOException {
        long at = position;
        GrowableBytes header = section(TraceDatNumbers.BUFFER, compressedData, new byte[0]);
        put(header);
        GrowableBytes option = output(256);
        option.u64(at).text(buffer.name).text(buffer.clock);
        option.u32(buffer.pageBytes).u32(buffer.cpus.size());
        for (CpuPages cpu : buffer.cpus) {
            align(Math.max(PAGE, buffer.pageBytes));
            long offset = position;
            if (compressedData) {
                chunks(cpu, buffer.pageBytes);
            } else {
                pages(cpu, buffer.pageBytes);
            }
            option.u32(cpu.cpu).u64(offset).u64(position - offset);
        }
        // The section's size covers everything behind its header.
        patch(at + 8, position - at - SECTION_HEADER_BYTES);
        return option;
    }

    private void pages(CpuPages cpu, int pageBytes) throws IOException {
        target.position(position);
        long done = 0;
        while (done < cpu.sizeBytes) {
            long moved = cpu.spool.transferTo(cpu.offset + done, cpu.sizeBytes - done, target);
            if (moved <= 0) {
                throw new EOFException(
                        "CPU " + cpu.cpu + ": " + done + " of " + cpu.sizeBytes + " bytes there");
            }
            done += moved;
        }
        position += done;
        if (done % pageBytes != 0) {
            put(ByteBuffer.allocate((int) (pageBytes - done % pageBytes)));
        }
    }

    private void chunks(CpuPages cpu, int pageBytes) throws IOException {
        int chunkBytes = Math.max(pageBytes, CHUNK_BYTES / pageBytes * pageBytes);
        long count = (cpu.sizeBytes + chunkBytes - 1) / chunkBytes;
        put(output(4).u32((int) count));
        for (long done = 0; done < cpu.sizeBytes; done += chunkBytes) {
            int wanted = (int) Math.min(chunkBytes, cpu.sizeBytes - done);
            int padded = (wanted + pageBytes - 1) / pageBytes * pageBytes;
            byte[] plain = new byte[padded];
            ByteBuffer buffer = ByteBuffer.wrap(plain, 0, wanted);
            while (buffer.hasRemaining()) {
                if (cpu.spool.read(buffer, cpu.offset + done + buffer.position()) < 0) {
                    throw new EOFException("CPU " + cpu.cpu + ": the spool ends early");
                }
            }
            put(ByteBuffer.wrap(TraceDatCompression.zstdBlock(plain, origin.order)));
        }
    }

    private void align(int bytes) throws IOException {
        int over = (int) (position % bytes);
        if (over != 0) {
            put(ByteBuffer.allocate(bytes - over));
        }
    }

    private void put(GrowableBytes output) throws IOException {
        put(ByteBuffer.wrap(output.toBytes()));
    }

    private void put(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            position += target.write(bytes, position);
        }
    }

    private void patch(long at, long value) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(output(8).u64(value).toBytes());
        long offset = at;
        while (bytes.hasRemaining()) {
            offset += target.write(bytes, offset);
        }
    }
}
