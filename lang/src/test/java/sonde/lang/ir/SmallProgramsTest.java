package sonde.lang.ir;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import sonde.lang.ir.Assembly.AssemblySymbols;
import sonde.lang.ir.Assembly.InstructionSet;

/**
 * Numbers of instructions against those of clang 14, {@code -O2 -target bpf -mcpu=v3}, for the same
 * programs in C.
 */
class SmallProgramsTest {
    static final AssemblySymbols NUMBERS =
            new AssemblySymbols() {
                @Override
                public int map(String name) {
                    return name.length();
                }

                @Override
                public int function(String kernelFunction) {
                    return kernelFunction.length();
                }
            };

    @Test
    void countByProcess() throws Exception {
        assertThat(instructions(SmallPrograms.count())).isLessThanOrEqualTo(23);
    }

    @Test
    void filterAndReport() throws Exception {
        assertThat(instructions(SmallPrograms.filter())).isLessThanOrEqualTo(27);
    }

    @Test
    void histogramOfLatency() throws Exception {
        assertThat(instructions(SmallPrograms.latency())).isLessThanOrEqualTo(75);
    }

    @Test
    void pointersOfTheKernel() throws Exception {
        assertThat(instructions(SmallPrograms.chase())).isLessThanOrEqualTo(41);
    }

    @Test
    void loopOverMap() throws Exception {
        assertThat(instructions(SmallPrograms.loop())).isLessThanOrEqualTo(27);
    }

    private static int instructions(IrFunction program) throws CompilationException {
        return Assembly.of(program, new InstructionSet(true)).code(NUMBERS).instructions().size();
    }
}
