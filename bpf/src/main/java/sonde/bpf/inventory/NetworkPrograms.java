package sonde.bpf.inventory;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import sonde.bpf.AttachType;
import sonde.bpf.BpfRefusedException;
import sonde.bpf.Program;
import sonde.bpf.call.BpfAttr;
import sonde.sys.Bpf;
import sonde.sys.Errno;
import sonde.sys.Fd;
import sonde.sys.FileCalls;
import sonde.sys.Netlink;
import sonde.sys.SyscallException;

/**
 * The programs of network devices and of this network namespace, also those without a link: xdp and
 * filters of traffic control by rtnetlink, tcx, netkit and flow dissectors by BPF_PROG_QUERY. As
 * maps from bpftool's keys.
 */
public final class NetworkPrograms {
    private static final int GET_LINK = 18;
    private static final int GET_FILTER = 46;
    private static final int LINK_BYTES = 16;
    private static final int FILTER_BYTES = 20;
    private static final int MOST_PROGRAMS = 256;

    /** Parents of filters: TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_*), and the device's own qdisc. */
    private static final Map<Integer, String> PARENTS =
            new TreeMap<>(
                    Map.of(0xfffffff2, "clsact/ingress", 0xfffffff3, "clsact/egress", 0, "qdisc"));

    private final List<Map<String, Object>> xdp = new ArrayList<>();
    private final List<Map<String, Object>> filters = new ArrayList<>();
    private final List<Map<String, Object>> dissectors = new ArrayList<>();

    private boolean found;

    private NetworkPrograms() {}

    /**
     * Looks now.
     *
     * @param device a name; empty for all
     * @return rows by {@code xdp}, {@code tc}, {@code flow_dissector}
     * @throws BpfRefusedException when there is no device of that name
     */
    public static Map<String, List<Map<String, Object>>> now(String device) throws IOException {
        NetworkPrograms all = new NetworkPrograms();
        for (byte[] link : Netlink.dump(GET_LINK, new byte[LINK_BYTES])) {
            if (link.length >= LINK_BYTES) {
                all.device(link, device);
            }
        }
        if (!all.found) {
            throw new BpfRefusedException(
                    device.isEmpty() ? "network" : device,
                    Errno.ENODEV,
                    "there is no such device; 'ip link' lists them",
                    "");
        }
        if (device.isEmpty()) {
            all.dissectors();
        }
        Map<String, List<Map<String, Object>>> rows = new LinkedHashMap<>();
        rows.put("xdp", all.xdp);
        rows.put("tc", all.filters);
        rows.put("flow_dissector", all.dissectors);
        return rows;
    }

