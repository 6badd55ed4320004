package sonde.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

final class GoldenTest {
    @Test
    void onlyLinesThatDifferAreShownWithThoseAround() {
        String old = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\n";
        assertThat(Golden.difference(old, old.replace("e\n", "E\nEE\n").replace("k\n", "")))
                .isEqualTo("@@\n b\n c\n d\n-e\n+E\n+EE\n f\n g\n h\n i\n j\n-k");
        assertThat(Golden.difference("x\n" + old, old)).isEqualTo("-x\n a\n b\n c");
        assertThat(Golden.difference("a\n", "a")).isEqualTo("(only the ends of lines differ)");
    }

    @Test
    void aFailureSaysHowTheFileIsRenewed() {
        assertThatThrownBy(() -> Golden.of("testkit", GoldenTest.class).check("none.txt", "new\n"))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("none.txt")
                .hasMessageContaining("+new")
                .hasMessageContaining("./test quick GoldenTest -Dsonde.golden=write");
    }
}
