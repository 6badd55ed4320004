package sonde.bpf.interpreter;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import sonde.bpf.insn.Assembler;

/** How fast simple instructions run: bar 50 million a second, one core. */
@Tag("bench")
final class InterpreterBenchTest {
    @Test
    void arithmeticAndJumps(TestReporter reporter) throws Exception {
        measure(
                reporter,
                9,
                """
                r1 = 3000000
                r2 = 7
                r3 = 0x123456789abcdef
                again: r2 += r1
                r3 ^= r2
                r3 *= 31
                r4 = r3
                r4 >>= 7
                w2 += w4
                r2 &= 65535
                r1 += -1
                if r1 != 0x0 goto again
                r0 = r3
                exit
                """);
    }

    @Test
    void stackAccesses(TestReporter reporter) throws Exception {
        measure(
                reporter,
                6,
                """
                r1 = 3000000
                *(u64 *)(r10 -8) = 5
                again: r2 = *(u64 *)(r10 -8)
                r2 += 3
                *(u64 *)(r10 -8) = r2
                r3 = *(u32 *)(r10 -4)
                r1 += -1
                if r1 s> 0x0 goto again
                r0 = r2
                exit
                """);
    }

    private static void measure(TestReporter reporter, int loop, String text) throws Exception {
        VirtualProgram program =
                new BpfMachine(MachineEnvironment.FIXED).load(Assembler.assemble(text));
        double best = 0;
        for (int pass = 0; pass < 15; pass++) {
            long start = System.nanoTime();
            assertThat(program.run(ProgramContext.none(), Long.MAX_VALUE)).isNotZero();
            double seconds = (System.nanoTime() - start) / 1e9;
            best = Math.max(best, loop * 3_000_000L / seconds / 1e6);
        }
        reporter.publishEntry("interpreter", "%.0f M instructions/s".formatted(best));
        assertThat(best).isGreaterThan(50);
    }
}
