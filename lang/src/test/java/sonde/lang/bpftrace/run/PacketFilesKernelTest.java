package sonde.lang.bpftrace.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Packets that a script writes to files. */
@Tag("kernel")
final class PacketFilesKernelTest {
    private static final String WORDS = "seventeen letters";
    private static final int IP_AND_UDP = 28;

    @TempDir Path folder;

    private static void send() throws Exception {
        byte[] bytes = WORDS.getBytes(StandardCharsets.UTF_8);
        InetAddress here = InetAddress.getLoopbackAddress();
        try (DatagramSocket socket = new DatagramSocket(0, here)) {
            socket.send(new DatagramPacket(bytes, bytes.length, here, socket.getLocalPort()));
        }
    }

    @Test
    void packetsWithoutTheirLinkHeader() throws Exception {
        Path file = folder.resolve("sent.pcap");
        Path none = folder.resolve("none.pcap");
        String script =
                """
                rawtracepoint:net_dev_queue /pid == %d/ {
                    $skb = (struct sk_buff *)arg0;
                    @wrong[skboutput("%s", $skb, $skb.len + 1, 14)] = 1;
                    @right[skboutput("%s", $skb, $skb.len, 14)] = 1;
                }
                """
                        .formatted(ProcessHandle.current().pid(), none, file);
        long before = Instant.now().getEpochSecond();
        try (Traced traced = Traced.attach(script)) {
            send();
            assertThat(traced.end()).contains("@right[0]: 1").containsPattern("@wrong\\[-\\d+]: 1");
        }
        assertThat(Files.size(none)).isEqualTo(24);
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        assertThat(bytes.getInt(0)).isEqualTo(0xa1b2c3d4);
        assertThat(bytes.getInt(20)).as("raw IP").isEqualTo(101);
        assertThat((long) bytes.getInt(24)).isBetween(before - 1, before + 60);
        assertThat(bytes.getInt(28)).isBetween(0, 999_999);
        int length = IP_AND_UDP + WORDS.length();
        assertThat(bytes.getInt(32)).isEqualTo(length);
        assertThat(bytes.getInt(36)).isEqualTo(length);
        assertThat(bytes.get(40)).as("IP version 4, 5 words").isEqualTo((byte) 0x45);
        assertThat(bytes.getShort(40 + 2)).isEqualTo(Short.reverseBytes((short) length));
        byte[] words = new byte[WORDS.length()];
        bytes.get(40 + IP_AND_UDP, words);
        assertThat(new String(words, StandardCharsets.UTF_8)).isEqualTo(WORDS);
        assertThat(bytes.capacity()).isEqualTo(40 + length);
    }
}
