package sonde.binary.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.binary.elf.ElfFile;
import sonde.binary.machine.CodeLine.CodeBytes;
import sonde.binary.machine.MachineOperand.MachineAccess;
import sonde.binary.machine.MachineOperand.MachineMemory;

class Arm64DecoderTest {
    private static final MachineDecoder DECODER =
            MachineDecoder.of(ElfFile.EM_AARCH64).orElseThrow();

    private static MachineInstruction decoded(int word) {
        byte[] bytes = {(byte) word, (byte) (word >> 8), (byte) (word >> 16), (byte) (word >> 24)};
        return DECODER.decode(bytes, 0, 4, 0x1000);
    }

    /** Words and texts of binutils 2.40. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    a9bf7bfd | stp x29, x30, [sp, #-16]!
                    910003fd | mov x29, sp
                    d503233f | paciasp
                    d503245f | bti c
                    aa0003f3 | mov x19, x0
                    d2800020 | mov x0, #0x1
                    12800000 | mov w0, #0xffffffff
                    92401c00 | and x0, x0, #0xff
                    f2ffffe0 | movk x0, #0xffff, lsl #48
                    d34c3c00 | ubfx x0, x0, #12, #4
                    d37df000 | lsl x0, x0, #3
                    93407c00 | sxtw x0, w0
                    eb01001f | cmp x0, x1
                    9a9f17e0 | cset x0, eq
                    7a400844 | ccmp w2, #0x0, #0x4, eq
                    f8626820 | ldr x0, [x1, x2]
                    b8625820 | ldr w0, [x1, w2, uxtw #2]
                    f9400c20 | ldr x0, [x1, #24]
                    38401c20 | ldrb w0, [x1, #1]!
                    a8c17bfd | ldp x29, x30, [sp], #16
                    c85ffc20 | ldaxr x0, [x1]
                    b8200020 | ldadd w0, w0, [x1]
                    d5033bbf | dmb ish
                    d53bd040 | mrs x0, tpidr_el0
                    d5384100 | mrs x0, sp_el0
                    d50342df | msr daifset, #0x2
                    d50b7420 | dc zva, x0
                    d4210000 | brk #0x800
                    d65f03c0 | ret
                    d65f0bff | retaa
                    1e602820 | fadd d0, d1, d0
                    1e6e1000 | fmov d0, #1.000000000000000000e+00
                    4e201c00 | and v0.16b, v0.16b, v0.16b
                    4f00e400 | movi v0.16b, #0x0
                    4c402000 | ld1 {v0.16b-v3.16b}, [x0]
                    4e284820 | aese v0.16b, v1.16b
                    0e043c20 | mov w0, v1.s[0]
                    """)
    void textIsThatOfObjdump(String word, String text) {
        assertThat(decoded(HexFormat.fromHexDigits(word)).text()).isEqualTo(text);
    }

    @Test
    void flowTargetsAndMemoryAreKnown() {
        MachineInstruction call = decoded(0x97ffffff);
        assertThat(call.flow()).isEqualTo(MachineFlow.CALL);
        assertThat(call.target()).hasValue(0xffc);
        assertThat(decoded(0x54000040).flow()).isEqualTo(MachineFlow.BRANCH);
        assertThat(decoded(0xd4210000).flow()).isEqualTo(MachineFlow.TRAP);
        assertThat(decoded(0xd65f03c0).flow()).isEqualTo(MachineFlow.RETURN);
        MachineMemory memory = (MachineMemory) decoded(0xf9000c20).operands().get(1);
        assertThat(memory.base()).isEqualTo("x1");
        assertThat(memory.displacement()).isEqualTo(24);
        assertThat(memory.bytes()).isEqualTo(8);
        assertThat(memory.access()).isEqualTo(MachineAccess.WRITE);
        assertThat(decoded(0).isValid()).isTrue();
        assertThat(decoded(0xffffffff).text()).isEqualTo(".inst 0xffffffff ; undefined");
    }

    @Test
    void theWordInBracketsOfALogIsTheFault() {
        CodeBytes code =
                CodeLine.parse("d503201f a9bf7bfd 910003fd (f9400c20) d65f03c0", true)
                        .orElseThrow();
        CodeLine line = CodeLine.of(DECODER, code, 0xffff800008000000L);
        assertThat(line.marked()).isEqualTo(3);
        assertThat(line.fault().text()).isEqualTo("ldr x0, [x1, #24]");
        assertThat(line.instructions()).hasSize(5);
    }

    @Test
    void noWordFails() {
        Random random = new Random(1);
        for (int i = 0; i < 300_000; i++) {
            MachineInstruction one = decoded(random.nextInt());
            assertThat(one.length()).isEqualTo(4);
            assertThat(one.text()).isNotEmpty();
        }
    }

    /** The C library of Debian's cross compiler; instructions of SVE are not decoded. */
    @Test
    void codeIsReadAsObjdumpReadsIt() throws Exception {
        ObjdumpListing listing =
                ObjdumpListing.of(
                        DECODER,
                        ObjdumpListing.code(600_000, "/usr/aarch64-linux-gnu/lib/libc.so.6"),
                        "aarch64-linux-gnu-objdump",
                        "-maarch64");
        assertThat(listing.share()).as("%s", listing.different()).isGreaterThan(0.999);
    }
}
