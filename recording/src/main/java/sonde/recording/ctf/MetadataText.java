package sonde.recording.ctf;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import sonde.binary.FieldCursor;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.recording.ctf.json.FragmentReader;
import sonde.recording.ctf.schema.TraceClass;
import sonde.recording.ctf.tsdl.TsdlReader;

/** The metadata file: text, or text in packets (CTF 1.8.3, section 7.1; CTF2-PMETA-1.0). */
final class MetadataText {
    private static final int MAGIC = 0x75d11d57;
    private static final int MOST_BYTES = 1 << 28;
    private static final String TSDL = "/* CTF 1.8";
    private static final char RECORD_SEPARATOR = 0x1e;

    private MetadataText() {}

    /** Whether it begins as metadata must. */
    static boolean isMetadata(Input input) {
        MemorySegment memory = input.segment();
        if (memory.byteSize() < 4) {
            return false;
        }
        int first = memory.get(ValueLayout.JAVA_INT_UNALIGNED, 0);
        if (first == MAGIC || first == Integer.reverseBytes(MAGIC)) {
            return true;
        }
        int count = (int) Math.min(TSDL.length(), memory.byteSize());
        byte[] start = memory.asSlice(0, count).toArray(ValueLayout.JAVA_BYTE);
        return start[0] == RECORD_SEPARATOR
                || new String(start, StandardCharsets.ISO_8859_1).equals(TSDL);
    }

    static TraceClass read(Input input) throws MalformedInputException {
        MemorySegment memory = input.segment();
        if (memory.byteSize() > MOST_BYTES) {
            throw new MalformedInputException(
                    "ctf", "metadata", -1, memory.byteSize() + " bytes, at most " + MOST_BYTES);
        }
        byte[] bytes = memory.toArray(ValueLayout.JAVA_BYTE);
        if (bytes.length >= 4) {
            int first = memory.get(ValueLayout.JAVA_INT_UNALIGNED, 0);
            boolean swapped = first == Integer.reverseBytes(MAGIC);
            if (first == MAGIC || swapped) {
                boolean big = (ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN) != swapped;
                bytes = packets(memory, big ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
            }
        }
        String text = new String(bytes, StandardCharsets.UTF_8);
        String start = text.stripLeading();
        boolean fragments = text.indexOf(RECORD_SEPARATOR) == 0 || start.startsWith("{");
        return fragments ? FragmentReader.read(text) : TsdlReader.read(text);
    }

    private static byte[] packets(MemorySegment memory, ByteOrder order)
            throws MalformedInputException {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        FieldCursor cursor = new FieldCursor("ctf metadata", memory, order);
        while (cursor.remaining() > 0) {
            long start = cursor.position();
            if (cursor.s32("magic") != MAGIC) {
                throw cursor.malformed("magic", "not that of a metadata packet");
            }
            cursor.slice("uuid", 16);
            cursor.u32("checksum");
            long contentBits = cursor.u32("content_size");
            long packetBits = cursor.u32("packet_size");
            int compression = cursor.u8("compression_scheme");
            int encryption = cursor.u8("encryption_scheme");
            cursor.u8("checksum_scheme");
            int major = cursor.u8("major");
            cursor.u8("minor");
            if (compression != 0 || encryption != 0) {
                throw cursor.malformed("compression_scheme", "compressed or encrypted metadata");
            }
            if (major != 1 && major != 2) {
                throw cursor.malformed("major", "CTF " + major);
            }
            long header = cursor.position() - start;
            long left = contentBits / 8 - header;
            if (left < 0 || contentBits > packetBits || contentBits % 8 != 0) {
                throw cursor.malformed("content_size", contentBits + " of " + packetBits + " bits");
            }
            text.writeBytes(cursor.bytes("content", left));
            // The last packet need not be padded.
            long next = start + packetBits / 8;
            cursor.seek("packet_size", Math.min(next, memory.byteSize()));
        }
        return text.toByteArray();
    }
}
