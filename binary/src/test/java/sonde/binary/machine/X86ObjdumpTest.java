package sonde.binary.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.binary.elf.ElfFile;
import sonde.binary.machine.MachineOperand.MachineAccess;
import sonde.binary.machine.MachineOperand.MachineImmediate;
import sonde.binary.machine.MachineOperand.MachineMemory;
import sonde.binary.machine.MachineOperand.MachineRegister;

/** The instructions of this machine's own programs, as objdump prints them. */
class X86ObjdumpTest {
    private static final String[] LIBC = {
        "/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/usr/lib/libc.so.6"
    };
    private static final String[] CRYPTO = {
        "/usr/lib/x86_64-linux-gnu/libcrypto.so.3", "/usr/lib64/libcrypto.so.3"
    };

    private static MachineDecoder decoder(int machine, boolean intel) {
        return MachineDecoder.of(machine, intel).orElseThrow();
    }

    @Test
    void everyLineOfTheCLibraryIsEqual() throws Exception {
        ObjdumpListing listing =
                ObjdumpListing.of(
                        decoder(ElfFile.EM_X86_64, false),
                        ObjdumpListing.code(600_000, LIBC),
                        "objdump",
                        "-mi386:x86-64");
        assertThat(listing.different()).isEmpty();
        assertThat(listing.equal()).isGreaterThan(100_000);
    }

    @Test
    void everyLineInIntelsSyntaxIsEqual() throws Exception {
        ObjdumpListing listing =
                ObjdumpListing.of(
                        decoder(ElfFile.EM_X86_64, true),
                        ObjdumpListing.code(300_000, LIBC),
                        "objdump",
                        "-mi386:x86-64",
                        "-Mintel");
        assertThat(listing.different()).isEmpty();
        assertThat(listing.equal()).isGreaterThan(50_000);
    }

    /** The code contains tables, whose bytes are hardly instructions. */
    @Test
    void vectorCodeOfCryptographyIsEqual() throws Exception {
        ObjdumpListing listing =
                ObjdumpListing.of(
                        decoder(ElfFile.EM_X86_64, false),
                        ObjdumpListing.code(700_000, CRYPTO),
                        "objdump",
                        "-mi386:x86-64");
        assertThat(listing.share()).as("%s", listing.different()).isGreaterThan(0.9995);
    }

    /**
     * Random bytes: what both decode is equal up to prefixes without a meaning and encodings that
     * the processor refuses.
     */
    @ParameterizedTest
    @CsvSource({"62, i386:x86-64, 0.995", "3, i386, 0.99"})
    void randomBytesAreReadAlike(int machine, String name, double share) throws Exception {
        byte[] bytes = new byte[100_000];
        new Random(5).nextBytes(bytes);
        ObjdumpListing listing =
                ObjdumpListing.of(decoder(machine, false), bytes, "objdump", "-m" + name);
        assertThat(listing.share()).as("%s", listing.different()).isGreaterThan(share);
    }

    /** Cases that are rare in libraries; texts of binutils 2.40. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    9bd97c2402 | fstcw 0x2(%rsp)
                    9bd9c0 | fwait fld %st(0)
                    65488b042500000000 | mov %gs:0x0,%rax
                    662e0f1f840000000000 | cs nopw 0x0(%rax,%rax,1)
                    f348a5 | rep movsq %ds:(%rsi),%es:(%rdi)
                    f3c3 | repz ret
                    3effe0 | notrack jmp *%rax
                    f0480fb111 | lock cmpxchg %rdx,(%rcx)
                    666648e811223344 | data16 data16 rex.W call 0x44332219
                    0f01f8 | swapgs
                    0f20c0 | mov %cr0,%rax
                    62f17c585801 | vaddps (%rcx){1to16},%zmm0,%zmm0
                    62f17c495801 | vaddps (%rcx),%zmm0,%zmm0{%k1}
                    """)
    void rareFormsAreEqual(String hex, String text) {
        byte[] bytes = HexFormat.of().parseHex(hex);
        MachineInstruction one =
                decoder(ElfFile.EM_X86_64, false).decode(bytes, 0, bytes.length, 0);
        assertThat(one.text()).isEqualTo(text);
        assertThat(one.length()).isEqualTo(bytes.length);
    }

    @Test
    void operandsFlowAndAccessAreKnown() {
        MachineDecoder decoder = decoder(ElfFile.EM_X86_64, false);
        byte[] store = HexFormat.of().parseHex("658954c810");
        MachineInstruction mov = decoder.decode(store, 0, store.length, 0);
        MachineMemory memory = (MachineMemory) mov.operands().get(0);
        assertThat(memory)
                .isEqualTo(
                        new MachineMemory(
                                "gs", "rax", "rcx", 8, 16, true, 4, MachineAccess.WRITE, ""));
        assertThat(mov.operands().get(1)).isEqualTo(new MachineRegister("edx", 32));
        byte[] add = HexFormat.of().parseHex("4883450001");
        MachineInstruction sum = decoder.decode(add, 0, add.length, 0);
        assertThat(((MachineMemory) sum.operands().get(0)).access())
                .isEqualTo(MachineAccess.READ_WRITE);
        assertThat(sum.operands().get(1)).isEqualTo(new MachineImmediate(1, 64));
        byte[] cut = HexFormat.of().parseHex("48b81122");
        assertThat(decoder.decode(cut, 0, cut.length, 0).isValid()).isFalse();
        String flows = "c3e810000000740090ffe00f0b";
        byte[] code = HexFormat.of().parseHex(flows);
        assertThat(decoder.decodeAll(code, 0))
                .extracting(MachineInstruction::flow)
                .containsExactly(
                        MachineFlow.RETURN,
                        MachineFlow.CALL,
                        MachineFlow.BRANCH,
                        MachineFlow.NEXT,
                        MachineFlow.JUMP,
                        MachineFlow.TRAP);
    }
}
