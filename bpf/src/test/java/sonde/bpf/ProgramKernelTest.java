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
import sonde.bpf.insn.Code;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.Condition;
import sonde.bpf.insn.Disassembler;
import sonde.bpf.insn.KernelFunction;
import sonde.bpf.insn.Label;
import sonde.bpf.insn.Register;
import sonde.bpf.insn.Width;

@Tag("kernel")
final class ProgramKernelTest {
    private static final Pattern LOGGED = Pattern.compile("^(\\d+): (\\([0-9a-f]{2}\\) [^;]*).*");

    @Test
    void verifierComplaintsNameCauseAndStep() throws Exception {
        try (BpfMap map = BpfMap.create(new MapSpec("t", MapType.HASH, 4, 8, 1))) {
            Code code =
                    new CodeBuilder()
                            .step("find the entry")
                            .store(Width.U32, Register.R10, -4, 0)
                            .map(Register.R1, map.fd())
                            .move(Register.R2, Register.R10)
                            .add(Register.R2, -4)
                            .call(KernelFunction.MAP_LOOKUP_ELEM)
                            .step("use it unchecked")
                            .load(Width.U64, Register.R0, Register.R0, 0)
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
        Code code =
                new CodeBuilder()
                        .move(Register.R1, 8)
                        .compute(AluOperation.SIGNED_DIVIDE, Register.R1, 2)
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
                        .move(Register.R6, Register.R1)
                        .move(Register.R7, 0x123456789abcL)
                        .move(Register.R8, -3);
        boolean signed = knowsSignedDivision();
        for (AluOperation operation : AluOperation.values()) {
            if (signed || !operation.name().startsWith("SIGNED_")) {
                code.compute(operation, Register.R8, 5);
                code.compute(operation, Register.R8, Register.R7);
                code.compute32(operation, Register.R8, Register.R7);
            }
        }
        code.negate(Register.R8);
        for (Width width : Width.values()) {
            code.store(width, Register.R10, -16, Register.R8)
                    .store(width, Register.R10, -8, 77)
                    .load(width, Register.R1, Register.R10, -16);
        }
        code.store(Width.U64, Register.R10, -8, 0)
                .atomicAdd(Width.U64, Register.R10, -8, Register.R7)
                .call(KernelFunction.KTIME_GET_NS);
        for (Condition condition : Condition.values()) {
            Label next = new Label(condition.name());
            code.branch(condition, Register.R0, 9, next).at(next);
        }
        code.jump(forward).at(forward).load(Width.U64, Register.R1, Register.R5, 0).exit(0);
        Code program = code.build();
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
        Code code = new CodeBuilder().exit(0).build();
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
        Code nothing = Assembler.assemble("");
        assertThatThrownBy(() -> Program.load("t", ProgramType.SOCKET_FILTER, nothing))
                .isInstanceOf(BpfRefusedException.class)
                .hasMessageContaining("it has 0 instructions")
                .extracting(e -> ((BpfRefusedException) e).barrier())
                .isEqualTo(BpfRefusedException.Barrier.UNSUPPORTED);
        Code fine = Assembler.assemble("r0 = 0\nexit\n");
        ProgramSpec misplaced =
                new ProgramSpec("t", ProgramType.CGROUP_SOCK_ADDR, fine)
                        .expecting(AttachType.PERF_EVENT);
        assertThatThrownBy(() -> Program.load(misplaced))
                .isInstanceOf(BpfRefusedException.class)
                .hasMessageContaining("does not know cgroup_sock_addr programs");
    }

    @Test
    void anUnknownTracepointIsAnAnswerNotAFault() throws Exception {
        assertThat(Tracepoint.find("sched", "sched_nonsense")).isNull();
        assertThatThrownBy(() -> Tracepoint.of("sched", "sched_nonsense"))
                .isInstanceOf(BpfRefusedException.class)
                .hasMessageContaining("sched:sched_nonsense");
    }
}
