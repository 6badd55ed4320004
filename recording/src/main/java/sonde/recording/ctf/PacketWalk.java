package sonde.recording.ctf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.recording.ctf.DecodePlan.StreamPlan;
import sonde.recording.ctf.schema.FieldRole;

/** Goes from packet to packet through the files of a data stream. */
final class PacketWalk {
    private static final long MAGIC = 0xc1fc1fc1L;

    private final DecodePlan plan;
    private final CtfDecoder decoder;
    private final List<StreamFile> files;
    private int file;
    private long next;

    /** First byte of the current packet. */
    long offset;

    /** Bit of the packet context. */
    long context;

    /** What the current packet is of; null before the first. */
    DecodePlan.@Nullable StreamPlan stream;

    /** Whether the file ends before the packet's content. */
    boolean cut;

    /** When it begins, in cycles; meaningful when the clock was told. */
    long begin;

    PacketWalk(DecodePlan plan, CtfDecoder decoder, List<StreamFile> files) {
        this.plan = plan;
        this.decoder = decoder;
        this.files = files;
    }

    /** The file of the current packet. */
    StreamFile file() {
        return files.get(Math.min(file, files.size() - 1));
    }

    /**
     * Goes to the next packet.
     *
     * @return false when there is none
     * @throws PacketOverrun when it cannot be read; the next call goes on behind it
     */
    boolean advance() throws PacketOverrun {
        while (file < files.size() && next >= files.get(file).memory.byteSize()) {
            file++;
            next = 0;
        }
        if (file >= files.size()) {
            return false;
        }
        MemorySegment memory = files.get(file).memory;
        offset = next;
        next = memory.byteSize();
        try {
            open(memory);
        } catch (PacketOverrun e) {
            next = after(memory);
            throw e;
        }
        return true;
    }

    private void open(MemorySegment memory) throws PacketOverrun {
        long left = 8 * (memory.byteSize() - offset);
        decoder.packet(memory, offset, left);
        if (plan.trace.major == 2) {
            decoder.cycles = 0;
        }
        decoder.run(plan.packetHeader);
        if (decoder.told(FieldRole.PACKET_MAGIC_NUMBER, MAGIC) != MAGIC) {
            throw new PacketOverrun("not the magic number of a packet");
        }
        StreamPlan of = stream();
        stream = of;
        context = decoder.position;
        decoder.run(of.packetContext);
        begin = decoder.cycles;
        long content = decoder.told(FieldRole.PACKET_CONTENT_LENGTH, -1);
        long total = decoder.told(FieldRole.PACKET_TOTAL_LENGTH, content);
        if (!decoder.has(FieldRole.PACKET_CONTENT_LENGTH)) {
            content = total;
        }
        if (total == -1) {
            content = left;
            total = left;
        }
        boolean fits =
                Long.compareUnsigned(content, total) <= 0
                        && Long.compareUnsigned(decoder.position, total) <= 0
                        && (content == 0 || decoder.position <= content)
                        && total % 8 == 0
                        && total > 0;
        if (!fits) {
            throw new PacketOverrun(
                    "a packet of " + content + " bits of content and " + total + " in all");
        }
        cut = total > left;
        decoder.end = Math.max(decoder.position, Math.min(content, left));
        next = total > left ? memory.byteSize() : offset + total / 8;
    }

    private StreamPlan stream() throws PacketOverrun {
        long id = decoder.told(FieldRole.DATA_STREAM_CLASS_ID, 0);
        StreamPlan found = plan.streams.get(id);
        boolean only = !decoder.has(FieldRole.DATA_STREAM_CLASS_ID) && plan.streams.size() == 1;
        if (found == null && only) {
            found = plan.streams.values().iterator().next();
        }
        if (found == null) {
            throw new PacketOverrun("a packet of the unknown stream class " + id);
        }
        return found;
    }

    /** Where a packet begins behind one that cannot be read: by the index, or by the magic. */
    private long after(MemorySegment memory) {
        long indexed = file().indexedAfter(offset);
        if (indexed >= 0) {
            return indexed;
        }
        FirstWord word = FirstWord.of(plan.trace.packetHeader);
        if (word == null) {
            return memory.byteSize();
        }
        for (long at = offset + 1; at + 4 <= memory.byteSize(); at++) {
            int value = memory.get(ValueLayout.JAVA_INT_UNALIGNED, at);
            boolean big = ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN;
            value = big == word.bigEndian() ? value : Integer.reverseBytes(value);
            if (value == (int) MAGIC) {
                return at;
            }
        }
        return memory.byteSize();
    }
}
