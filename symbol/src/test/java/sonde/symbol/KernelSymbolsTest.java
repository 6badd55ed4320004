package sonde.symbol;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class KernelSymbolsTest {
    private static final String TEXT =
            """
            0000000000000000 A fixed_percpu_data
            ffffffff81000000 T _text
            ffffffff81000000 t __startup
            ffffffff81000100 t local_one
            ffffffff81000100 T global_one
            ffffffff81000200 D not_code
            ffffffff81000300 W weak_one
            ffffffff81002000 T _etext
            ffffffffc0201000 t first_in_module\t[ext4]
            ffffffffc0201040 t second_in_module\t[ext4]
            ffffffffc0100000 t other\t[xfs]
            garbage
            """;

    private static KernelSymbols parse(String text) {
        return KernelSymbols.parse(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String at(KernelSymbols symbols, long address) {
        int index = symbols.find(address);
        return index < 0 ? "none" : symbols.name(index) + " " + symbols.module(index);
    }

    @Test
    void findsTheFunctionBelow() {
        KernelSymbols symbols = parse(TEXT);
        assertThat(at(symbols, 0xffffffff81000000L)).isEqualTo("_text [kernel]");
        assertThat(at(symbols, 0xffffffff810001ffL)).isEqualTo("global_one [kernel]");
        assertThat(at(symbols, 0xffffffff81001fffL)).isEqualTo("weak_one [kernel]");
        assertThat(at(symbols, 0xffffffffc0201041L)).isEqualTo("second_in_module [ext4]");
        assertThat(at(symbols, 0xffffffffc0100010L)).isEqualTo("other [xfs]");
    }

    @Test
    void namesNothingBehindTheEnd() {
        KernelSymbols symbols = parse(TEXT);
        assertThat(at(symbols, 0xffffffff81002000L)).isEqualTo("none");
        assertThat(at(symbols, 0xffffffff80ffffffL)).isEqualTo("none");
        // the last of a module reaches one page past its own
        assertThat(at(symbols, 0xffffffffc0102000L)).isEqualTo("none");
        assertThat(at(symbols, 0x1000)).isEqualTo("none");
    }

    @Test
    void saysWhenAddressesAreHidden() {
        KernelSymbols symbols = parse("0000000000000000 T _text\n0000000000000000 T main\n");
        assertThat(symbols.isRestricted()).isTrue();
        assertThat(symbols.count()).isZero();
        assertThat(parse(TEXT).isRestricted()).isFalse();
        assertThat(KernelSymbols.none().isRestricted()).isFalse();
    }

    @Test
    void survivesAnyBytes() {
        Random random = new Random(7);
        for (int round = 0; round < 3000; round++) {
            byte[] bytes = TEXT.getBytes(StandardCharsets.UTF_8);
            for (int i = 0; i < 5; i++) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            }
            KernelSymbols symbols =
                    KernelSymbols.parse(Arrays.copyOf(bytes, random.nextInt(bytes.length + 1)));
            for (int i = 0; i < symbols.count(); i++) {
                assertThat(symbols.name(i)).isNotNull();
                assertThat(symbols.module(i)).isNotNull();
                symbols.find(symbols.address(i));
            }
        }
    }
}
