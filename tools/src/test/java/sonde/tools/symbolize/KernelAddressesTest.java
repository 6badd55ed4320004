package sonde.tools.symbolize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import sonde.event.result.TextLayout;
import sonde.symbol.KernelRun;
import sonde.symbol.KernelSymbols;
import sonde.symbol.files.GivenPlaces;

/** Addresses of a kernel and its modules by the text of kallsyms. */
final class KernelAddressesTest {
    private static final String KALLSYMS =
            """
            ffffffff81000000 T _stext
            ffffffff81000100 t do_idle
            ffffffff81000180 T schedule
            ffffffff81001000 T _etext
            ffffffffc0200000 t nft_do_chain\t[nf_tables]
            ffffffffc0200400 t nft_last\t[nf_tables]
            """;

    private static KernelRun run(String kallsyms) {
        KernelSymbols symbols = KernelSymbols.parse(kallsyms.getBytes(StandardCharsets.UTF_8));
        return new KernelRun("", new byte[0], symbols, Map.of(), List.of());
    }

    private static String text(KernelAddresses addresses, String... words) throws IOException {
        StringWriter out = new StringWriter();
        TextLayout layout = (TextLayout) addresses.of(List.of(words), false);
        try (PrintWriter writer = new PrintWriter(out)) {
            layout.lines().writeTo(writer);
        }
        return out.toString();
    }

    @Test
    void functionsOfTheKernelAndOfModules() throws IOException {
        KernelAddresses addresses = new KernelAddresses(run(KALLSYMS), GivenPlaces.NONE);
        assertThat(
                        text(
                                addresses,
                                "ffffffff8100011f",
                                "0xffffffffc0200010",
                                "schedule",
                                "nft_do_chain+0x10/0x400",
                                "do_idle+31",
                                "ffffffff81001001",
                                "no_such"))
                .isEqualTo(
                        """
                        do_idle+0x1f/0x80
                        nft_do_chain+0x10/0x400 [nf_tables]
                        schedule+0x0/0xe80
                        nft_do_chain+0x10/0x400 [nf_tables]
                        do_idle+0x1f/0x80
                        ??
                        ??
                        """);
        assertThat(addresses.notes())
                .anyMatch(note -> note.contains("'no_such' is in no function"));
    }

    @Test
    void hiddenAddressesAreAnError() {
        String hidden = KALLSYMS.replaceAll("(?m)^[0-9a-f]{16}", "0000000000000000");
        assertThatThrownBy(() -> new KernelAddresses(run(hidden), GivenPlaces.NONE))
                .hasMessageContaining("kptr_restrict");
        assertThat(KernelAddresses.isKernel("ffffffff81000000")).isTrue();
        assertThat(KernelAddresses.isKernel("0x401000")).isFalse();
        assertThat(KernelAddresses.isKernel("main")).isFalse();
    }
}
