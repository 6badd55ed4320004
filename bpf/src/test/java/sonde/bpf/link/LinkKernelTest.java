package sonde.bpf.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static sonde.bpf.insn.BpfRegister.R0;
import static sonde.bpf.insn.BpfRegister.R1;
import static sonde.bpf.insn.BpfRegister.R10;
import static sonde.bpf.insn.BpfRegister.R2;
import static sonde.bpf.insn.BpfRegister.R3;
import static sonde.bpf.insn.BpfRegister.R7;

import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.binary.btf.BtfType;
import sonde.bpf.AttachType;
import sonde.bpf.BpfRefusedException;
import sonde.bpf.Leaks;
import sonde.bpf.Link;
import sonde.bpf.LinkFacts;
import sonde.bpf.Program;
import sonde.bpf.ProgramSpec;
import sonde.bpf.ProgramType;
import sonde.bpf.TracepointFormat;
import sonde.bpf.feature.BpfFeatureProbe;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.Label;
import sonde.bpf.insn.Width;
import sonde.bpf.link.Kprobes.KprobePoint;
import sonde.bpf.link.PerfEvents.CountedEvent;
import sonde.bpf.link.Uprobes.UprobePoint;
import sonde.sys.NativeSyscall;
import sonde.sys.SyscallException;
import sonde.sys.SyscallNames;
import sonde.testkit.BpfFolder;

@Tag("kernel")
final class LinkKernelTest {
    private static final int LOOPBACK = 1;
    private static final int GETPPID = SyscallNames.number("getppid");

    private static void callGetppid(int times) {
        for (int i = 0; i < times; i++) {
            NativeSyscall.syscall(GETPPID, 0, 0, 0);
        }
    }

    @Test
    void tracepointsHaveCookiesAndFacts() throws Exception {
        TracepointFormat tracepoint = TracepointFormat.of("syscalls", "sys_enter_getppid");
        try (Counted counted = Counted.withCookie(ProgramType.TRACEPOINT)) {
            try (Link link = Link.tracepoint(counted.program, tracepoint, 7)) {
                callGetppid(10);
                assertThat(counted.hits()).isGreaterThanOrEqualTo(10);
                assertThat(counted.cookies()).isEqualTo(7 * counted.hits());
                assertThat(link.isObject()).isTrue();
                LinkFacts facts = link.facts();
                assertThat(facts.typeName()).isEqualTo("perf_event");
                assertThat(facts.programId()).isEqualTo(counted.program.facts().id());
                // Told since Linux 6.6.
                if (facts.details().isEmpty()) {
                    return;
                }
                assertThat(facts.details())
                        .containsEntry("kind", "tracepoint")
                        .containsEntry("tracepoint", "sys_enter_getppid")
                        .containsEntry("cookie", 7L);
                assertThat(Link.ids()).contains(facts.id());
            }
            long before = counted.hits();
            callGetppid(5);
            assertThat(counted.hits()).isEqualTo(before);
        }
    }

    @Test
    void rawTracepointsUntypedAndTyped() throws Exception {
        try (Counted counted = Counted.of(ProgramType.RAW_TRACEPOINT, 0);
                Link link = Link.rawTracepoint(counted.program, "sys_enter")) {
            callGetppid(10);
            assertThat(counted.hits()).isGreaterThanOrEqualTo(10);
            assertThat(link.facts().details()).containsEntry("tp_name", "sys_enter");
        }
        int id;
        try (KernelTypes types = KernelTypes.open()) {
            id = types.tracepoint("sys_enter");
            assertThatThrownBy(() -> types.tracepoint("nonsense"))
                    .isInstanceOf(BpfRefusedException.class);
        }
        ProgramSpec typed =
                new ProgramSpec("t_typed", ProgramType.TRACING, new CodeBuilder().build())
                        .targeting(AttachType.TRACE_RAW_TP, id);
        try (Counted counted = Counted.of(typed, 0, false);
                Link link = TracingLinks.attach(counted.program)) {
            callGetppid(10);
            assertThat(counted.hits()).isGreaterThanOrEqualTo(10);
            assertThat(link.facts().details()).containsEntry("tp_name", "sys_enter");
        }
    }

