package sonde.binary.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

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
        "62e27d287ace89f825ff0f0000, 6, false", // vpbroadcastb ymm17,esi; mov eax,edi; and eax,..
        "62e27d287ace53, 6, true", // vpbroadcastb ymm17,esi; push rbx
        "c5f877c3, 3, false", // vzeroupper; ret
        "c5f857c053, 0, false", // vxorps xmm0,xmm0,xmm0, which is single-stepped
    })
    void placesKeepWhatAProbeReads(String code, int offset, boolean emulated) {
        assertThat(ProbePlacement.of(HexFormat.of().parseHex(code), false))
                .contains(new ProbePlacement(offset, emulated));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "c5f8c2c100c3", // vcmpeqps, a return for the kernel; ret
                "c5f9ebc8ebfe", // vpor, a jump for the kernel; jmp to itself
                "c5f970c04ec3", // vpshufd, a jump by its constant
            })
    void aMisreadBeginGetsNoProbe(String code) {
        assertThat(ProbePlacement.of(HexFormat.of().parseHex(code), true)).isEmpty();
    }
}
