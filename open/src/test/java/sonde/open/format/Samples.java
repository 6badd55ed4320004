package sonde.open.format;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import sonde.testkit.JfrBytes;
import sonde.testkit.PcapBytes;
import sonde.testkit.PerfettoBytes;
import sonde.testkit.PprofBytes;
import sonde.testkit.ProfileTexts;

/** Files of every format that is read here, and which it is. */
public final class Samples {
    private Samples() {}

    static byte[] text(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static byte[] dnsPacket() {
        byte[] answer = PcapBytes.udp(53, 40000, PcapBytes.dnsAnswer());
        return PcapBytes.ethernet(7, 0x0800, PcapBytes.ipv4(17, answer));
    }

    static byte[] tcpPacket() {
        byte[] tcp = PcapBytes.tcp(80, 40001, text("hello"));
        return PcapBytes.ethernet(-1, 0x86dd, PcapBytes.ipv6(6, tcp));
    }

    public static Map<String, byte[]> all() {
        Map<String, byte[]> all = new LinkedHashMap<>();
        ByteOrder big = ByteOrder.BIG_ENDIAN;
        ByteOrder little = ByteOrder.LITTLE_ENDIAN;
        all.put("perfetto", PerfettoBytes.example());
        all.put("pcap", PcapBytes.pcap(little, false, 1, dnsPacket(), tcpPacket()));
        all.put("pcap big", PcapBytes.pcap(big, true, 1, dnsPacket(), tcpPacket()));
        all.put("pcap ng", PcapBytes.pcapng(little, dnsPacket()));
        all.put("pcap ng big", PcapBytes.pcapng(big, tcpPacket()));
        all.put("pprof", PprofBytes.example());
        all.put("chrome", text(ProfileTexts.CHROME));
        all.put("chrome object", text(ProfileTexts.CHROME_OBJECT));
        all.put("speedscope", text(ProfileTexts.SPEEDSCOPE));
        all.put("firefox", text(ProfileTexts.FIREFOX));
        all.put("firefox shared", text(ProfileTexts.FIREFOX_SHARED));
        all.put("jfr", JfrBytes.example());
        all.put("callgrind", text(ProfileTexts.CALLGRIND));
        all.put("massif", text(ProfileTexts.MASSIF));
        all.put("heaptrack", text(ProfileTexts.HEAPTRACK));
        all.put("dmesg", text(ProfileTexts.DMESG));
        return all;
    }
}
