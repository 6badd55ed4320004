package sonde.bpf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static sonde.bpf.insn.BpfRegister.R0;
import static sonde.bpf.insn.BpfRegister.R1;
import static sonde.bpf.insn.BpfRegister.R10;
import static sonde.bpf.insn.BpfRegister.R2;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import sonde.bpf.TestRun.TestOutcome;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.insn.Width;
import sonde.testkit.BpfFolder;

@Tag("kernel")
final class ProgramRunKernelTest {
    private static final ProgramCode RETURN_ZERO = new CodeBuilder().exit(0).build();

    @Test
    void socketFiltersSeeThePacket() throws Exception {
        // struct __sk_buff: len u32 at 0.
        ProgramCode length = new CodeBuilder().load(Width.U32, R0, R1, 0).exit().build();
        try (Program program = Program.load("t_len", ProgramType.SOCKET_FILTER, length)) {
            byte[] packet = new byte[64];
            TestOutcome outcome = program.run(TestRun.packet(packet, 1000));
            assertThat(outcome.value()).isEqualTo(64 - 14);
            assertThat(outcome.nanos()).isLessThan(1_000_000);
            assertThatThrownBy(() -> program.run(TestRun.packet(new byte[3], 1)))
                    .hasMessageContaining("t_len")
                    .hasMessageContaining("EINVAL");
        }
        byte[] packet = new byte[64];
        packet[40] = 9;
        try (Program program = Program.load("t_cls", ProgramType.SCHED_CLS, RETURN_ZERO)) {
            assertThat(program.run(TestRun.packet(packet, 1)).data()).isEqualTo(packet);
        }
    }

    @Test
    void rawTracepointsGetTheirArguments() throws Exception {
        ProgramCode sum =
                new CodeBuilder()
                        .load(Width.U64, R0, R1, 0)
                        .load(Width.U64, R2, R1, 8)
                        .add(R0, R2)
                        .exit()
                        .build();
        try (Program program = Program.load("t_sum", ProgramType.RAW_TRACEPOINT, sum)) {
            byte[] context =
                    ByteBuffer.allocate(16)
                            .order(ByteOrder.nativeOrder())
                            .putLong(40)
                            .putLong(2)
                            .array();
            assertThat(program.run(TestRun.context(context)).value()).isEqualTo(42);
        }
        try (Program program = Program.load("t_tp", ProgramType.TRACEPOINT, RETURN_ZERO)) {
            BpfRefusedException e =
                    catchThrowableOfType(
                            BpfRefusedException.class, () -> program.run(TestRun.once()));
            assertThat(e.barrier()).isEqualTo(BpfRefusedException.Barrier.UNSUPPORTED);
        }
    }

    @Test
    void factsOfAProgram() throws Exception {
        try (BpfMap map = BpfMap.create(new MapSpec("t_facts", MapType.ARRAY, 4, 8, 1));
                RunStatistics statistics = RunStatistics.open()) {
            ProgramCode count =
                    new CodeBuilder()
                            .mapValue(R1, map.fd(), 0)
                            .move(R2, 1)
                            .atomicAdd(Width.U64, R1, 0, R2)
                            .exit(0)
                            .build();
            try (Program program = Program.load("t_facts", ProgramType.SOCKET_FILTER, count)) {
                program.run(TestRun.packet(new byte[64], 500));
                ProgramFacts facts = program.facts();
                assertThat(map.word(0)).isEqualTo(500);
                assertThat(facts.type()).isEqualTo(1);
                assertThat(facts.name()).isEqualTo("t_facts");
                assertThat(facts.tag()).matches("[0-9a-f]{16}");
                assertThat(facts.gplCompatible()).isTrue();
                assertThat(facts.mapIds()).containsExactly(map.facts().id());
                assertThat(facts.runCount()).isEqualTo(500);
                assertThat(facts.runNanos()).isPositive();
                assertThat(facts.verifiedInstructions()).isEqualTo(5);
                assertThat(facts.memoryBytes()).isPositive();
                assertThat(ProgramFacts.translated(program)).hasSizeGreaterThanOrEqualTo(5);
                assertThat(ProgramFacts.jited(program)).hasSize(facts.jitedBytes());
                assertThat(Program.ids()).contains(facts.id());
                try (Program same = Program.openId(facts.id())) {
                    assertThat(same.facts().tag()).isEqualTo(facts.tag());
                }
                assertThat(statistics).isNotNull();
            }
        }
    }

