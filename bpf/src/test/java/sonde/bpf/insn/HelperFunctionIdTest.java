package sonde.bpf.insn;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Locale;
import org.junit.jupiter.api.Test;

final class HelperFunctionIdTest {
    @Test
    void constantsHaveTheNumbersOfTheTable() throws IllegalAccessException {
        int constants = 0;
        for (Field field : HelperFunctionId.class.getFields()) {
            if (Modifier.isStatic(field.getModifiers()) && field.getType() == int.class) {
                String name = "bpf_" + field.getName().toLowerCase(Locale.ROOT);
                assertThat(HelperFunctionId.number(name)).as(name).isEqualTo(field.getInt(null));
                constants++;
            }
        }
        assertThat(constants).isGreaterThan(40);
    }
}
