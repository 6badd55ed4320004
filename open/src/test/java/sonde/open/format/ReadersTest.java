package sonde.open.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.event.Recording;
import sonde.testkit.JfrBytes;
import sonde.testkit.PcapBytes;
import sonde.testkit.PprofBytes;
import sonde.testkit.ProfileTexts;

/** What rows each small file gives. */
class ReadersTest {
    @TempDir Path folder;

    private static List<String> rows(byte[] file) throws IOException {
        TraceFormat format = TraceFormat.of(RecordedRows.input(file)).orElseThrow();
        return RecordedRows.of(file, format::open);
    }

    private static List<String> rows(String file) throws IOException {
        return rows(Samples.text(file));
    }

    private static String field(String row, String name) {
        int at = row.indexOf(" " + name + "=") + name.length() + 2;
        int end = row.indexOf(' ', at);
        return row.substring(at, end < 0 ? row.length() : end);
    }

    @Test
    void dnsInUdpBehindAVlanTag() throws IOException {
        byte[] file = PcapBytes.pcap(ByteOrder.BIG_ENDIAN, true, 1, Samples.dnsPacket());
        String row = rows(file).getFirst();
        assertThat(row).startsWith("5000000100 -1 -1/-1 packet:packet ");
        assertThat(field(row, "vlan")).isEqualTo("7");
        assertThat(field(row, "src")).isEqualTo("10.0.0.1");
        assertThat(field(row, "dst_mac")).isEqualTo("02:00:00:00:00:02");
        assertThat(field(row, "protocol")).isEqualTo("udp");
        assertThat(field(row, "sport")).isEqualTo("53");
        assertThat(field(row, "dns_name")).isEqualTo("www.example");
        assertThat(field(row, "dns_type")).isEqualTo("A");
        assertThat(field(row, "dns_answers")).isEqualTo("1.2.3.4");
        assertThat(field(row, "dns_id")).isEqualTo("4660");
        assertThat(field(row, "length")).isNotEqualTo(field(row, "captured"));
    }

    @Test
    void tcpBehindAnExtensionHeader() throws IOException {
        byte[] file = PcapBytes.pcap(ByteOrder.LITTLE_ENDIAN, false, 1, Samples.tcpPacket());
        String row = rows(file).getFirst();
        assertThat(row).startsWith("5000100000 ");
        assertThat(field(row, "src")).isEqualTo("fe80::1");
        assertThat(field(row, "dst")).isEqualTo("::1");
        assertThat(field(row, "flags")).isEqualTo("SYN|ACK");
        assertThat(field(row, "seq")).isEqualTo("1000");
        assertThat(field(row, "payload")).isEqualTo("5");
        assertThat(field(row, "ttl")).isEqualTo("63");
    }

    @Test
    void otherLinkLayers() throws IOException {
        byte[] ip = PcapBytes.ipv4(6, PcapBytes.tcp(1, 2, new byte[0]));
        byte[] raw = rawAfter(new byte[0], ip);
        byte[] sll = rawAfter(new byte[] {0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 9, 0, 0, 8, 0}, ip);
        byte[] sll2 = new byte[20];
        sll2[0] = 8;
        byte[] loop = rawAfter(new byte[] {2, 0, 0, 0}, ip);
        ByteOrder order = ByteOrder.LITTLE_ENDIAN;
        for (byte[] file :
                List.of(
                        PcapBytes.pcap(order, false, 101, raw),
                        PcapBytes.pcap(order, false, 113, sll),
                        PcapBytes.pcap(order, false, 276, rawAfter(sll2, ip)),
                        PcapBytes.pcap(order, false, 0, loop))) {
            String row = rows(file).getFirst();
            assertThat(field(row, "dst")).isEqualTo("10.0.0.2");
            assertThat(field(row, "dport")).isEqualTo("2");
        }
    }

    private static byte[] rawAfter(byte[] head, byte[] rest) {
        byte[] both = Arrays.copyOf(head, head.length + rest.length);
        System.arraycopy(rest, 0, both, head.length, rest.length);
        return both;
    }

