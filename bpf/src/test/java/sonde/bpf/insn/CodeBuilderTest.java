package sonde.bpf.insn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

final class CodeBuilderTest {
    @Test
    void writesWhatTheKernelWouldPrint() {
        Label none = new Label("none");
        Code code =
                new CodeBuilder()
                        .load(Width.U32, Register.R1, Register.R6, 8)
                        .store(Width.U32, Register.R10, -4, Register.R1)
                        .map(Register.R1, 5)
                        .move(Register.R2, Register.R10)
                        .add(Register.R2, -4)
                        .call(KernelFunction.MAP_LOOKUP_ELEM)
                        .ifZero(Register.R0, none)
                        .move(Register.R1, 1)
                        .atomicAdd(Width.U64, Register.R0, 0, Register.R1)
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
        Code code = new CodeBuilder().at(again).move(Register.R1, 1L << 40).jump(again).build();
        assertThat(code.toString()).endsWith("2: (05) goto pc-3");
    }

    @Test
    void knowsTheStepOfEverySlot() {
        Code code =
                new CodeBuilder()
                        .step("first")
                        .move(Register.R1, 1L << 40)
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
        assertThatThrownBy(() -> new CodeBuilder().load(Width.U8, Register.R1, Register.R1, 40_000))
                .hasMessageContaining("40000");
    }
}
