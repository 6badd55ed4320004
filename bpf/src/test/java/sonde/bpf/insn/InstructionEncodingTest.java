package sonde.bpf.insn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import sonde.bpf.insn.Instruction.Alu;
import sonde.bpf.insn.Instruction.Atomic;
import sonde.bpf.insn.Instruction.Branch;
import sonde.bpf.insn.Instruction.CallHelperFunction;
import sonde.bpf.insn.Instruction.ConstantMeaning;
import sonde.bpf.insn.Instruction.Exit;
import sonde.bpf.insn.Instruction.Load;
import sonde.bpf.insn.Instruction.LoadWide;
import sonde.bpf.insn.Instruction.Store;
import sonde.bpf.insn.Instruction.UnknownInstruction;

final class InstructionEncodingTest {
    /** Words written by hand from RFC 9669: immediate, offset, source and destination, opcode. */
    @Test
    void encodesAsTheSpecificationSays() {
        assertThat(word(new Alu(AluOperation.MOVE, true, BpfRegister.R1, BpfRegister.R6)))
                .isEqualTo(0x00000000_0000_61_bfL);
        assertThat(word(new Alu(AluOperation.ADD, true, BpfRegister.R2, imm(-8))))
                .isEqualTo(0xfffffff8_0000_02_07L);
        assertThat(word(new Alu(AluOperation.SHIFT_RIGHT_SIGNED, false, BpfRegister.R3, imm(4))))
                .isEqualTo(0x00000004_0000_03_c4L);
        assertThat(word(new Load(Width.U64, BpfRegister.R1, BpfRegister.R10, (short) -8)))
                .isEqualTo(0x00000000_fff8_a1_79L);
        assertThat(word(new Load(Width.U8, BpfRegister.R0, BpfRegister.R1, (short) 3)))
                .isEqualTo(0x00000000_0003_10_71L);
        assertThat(word(new Store(Width.U32, BpfRegister.R10, (short) -4, BpfRegister.R7)))
                .isEqualTo(0x00000000_fffc_7a_63L);
        assertThat(word(new Store(Width.U16, BpfRegister.R9, (short) 26, imm(5))))
                .isEqualTo(0x00000005_001a_09_6aL);
        assertThat(
                        word(
                                new Atomic(
                                        AtomicOperation.ADD,
                                        Width.U64,
                                        BpfRegister.R1,
                                        (short) 0,
                                        BpfRegister.R2)))
                .isEqualTo(0x00000000_0000_21_dbL);
        assertThat(word(new Branch(JumpCondition.EQUAL, true, BpfRegister.R0, imm(0), (short) 7)))
                .isEqualTo(0x00000000_0007_00_15L);
        assertThat(word(new CallHelperFunction(25))).isEqualTo(0x00000019_0000_00_85L);
        assertThat(word(new Exit())).isEqualTo(0x00000000_0000_00_95L);
    }

    @Test
    void wideLoadsTakeTwoSlots() {
        long value = 0x1122334455667788L;
        long[] words =
                InstructionEncoding.encode(
                        List.of(new LoadWide(ConstantMeaning.NUMBER, BpfRegister.R3, value)));
        assertThat(words).containsExactly(0x55667788_0000_03_18L, 0x11223344_0000_00_00L);
        assertThat(
                        InstructionEncoding.encode(
                                List.of(new LoadWide(ConstantMeaning.MAP, BpfRegister.R1, 9))))
                .containsExactly(0x00000009_0000_11_18L, 0L);
    }

    @Test
    void negativeWideNumbersSurvive() {
        LoadWide load = new LoadWide(ConstantMeaning.NUMBER, BpfRegister.R3, -2);
        assertThat(InstructionEncoding.decode(InstructionEncoding.encode(List.of(load))))
                .containsExactly(load);
    }

    /** Whatever the words are: decoding never fails, and encoding gives them back. */
    @Test
    void everyWordSurvivesDecodingAndEncoding() {
        Random random = new Random(20261120);
        for (int round = 0; round < 20_000; round++) {
            long[] words = random.longs(5).toArray();
            if ((round & 1) == 0) {
                // Few bits set: many of these are valid instructions.
                for (int i = 0; i < words.length; i++) {
                    words[i] &= 0xff_0000_00ffL & random.nextLong() | words[i] & 0xff;
                }
            }
            assertThat(InstructionEncoding.encode(InstructionEncoding.decode(words)))
                    .isEqualTo(words);
        }
    }

    @Test
    void halfOfAWideLoadIsUnknown() {
        assertThat(InstructionEncoding.decode(new long[] {0x18}))
                .containsExactly(new UnknownInstruction(0x18));
    }

    /** The example of RFC 9669 section 3.1: opcode, registers, offset, immediate. */
    @Test
    void bytesHaveTheOrderOfTheMachine() throws Exception {
        HexFormat hex = HexFormat.of();
        Instruction add = new Alu(AluOperation.ADD, true, BpfRegister.R1, imm(0x11223344));
        long[] words = InstructionEncoding.encode(List.of(add));
        assertThat(hex.formatHex(InstructionEncoding.bytes(words, ByteOrder.LITTLE_ENDIAN)))
                .isEqualTo("07" + "01" + "0000" + "44332211");
        byte[] big = hex.parseHex("07" + "10" + "0000" + "11223344");
        assertThat(InstructionEncoding.bytes(words, ByteOrder.BIG_ENDIAN)).isEqualTo(big);
        assertThat(
                        InstructionEncoding.decodeAll(
                                InstructionEncoding.words(big, ByteOrder.BIG_ENDIAN)))
                .containsExactly(add);
        assertThatThrownBy(() -> InstructionEncoding.words(new byte[12], ByteOrder.BIG_ENDIAN))
                .isInstanceOf(InvalidInstructionException.class)
                .hasMessage("instruction 1 (byte 8): 4 bytes are left where 8 make an instruction");
    }

    @Test
    void strictDecodingSaysWhatIsWrong() {
        assertThat(complaint(0x95, 0x8d))
                .isEqualTo(
                        "instruction 1 (byte 8): no instruction has the opcode 8d (000000000000008d)");
        assertThat(complaint(0xcbf)).contains("register r12 of 0000000000000cbf");
        assertThat(complaint(0x18)).contains("lacks its second half");
        assertThat(complaint(0x918, 0)).doesNotContain("second half");
        assertThat(complaint(0x7000_0118L, 0)).contains("reserved fields that are not 0");
        assertThat(complaint(0x1_0000_0095L)).contains("0000000100000095 has a reserved field");
        assertThat(complaint(0x11_0000_00d7L)).contains("a value nobody defined");
    }

    private static String complaint(long... words) {
        try {
            InstructionEncoding.decodeAll(words);
            return "";
        } catch (InvalidInstructionException e) {
            return String.valueOf(e.getMessage());
        }
    }

    private static long word(Instruction instruction) {
        return InstructionEncoding.encode(List.of(instruction))[0];
    }

    private static InstructionOperand imm(int value) {
        return new InstructionOperand.Immediate(value);
    }
}
