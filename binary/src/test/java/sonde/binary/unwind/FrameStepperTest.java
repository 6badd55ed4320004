package sonde.binary.unwind;

import static org.assertj.core.api.Assertions.assertThat;
import static sonde.binary.unwind.CfiBytes.bytes;
import static sonde.binary.unwind.CfiBytes.elf;
import static sonde.binary.unwind.CfiBytes.usual;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import sonde.binary.elf.ElfFile;
import sonde.binary.unwind.FrameStepper.StepOutcome;

/** From a frame's registers to the caller's. */
final class FrameStepperTest {
    private final Map<Long, Long> words = new HashMap<>();
    private final RegisterValues frame = new RegisterValues(UnwindMachine.X86_64);
    private final RegisterValues caller = new RegisterValues(UnwindMachine.X86_64);
    private final FrameStepper stepper = new FrameStepper(UnwindMachine.X86_64);
    private final UnwindMemory memory =
            new UnwindMemory() {
                @Override
                public boolean has(long address, int sizeBytes) {
                    return words.containsKey(address);
                }

                @Override
                public long read(long address, int sizeBytes) {
                    return words.getOrDefault(address, 0L);
                }
            };

    @BeforeEach
    void registers() {
        for (int column = 0; column < 17; column++) {
            frame.set(column, 100 + column);
        }
        frame.set(7, 0x7000);
        frame.set(6, 0x7100);
    }

    private StepOutcome step(int... instructions) throws Exception {
        UnwindTable table =
                UnwindTable.of(ElfFile.of(elf(".eh_frame", usual(bytes(instructions)))))
                        .orElseThrow();
        FrameRule rule = table.find(0x1200);
        assertThat(rule).isNotNull();
        caller.clear();
        return stepper.step(rule, frame, caller, memory);
    }

    @Test
    void returnAddressAndSavedRegisters() throws Exception {
        words.put(0x7008L, 0x4444L);
        words.put(0x7000L, 0x5555L);
        assertThat(step(0x0e, 16, 0x86, 2)).isEqualTo(StepOutcome.STEPPED);
        assertThat(caller.get(16)).isEqualTo(0x4444);
        assertThat(caller.get(6)).isEqualTo(0x5555);
        assertThat(caller.get(7)).isEqualTo(0x7010);
        assertThat(caller.get(3)).as("rbx is kept by calls").isEqualTo(103);
        assertThat(caller.has(0)).as("rax is not").isFalse();
    }

    @Test
    void expressions() throws Exception {
        words.put(0x7200L, 0x7300L);
        words.put(0x72f8L, 0x4444L);
        // CFA = *(rsp + 0x200): breg7 0x200, deref
        assertThat(step(0x0f, 4, 0x77, 0x80, 0x04, 0x06)).isEqualTo(StepOutcome.STEPPED);
        assertThat(caller.get(7)).isEqualTo(0x7300);
        // as ld writes it for its stubs: rsp + 8 + ((rip & 15) >= 11) * 8
        frame.set(16, 0x101b);
        words.put(0x7008L, 0x6666L);
        int[] plt = {0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};
        assertThat(step(plt)).isEqualTo(StepOutcome.STEPPED);
        assertThat(caller.get(16)).isEqualTo(0x6666);
    }

    @Test
    void theEndOfAStack() throws Exception {
        assertThat(step(0x07, 16)).isEqualTo(StepOutcome.OUTERMOST);
    }

    @Test
    void whatIsNotKnown() throws Exception {
        assertThat(step(0)).isEqualTo(StepOutcome.NO_MEMORY);
        assertThat(stepper.missingAddress()).isEqualTo(0x7000);
        frame.forget(3);
        assertThat(step(0x0c, 3, 8)).isEqualTo(StepOutcome.NO_REGISTER);
        assertThat(step(0x0f, 2, 0x73, 0)).isEqualTo(StepOutcome.NO_REGISTER);
        // column 100 is none of the machine's
        assertThat(step(0x0c, 100, 8)).isEqualTo(StepOutcome.NO_REGISTER);
    }

    @Test
    void expressionsThatMakeNoSense() throws Exception {
        int[][] bad = {
            {0x2f, 0xfd, 0xff}, // skip back by 3: no end
            {0x22}, // plus without operands
            {0x30, 0x30, 0x1b}, // 0 / 0
            {0x77}, // breg7 without its offset
            {0x08}, // const1u without its number
            {0x13}, // drop of nothing
            {0xff}, // no such operation
            {0x2f, 0x00, 0x10}, // skip beyond the end
            {0x77, 0, 0x94, 16}, // deref of 16 bytes
        };
        for (int[] code : bad) {
            int[] all = new int[code.length + 2];
            all[0] = 0x0f;
            all[1] = code.length;
            System.arraycopy(code, 0, all, 2, code.length);
            assertThat(step(all)).as("%s", bytes(code)).isEqualTo(StepOutcome.BAD_RULE);
        }
    }

    @Test
    void deepStacksOfExpressionsEnd() throws Exception {
        int[] all = new int[102];
        all[0] = 0x0f;
        all[1] = 100;
        Arrays.fill(all, 2, 102, 0x31);
        assertThat(step(all)).isEqualTo(StepOutcome.BAD_RULE);
    }

    @Test
    void framePointers() {
        words.put(0x7100L, 0x7200L);
        words.put(0x7108L, 0x4444L);
        UnwindMemory pair =
                new UnwindMemory() {
                    @Override
                    public boolean has(long address, int sizeBytes) {
                        return address == 0x7100 && sizeBytes == 16;
                    }

                    @Override
                    public long read(long address, int sizeBytes) {
                        return words.getOrDefault(address, 0L);
                    }
                };
        assertThat(stepper.follow(frame, caller, pair)).isEqualTo(StepOutcome.STEPPED);
        assertThat(caller.get(16)).isEqualTo(0x4444);
        assertThat(caller.get(6)).isEqualTo(0x7200);
        assertThat(caller.get(7)).isEqualTo(0x7110);
        assertThat(caller.has(3)).as("nothing tells where rbx went").isFalse();
        frame.set(6, 0);
        assertThat(stepper.follow(frame, caller, pair)).isEqualTo(StepOutcome.OUTERMOST);
    }

    @Test
    void trampolinesOfSignals() {
        byte[] code = bytes(0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05);
        FrameRule rule = SignalTrampoline.rule(UnwindMachine.X86_64, code);
        assertThat(rule).isNotNull();
        for (int i = 0; i < 40; i++) {
            words.put(0x7000L + 8L * i, 1000L + i);
        }
        caller.clear();
        assertThat(stepper.step(rule, frame, caller, memory)).isEqualTo(StepOutcome.STEPPED);
        assertThat(caller.get(16)).as("rip").isEqualTo(1000 + 168 / 8);
        assertThat(caller.get(7)).as("rsp").isEqualTo(1000 + 160 / 8);
        assertThat(caller.get(0)).as("rax").isEqualTo(1000 + 144 / 8);
        assertThat(SignalTrampoline.rule(UnwindMachine.X86_64, bytes(0x48, 0x89))).isNull();
    }
}
