package sonde.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TestRunTest {
    @Test
    void methodsWithParametersAreFoundByName() {
        String name = getClass().getName() + "#aMethodWithParameters";
        assertThat(TestRun.selectors(name).toString())
                .contains("aMethodWithParameters")
                .contains("java.lang.String");
    }

    @ParameterizedTest
    @ValueSource(strings = {"aMethodThatIsNotThere", ""})
    void anUnknownNameIsLeftToJUnit(String method) {
        assertThat(TestRun.selectors("no.such.Class#" + method + "x")).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = "x")
    void aMethodWithParameters(String text) {
        assertThat(text).isEqualTo("x");
    }
}
