package sonde.lang.ir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.bpf.insn.Code;
import sonde.bpf.insn.KernelFunction;
import sonde.bpf.interpreter.Context;
import sonde.bpf.interpreter.Environment;
import sonde.bpf.interpreter.Machine;
import sonde.lang.ir.Assembly.Stage;
import sonde.lang.ir.Assembly.Target;

class AssemblyPropertyTest {
    static final Assembly.Symbols NONE =
            new Assembly.Symbols() {
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
        for (int seed = 0; seed < 1500; seed++) {
            Function main = RandomFunction.of(seed, 4 + seed % 60);
            long expected = evaluate(main);
            Assembly assembly = Assembly.of(main, new Target(isa4));
            String text =
                    "seed %d\n%s\n%s\n%s"
                            .formatted(
                                    seed,
                                    assembly.dump(Stage.IR),
                                    assembly.dump(Stage.OPTIMISED),
                                    assembly.dump(Stage.ALLOCATED));
            spilled += assembly.frameBytes() > 96 ? 1 : 0;
            assertThatCode(() -> assertThat(run(assembly.code(NONE))).isEqualTo(expected))
                    .as(text)
                    .doesNotThrowAnyException();
        }
        assertThat(spilled).as("programs with registers in memory").isGreaterThan(20);
    }

    @Test
    void theSameProgramGivesTheSameCode() throws Exception {
        for (int seed = 0; seed < 20; seed++) {
            Function main = RandomFunction.of(seed, 40);
            Assembly first = Assembly.of(main, new Target(true));
            Assembly second = Assembly.of(RandomFunction.of(seed, 40), new Target(true));
            assertThat(first.code(NONE).words()).isEqualTo(second.code(NONE).words());
            assertThat(Assembly.of(main, new Target(true)).code(NONE).words())
                    .isEqualTo(first.code(NONE).words());
        }
    }

    static long evaluate(Function main) {
        return new Evaluator(number ->
                number == KernelFunction.GET_CURRENT_PID_TGID ? Environment.FIXED.pidTgid() : 0)
                .run(main, List.of());
    }

    static long run(Code code) throws Exception {
        return new Machine(Environment.FIXED).load(code).run(Context.none());
    }
}
