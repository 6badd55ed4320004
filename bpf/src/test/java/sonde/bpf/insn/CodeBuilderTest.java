package sonde.bpf.insn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

final class CodeBuilderTest {
    @Test
    void writesWhatTheKernelWouldPrint() {
        Label none = new Label("none");
        ProgramCode code =
                new CodeBuilder()
                        .load(Width.U32, BpfRegister.R1, BpfRegister.R6, 8)
                        .store(Width.U32, BpfRegister.R10, -4, BpfRegister.R1)
                        .map(BpfRegister.R1, 5)
                        .move(BpfRegister.R2, BpfRegister.R10)
                        .add(BpfRegister.R2, -4)
                        .call(HelperFunctionId.MAP_LOOKUP_ELEM)
                        .ifZero(BpfRegister.R0, none)
                        .move(BpfRegister.R1, 1)
                        .atomicAdd(Width.U64, BpfRegister.R0, 0, BpfRegister.R1)
                        .at(none)
                        .exit(0)
                        .build();
        assertThat(code)
                .hasToString(
                        """
                        0: (61) r1 = *(u32 *)(r6 +8)
                        1: (63) *(u32 *)(r10 -4) = r1
                        2: (18) r1 = map[fd:5]
                        4: (bf) r2 = r10
                        5: (07) r2 += -4
                        6: (85) call bpf_map_lookup_elem#1
                        7: (15) if r0 == 0x0 goto pc+2
                        8: (b7) r1 = 1
                        9: (db) lock *(u64 *)(r0 +0) += r1
                        10: (b7) r0 = 0
                        11: (95) exit\
                        """);
    }

    @Test
    void jumpsBackCountSlots() {
        Label again = new Label("again");
        ProgramCode code =
                new CodeBuilder().at(again).move(BpfRegister.R1, 1L << 40).jump(again).build();
        assertThat(code.toString()).endsWith("2: (05) goto pc-3");
    }

    @Test
    void knowsTheStepOfEverySlot() {
        ProgramCode code =
                new CodeBuilder()
                        .step("first")
                        .move(BpfRegister.R1, 1L << 40)
                        .step("second")
                        .exit(0)
                        .build();
        assertThat(code.stepAt(0)).isEqualTo("first");
        assertThat(code.stepAt(1)).isEqualTo("first");
        assertThat(code.stepAt(2)).isEqualTo("second");
        assertThat(code.stepAt(9)).isEmpty();
    }

    @Test
    void labelsAreBoundOnce() {
        Label lost = new Label("lost");
        assertThatThrownBy(() -> new CodeBuilder().jump(lost).build())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("lost not bound");
        assertThatThrownBy(() -> new CodeBuilder().at(lost).at(lost))
                .hasMessageContaining("bound twice");
    }

    @Test
    void offsetsAreOf16Bits() {
        assertThatThrownBy(() ->
                        new CodeBuilder().load(Width.U8, BpfRegister.R1, BpfRegister.R1, 40_000))
                .hasMessageContaining("40000");
    }
}