    @Test
    void everyCommonTypeLoads() throws Exception {
        for (ProgramSpec spec : commonTypes()) {
            try (Program program = Program.load(spec)) {
                assertThat(program.facts().type()).isEqualTo(spec.type().code());
            }
        }
    }

    private static List<ProgramSpec> commonTypes() {
        List<ProgramSpec> specs = new ArrayList<>();
        for (ProgramType type :
                List.of(
                        ProgramType.SOCKET_FILTER,
                        ProgramType.KPROBE,
                        ProgramType.TRACEPOINT,
                        ProgramType.PERF_EVENT,
                        ProgramType.RAW_TRACEPOINT,
                        ProgramType.XDP,
                        ProgramType.SCHED_CLS,
                        ProgramType.CGROUP_SKB)) {
            specs.add(new ProgramSpec("t_type", type, RETURN_ZERO));
        }
        ProgramCode one = new CodeBuilder().exit(1).build();
        specs.add(
                new ProgramSpec("t_sock", ProgramType.CGROUP_SOCK, one)
                        .expecting(AttachType.CGROUP_INET_SOCK_CREATE));
        specs.add(
                new ProgramSpec("t_addr", ProgramType.CGROUP_SOCK_ADDR, one)
                        .expecting(AttachType.CGROUP_INET4_CONNECT));
        specs.add(
                new ProgramSpec("t_sysctl", ProgramType.CGROUP_SYSCTL, one)
                        .expecting(AttachType.CGROUP_SYSCTL));
        specs.add(
                new ProgramSpec("t_syscall", ProgramType.SYSCALL, RETURN_ZERO)
                        .with(ProgramSpec.SLEEPABLE));
        return specs;
    }

    @Test
    void logsAreKeptWhenAsked() throws Exception {
        ProgramSpec spec = new ProgramSpec("t_log", ProgramType.SOCKET_FILTER, RETURN_ZERO);
        try (Program quiet = Program.load(spec);
                Program statistics = Program.load(spec.with(ProgramSpec.Log.STATISTICS));
                Program all = Program.load(spec.with(ProgramSpec.Log.EVERYTHING))) {
            assertThat(quiet.log()).isEmpty();
            assertThat(statistics.log()).contains("processed 2 insns").doesNotContain("exit");
            assertThat(all.log()).contains("(95) exit");
        }
    }

    @Test
    void refusalsBeforeTheVerifierSayWhatStandsInTheWay() throws Exception {
        Throwable noRights =
                Unprivileged.call(() -> Program.load("t", ProgramType.KPROBE, RETURN_ZERO));
        assertThat(((BpfRefusedException) noRights).barrier())
                .isEqualTo(BpfRefusedException.Barrier.CAPABILITY);
        // A place that programs of this type do not go to: seen before the verifier.
        ProgramSpec wrong =
                new ProgramSpec("t", ProgramType.CGROUP_SOCK_ADDR, RETURN_ZERO)
                        .expecting(AttachType.XDP);
        BpfRefusedException e =
                catchThrowableOfType(BpfRefusedException.class, () -> Program.load(wrong));
        assertThat(e.barrier()).isEqualTo(BpfRefusedException.Barrier.UNSUPPORTED);
        assertThat(e).hasMessageContaining("does not know cgroup_sock_addr programs");
    }

