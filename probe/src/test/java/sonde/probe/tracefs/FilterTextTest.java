package sonde.probe.tracefs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.recording.ftrace.EventFormat;

class FilterTextTest {
    private static final String FORMAT =
            """
            name: planted
            ID: 7
            format:
            \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

            \tfield:void * function;\toffset:8;\tsize:8;\tsigned:0;
            \tfield:long place;\toffset:16;\tsize:8;\tsigned:1;
            \tfield:char comm[16];\toffset:24;\tsize:16;\tsigned:0;
            \tfield:unsigned int vec;\toffset:40;\tsize:4;\tsigned:0;
            \tfield:__data_loc char[] path;\toffset:44;\tsize:4;\tsigned:0;

            print fmt: "%s", __print_symbolic(REC->vec, { 0, "HI" }, { 9, "RCU" })
            """;

    private static final byte[] KALLSYMS =
            """
            ffffffff81000000 T _text
            ffffffff81000100 t handler
            ffffffff81000180 t next
            ffffffff81000200 t handler
            ffffffff81000280 t last\t[mod]
            """
                    .getBytes(StandardCharsets.UTF_8);

    private static FilterText filter(String text) throws Exception {
        return FilterText.of(
                text, EventFormat.parse(FORMAT, 8), name -> FilterText.symbols(KALLSYMS, name));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '@',
            quoteCharacter = '`',
            value = {
                "common_pid == 1 @ common_pid == 1",
                "function == next @ ((function >= 0xffffffff81000180 && function <"
                        + " 0xffffffff81000200))",
                "function != next && vec==RCU @ ((function < 0xffffffff81000180 || function >="
                        + " 0xffffffff81000200)) && vec==9",
                "place == next @ ((place >= -2130706048 && place < -2130705920))",
                "vec == \"HI\" @ vec == 0",
                "comm == my-app @ comm == \"my-app\"",
                "path ~ */bin/* || comm == \"a b\" @ path ~ \"*/bin/*\" || comm == \"a b\"",
                "function.function == next @ function.function == next",
                "!(vec & 3) @ !(vec & 3)",
                "other == next @ other == next",
            })
    void namesBecomeWhatTheKernelTakes(String text, String kernel) throws Exception {
        assertThat(filter(text).kernel()).isEqualTo(kernel);
    }

    @Test
    void functionsOfOneNameAreAllMeant() throws Exception {
        assertThat(filter("function == handler").kernel())
                .isEqualTo(
                        "((function >= 0xffffffff81000100 && function < 0xffffffff81000180) ||"
                                + " (function >= 0xffffffff81000200 && function <"
                                + " 0xffffffff81000280))");
    }

    @Test
    void placesLeadBackToTheUsersText() throws Exception {
        FilterText filter = filter("function == next && foo");
        assertThat(filter.place(filter.kernel().indexOf("foo"))).isEqualTo(20);
        assertThat(filter("vec == NOPE").unknown()).isEqualTo(List.of("NOPE"));
    }
}
