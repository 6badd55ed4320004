package sonde.open.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.binary.Input;

/** The beginnings of files as their tools write them. */
class OtherFormatsTest {
    @Test
    void aStreamOfCtfLeadsToItsFolder() {
        byte[] big = {(byte) 0xc1, (byte) 0xfc, 0x1f, (byte) 0xc1, 0, 0};
        byte[] little = {(byte) 0xc1, 0x1f, (byte) 0xfc, (byte) 0xc1, 0, 0};
        assertThat(OtherFormats.refusal(Input.of("channel0_0", big))).contains("its folder");
        assertThat(OtherFormats.refusal(Input.of("channel0_0", little))).contains("its folder");
        assertThat(OtherFormats.refusal(Input.of("short", new byte[] {1, 2}))).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    ==7== Memcheck, a memory error detector                        | valgrind's Memcheck
                    hello\\n==7== Helgrind, a thread error detector                 | valgrind's Helgrind
                    ==00:00:00:00.123 7== DRD, a thread error detector             | valgrind's DRD
                    <?xml version="1.0"?>\\n\\n<valgrindoutput>\\n                    | valgrind's tools as XML
                    {"dhatFileVersion":2,"mode":"heap"}                            | DHAT
                    ====\\n==7==ERROR: AddressSanitizer: heap-buffer-overflow       | AddressSanitizer
                    ====\\n==7==ERROR: LeakSanitizer: detected memory leaks         | LeakSanitizer
                    ==7==WARNING: MemorySanitizer: use-of-uninitialized-value      | MemorySanitizer
                    ====\\nWARNING: ThreadSanitizer: data race (pid=7)              | --annotate
                    a.c:3:41: runtime error: signed integer overflow               | UndefinedBehaviorSanitizer
                    {"nodes":[{"id":1,"callFrame":{"functionName":""}}]}           | .cpuprofile
                    {"head":{"callFrame":{},"selfSize":0,"children":[]}}           | heap profile of V8
                    {"snapshot":{"meta":{"node_fields":["type"]}}}                 | heap profile of V8
                    v8-version,11,3,244,8\\nshared-library,/usr/bin/node,0          | V8's own log
                    {"meta":{"version":3,"processType":0},"libs":"[]"}             | Gecko profile
                    {"meta":{},"profileJSON":{},"symbolicationTable":{}}           | Gecko profile
                    {"nothing":"of the kind"}                                      | ''
                    a text like any other                                          | ''
                    """)
    void saysWhatTheFileIs(String begin, String words) {
        byte[] bytes = begin.replace("\\n", "\n").getBytes(StandardCharsets.UTF_8);
        String refusal = OtherFormats.refusal(Input.of("file", bytes));
        if (words.isEmpty()) {
            assertThat(refusal).isEmpty();
        } else {
            assertThat(refusal).startsWith("is ").contains(words);
        }
    }
}