    @Test
    void failuresLeaveNothingOpen() throws Exception {
        Program.load("t", ProgramType.SOCKET_FILTER, RETURN_ZERO).close();
        Leaks before = Leaks.now();
        ProgramCode broken = new CodeBuilder().load(Width.U64, R0, R2, 0).exit().build();
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> Program.load("t", ProgramType.SOCKET_FILTER, broken))
                    .isInstanceOf(VerifierException.class);
            assertThatThrownBy(() -> Program.openId(Integer.MAX_VALUE));
            assertThatThrownBy(() -> LoadedBtf.load(new byte[64])).hasMessageContaining("BTF");
        }
        before.assertNothingLeftSince();
    }

    /** The kernel switches the event on when it looks at such a program, also a bad one. */
    @Test
    void tracePrintkLeavesItsEventAsItWas() throws Exception {
        Path event = Path.of("/sys/kernel/tracing/events/bpf_trace/bpf_trace_printk/enable");
        Assumptions.assumeTrue(Files.exists(event), "no such event");
        String before = Files.readString(event);
        ProgramCode prints =
                new CodeBuilder()
                        .store(Width.U32, R10, -4, 0x6968)
                        .move(R1, R10)
                        .add(R1, -4)
                        .move(R2, 4)
                        .call(6)
                        .exit(0)
                        .build();
        try (Program second = Program.load("t_print", ProgramType.RAW_TRACEPOINT, prints)) {
            try (Program first = Program.load("t_print", ProgramType.RAW_TRACEPOINT, prints)) {
                assertThat(first.fd()).isPositive();
            }
            for (int i = 0; i < 100 && !Files.readString(event).startsWith("1"); i++) {
                Thread.sleep(5);
            }
            assertThat(Files.readString(event).strip()).isEqualTo("1");
            assertThat(second.run(TestRun.once()).value()).isZero();
        }
        assertThat(Files.readString(event)).isEqualTo(before);
        ProgramCode broken = new CodeBuilder().move(R1, 0).move(R2, 4).call(6).exit(0).build();
        assertThatThrownBy(() -> Program.load("t_print", ProgramType.RAW_TRACEPOINT, broken))
                .isInstanceOf(VerifierException.class);
        assertThat(Files.readString(event)).isEqualTo(before);
    }

    /** What was pinned keeps the event on; what is loaded after it went is on its own again. */
    @Test
    void pinnedProgramsThatPrintKeepTheirEvent() throws Exception {
        Path event = Path.of("/sys/kernel/tracing/events/bpf_trace/bpf_trace_printk/enable");
        Assumptions.assumeTrue(Files.exists(event), "no such event");
        ProgramCode prints =
                new CodeBuilder()
                        .move(R1, R10)
                        .add(R1, -4)
                        .store(Width.U32, R10, -4, 0x6968)
                        .move(R2, 4)
                        .call(6)
                        .exit(0)
                        .build();
        try (BpfFolder folder = new BpfFolder();
                PrintkGuard guard = new PrintkGuard()) {
            try (Program program = Program.load("t_pin", ProgramType.RAW_TRACEPOINT, prints)) {
                program.pin(folder.path("p"));
            }
            assertThat(Files.readString(event).strip()).isEqualTo("1");
            guard.putBack();
            String before = Files.readString(event);
            Program.load("t_print", ProgramType.RAW_TRACEPOINT, prints).close();
            assertThat(Files.readString(event)).isEqualTo(before);
        }
    }

    @Test
    void pinnedProgramsOutliveTheirMaker() throws Exception {
        try (BpfFolder folder = new BpfFolder()) {
            try (Program program = Program.load("t_pin", ProgramType.XDP, RETURN_ZERO)) {
                program.pin(folder.path("p"));
            }
            try (Program again = Program.openPinned(folder.path("p"))) {
                assertThat(again.name()).isEqualTo("t_pin");
            }
        }
    }
}
