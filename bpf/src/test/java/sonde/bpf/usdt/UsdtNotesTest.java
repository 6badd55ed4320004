package sonde.bpf.usdt;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.binary.elf.ElfFile;
import sonde.bpf.usdt.UsdtArgument.UsdtOperand.UnreadableOperand;
import sonde.bpf.usdt.UsdtArgument.UsdtOperand.UsdtConstant;
import sonde.bpf.usdt.UsdtArgument.UsdtOperand.UsdtMemory;
import sonde.bpf.usdt.UsdtArgument.UsdtOperand.UsdtRegister;
import sonde.bpf.usdt.UsdtNotes.MarkerName;
import sonde.sys.Arch;
import sonde.testkit.ElfWriter;

/** Notes of markers, written byte by byte. */
final class UsdtNotesTest {
    private static final long PC = ElfWriter.TEXT_ADDRESS + 5;

    private static byte[] note(
            boolean wide, long pc, long base, long semaphore, String provider, String text) {
        byte[] strings = (provider + "\0" + text + "\0").getBytes(StandardCharsets.UTF_8);
        int words = wide ? 24 : 12;
        int body = words + strings.length;
        ByteBuffer out = ByteBuffer.allocate(20 + (body + 3 & ~3)).order(ByteOrder.LITTLE_ENDIAN);
        // namesz, descsz, type, "stapsdt\0"
        out.putInt(8).putInt(body).putInt(3);
        out.put("stapsdt\0".getBytes(StandardCharsets.UTF_8));
        for (long word : new long[] {pc, base, semaphore}) {
            if (wide) {
                out.putLong(word);
            } else {
                out.putInt((int) word);
            }
        }
        return out.put(strings).array();
    }

    private static byte[] file(boolean wide, long baseNow, byte[]... notes) {
        int size = 0;
        for (byte[] note : notes) {
            size += note.length;
        }
        ByteBuffer all = ByteBuffer.allocate(size);
        for (byte[] note : notes) {
            all.put(note);
        }
        return new ElfWriter(wide, ByteOrder.LITTLE_ENDIAN, 0x100)
                .symbol("counter", ElfWriter.TEXT_ADDRESS + 0x40, 8, 0x11)
                .section(".stapsdt.base", 1, 2, baseNow, new byte[1])
                .section(".note.stapsdt", 7, 0, all.array())
                .bytes();
    }

    private static Map<MarkerName, List<UsdtLocation>> read(byte[] file) throws Exception {
        return UsdtNotes.read(ElfFile.of(file));
    }

    @Test
    void markersWithTheirPlaces() throws Exception {
        for (boolean wide : new boolean[] {true, false}) {
            Map<MarkerName, List<UsdtLocation>> found =
                    read(
                            file(
                                    wide,
                                    0x1280,
                                    note(wide, PC, 0x1280, 0, "one", "first\0"),
                                    note(wide, PC + 8, 0x1280, 0x1240, "one", "second\0-4@%eax"),
                                    note(wide, PC + 16, 0x1280, 0, "one", "first\0008@$1")));
            assertThat(found.keySet())
                    .containsExactly(
                            new MarkerName("one", "first"), new MarkerName("one", "second"));
            List<UsdtLocation> twice = found.get(new MarkerName("one", "first"));
            assertThat(twice).extracting(UsdtLocation::fileOffset).containsExactly(0x205L, 0x215L);
            assertThat(twice.get(1).arguments())
                    .containsExactly(new UsdtArgument(8, false, false, new UsdtConstant(1)));
            UsdtLocation second = found.get(new MarkerName("one", "second")).getFirst();
            assertThat(second.semaphore()).isEqualTo(0x240);
            assertThat(second.arguments())
                    .containsExactly(
                            new UsdtArgument(4, true, false, new UsdtRegister("rax", 80, 0)));
            assertThat(twice).extracting(UsdtLocation::arguments).doesNotHaveDuplicates();
        }
    }

    @Test
    void filesThatWereMovedAfterLinking() throws Exception {
        // Linked with its base at 0x10080, it is now 0xee00 lower.
        byte[] file = file(true, 0x1280, note(true, 0x10005, 0x10080, 0x10040, "p", "n\0"));
        UsdtLocation location = read(file).values().iterator().next().getFirst();
        assertThat(location.fileOffset()).isEqualTo(0x205);
        assertThat(location.semaphore()).isEqualTo(0x240);
    }

    @Test
    void notesOfOthersAndDamagedOnes() throws Exception {
        byte[] other = note(true, PC, 0, 0, "p", "other\0");
        other[8] = 4;
        byte[] nowhere = note(true, 0x900000, 0, 0, "p", "nowhere\0");
        byte[] nameless = note(true, PC, 0, 0, "p", "\0");
        byte[] fine = note(true, PC, 0, 0, "p", "fine\0");
        assertThat(read(file(true, 0, other, nowhere, nameless, fine)).keySet())
                .containsExactly(new MarkerName("p", "fine"));
    }

