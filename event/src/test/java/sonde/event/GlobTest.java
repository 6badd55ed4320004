package sonde.event;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class GlobTest {
    @ParameterizedTest
    @CsvSource({
        "STARS, *, x, true",
        "STARS, a*, ab, true",
        "STARS, a*, ba, false",
        "STARS, *a*, bab, true",
        "STARS, a*b*c, axbxc, true",
        "STARS, a*b*c, axc, false",
        "STARS, *ab, aab, true",
        "STARS, ab, ab, true",
        "STARS, ab, abc, false",
        "STARS, a.*, a.b, true",
        "STARS, a[b]*, ab, false",
        "STARS, a?, ab, false",
        "STARS, **, x, true",
        "SHELL, sys_*_open?x, sys_enter_openat, false",
        "SHELL, sys_*_open?t, sys_enter_openxt, true",
        "SHELL, *, '', true",
        "SHELL, ?, '', false",
        "SHELL, ?, é, true",
        "SHELL, ??, é, false",
        "SHELL, *?é, xéé, true",
        "SHELL, a[b], ab, false",
        "SHELL, a[b], a[b], true",
        "KERNEL, a[bc]d, acd, true",
        "KERNEL, a[!bc]d, acd, false",
        "KERNEL, a[^b]d, aéd, true",
        "KERNEL, a[é]d, aéd, true",
        "KERNEL, [a-c]x, bx, true",
        "KERNEL, [c-a]x, bx, false",
        "KERNEL, [c-a]x, -x, true",
        "KERNEL, []]x, ]x, true",
        "KERNEL, '[!]]x', ]x, false",
        "KERNEL, [a-]x, -x, true",
        "KERNEL, [\\d]x, dx, true",
        "KERNEL, [\\d]x, 5x, false",
        "KERNEL, [ab, [ab, true",
        "KERNEL, \\*, *, true",
        "KERNEL, \\*, x, false",
        "KERNEL, a\\, a\\, true",
    })
    void patternsMeanWholeNames(String grammar, String pattern, String text, boolean matches) {
        Glob glob =
                switch (grammar) {
                    case "SHELL" -> Glob.shell(pattern);
                    case "KERNEL" -> Glob.kernel(pattern);
                    default -> Glob.of(pattern);
                };
        assertThat(glob.matches(text)).isEqualTo(matches);
        byte[] within = ("<" + text + ">").getBytes(StandardCharsets.UTF_8);
        assertThat(glob.matches(within, 1, within.length - 1)).isEqualTo(matches);
    }

    @Test
    void hostilePatternsTakeNoTime() {
        String hostile = "*a".repeat(40) + "b";
        assertThat(Glob.kernel(hostile).matches("a".repeat(2000))).isFalse();
    }
}
