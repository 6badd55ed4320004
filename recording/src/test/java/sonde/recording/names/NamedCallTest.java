package sonde.recording.names;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import sonde.event.Batch;
import sonde.event.Clock;
import sonde.event.EventType;
import sonde.event.Source;
import sonde.recording.names.NamedCall.Kind;

final class NamedCallTest {
    private static final EventType TYPE = new EventType(0, "bpf", "names", List.of(), "");
    private static final Source SOURCE = new Source("perf.data", Clock.MONO, List.of(TYPE));

    @Test
    void readsAnOpen() {
        NamedCall call = read(record(257, Kind.OPEN, -100, 7, "/etc/hostname"), 3);
        assertThat(call.kind()).isEqualTo(Kind.OPEN);
        assertThat(call.syscall()).isEqualTo(257);
        assertThat(call.tid()).isEqualTo(101);
        assertThat(call.pid()).isEqualTo(100);
        assertThat(call.descriptor()).isEqualTo(NamedCall.WORKING_DIRECTORY);
        assertThat(call.name()).isEqualTo("/etc/hostname");
        assertThat(call.namedDescriptor()).isEqualTo(7);
    }

    @Test
    void aFailedOpenNamesNoDescriptor() {
        NamedCall call = read(record(257, Kind.OPEN, -100, -2, "/none"), 0);
        assertThat(call.namedDescriptor()).isEqualTo(-1);
        assertThat(call.name()).isEqualTo("/none");
    }

    @Test
    void writesAddressesAsPeopleDo() {
        assertThat(address("0200 0050 7f000001 0000000000000000")).isEqualTo("127.0.0.1:80");
        assertThat(address("0a00 01bb 00000000" + "00".repeat(15) + "01" + "00000000"))
                .isEqualTo("[::1]:443");
        assertThat(address("0a00 01bb 00000000 20010db8000000010000000000000000 00000000"))
                .isEqualTo("[2001:db8:0:1::]:443");
        assertThat(address("0a00 01bb 00000000 20010db8000100010001000100010001 00000000"))
                .isEqualTo("[2001:db8:1:1:1:1:1:1]:443");
        assertThat(address("0a00 0001 00000000" + "00".repeat(16) + "00000000"))
                .isEqualTo("[::]:1");
        assertThat(address("0100 2f72756e2f7800 6161")).isEqualTo("unix:/run/x");
        assertThat(address("0100 00 616263")).isEqualTo("unix:@abc");
        assertThat(address("0100")).isEqualTo("unix:unnamed");
        assertThat(address("1000 0000 00000000")).isEqualTo("netlink");
        assertThat(address("1100 0000")).isEqualTo("family 17");
        assertThat(address("0200 0050")).isEmpty();
        assertThat(address("02")).isEmpty();
    }

    @Test
    void connectionsInProgressBearTheName() {
        byte[] bytes = record(42, Kind.CONNECT, 5, -115, "");
        assertThat(read(bytes, 0).namedDescriptor()).isEqualTo(5);
        assertThat(read(record(42, Kind.CONNECT, 5, -111, ""), 0).namedDescriptor()).isEqualTo(-1);
    }

    @Test
    void whatIsNoWholeRecordIsNone() {
        byte[] whole = record(257, Kind.OPEN, -100, 7, "/etc/hostname");
        for (int length = 0; length < whole.length; length++) {
            byte[] cut = java.util.Arrays.copyOf(whole, length);
            assertThat(NamedCall.of(batch(cut), 0)).as("%d bytes", length).isNull();
        }
    }

    @Test
    void rubbishIsReadWithoutFailure() {
        Random random = new Random(7);
        int records = 0;
        for (int round = 0; round < 20_000; round++) {
            byte[] bytes = new byte[random.nextInt(120)];
            random.nextBytes(bytes);
            if (bytes.length > NamedCall.KIND + 1) {
                bytes[NamedCall.KIND] = (byte) random.nextInt(7);
                bytes[NamedCall.KIND + 1] = 0;
                bytes[NamedCall.LENGTH] = (byte) random.nextInt(40);
                bytes[NamedCall.LENGTH + 1] = 0;
            }
            NamedCall call = NamedCall.of(batch(bytes), 0);
            if (call != null) {
                assertThat(call.name()).isNotNull();
                records++;
            }
        }
        assertThat(records).isGreaterThan(1000);
    }

    private static String address(String hex) {
        byte[] bytes = HexFormat.of().parseHex(hex.replace(" ", ""));
        String latin = new String(bytes, StandardCharsets.ISO_8859_1);
        return read(record(42, Kind.CONNECT, 5, 0, latin), 0).name();
    }

    private static NamedCall read(byte[] bytes, int padding) {
        NamedCall call =
                NamedCall.of(batch(java.util.Arrays.copyOf(bytes, bytes.length + padding)), 0);
        if (call == null) {
            throw new AssertionError("no record");
        }
        return call;
    }

    private static Batch batch(byte[] payload) {
        Batch batch = new Batch(SOURCE, ByteOrder.LITTLE_ENDIAN);
        batch.reset(MemorySegment.ofArray(payload));
        batch.add(1, 0, 101, 0, 0, payload.length);
        return batch;
    }

    private static byte[] record(
            int syscall, Kind kind, int descriptor, long result, String bytes) {
        byte[] name = bytes.getBytes(StandardCharsets.ISO_8859_1);
        ByteBuffer out =
                ByteBuffer.allocate(NamedCall.BYTES + name.length).order(ByteOrder.LITTLE_ENDIAN);
        out.putInt(syscall).putInt(101).putInt(100).putInt(descriptor).putLong(result);
        out.putShort((short) name.length).putShort((short) kind.ordinal()).put(name);
        return out.array();
    }
}