    /** libc's function that all our system calls go through. */
    private static long syscallFunction(Path libc) throws Exception {
        for (String line : lines("readelf", "-W", "--dyn-syms", libc.toString())) {
            String[] words = line.strip().split("\\s+");
            if (words.length > 7 && words[7].startsWith("syscall@")) {
                return Long.parseLong(words[1], 16);
            }
        }
        return Assumptions.abort("libc has no syscall");
    }

    private static Path library(String name) throws Exception {
        for (String line : Files.readAllLines(Path.of("/proc/self/maps"))) {
            int slash = line.indexOf('/');
            if (slash > 0 && line.endsWith(name)) {
                return Path.of(line.substring(slash));
            }
        }
        return Assumptions.abort("no " + name);
    }

    private static List<String> lines(String... command) throws Exception {
        Process process = new ProcessBuilder(command).start();
        List<String> lines = process.inputReader().lines().toList();
        process.waitFor();
        return lines;
    }

    /** The kernel would emulate them as jumps, and the function would return another value. */
    @Test
    void placesThatTheKernelMisreadsAreRefused(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("vector.so");
        Files.writeString(
                folder.resolve("vector.c"),
                "asm(\".globl f\\n.type f,@function\\nf: vpor %xmm0,%xmm0,%xmm1\\nnop\\nret\");");
        String source = folder.resolve("vector.c").toString();
        lines("gcc", "-shared", "-nostdlib", "-o", file.toString(), source);
        byte[] vpor = {(byte) 0xc5, (byte) 0xf9, (byte) 0xeb, (byte) 0xc8};
        String bytes = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
        int offset = bytes.indexOf(new String(vpor, StandardCharsets.ISO_8859_1));
        try (Counted counted = Counted.withCookie(ProgramType.KPROBE)) {
            for (boolean atReturn : new boolean[] {false, true}) {
                UprobePoint place = new UprobePoint(offset);
                Program program = counted.program;
                assertThatThrownBy(
                                () -> Uprobes.attach(program, file.toString(), place, atReturn, -1))
                        .isInstanceOf(SyscallException.class)
                        .hasMessageContaining("takes this vector instruction for a jump");
            }
            UprobePoint behind = new UprobePoint(offset + vpor.length);
            Uprobes.attach(counted.program, file.toString(), behind, false, -1).close();
        }
    }

    @Test
    void uprobesByEveryWay() throws Exception {
        Path libc = library("libc.so.6");
        UprobePoint place = new UprobePoint(syscallFunction(libc), 0, 3);
        int self = (int) ProcessHandle.current().pid();
        try (Counted counted = Counted.withCookie(ProgramType.KPROBE)) {
            List<Link> made = new ArrayList<>();
            made.add(Uprobes.byPmu(counted.program, libc.toString(), place, false, self));
            assertHits(counted, made.removeLast());
            made.add(Uprobes.byPmu(counted.program, libc.toString(), place, true, self));
            assertHits(counted, made.removeLast());
            made.add(Uprobes.byPmu(counted.program, libc.toString(), place, true, -1));
            assertHits(counted, made.removeLast());
            made.add(Uprobes.byTracefs(counted.program, libc.toString(), place, false, self));
            assertThat(Files.readString(Path.of("/sys/kernel/tracing/uprobe_events")))
                    .contains("sonde_" + self);
            assertHits(counted, made.removeLast());
        }
        assertThat(Files.readString(Path.of("/sys/kernel/tracing/uprobe_events")))
                .doesNotContain("sonde_" + self);
        if (!BpfFeatureProbe.attachType(AttachType.TRACE_UPROBE_MULTI).isYes()) {
            return;
        }
        ProgramSpec multi =
                new ProgramSpec("t_multi", ProgramType.KPROBE, new CodeBuilder().build())
                        .expecting(AttachType.TRACE_UPROBE_MULTI);
        try (Counted counted = Counted.of(multi, 0, true)) {
            Link link =
                    Uprobes.multi(counted.program, libc.toString(), List.of(place), false, self);
            assertThat(link.facts().details())
                    .containsEntry("path", libc.toRealPath().toString())
                    .containsEntry("func_cnt", 1L);
            assertHits(counted, link);
        }
    }

