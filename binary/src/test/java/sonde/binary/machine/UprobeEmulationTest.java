package sonde.binary.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UprobeEmulationTest {
    @ParameterizedTest
    @CsvSource({
        "55, true", // push %rbp
        "4157, true", // push %r15
        "4055, false", // rex push %rbp
        "664157, false",
        "ff30, false", // push (%rax)
        "6a01, false",
        "90, true",
        "f390, true", // pause: the kernel looks at the opcode only
        "eb10, true",
        "e911223344, true",
        "e811223344, true",
        "66e81122, false",
        "7410, true",
        "0f8411223344, true",
        "2e0f8411223344, false", // a hint is a prefix of the segment CS
        "c3, false",
        "e210, false", // loop
        "4889e5, false",
        "f30f1efa, false", // endbr64
        "0f1f440000, false",
        "c5f877, false"
    })
    void theKernelsListIsKnown(String hex, boolean emulated) {
        byte[] bytes = HexFormat.of().parseHex(hex);
        assertThat(UprobeEmulation.emulates(bytes, false)).isEqualTo(emulated);
    }

    @ParameterizedTest
    @CsvSource({
        "0f1f440000, true",
        "660f1f440000, true",
        "662e0f1f840000000000, false",
        "f30f1efa, false"
    })
    void newKernelsEmulateLongNops(String hex, boolean emulated) {
        byte[] bytes = HexFormat.of().parseHex(hex);
        assertThat(UprobeEmulation.emulates(bytes, true)).isEqualTo(emulated);
    }
}
