package sonde.symbol.unwind;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.binary.unwind.RegisterValues;
import sonde.binary.unwind.UnwindMachine;
import sonde.binary.unwind.UnwindMemory;
import sonde.symbol.CodeMapping;
import sonde.symbol.ModuleImages;
import sonde.symbol.ProcessMaps;
import sonde.symbol.SymbolOptions;
import sonde.testkit.Bytes;
import sonde.testkit.ElfWriter;

/** Chains over a file with one function, code of a JIT compiler and a stack of a few words. */
final class StackUnwinderTest {
    private static final int PID = 5;
    private static final long TEXT = 0x50_0200;
    private static final long JIT = 0x7f00_0000_1000L;
    private static final long STACK = 0x7ffc_0000_0000L;
    private static final int RIP = 16;

    /** call rel32, so that what follows is a return address. */
    private static final int CALL_AT = 0x20;

    @TempDir private Path folder;

    private final ProcessMaps maps = new ProcessMaps();
    private final Stack stack = new Stack(64);
    private final long[] chain = new long[16];
    private StackUnwinder unwinder = new StackUnwinder(UnwindMachine.X86_64, maps, none());

    private static ModuleFrames none() {
        return new ModuleFrames(new ModuleImages(SymbolOptions.here()));
    }

    /** So many words from {@link #STACK} on. */
    private static final class Stack implements UnwindMemory {
        private final long[] words;

        Stack(int count) {
            words = new long[count];
        }

        @Override
        public boolean has(long address, int sizeBytes) {
            long at = address - STACK;
            return at >= 0 && at <= 8L * words.length - sizeBytes;
        }

        @Override
        public long read(long address, int sizeBytes) {
            return words[(int) (address - STACK) / 8];
        }
    }

    /** .eh_frame: 0x1200..0x1240 saves nothing and has its caller at rsp; 0x1240.. is outermost. */
    private static byte[] frames() {
        long address = 0x40_0000;
        byte[] cie = {
            20,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            1,
            'z',
            'R',
            0,
            1,
            0x78,
            16,
            1,
            0x1b,
            0x0c,
            7,
            8,
            (byte) 0x90,
            1,
            0,
            0
        };
        return new Bytes(ByteOrder.LITTLE_ENDIAN)
                .raw(cie)
                .u32(16)
                .u32(28)
                .u32(0x1200 - (address + 32))
                .u32(0x40)
                .u32(0)
                .u32(20)
                .u32(48)
                .u32(0x1240 - (address + 52))
                .u32(0x40)
                .u8(0)
                .u8(7) // DW_CFA_undefined
                .u8(16)
                .align(4)
                .u32(0)
                .toBytes();
    }

    @BeforeEach
    void process() throws Exception {
        byte[] elf =
                new ElfWriter(true, ByteOrder.LITTLE_ENDIAN, 0x100)
                        .section(".eh_frame", 1, 2, 0x40_0000, frames())
                        .bytes();
        elf[ElfWriter.TEXT_OFFSET + CALL_AT] = (byte) 0xe8;
        elf[ElfWriter.TEXT_OFFSET + 0x40 + CALL_AT] = (byte) 0xe8;
        elf[ElfWriter.TEXT_OFFSET + 0x7e] = 0x0f; // syscall
        elf[ElfWriter.TEXT_OFFSET + 0x7f] = 0x05;
        Path file = folder.resolve("program");
        Files.write(file, elf);
        String path = file.toString();
        maps.mapped(1, PID, new CodeMapping(TEXT - 0x200, 0x1000, 0, path));
        maps.mapped(1, PID, new CodeMapping(JIT, 0x1000, 0, "//anon"));
        SymbolOptions options = new SymbolOptions(List.of(folder.toString()), List.of(), false, 0);
        unwinder =
                new StackUnwinder(
                        UnwindMachine.X86_64, maps, new ModuleFrames(new ModuleImages(options)));
    }

    private List<Long> unwind(long ip, long sp, long fp) {
        RegisterValues first = unwinder.first();
        first.clear();
        first.set(RIP, ip);
        first.set(7, sp);
        first.set(6, fp);
        int count = unwinder.unwind(PID, stack, chain);
        return Arrays.stream(chain, 0, count).boxed().toList();
    }

    @Test
    void toTheOutermost() {
        stack.words[0] = TEXT + CALL_AT + 5;
        stack.words[1] = TEXT + 0x40 + CALL_AT + 5;
        assertThat(unwind(TEXT, STACK, 0))
                .containsExactly(TEXT, TEXT + CALL_AT + 5, TEXT + 0x40 + CALL_AT + 5);
        assertThat(unwinder.end()).isEqualTo(UnwindEnd.COMPLETE);
    }

    @Test
    void whereTheCopyEnds() {
        assertThat(unwind(TEXT, STACK + 8 * 64, 0)).containsExactly(TEXT);
        assertThat(unwinder.end()).isEqualTo(UnwindEnd.TRUNCATED);
        assertThat(unwinder.end().isTruncated()).isTrue();
    }

    @Test
    void returnAddressesThatAreNone() {
        stack.words[0] = 0x1234;
        assertThat(unwind(TEXT, STACK, 0)).containsExactly(TEXT);
        assertThat(unwinder.end()).isEqualTo(UnwindEnd.NOT_CODE);
        stack.words[0] = 0;
        assertThat(unwind(TEXT, STACK, 0)).containsExactly(TEXT);
        assertThat(unwinder.end()).isEqualTo(UnwindEnd.COMPLETE);
    }