    @Test
    void blocksOfPcapng() throws IOException {
        for (ByteOrder order : List.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN)) {
            List<String> rows = rows(PcapBytes.pcapng(order, Samples.dnsPacket()));
            assertThat(rows).hasSize(5);
            assertThat(rows.get(0)).isEqualTo("0 -1 -1/-1 packet:name address=10.0.0.1 name=host");
            assertThat(rows.get(1)).startsWith("5000000100 ").contains(" comment=hi ");
            assertThat(field(rows.get(1), "interface")).isEqualTo("eth0");
            assertThat(field(rows.get(1), "direction")).isEqualTo("in");
            assertThat(rows.get(2)).isEqualTo("5000000100 -1 -1/-1 notice:lost *3");
            assertThat(field(rows.get(3), "dns_name")).isEqualTo("www.example");
            assertThat(rows.get(4))
                    .isEqualTo(
                            "5000000110 -1 -1/-1 packet:statistics interface=eth0 received=9"
                                    + " dropped=0");
        }
    }

    @Test
    void pprof() throws IOException {
        assertThat(rows(PprofBytes.example()))
                .contains(
                        "1000000000 -1 -1/-1 trace:metadata name=unit:cpu value=nanoseconds",
                        "1000000000 -1 -1/42 perf:samples *3 < leaf < inlined < main",
                        "1000000000 -1 -1/42 profile:cpu *30 < leaf < inlined < main",
                        "1000000000 -1 -1/-1 profile:cpu *10 < [/bin/app+0x30]")
                .hasSize(8);
    }

    @Test
    void chromeArray() throws IOException {
        assertThat(rows(ProfileTexts.CHROME))
                .containsExactly(
                        "10000 -1 1/2 slice:begin track=4294967298 name=work category=c id="
                                + " args={\"a\":[1,\"x\"]}",
                        "10000 -1 1/-1 trace:process pid=1 ppid=-1 name=app",
                        "10000 -1 1/2 perf_record:comm pid=1 tid=2 comm=worker",
                        "20500 -1 1/2 slice:end track=4294967298 name= category= id= args=",
                        "30000 -1 1/2 slice:complete track=4294967298 dur=1250 name=whole"
                                + " category= id= args=",
                        "40000 -1 1/2 slice:instant track=4294967298 name=now category= id= args=",
                        rows(ProfileTexts.CHROME).get(6),
                        rows(ProfileTexts.CHROME).get(7),
                        rows(ProfileTexts.CHROME).get(8),
                        rows(ProfileTexts.CHROME).get(9),
                        rows(ProfileTexts.CHROME).get(10),
                        "70000 -1 1/2 slice:flow phase=115 name=arrow category=f id=3",
                        "71000 -1 1/2 slice:flow phase=102 name=arrow category=f id=3");
        assertThat(rows(ProfileTexts.CHROME).get(6)).contains("value=5.0 name=mem.used");
        assertThat(rows(ProfileTexts.CHROME).get(8)).contains("slice:begin").contains("id=0x7");
    }

    /** Ids are a process's own, and need be no numbers. */
    @Test
    void chromeThreadsOfSeveralProcesses() throws IOException {
        String event = "{\"ph\":\"i\",\"name\":\"n\",\"ts\":1,\"pid\":%s,\"tid\":%s}";
        String all =
                String.format(
                        "[" + event + "," + event + "," + event + "," + event + "]",
                        1,
                        7,
                        2,
                        7,
                        1,
                        "\"io\"",
                        "\"gpu\"",
                        3);
        String instant = "slice:instant track=";
        assertThat(rows(all))
                .hasSize(6)
                .anyMatch(row -> row.startsWith("1000 -1 1/7 " + instant))
                .anyMatch(row -> row.startsWith("1000 -1 2/4194303 " + instant))
                .anyMatch(row -> row.startsWith("1000 -1 1/4194302 " + instant))
                .anyMatch(row -> row.startsWith("1000 -1 4194301/3 " + instant))
                .contains(
                        "1000 -1 -1/4194302 perf_record:comm pid=-1 tid=4194302 comm=io",
                        "1000 -1 4194301/-1 trace:process pid=4194301 ppid=-1 name=gpu");
    }

    @Test
    void chromeObject() throws IOException {
        assertThat(rows(ProfileTexts.CHROME_OBJECT))
                .containsExactly(
                        "1000 -1 1/2 slice:instant track=4294967298 name=now category= id= args="
                                + " < main",
                        "1000 -1 -1/-1 trace:metadata name=otherData value={\"version\":\"1\"}",
                        "4000 3 -1/2 perf:cycles *9 < leaf < main");
    }

    @Test
    void speedscope() throws IOException {
        assertThat(rows(ProfileTexts.SPEEDSCOPE))
                .contains(
                        "1000000 -1 0/1 slice:begin track=1 name=leaf category= id= args=",
                        "2500000 -1 0/1 slice:end track=1 name=leaf category= id= args=",
                        "5000 -1 0/2 perf:cpu-clock *3000 < leaf < main",
                        "8000 -1 0/2 perf:cpu-clock *4000 < main")
                .hasSize(9);
    }

    @Test
    void firefox() throws IOException {
        assertThat(rows(ProfileTexts.FIREFOX))
                .contains(
                        "1000000 -1 5/6 profile:samples < leaf < main",
                        "2000000 -1 5/6 profile:samples",
                        "3500000 -1 5/6 profile:samples < main",
                        "1000000 -1 5/6 slice:complete track=6 dur=500000 name=mark"
                                + " category=Idle id= args={\"type\":\"Text\"}",
                        "1000000 -1 5/-1 counter:value track=0 value=100.0 name=malloc unit=")
                .anyMatch(row ->
                        row.startsWith("2000000 -1 5/6 slice:instant") && row.endsWith("< main"));
    }

    @Test
    void firefoxWithSharedTables() throws IOException {
        assertThat(rows(ProfileTexts.FIREFOX_SHARED))
                .contains(
                        "1000000 -1 5/6 perf:cpu-clock *1500000 < leaf < main",
                        "3000000 -1 5/6 perf:cpu-clock *2000000 < main",
                        "2000000 -1 5/-1 counter:value track=0 value=4.0 name=cpu unit=");
    }

    @Test
    void flightRecording() throws IOException {
        assertThat(rows(JfrBytes.example()))
                .containsExactly(
                        "1000000000 -1 -1/77 perf_record:comm pid=-1 tid=77 comm=worker",
                        "1001000000 -1 -1/77 my:Sample duration=500000 what=hello1 < a.B.run",
                        "1002000000 -1 -1/77 my:Sample duration=500000 what=hello2 < a.B.run");
    }

    /** The JVM writes its settings into the file; what a sample stands for is one of them. */
    @Test
    void flightRecordingSaysHowFarApartSamplesAre() throws Exception {
        Path file = folder.resolve("of-this-jvm.jfr");
        Process java =
                new ProcessBuilder(
                                System.getProperty("java.home") + "/bin/java",
                                "-XX:StartFlightRecording:jdk.ExecutionSample#period=50ms,filename="
                                        + file,
                                "-version")
                        .redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .start();
        assertThat(java.waitFor()).isZero();
        byte[] bytes = Files.readAllBytes(file);
        TraceFormat format = TraceFormat.of(RecordedRows.input(bytes)).orElseThrow();
        try (Recording read = format.open(RecordedRows.input(bytes))) {
            assertThat(read.sampleNanos()).isEqualTo(50_000_000);
        }
    }

    @Test
    void callgrind() throws IOException {
        assertThat(rows(ProfileTexts.CALLGRIND))
                .contains(
                        "0 -1 12/-1 profile:Ir *15 < main",
                        "0 -1 12/-1 perf:Dr *2 < main",
                        "0 -1 12/-1 profile:Ir *30 < leaf",
                        "0 -1 12/-1 callgrind:call *30 count=3 inclusive=30 event=Ir caller=main"
                                + " callee=leaf < leaf < main");
    }

    @Test
    void massif() throws IOException {
        assertThat(rows(ProfileTexts.MASSIF))
                .contains(
                        "5000000 -1 -1/-1 counter:value track=1 value=300.0 name=heap unit=bytes",
                        "5000000 -1 -1/-1 perf:heap *200 < grab < main",
                        "5000000 -1 -1/-1 perf:heap *100 < in 1 place, below massif's threshold"
                                + " (1.00%)");
    }

    @Test
    void dmesg() throws IOException {
        assertThat(rows(ProfileTexts.DMESG))
                .containsExactly(
                        "0 -1 -1/-1 log:printk level=5 facility=-1 text=Linux version 6.1.0",
                        "1250000000 -1 -1/69 log:printk level=4 facility=0 text=a \"quoted\" word");
    }

    @Test
    void heaptrack() throws IOException {
        assertThat(rows(ProfileTexts.HEAPTRACK))
                .containsExactly(
                        "0 -1 -1/-1 trace:metadata name=command value=./a.out",
                        "1000000 -1 -1/-1 heap:alloc *1000 size=1000 < grab < main",
                        "10000000 -1 -1/-1 heap:alloc *1000 size=1000 < grab < main",
                        "10000000 -1 -1/-1 heap:free *1000 size=1000 < grab < main",
                        "10000000 -1 -1/-1 counter:value track=1 value=65536.0 name=rss"
                                + " unit=bytes");
    }
}