    private static int number(byte[] bytes, int at) {
        return bytes.length < at + 4
                ? 0
                : ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder()).getInt(at);
    }

    private static String text(byte[] bytes) {
        int end = 0;
        while (end < bytes.length && bytes[end] != 0) {
            end++;
        }
        return new String(bytes, 0, end, StandardCharsets.UTF_8);
    }

    private static final byte[] NONE = {};

    /** struct ifinfomsg: the index at 4; IFLA_IFNAME 3, IFLA_XDP 43. */
    private void device(byte[] link, String wanted) throws IOException {
        Map<Integer, byte[]> attributes = Netlink.attributes(link, LINK_BYTES);
        int index = number(link, 4);
        String name = text(attributes.getOrDefault(3, NONE));
        if (!wanted.isEmpty() && !wanted.equals(name)) {
            return;
        }
        found = true;
        xdp(name, index, Netlink.attributes(attributes.getOrDefault(43, NONE), 0));
        for (AttachType type :
                List.of(
                        AttachType.TCX_INGRESS,
                        AttachType.TCX_EGRESS,
                        AttachType.NETKIT_PRIMARY,
                        AttachType.NETKIT_PEER)) {
            query(name, index, type);
        }
        for (Map.Entry<Integer, String> parent : PARENTS.entrySet()) {
            filters(name, index, parent.getKey(), parent.getValue());
        }
    }

    private static Map<String, Object> row(String name, int index) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("devname", name);
        row.put("ifindex", (long) index);
        return row;
    }

    /** IFLA_XDP_DRV_PROG_ID 5, _SKB_PROG_ID 6, _HW_PROG_ID 7. */
    private void xdp(String name, int index, Map<Integer, byte[]> attributes) {
        List<String> modes = List.of("driver", "generic", "offload");
        for (int mode = 0; mode < modes.size(); mode++) {
            int id = number(attributes.getOrDefault(5 + mode, NONE), 0);
            if (id != 0) {
                Map<String, Object> row = row(name, index);
                row.put("mode", modes.get(mode));
                row.put("id", (long) id);
                xdp.add(row);
            }
        }
    }

    /** struct tcmsg: index at 4, parent at 12; TCA_OPTIONS 2 with TCA_BPF_NAME 7, TCA_BPF_ID 11. */
    private void filters(String name, int index, int parent, String kind) {
        ByteBuffer question = ByteBuffer.allocate(FILTER_BYTES).order(ByteOrder.nativeOrder());
        question.putInt(4, index).putInt(12, parent);
        List<byte[]> answers;
        try {
            answers = Netlink.dump(GET_FILTER, question.array());
        } catch (SyscallException e) {
            return; // a device without traffic control
        }
        for (byte[] filter : answers) {
            byte[] options = Netlink.attributes(filter, FILTER_BYTES).getOrDefault(2, NONE);
            Map<Integer, byte[]> of = Netlink.attributes(options, 0);
            int id = number(of.getOrDefault(11, NONE), 0);
            if (id != 0 && number(filter, 4) == index) {
                Map<String, Object> row = row(name, index);
                row.put("kind", kind);
                row.put("name", text(of.getOrDefault(7, NONE)));
                row.put("id", (long) id);
                filters.add(row);
            }
        }
    }

    private record NetworkAttachment(int program, int link) {}

    /** Empty where this kernel has no such place. */
    private static List<NetworkAttachment> ask(int target, AttachType type, boolean links) {
        List<NetworkAttachment> all = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment ids = arena.allocate(4L * MOST_PROGRAMS, 8);
            MemorySegment linkIds = arena.allocate(4L * MOST_PROGRAMS, 8);
            MemorySegment attr = BpfAttr.allocate(arena);
            attr.set(JAVA_INT, 0, target);
            attr.set(JAVA_INT, 4, type.code());
            attr.set(JAVA_LONG, 16, ids.address());
            attr.set(JAVA_INT, 24, MOST_PROGRAMS);
            attr.set(JAVA_LONG, 40, links ? linkIds.address() : 0);
            if (Bpf.tryCall(BpfAttr.PROG_QUERY, attr) < 0) {
                return all;
            }
            int count = Math.min(attr.get(JAVA_INT, 24), MOST_PROGRAMS);
            for (int i = 0; i < count; i++) {
                all.add(
                        new NetworkAttachment(
                                ids.getAtIndex(JAVA_INT, i), linkIds.getAtIndex(JAVA_INT, i)));
            }
            return all;
        }
    }

    private void query(String name, int index, AttachType type) {
        String[] words = type.kernelName().split("_", -1);
        for (NetworkAttachment one : ask(index, type, true)) {
            Map<String, Object> row = row(name, index);
            row.put("kind", words[0] + "/" + words[1]);
            row.put("name", name(one.program()));
            row.put("prog_id", (long) one.program());
            if (one.link() != 0) {
                row.put("link_id", (long) one.link());
            }
            filters.add(row);
        }
    }

    private static String name(int id) {
        try (Program program = Program.openId(id)) {
            return program.facts().name();
        } catch (SyscallException e) {
            return ""; // detached meanwhile
        }
    }

    private void dissectors() throws IOException {
        int fd = FileCalls.open("/proc/self/ns/net", FileCalls.O_RDONLY | FileCalls.O_CLOEXEC);
        try {
            for (NetworkAttachment one : ask(fd, AttachType.FLOW_DISSECTOR, false)) {
                dissectors.add(Map.of("id", (long) one.program()));
            }
        } finally {
            Fd.discard(fd);
        }
    }
}
