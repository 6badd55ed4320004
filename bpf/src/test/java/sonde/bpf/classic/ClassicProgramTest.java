package sonde.bpf.classic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ClassicProgramTest {
    private static final Path TCPDUMP = Path.of("/usr/bin/tcpdump");

    /** {@code tcpdump -y EN10MB -ddd 'icmp'} of libpcap 1.10. */
    private static final String ICMP =
            "6\n40 0 0 12\n21 0 3 2048\n48 0 0 23\n21 0 1 1\n6 0 0 262144\n6 0 0 0\n";

    @Test
    void printsAsTcpdump() throws Exception {
        assertThat(ClassicProgram.parse(ICMP))
                .hasToString(
                        """
                        (000) ldh      [12]
                        (001) jeq      #0x800           jt 2\tjf 5
                        (002) ldb      [23]
                        (003) jeq      #0x1             jt 4\tjf 5
                        (004) ret      #262144
                        (005) ret      #0
                        """);
    }

    @Test
    void decidesAboutPackets() throws Exception {
        ClassicProgram icmp = ClassicProgram.parse(ICMP);
        byte[] packet = new byte[60];
        packet[12] = 0x08;
        packet[23] = 1;
        assertThat(icmp.run(packet, PacketFacts.NONE)).isEqualTo(262144);
        packet[23] = 6;
        assertThat(icmp.run(packet, PacketFacts.NONE)).isZero();
        assertThat(icmp.run(new byte[13], PacketFacts.NONE)).isZero();
    }

    /** struct sock_filter of both kinds of machines: code, jt, jf, k. */
    @Test
    void encodesAsTheHeaderSays() throws Exception {
        ClassicProgram program = ClassicProgram.parse("2 21 0 0 2048 6 0 0 65535");
        HexFormat hex = HexFormat.of();
        assertThat(hex.formatHex(program.encode(ByteOrder.LITTLE_ENDIAN)))
                .isEqualTo("1500000000080000" + "06000000ffff0000");
        assertThat(hex.formatHex(program.encode(ByteOrder.BIG_ENDIAN)))
                .isEqualTo("0015000000000800" + "000600000000ffff");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    1 21 0 0 1            | instruction 0: the last one has to be ret
                    2 5 0 0 9 6 0 0 0     | instruction 0: it jumps to 10
                    2 5 0 0 4294967295 6 0 0 0 | instruction 0: it jumps to 4294967296
                    2 96 0 0 3 6 0 0 0    | instruction 0: M[3] is read where it may not be written
                    2 2 0 0 16 6 0 0 0    | instruction 0: M[16]: there are 16
                    2 52 0 0 0 6 0 0 0    | instruction 0: a division by 0
                    2 100 0 0 32 6 0 0 0  | instruction 0: a shift by 32
                    2 255 0 0 32 6 0 0 0  | instruction 0: no instruction has the code 0xff
                    2 40 0 0 4293918720 6 0 0 0 | instruction 0: offset -1048576
                    0                     | a filter has 1 to 4096 instructions, not 0
                    2 6 0 0 0             | 2 instructions have 8 numbers, not 4
                    1 6 0 0 x             | instruction 0: 'x' is not a number
                    """)
    void refusesWhatTheKernelRefuses(String text, String reason) {
        assertThatThrownBy(() -> ClassicProgram.parse(text))
                .isInstanceOf(ClassicFilterException.class)
                .hasMessageStartingWith(reason);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "tcp port 80 and (ip[2:2] - ((ip[0]&0xf)<<2) != 0)",
                "vlan 5 and udp or icmp",
                "len > 100 and ether[10] * 3 / ether[2] % 7 = -1 | ether[3] ^ 4",
                "host 10.1.2.3 and not port 22",
                "ip6 proto 17 and greater 200",
                "ether[0] << 3 > ether[1] >> ether[2] and -ether[4] < 5",
                "arp or net 192.168.0.0/16"
            })
    void tcpdumpPrintsTheSame(String expression) throws Exception {
        Assumptions.assumeTrue(Files.isExecutable(TCPDUMP), "no tcpdump");
        ClassicProgram program = ClassicProgram.parse(tcpdump("-ddd", expression));
        assertThat(program).hasToString(tcpdump("-d", expression));
    }

    private static String tcpdump(String form, String expression) throws Exception {
        Process process =
                new ProcessBuilder(TCPDUMP.toString(), "-y", "EN10MB", form, expression)
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isZero();
        return out;
    }
}