    @Test
    void codeOfJitCompilersByFramePointer() {
        stack.words[4] = STACK + 8 * 8;
        stack.words[5] = JIT + 0x100;
        stack.words[8] = STACK + 8 * 20;
        stack.words[9] = TEXT + 0x40 + CALL_AT + 5;
        assertThat(unwind(JIT, STACK, STACK + 32))
                .containsExactly(JIT, JIT + 0x100, TEXT + 0x40 + CALL_AT + 5);
        assertThat(unwinder.end()).isEqualTo(UnwindEnd.COMPLETE);
    }

    private int known(int pid, long fp) {
        return unwinder.known(pid, JIT, STACK, fp, stack, chain);
    }

    @Test
    void whatIsKnownHoldsOnlyForTheSameStack() {
        long outer = TEXT + 0x40 + CALL_AT + 5;
        stack.words[4] = STACK + 8 * 8;
        stack.words[5] = JIT + 0x100;
        stack.words[8] = STACK + 8 * 20;
        stack.words[9] = JIT + 0x300;
        stack.words[20] = STACK + 8 * 30;
        stack.words[21] = outer;
        List<Long> whole = unwind(JIT, STACK, STACK + 32);
        assertThat(whole).containsExactly(JIT, JIT + 0x100, JIT + 0x300, outer);
        Arrays.fill(chain, 0);
        assertThat(known(PID, STACK + 32)).isEqualTo(4);
        assertThat(chain).startsWith(JIT, JIT + 0x100, JIT + 0x300, outer);
        assertThat(known(PID, STACK + 40)).as("frame pointer").isZero();
        assertThat(known(PID + 1, STACK + 32)).as("process").isZero();
        assertThat(unwind(JIT + 8, STACK, STACK + 32)).as("same callers").endsWith(outer);

        stack.words[9] = JIT + 0x400;
        assertThat(known(PID, STACK + 32)).as("return address").isZero();
        assertThat(unwind(JIT, STACK, STACK + 32))
                .containsExactly(JIT, JIT + 0x100, JIT + 0x400, outer);
        stack.words[20] = 0;
        stack.words[21] = 0x1234;
        assertThat(unwind(JIT, STACK, STACK + 32))
                .as("no code")
                .containsExactly(JIT, JIT + 0x100, JIT + 0x400);
        stack.words[21] = outer;
        assertThat(unwind(JIT, STACK, STACK + 32)).endsWith(outer);
        assertThat(known(PID, STACK + 32)).isEqualTo(4);
        maps.mapped(2, PID, new CodeMapping(JIT + 0x400, 0x10, 0, "//anon"));
        assertThat(known(PID, STACK + 32)).as("mappings").isZero();
    }

    /** A number on the stack that points into the file, but behind no call. */
    @Test
    void whatLooksLikeAReturnAddressIsNotBelieved() {
        stack.words[4] = STACK + 8 * 8;
        stack.words[5] = TEXT + 0x13;
        assertThat(unwind(JIT, STACK, STACK + 32)).containsExactly(JIT);
        assertThat(unwinder.end()).isEqualTo(UnwindEnd.NO_INFORMATION);
        assertThat(unwind(JIT, STACK + 64, STACK + 32)).as("below").containsExactly(JIT);
        assertThat(unwind(JIT, STACK, STACK + 33)).as("odd").containsExactly(JIT);
    }

    /** psABI: a frame pointer of 0 marks the deepest frame, here of code without information. */
    @Test
    void codeWithoutInformationEndsWhereTheFramePointerIsNone() {
        assertThat(unwind(TEXT + 0xa0, STACK, 0)).containsExactly(TEXT + 0xa0);
        assertThat(unwinder.end()).isEqualTo(UnwindEnd.COMPLETE);
        assertThat(unwind(JIT, STACK, 0)).containsExactly(JIT);
        assertThat(unwinder.end()).as("not of a JIT compiler").isEqualTo(UnwindEnd.NO_INFORMATION);
    }

    /** As the program counter is while the kernel does what a function's last instruction asked. */
    @Test
    void behindASystemCallItsFunctionCounts() {
        assertThat(unwind(TEXT + 0x80, STACK, 0)).containsExactly(TEXT + 0x80);
        assertThat(unwinder.end()).isEqualTo(UnwindEnd.COMPLETE);
        stack.words[0] = TEXT + 0x40 + CALL_AT + 5;
        stack.words[1] = 77;
        assertThat(unwind(TEXT + 0x80, STACK, 1)).as("outermost").containsExactly(TEXT + 0x80);
        assertThat(unwinder.end()).isEqualTo(UnwindEnd.COMPLETE);
    }

    /** Code that changes stacks leaves starts of functions as return addresses; none is a call. */
    @Test
    void returnAddressesThatBeginAFunction() {
        stack.words[0] = TEXT;
        stack.words[1] = TEXT + 0x40 + CALL_AT + 5;
        assertThat(unwind(TEXT + CALL_AT, STACK, 0))
                .containsExactly(TEXT + CALL_AT, TEXT + 1, TEXT + 0x40 + CALL_AT + 5);
        assertThat(unwinder.end()).isEqualTo(UnwindEnd.COMPLETE);
    }

    @Test
    void framePointersThatGoRound() {
        stack.words[4] = STACK + 32;
        stack.words[5] = JIT + 0x100;
        assertThat(unwind(JIT, STACK, STACK + 32)).containsExactly(JIT);
    }

    @Test
    void callsThroughWrongPointers() {
        stack.words[0] = TEXT + CALL_AT + 5;
        stack.words[1] = TEXT + 0x40 + CALL_AT + 5;
        assertThat(unwind(0x10, STACK, 0)).hasSize(3).startsWith(0x10L, TEXT + CALL_AT + 5);
        stack.words[0] = 0x77;
        assertThat(unwind(0x10, STACK, 0)).isEmpty();
    }
}
