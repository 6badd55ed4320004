package sonde.bpf.classic;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.interpreter.KernelRun;
import sonde.testkit.Property;

/** Translated filters run in the kernel as the classic ones do here. */
@Tag("kernel")
final class ClassicTranslationKernelTest {
    /** BPF_PROG_TEST_RUN takes the link layer's header off for socket filters. */
    private static final int ETHERNET = 14;

    @Test
    void socketFiltersDecideAlike() {
        Property.forAll(
                4242,
                1_500,
                random -> {
                    ClassicProgram filter = RandomFilter.of(random);
                    ProgramCode code = ClassicTranslation.of(filter);
                    try (KernelRun kernel = KernelRun.load(KernelRun.SOCKET_FILTER, code.words())) {
                        for (int i = 0; i < 3; i++) {
                            byte[] frame =
                                    ClassicTranslationPropertyTest.packet(
                                            random, ETHERNET + random.nextInt(20, 60));
                            frame[12] = 0x08;
                            frame[13] = 0x00;
                            byte[] packet = Arrays.copyOfRange(frame, ETHERNET, frame.length);
                            assertThat(kernel.run(frame).value())
                                    .as("%s%n%s", filter, code)
                                    .isEqualTo(
                                            filter.run(
                                                    packet, ClassicTranslationPropertyTest.FACTS));
                        }
                    }
                });
    }
}