    private static void assertHits(Counted counted, Link link) throws Exception {
        long before = counted.hits();
        try (link) {
            callGetppid(20);
        }
        long hits = counted.hits() - before;
        assertThat(hits).as(link.target()).isGreaterThanOrEqualTo(20);
        // Detached: nothing runs between reading the two numbers, which would count itself.
        assertThat(counted.cookies()).isEqualTo(3 * counted.hits());
        callGetppid(20);
        assertThat(counted.hits() - before).as(link.target()).isEqualTo(hits);
    }

    @Test
    void theJvmsOwnUsdtProbes() throws Exception {
        Path jvm = library("libjvm.so");
        List<UprobePoint> places = new ArrayList<>();
        boolean wanted = false;
        for (String line : lines("readelf", "-n", jvm.toString())) {
            if (line.contains("Name:")) {
                wanted = line.strip().equals("Name: gc__begin");
            } else if (wanted && line.contains("Location:")) {
                String hex = line.replaceAll(".*Location: 0x([0-9a-f]+),.*", "$1");
                places.add(new UprobePoint(Long.parseLong(hex, 16), 0, 1 + places.size()));
            }
        }
        assertThat(places).isNotEmpty();
        int self = (int) ProcessHandle.current().pid();
        for (AttachType kind : new AttachType[] {null, AttachType.TRACE_UPROBE_MULTI}) {
            if (kind != null && !BpfFeatureProbe.attachType(kind).isYes()) {
                continue;
            }
            ProgramSpec spec =
                    new ProgramSpec("t_gc", ProgramType.KPROBE, new CodeBuilder().build());
            try (Counted counted = Counted.of(kind == null ? spec : spec.expecting(kind), 0, true);
                    Link link =
                            Uprobes.usdt(
                                    counted.program,
                                    jvm.toString(),
                                    "hotspot:gc__begin",
                                    places,
                                    self)) {
                System.gc();
                System.gc();
                assertThat(counted.hits()).as(link.target()).isGreaterThanOrEqualTo(2);
                assertThat(counted.cookies()).isGreaterThanOrEqualTo(2);
            }
        }
    }

    /** The kernel counts the semaphore up in every process that maps it. */
    @Test
    void semaphoresOpenTheGateOfUsdtProbes(@TempDir Path folder) throws Exception {
        Path source = folder.resolve("gate.c");
        Files.writeString(
                source,
                """
                #include <stdio.h>
                #include <unistd.h>
                volatile unsigned short gate __attribute__((section(".data"))) = 0;
                __attribute__((noinline)) void hit(void) { __asm__ volatile(""); }
                int main(void) {
                    char c;
                    while (read(0, &c, 1) == 1) {
                        if (gate) hit();
                        printf("%d\\n", gate);
                        fflush(stdout);
                    }
                    return 0;
                }
                """);
        Path binary = folder.resolve("gate");
        try {
            lines("gcc", "-O1", "-o", binary.toString(), source.toString());
        } catch (java.io.IOException e) {
            Assumptions.abort("gcc is missing");
        }
        UprobePoint place =
                new UprobePoint(fileOffset(binary, "hit"), fileOffset(binary, "gate"), 3);
        Process process = new ProcessBuilder(binary.toString()).start();
        try (Counted counted = Counted.withCookie(ProgramType.KPROBE);
                var out = process.inputReader();
                var in = process.outputWriter()) {
            assertThat(answer(in, out)).isEqualTo("0");
            try (Link link =
                    Uprobes.usdt(
                            counted.program, binary.toString(), "t:gate", List.of(place), -1)) {
                assertThat(answer(in, out)).as(link.target()).isEqualTo("1");
                assertThat(answer(in, out)).isEqualTo("1");
                assertThat(counted.hits()).isEqualTo(2);
                assertThat(counted.cookies()).isEqualTo(6);
            }
            assertThat(answer(in, out)).isEqualTo("0");
        } finally {
            process.destroyForcibly().waitFor();
        }
    }

