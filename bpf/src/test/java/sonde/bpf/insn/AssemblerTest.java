package sonde.bpf.insn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class AssemblerTest {
    /** One of every notation, with its words from RFC 9669 or include/uapi/linux/bpf.h. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    r1 s/= -3                                   | fffffffd_0001_01_37
                    w2 s%= w3                                   | 00000000_0001_32_9c
                    r1 = (s8)r2                                 | 00000000_0008_21_bf
                    w1 = (s16)w2                                | 00000000_0010_21_bc
                    r1 = (s32)r2                                | 00000000_0020_21_bf
                    r3 = be16 r3                                | 00000010_0000_03_dc
                    r3 = le64 r3                                | 00000040_0000_03_d4
                    r3 = bswap32 r3                             | 00000020_0000_03_d7
                    w4 = -w4                                    | 00000000_0000_04_84
                    r1 = *(s8 *)(r2 -1)                         | 00000000_ffff_21_91
                    r1 = *(s32 *)(r2 +4)                        | 00000000_0004_21_81
                    r0 = *(u16 *)skb[12]                        | 0000000c_0000_00_28
                    r0 = *(u8 *)skb[r7 + 4]                     | 00000004_0000_70_50
                    lock *(u32 *)(r1 +0) ^= r2                  | 000000a0_0000_21_c3
                    r2 = atomic64_fetch_add((u64 *)(r1 +8), r2) | 00000001_0008_21_db
                    r2 = atomic_xchg((u32 *)(r1 +0), r2)        | 000000e1_0000_21_c3
                    r0 = atomic64_cmpxchg((u64 *)(r1 +0), r0, r2) | 000000f1_0000_21_db
                    r1 = load_acquire((u8 *)(r2 +2))            | 00000100_0002_21_d3
                    store_release((u64 *)(r1 -8), r2)           | 00000110_fff8_21_db
                    if w1 s> 0x5 goto pc+3                      | 00000005_0003_01_66
                    if r1 & r2 goto pc-1                        | 00000000_ffff_21_4d
                    gotol pc+70000                              | 00011170_0000_00_06
                    may_goto pc+2                               | 00000000_0002_00_e5
                    gotox r3                                    | 00000000_0000_03_0d
                    call bpf_ktime_get_ns#5                     | 00000005_0000_00_85
                    call pc+7                                   | 00000007_0000_10_85
                    call bpf_task_acquire#1234                  | 000004d2_0000_20_85
                    call kfunc[2]#77                            | 0000004d_0002_20_85
                    r2 = addr_space_cast(r1, 0, 1)              | 00000001_0001_12_bf
                    r1 = &(void __percpu *)(r0)                 | 00000000_ffff_01_bf
                    nospec                                      | 00000000_0000_00_c2
                    .word 0x1122334455667788                    | 11223344_5566_77_88
                    """)
    void readsTheKernelsNotation(String text, String word) throws Exception {
        long expected = Long.parseUnsignedLong(word.replace("_", ""), 16);
        assertThat(Assembler.assemble(text).words()).containsExactly(expected);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    r1 = 0x5              | 00000005_0000_01_18 | 00000000_0000_00_00
                    r1 = -9223372036854775808 | 00000000_0000_01_18 | 80000000_0000_00_00
                    r1 = map[id:5]        | 00000005_0000_11_18 | 00000000_0000_00_00
                    r1 = map[fd:7][0]+8   | 00000007_0000_21_18 | 00000008_0000_00_00
                    r1 = btf[id:9][fd:3]  | 00000009_0000_31_18 | 00000003_0000_00_00
                    r1 = subprog[+4]      | 00000004_0000_41_18 | 00000000_0000_00_00
                    r1 = map[idx:2]       | 00000002_0000_51_18 | 00000000_0000_00_00
                    r1 = map[idx:2]+16    | 00000002_0000_61_18 | 00000010_0000_00_00
                    """)
    void readsConstantsOfTwoSlots(String text, String low, String high) throws Exception {
        assertThat(Assembler.assemble(text).words())
                .containsExactly(
                        Long.parseUnsignedLong(low.replace("_", ""), 16),
                        Long.parseUnsignedLong(high.replace("_", ""), 16));
    }

    @Test
    void placesHaveNames() throws Exception {
        ProgramCode code =
                Assembler.assemble(
                        """
                        ; counts down
                                r1 = 0x10
                                r0 = 0
                        again:  r0 += r1          // the sum
                                r1 += -1
                                if r1 != 0x0 goto again
                                call double
                                r2 = subprog[double]
                                exit
                        double: w0 <<= 1
                                exit
                        """);
        assertThat(code)
                .hasToString(
                        """
                        0: (18) r1 = 0x10
                        2: (b7) r0 = 0
                        3: (0f) r0 += r1
                        4: (07) r1 += -1
                        5: (55) if r1 != 0x0 goto pc-3
                        6: (85) call pc+3
                        7: (18) r2 = subprog[+2]
                        9: (95) exit
                        10: (64) w0 <<= 1
                        11: (95) exit\
                        """);
        assertThat(code.stepAt(5)).isEqualTo("line 6");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            textBlock =
                    """
                    r11 = 5                   | 1  | 'r11 = 5' is not an instruction
                    r1 = w2                   | 6  | 'w2' has the other width
                    mov r1, 5                 | 1  | the kernel's notation is meant
                    r1 ?= 5                   | 4  | an operation is missing
                    if r1 = 5 goto x          | 7  | a comparison is missing
                    if r1 == 5                | 11 | 'goto' is missing
                    goto nowhere              | 6  | no place is called nowhere
                    r1 = *(u65 *)(r2 +0)      | 8  | a width is missing
                    r1 = *(u64 *)(r2 +40000)  | 18 | the offset 40000 is not between
                    r1 += 5000000000          | 7  | is not between
                    w1 = 99999999999999999999 | 6  | more than 64 bits
                    exit exit                 | 6  | the instruction ends before
                    BUG_8d                    | 1  | .word takes any 64 bits
                    r2 = atomic_xchg((u8 *)(r1 +0), r2) | 31 | u32 or u64
                    """)
    void complaintsNameThePlace(String text, int column, String problem) {
        AssemblyException e =
                catchThrowableOfType(
                        AssemblyException.class, () -> Assembler.assemble("\n" + text + "\n"));
        assertThat(e.getMessage()).contains(problem);
        assertThat(e.line()).isEqualTo(2);
        assertThat(e.column()).isEqualTo(column);
    }

    /** As bpftool and the verifier's log of level 2 print them. */
    @Test
    void linesOfListingsAreRead() throws Exception {
        assertThat(
                        Assembler.assemble(
                                        """
                                        ; int handler(void *context)
                                           0: (85) call pc+1#bpf_prog_6deef7357e7b4530_sub
                                        1: (95) exit                          ; R0_w=scalar()
                                           2: (b7) r0 = 1
                                        3: (95) exit
                                        """)
                                .toString())
                .isEqualTo("0: (85) call pc+1\n1: (95) exit\n2: (b7) r0 = 1\n3: (95) exit");
    }

    @Test
    void aPlaceIsOne() {
        assertThatThrownBy(() -> Assembler.assemble("a: exit\na: exit"))
                .isInstanceOf(AssemblyException.class)
                .hasMessageContaining("line 2, column 1: a is already the place in line 1");
    }
}
