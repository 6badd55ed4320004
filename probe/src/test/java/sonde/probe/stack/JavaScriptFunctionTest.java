package sonde.probe.stack;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import sonde.probe.stack.ScriptLayout.ScriptNumber;

/** What a process says of its functions of JavaScript, which may be anything. */
final class JavaScriptFunctionTest {
    @Test
    void anyMemoryIsBorne() {
        Map<ScriptNumber, Integer> numbers = new EnumMap<>(ScriptNumber.class);
        for (ScriptNumber number : ScriptNumber.values()) {
            numbers.put(number, 8 * (number.ordinal() % 5));
        }
        // Types are read as 16 bits of memory that has few different words.
        numbers.put(ScriptNumber.TYPE_SHAREDFUNCTIONINFO__, 1);
        numbers.put(ScriptNumber.TYPE_SCOPEINFO__, 9);
        numbers.put(ScriptNumber.TYPE_SCRIPT__, 1);
        numbers.put(ScriptNumber.FIRSTNONSTRINGTYPE, 9);
        ScriptLayout layout = new ScriptLayout(numbers, List.of());
        int[] words = {1, 5, 9, 13, 0x10001, 0x40009};
        int named = 0;
        for (int seed = 0; seed < 300; seed++) {
            Random random = new Random(seed);
            long[] reads = new long[1];
            JavaScriptFunction.ScriptReader reader =
                    new JavaScriptFunction.ScriptReader(
                            layout,
                            (address, bytes) -> {
                                reads[0]++;
                                byte[] all = new byte[random.nextInt(20) == 0 ? 1 : bytes];
                                for (int i = 0; i + 8 <= all.length && i < 4096; i += 8) {
                                    all[i] = (byte) words[random.nextInt(words.length)];
                                    all[i + 4] = (byte) random.nextInt();
                                }
                                if (bytes < 8 && all.length == bytes) {
                                    all[0] = (byte) words[random.nextInt(words.length)];
                                }
                                return MemorySegment.ofArray(all);
                            },
                            new HashMap<>());
            JavaScriptFunction found = reader.read(0x1000);
            named += found == null ? 0 : 1;
            assertThat(reads[0]).isLessThan(20_000);
        }
        assertThat(named).isPositive();
    }
}