    @Test
    void symbolsAreMeasuredFromTheMarker() throws Exception {
        byte[] file = file(true, 0, note(true, PC, 0, 0, "p", "n\0-4@counter+8(%rip) 4@no(%rip)"));
        UsdtLocation location = read(file).values().iterator().next().getFirst();
        long distance = 0x40 + 8 - 5;
        assertThat(location.arguments())
                .extracting(UsdtArgument::operand)
                .containsExactly(
                        new UsdtMemory("rip", 128, "", 0, 1, distance),
                        new UnreadableOperand("no(%rip)"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = " ## ",
            value = {
                "8@%rdi ## 8 false REG rdi 112 0",
                "-8@%r12 ## 8 true REG r12 24 0",
                "4@%r9d ## 4 false REG r9 64 0",
                "2@%si ## 2 false REG rsi 104 0",
                "-1@%ah ## 1 true REG rax 80 8",
                "1@%bpl ## 1 false REG rbp 32 0",
                "%ecx ## 4 false REG rcx 88 0",
                "-4@$-3600 ## 4 true CONST -3600",
                "8@$0xf7f6f5f4f3f2f1f0 ## 8 false CONST -579005069656919568",
                "$7 ## 8 false CONST 7",
                "8@(%rsp) ## 8 false MEM rsp 152 - 0 1 0",
                "-4@-20(%rbp) ## 4 true MEM rbp 32 - 0 1 -20",
                "4@8+16(%rax) ## 4 false MEM rax 80 - 0 1 24",
                "8@0x10(%rbx,%rcx,8) ## 8 false MEM rbx 40 rcx 88 8 16",
                "1@(%rdx,%rsi) ## 1 false MEM rdx 96 rsi 104 1 0",
                "2@4(,%r8,2) ## 2 false MEM - 0 r8 72 2 4",
                "8f@%xmm0 ## 8 false BAD %xmm0",
                "8@global(%rax) ## 8 false BAD global(%rax)",
                "8@%nope ## 8 false BAD %nope",
                "8@() ## 8 false BAD ()",
            })
    void operandsOfX86(String text, String shown) {
        List<UsdtArgument> arguments = new UsdtArguments(Arch.X86_64, _ -> 0).parse(text);
        assertThat(arguments).hasSize(1);
        assertThat(show(arguments.getFirst())).isEqualTo(shown);
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = " ## ",
            value = {
                "8@x0 ## 8 false REG x0 0 0",
                "-4@w19 ## 4 true REG x19 152 0",
                "4@5 ## 4 false CONST 5",
                "-4@-5 ## 4 true CONST -5",
                "8@[sp, 60] ## 8 false MEM sp 248 - 0 1 60",
                "8@[x1] ## 8 false MEM x1 8 - 0 1 0",
                "8@[x1, #-16] ## 8 false MEM x1 8 - 0 1 -16",
                "8@[x1, x2] ## 8 false MEM x1 8 x2 16 1 0",
                "8@[x1, x2, lsl 3] ## 8 false MEM x1 8 x2 16 8 0",
            })
    void operandsOfArm(String text, String shown) {
        List<UsdtArgument> arguments = new UsdtArguments(Arch.AARCH64, _ -> 0).parse(text);
        assertThat(arguments).hasSize(1);
        assertThat(show(arguments.getFirst())).isEqualTo(shown);
    }

    @Test
    void manyArguments() {
        assertThat(new UsdtArguments(Arch.X86_64, _ -> 0).parse(" 8@%rdi  -4@$1 4@(%rax, %rbx, 4)"))
                .extracting(UsdtArgument::sizeBytes)
                .containsExactly(8, 4, 4);
        assertThat(new UsdtArguments(Arch.AARCH64, _ -> 0).parse("4@[sp, 28] 4@w0")).hasSize(2);
        assertThat(new UsdtArguments(Arch.X86_64, _ -> 0).parse("1@$1 ".repeat(1000))).hasSize(32);
        assertThat(new UsdtArguments(Arch.X86_64, _ -> 0).parse("")).isEmpty();
    }

    private static String show(UsdtArgument argument) {
        String operand =
                switch (argument.operand()) {
                    case UsdtConstant(long value) -> "CONST " + value;
                    case UsdtRegister(String name, int offset, int shift) ->
                            "REG " + name + " " + offset + " " + shift;
                    case UsdtMemory m ->
                            "MEM "
                                    + dash(m.base())
                                    + " "
                                    + m.baseOffset()
                                    + " "
                                    + dash(m.index())
                                    + " "
                                    + m.indexOffset()
                                    + " "
                                    + m.scale()
                                    + " "
                                    + m.displacement();
                    case UnreadableOperand(String text) -> "BAD " + text;
                };
        return argument.sizeBytes() + " " + argument.isSigned() + " " + operand;
    }

    private static String dash(String text) {
        return text.isEmpty() ? "-" : text;
    }
}
