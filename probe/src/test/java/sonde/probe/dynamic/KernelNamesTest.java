package sonde.probe.dynamic;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import sonde.testkit.Property;

/** /proc/kallsyms as the kernel writes it (kernel/kallsyms.c, s_show). */
final class KernelNamesTest {
    private static final String TEXT =
            """
            ffffffff81000000 T _text
            ffffffff81000010 t twice
            ffffffff81000020 t twice
            ffffffff81000030 D data_alone
            ffffffffc0001000 t ovl_open\t[overlay]
            ffffffffc0001010 t twice\t[overlay]
            ffffffffc0002000 t other\t[my_overlay]
            0 A
            """;

    private static KernelNames parse(String text, String module) {
        return KernelNames.parse(text.getBytes(StandardCharsets.UTF_8), module);
    }

    @Test
    void namesOfAllAndOfOneModule() {
        KernelNames all = parse(TEXT, "");
        assertThat(all.count("twice")).isEqualTo(3);
        assertThat(all.count("data_alone")).isZero();
        assertThat(all.address("_text")).isEqualTo(0xffffffff81000000L);
        assertThat(all.module("ovl_open")).isEqualTo("overlay");
        assertThat(all.module("_text")).isEmpty();
        KernelNames module = parse(TEXT, "overlay");
        assertThat(module.all()).containsExactly("ovl_open", "twice");
        assertThat(module.count("twice")).isOne();
        assertThat(parse("", "overlay").isEmpty()).isTrue();
    }

    @Test
    void anyTextIsRead() {
        Property.forAll(
                17,
                500,
                random -> {
                    StringBuilder text = new StringBuilder(TEXT);
                    text.setLength(random.nextInt(text.length()));
                    for (int i = 0; i < 4 && !text.isEmpty(); i++) {
                        char letter = "\t[] \n0ft".charAt(random.nextInt(8));
                        text.setCharAt(random.nextInt(text.length()), letter);
                    }
                    KernelNames names = parse(text.toString(), "");
                    assertThat(names.all()).isNotNull();
                    assertThat(parse(text.toString(), "overlay").all()).isSubsetOf(names.all());
                });
    }
}