    private static String answer(java.io.Writer in, java.io.BufferedReader out)
            throws java.io.IOException {
        in.write('x');
        in.flush();
        return out.readLine();
    }

    /** Where a symbol lies in the file, by its program headers. */
    private static long fileOffset(Path binary, String symbol) throws Exception {
        long address = -1;
        for (String line : lines("readelf", "-W", "-s", binary.toString())) {
            String[] words = line.strip().split("\\s+");
            if (words.length == 8 && words[7].equals(symbol)) {
                address = Long.parseLong(words[1], 16);
            }
        }
        for (String line : lines("readelf", "-W", "-l", binary.toString())) {
            String[] words = line.strip().split("\\s+");
            if (words[0].equals("LOAD")) {
                long offset = Long.decode(words[1]);
                long start = Long.decode(words[2]);
                if (address >= start && address < start + Long.decode(words[4])) {
                    return address - start + offset;
                }
            }
        }
        throw new AssertionError("no " + symbol);
    }

    @Test
    void perfEventsRunTheProgramAtEachOverflow() throws Exception {
        try (Counted counted = Counted.withCookie(ProgramType.PERF_EVENT);
                Link link = PerfEvents.everywhere(counted.program, CountedEvent.clock(1000), 5)) {
            // 0.05 s on a processor of its own; an emulated one gets far fewer.
            long until = System.nanoTime() + 10_000_000_000L;
            while (counted.hits() <= 50 && System.nanoTime() < until) {
                Thread.onSpinWait();
            }
            assertThat(counted.hits()).as(link.target()).isGreaterThan(50);
            assertThat(counted.cookies()).isGreaterThanOrEqualTo(5 * 50);
        }
    }

    /** bpf_seq_write of each task's number. */
    @Test
    void iteratorsAreReadAsFiles() throws Exception {
        int id;
        int pidOffset;
        try (KernelTypes types = KernelTypes.open()) {
            id = types.iterator("task");
            BtfType.Struct task = types.btf().struct("task_struct").orElseThrow();
            pidOffset = types.btf().member(task, "pid").orElseThrow().bitOffset() / 8;
        }
        Label end = new Label("end");
        CodeBuilder code =
                new CodeBuilder()
                        .load(Width.U64, R7, R1, 8)
                        .ifZero(R7, end)
                        .load(Width.U64, R1, R1, 0)
                        .load(Width.U64, R1, R1, 0)
                        .load(Width.U32, R0, R7, pidOffset)
                        .store(Width.U32, R10, -4, R0)
                        .move(R2, R10)
                        .add(R2, -4)
                        .move(R3, 4)
                        .call(127)
                        .at(end)
                        .exit(0);
        ProgramSpec spec =
                new ProgramSpec("t_tasks", ProgramType.TRACING, code.build())
                        .targeting(AttachType.TRACE_ITER, id);
        try (Program program = Program.load(spec);
                KernelIterator tasks = KernelIterator.of(program)) {
            assertThat(pids(tasks.read(1 << 20))).contains(2, (int) ProcessHandle.current().pid());
            assertThat(tasks.read(8)).hasSize(8);
            assertThat(tasks.link().facts().details()).containsEntry("target_name", "task");
        }
        try (Program program = Program.load(spec);
                KernelIterator own =
                        KernelIterator.ofProcess(program, (int) ProcessHandle.current().pid())) {
            assertThat(pids(own.read(1 << 20)))
                    .hasSizeGreaterThan(1)
                    .contains((int) ProcessHandle.current().pid())
                    .doesNotContain(1);
        }
    }

