package sonde.bpf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.Assembler;
import sonde.bpf.insn.BpfRegister;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.Disassembler;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Label;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.insn.Width;

@Tag("kernel")
final class ProgramKernelTest {
    private static final Pattern LOGGED = Pattern.compile("^(\\d+): (\\([0-9a-f]{2}\\) [^;]*).*");

    @Test
    void verifierComplaintsNameCauseAndStep() throws Exception {
        try (BpfMap map = BpfMap.create(new MapSpec("t", MapType.HASH, 4, 8, 1))) {
            ProgramCode code =
                    new CodeBuilder()
                            .step("find the entry")
                            .store(Width.U32, BpfRegister.R10, -4, 0)
                            .map(BpfRegister.R1, map.fd())
                            .move(BpfRegister.R2, BpfRegister.R10)
                            .add(BpfRegister.R2, -4)
                            .call(HelperFunctionId.MAP_LOOKUP_ELEM)
                            .step("use it unchecked")
                            .load(Width.U64, BpfRegister.R0, BpfRegister.R0, 0)
                            .exit()
                            .build();
            VerifierException e =
                    catchThrowableOfType(
                            VerifierException.class,
                            () -> Program.load("t", ProgramType.TRACEPOINT, code));
            assertThat(e.reason()).isEqualTo("R0 invalid mem access 'map_value_or_null'");
            assertThat(e.position())
                    .contains("r0 = *(u64 *)(r0 +0)")
                    .endsWith("in \"use it unchecked\"");
            assertThat(e.log()).contains("processed ");
        }
    }

    /** Linux 6.6 and later, of the fourth instruction set. */
    private static boolean knowsSignedDivision() throws IOException {
        ProgramCode code =
                new CodeBuilder()
                        .move(BpfRegister.R1, 8)
                        .compute(AluOperation.SIGNED_DIVIDE, BpfRegister.R1, 2)
                        .exit(0)
                        .build();
        try (Program ignored = Program.load("t", ProgramType.TRACEPOINT, code)) {
            return true;
        } catch (VerifierException e) {
            return false;
        }
    }

    /** The verifier prints what it walks: it must be what we print. */
    @Test
    void disassemblyIsTheKernels() throws IOException {
        Label forward = new Label("forward");
        CodeBuilder code =
                new CodeBuilder()
                        .move(BpfRegister.R6, BpfRegister.R1)
                        .move(BpfRegister.R7, 0x123456789abcL)
                        .move(BpfRegister.R8, -3);
        boolean signed = knowsSignedDivision();
        for (AluOperation operation : AluOperation.values()) {
            if (signed || !operation.name().startsWith("SIGNED_")) {
                code.compute(operation, BpfRegister.R8, 5);
                code.compute(operation, BpfRegister.R8, BpfRegister.R7);
                code.compute32(operation, BpfRegister.R8, BpfRegister.R7);
            }
        }
        code.negate(BpfRegister.R8);
        for (Width width : Width.values()) {
            code.store(width, BpfRegister.R10, -16, BpfRegister.R8)
                    .store(width, BpfRegister.R10, -8, 77)
                    .load(width, BpfRegister.R1, BpfRegister.R10, -16);
        }
        code.store(Width.U64, BpfRegister.R10, -8, 0)
                .atomicAdd(Width.U64, BpfRegister.R10, -8, BpfRegister.R7)
                .call(HelperFunctionId.KTIME_GET_NS);
        for (JumpCondition condition : JumpCondition.values()) {
            Label next = new Label(condition.name());
            code.branch(condition, BpfRegister.R0, 9, next).at(next);
        }
        code.jump(forward).at(forward).load(Width.U64, BpfRegister.R1, BpfRegister.R5, 0).exit(0);
        ProgramCode program = code.build();
        VerifierException e =
                catchThrowableOfType(
                        VerifierException.class,
                        () -> Program.load("t", ProgramType.TRACEPOINT, program));
        assertThat(e.reason()).isEqualTo("R5 !read_ok");
        Map<Integer, String> logged = new TreeMap<>();
        for (String line : e.log().lines().toList()) {
            Matcher matcher = LOGGED.matcher(line);
            if (matcher.matches()) {
                logged.put(Integer.parseInt(matcher.group(1)), matcher.group(2).strip());
            }
        }
        List<String> ours = Disassembler.lines(program.words());
        assertThat(logged.size()).isGreaterThan(60);
        logged.forEach((slot, text) -> assertThat(ours).contains(slot + ": " + text));
    }

    @Test
    void withoutRightsTheRefusalSaysSo() throws Exception {
        ProgramCode code = new CodeBuilder().exit(0).build();
        Throwable failure =
                Unprivileged.call(() -> Program.load("t", ProgramType.TRACEPOINT, code));
        assertThat(failure)
                .isInstanceOf(BpfRefusedException.class)
                .hasMessageContaining("lacks CAP_BPF and CAP_PERFMON")
                .hasMessageContaining("run as root");
        assertThat(((BpfRefusedException) failure).barrier())
                .isEqualTo(BpfRefusedException.Barrier.CAPABILITY);
        Throwable map =
                Unprivileged.call(() -> BpfMap.create(new MapSpec("t", MapType.HASH, 4, 4, 1)));
        assertThat(map).isInstanceOf(BpfRefusedException.class);
    }

    @Test
    void refusalsBeforeTheVerifierAreNotItsOwn() throws Exception {
        ProgramCode nothing = Assembler.assemble("");
        assertThatThrownBy(() -> Program.load("t", ProgramType.SOCKET_FILTER, nothing))
                .isInstanceOf(BpfRefusedException.class)
                .hasMessageContaining("it has 0 instructions")
                .extracting(e -> ((BpfRefusedException) e).barrier())
                .isEqualTo(BpfRefusedException.Barrier.UNSUPPORTED);
        ProgramCode fine = Assembler.assemble("r0 = 0\nexit\n");
        ProgramSpec misplaced =
                new ProgramSpec("t", ProgramType.CGROUP_SOCK_ADDR, fine)
                        .expecting(AttachType.PERF_EVENT);
        assertThatThrownBy(() -> Program.load(misplaced))
                .isInstanceOf(BpfRefusedException.class)
                .hasMessageContaining("does not know cgroup_sock_addr programs");
    }

    @Test
    void anUnknownTracepointIsAnAnswerNotAFault() throws Exception {
        assertThat(TracepointFormat.find("sched", "sched_nonsense")).isNull();
        assertThatThrownBy(() -> TracepointFormat.of("sched", "sched_nonsense"))
                .isInstanceOf(BpfRefusedException.class)
                .hasMessageContaining("sched:sched_nonsense");
    }
}
