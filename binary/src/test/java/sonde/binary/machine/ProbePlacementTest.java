package sonde.binary.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Places of uprobes; the expectations follow from the instructions, written behind each. */
class ProbePlacementTest {
    @ParameterizedTest
    @CsvSource({
        "55, 0, true", // push rbp
        "4889fb53, 3, true", // mov rbx,rdi; push rbx
        "4885ff7401c3, 3, true", // test rdi,rdi; je
        "4889f753, 0, false", // mov rdi,rsi is no argument any more
        "4883ec0853, 0, false", // sub rsp,8 moves the stack pointer
        "f30f1efa4889f055, 7, true", // endbr64; mov rax,rsi; push rbp
        "4889f853ebfc, 0, false", // mov rax,rdi; push rbx; jmp to the push
        "4889f853ebf9, 3, true", // mov rax,rdi; push rbx; jmp to the entry
        "4889f8f0ff0055, 0, false", // a locked instruction before the push
        "0fa255, 0, false", // cpuid writes rcx and rdx
        "ff, 0, false", // no instruction
    })
    void placesKeepWhatAProbeReads(String code, int offset, boolean emulated) {
        assertThat(ProbePlacement.of(HexFormat.of().parseHex(code), false))
                .isEqualTo(new ProbePlacement(offset, emulated));
    }
}