    private static List<Integer> pids(byte[] bytes) {
        ByteBuffer words = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
        List<Integer> pids = new ArrayList<>();
        while (words.remaining() >= 4) {
            pids.add(words.getInt());
        }
        return pids;
    }

    private static void sendToSelf(int packets) throws Exception {
        try (DatagramSocket to = new DatagramSocket(0, InetAddress.ofLiteral("127.0.0.1"));
                DatagramSocket from = new DatagramSocket(0, InetAddress.ofLiteral("127.0.0.1"))) {
            for (int i = 0; i < packets; i++) {
                from.send(new DatagramPacket(new byte[100], 100, to.getLocalSocketAddress()));
                to.receive(new DatagramPacket(new byte[200], 200));
            }
        }
    }

    @Test
    void devicesAndNamespaces() throws Exception {
        int pass = 2;
        try (Counted xdp = Counted.at(ProgramType.XDP, AttachType.XDP, pass);
                Link link = NetworkLinks.xdp(xdp.program, LOOPBACK, NetworkLinks.XdpMode.GENERIC)) {
            sendToSelf(10);
            assertThat(xdp.hits()).isGreaterThanOrEqualTo(10);
            assertThat(link.facts().details()).containsEntry("ifindex", 1L);
        }
        int next = -1;
        for (boolean ingress : new boolean[] {true, false}) {
            AttachType place = ingress ? AttachType.TCX_INGRESS : AttachType.TCX_EGRESS;
            if (!BpfFeatureProbe.attachType(place).isYes()) {
                continue;
            }
            try (Counted tcx = Counted.at(ProgramType.SCHED_CLS, place, next);
                    Counted other = Counted.at(ProgramType.SCHED_CLS, place, next);
                    Link link = NetworkLinks.tcx(tcx.program, LOOPBACK, ingress)) {
                sendToSelf(10);
                assertThat(tcx.hits()).isGreaterThanOrEqualTo(10);
                assertThat(link.facts().details()).containsEntry("attach_type", place.kernelName());
                link.update(other.program);
                sendToSelf(3);
                assertThat(other.hits()).isGreaterThanOrEqualTo(3);
            }
        }
        try (Counted lookup = Counted.at(ProgramType.SK_LOOKUP, AttachType.SK_LOOKUP, 1);
                Link link =
                        NetworkLinks.netns(
                                lookup.program, AttachType.SK_LOOKUP, "/proc/self/ns/net")) {
            sendToSelf(5);
            assertThat(lookup.hits()).isGreaterThanOrEqualTo(1);
            assertThat(link.facts().details()).containsEntry("attach_type", "sk_lookup");
        }
    }

    @Test
    void cgroups() throws Exception {
        Path root = Path.of("/sys/fs/cgroup/unified");
        if (!Files.isDirectory(root)) {
            root = Path.of("/sys/fs/cgroup");
        }
        Assumptions.assumeTrue(
                Files.exists(root.resolve("cgroup.controllers")), "no cgroup2 is mounted");
        try (Counted counted =
                        Counted.at(ProgramType.CGROUP_SKB, AttachType.CGROUP_INET_INGRESS, 1);
                Link link =
                        NetworkLinks.cgroup(
                                counted.program, AttachType.CGROUP_INET_INGRESS, root.toString())) {
            sendToSelf(10);
            assertThat(counted.hits()).isGreaterThanOrEqualTo(10);
            assertThat(link.facts().details()).containsEntry("attach_type", "cgroup_inet_ingress");
        }
    }

