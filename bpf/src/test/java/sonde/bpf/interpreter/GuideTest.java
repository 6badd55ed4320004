package sonde.bpf.interpreter;

import static org.assertj.core.api.Assertions.assertThat;
import static sonde.bpf.insn.BpfRegister.R1;
import static sonde.bpf.insn.BpfRegister.R2;
import static sonde.bpf.insn.BpfRegister.R6;

import org.junit.jupiter.api.Test;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Label;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.insn.Width;

/** The Java example of docs/bpf.md. */
final class GuideTest {
    @Test
    void countsBigAndSmallNumbers() throws Exception {
        Label big = new Label("big");
        ProgramCode code =
                new CodeBuilder()
                        .load(Width.U32, R6, R1, 0)
                        .mapValue(R1, 3, 0)
                        .branch(JumpCondition.GREATER, R6, 1000, big)
                        .add(R1, 8)
                        .at(big)
                        .move(R2, 1)
                        .atomicAdd(Width.U64, R1, 0, R2)
                        .exit(0)
                        .build();
        assertThat(code)
                .hasToString(
                        """
                        0: (61) r6 = *(u32 *)(r1 +0)
                        1: (18) r1 = map[fd:3][0]+0
                        3: (25) if r6 > 0x3e8 goto pc+1
                        4: (07) r1 += 8
                        5: (b7) r2 = 1
                        6: (db) lock *(u64 *)(r1 +0) += r2
                        7: (b7) r0 = 0
                        8: (95) exit\
                        """);
        VirtualArray counts = VirtualArray.of("counts", 16, 1);
        BpfMachine machine = new BpfMachine(MachineEnvironment.FIXED).map(3, counts);
        VirtualProgram program = machine.load(code);
        for (int size : new int[] {10, 2000, 30, 1000}) {
            program.run(ProgramContext.of(VirtualArray.key(size)));
        }
        byte[] value = counts.get(VirtualArray.key(0));
        assertThat(value).startsWith(1, 0, 0, 0, 0, 0, 0, 0, 3);
    }
}
