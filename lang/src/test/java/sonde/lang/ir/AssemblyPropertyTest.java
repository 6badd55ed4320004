package sonde.lang.ir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.interpreter.BpfMachine;
import sonde.bpf.interpreter.MachineEnvironment;
import sonde.bpf.interpreter.ProgramContext;
import sonde.lang.ir.Assembly.AssemblySymbols;
import sonde.lang.ir.Assembly.InstructionSet;
import sonde.lang.ir.Assembly.Stage;

class AssemblyPropertyTest {
    private static final MachineEnvironment ENVIRONMENT =
            new MachineEnvironment() {
                @Override
                public long uidGid() {
                    return 100L << 32 | 1000;
                }
            };

    static final AssemblySymbols NONE =
            new AssemblySymbols() {
                @Override
                public int map(String name) {
                    throw new IllegalArgumentException(name);
                }

                @Override
                public int function(String kernelFunction) {
                    throw new IllegalArgumentException(kernelFunction);
                }
            };

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void whatIsCompiledDoesWhatIsWritten(boolean isa4) throws Exception {
        int spilled = 0;
        int large = 0;
        for (int seed = 0; seed < 1000; seed++) {
            IrFunction main = RandomFunction.of(seed, 4 + seed % 60);
            long expected = evaluate(main, ENVIRONMENT.uidGid());
            Assembly assembly = compiled(main, isa4);
            if (assembly == null) {
                large++;
                continue;
            }
            int now = seed;
            spilled += assembly.frameBytes() > 96 ? 1 : 0;
            assertThatCode(() -> assertThat(run(assembly.code(NONE))).isEqualTo(expected))
                    .as(() ->
                            "seed %d\n%s\n%s\n%s"
                                    .formatted(
                                            now,
                                            assembly.dump(Stage.IR),
                                            assembly.dump(Stage.OPTIMISED),
                                            assembly.dump(Stage.ALLOCATED)))
                    .doesNotThrowAnyException();
        }
        assertThat(large).as("programs whose frames are too large").isLessThan(100);
        assertThat(spilled).as("programs with registers in memory").isGreaterThan(20);
    }

    /** Null when its frames are too large. */
    private static @Nullable Assembly compiled(IrFunction main, boolean isa4) {
        try {
            return Assembly.of(main, new InstructionSet(isa4));
        } catch (CompilationException e) {
            assertThat(e).hasMessageContaining("bytes of stack");
            return null;
        }
    }

    @Test
    void theSameProgramGivesTheSameCode() throws Exception {
        for (int seed = 0; seed < 20; seed++) {
            IrFunction main = RandomFunction.of(seed, 40);
            Assembly first = Assembly.of(main, new InstructionSet(true));
            Assembly second = Assembly.of(RandomFunction.of(seed, 40), new InstructionSet(true));
            assertThat(first.code(NONE).words()).isEqualTo(second.code(NONE).words());
            assertThat(Assembly.of(main, new InstructionSet(true)).code(NONE).words())
                    .isEqualTo(first.code(NONE).words());
        }
    }

    static long evaluate(IrFunction main, long result) {
        return new Evaluator(_ -> result).run(main, List.of());
    }

    private static long run(ProgramCode code) throws Exception {
        return new BpfMachine(ENVIRONMENT).load(code).run(ProgramContext.none());
    }
}