    @Test
    void pinnedLinksStayAttached() throws Exception {
        TracepointFormat tracepoint = TracepointFormat.of("syscalls", "sys_enter_getppid");
        try (BpfFolder folder = new BpfFolder();
                Counted counted = Counted.of(ProgramType.TRACEPOINT, 0)) {
            try (Link link = Link.tracepoint(counted.program, tracepoint, 0)) {
                link.pin(folder.path("link"));
            }
            callGetppid(10);
            assertThat(counted.hits()).isGreaterThanOrEqualTo(10);
            try (Link again = Link.openPinned(folder.path("link"))) {
                assertThat(again.facts().programId()).isEqualTo(counted.program.facts().id());
            }
            Files.delete(Path.of(folder.path("link")));
            // The kernel lets go of it after a grace period.
            long until = System.nanoTime() + 10_000_000_000L;
            long before;
            do {
                Thread.sleep(20);
                before = counted.hits();
                callGetppid(10);
            } while (counted.hits() != before && System.nanoTime() < until);
            assertThat(counted.hits()).isEqualTo(before);
        }
    }

    @Test
    void failuresLeaveNothingOpen() throws Exception {
        TracepointFormat none = new TracepointFormat("x", "y", 0x7fff_fff0, java.util.Map.of());
        try (Counted kprobe = Counted.of(ProgramType.KPROBE, 0);
                Counted xdp = Counted.at(ProgramType.XDP, AttachType.XDP, 2);
                Counted tracepoint = Counted.of(ProgramType.TRACEPOINT, 0)) {
            Leaks before = Leaks.now();
            for (int i = 0; i < 3; i++) {
                assertThatThrownBy(() -> Link.tracepoint(tracepoint.program, none, 1));
                assertThatThrownBy(() -> Link.rawTracepoint(tracepoint.program, "sys_enter"));
                assertThatThrownBy(() -> Link.openId(Integer.MAX_VALUE));
                assertThatThrownBy(
                        () -> NetworkLinks.xdp(xdp.program, 999_999, NetworkLinks.XdpMode.ANY));
                assertThatThrownBy(
                        () -> NetworkLinks.cgroup(xdp.program, AttachType.XDP, "/nowhere"));
                assertThatThrownBy(() ->
                        Uprobes.attach(kprobe.program, "/nowhere", new UprobePoint(0), false, -1));
                assertThatThrownBy(() ->
                        Uprobes.byTracefs(
                                kprobe.program, "/nowhere", new UprobePoint(0), false, -1));
                // The second place is not an instruction's: the first must be given back.
                assertThatThrownBy(() ->
                        Uprobes.usdt(
                                kprobe.program,
                                library("libc.so.6").toString(),
                                "x:y",
                                List.of(
                                        new UprobePoint(syscallFunction(library("libc.so.6"))),
                                        new UprobePoint(1L << 40)),
                                -1));
                assertThatThrownBy(() -> KernelIterator.of(kprobe.program));
                assertThatThrownBy(
                        () -> Kprobes.attach(kprobe.program, KprobePoint.entry("no_such_fn"), 0));
            }
            before.assertNothingLeftSince();
        }
    }

    @Test
    void whatThisKernelLacksIsSaid() throws Exception {
        Assumptions.assumeFalse(
                Files.exists(Path.of("/sys/bus/event_source/devices/kprobe")),
                "this kernel has kprobes");
        try (Counted kprobe = Counted.of(ProgramType.KPROBE, 0)) {
            assertThatThrownBy(() ->
                            Kprobes.attach(kprobe.program, KprobePoint.entry("do_sys_openat2"), 0))
                    .isInstanceOf(BpfRefusedException.class)
                    .hasMessageContaining("this kernel has no kprobe_events");
        }
        ProgramSpec multi =
                new ProgramSpec("t_multi", ProgramType.KPROBE, new CodeBuilder().build())
                        .expecting(AttachType.TRACE_KPROBE_MULTI);
        try (Counted counted = Counted.of(multi, 0, false)) {
            assertThatThrownBy(() ->
                            Kprobes.multi(
                                    counted.program, List.of("do_sys_openat2"), List.of(), false))
                    .isInstanceOf(BpfRefusedException.class)
                    .hasMessageContaining("no kprobe.multi");
        }
    }
}
