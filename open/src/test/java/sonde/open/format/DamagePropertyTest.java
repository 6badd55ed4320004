package sonde.open.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import sonde.binary.MalformedInputException;
import sonde.testkit.Property;

/** Whatever happens to the bytes, a file is refused or read; every field of every row is there. */
class DamagePropertyTest {
    @TestFactory
    List<DynamicTest> cutFlippedAndOverwritten() {
        List<DynamicTest> tests = new ArrayList<>();
        Samples.all()
                .forEach((name, bytes) ->
                        tests.add(DynamicTest.dynamicTest(name, () -> damage(name, bytes))));
        return tests;
    }

    private static void damage(String name, byte[] whole) throws IOException {
        TraceFormat format = TraceFormat.of(RecordedRows.input(whole)).orElseThrow();
        int rows = RecordedRows.of(whole, format::open).size();
        assertThat(rows).isGreaterThan(1);
        Property.forAll(
                name.hashCode(),
                400,
                random -> {
                    byte[] bad = bad(random, whole);
                    assertThat(read(format, bad)).isLessThan(bad.length + 100);
                });
    }

    private static byte[] bad(RandomGenerator random, byte[] whole) {
        if (random.nextInt(4) == 0) {
            return Arrays.copyOf(whole, random.nextInt(whole.length));
        }
        byte[] bad = whole.clone();
        for (int i = random.nextInt(1, 9); i > 0; i--) {
            int at = random.nextInt(bad.length);
            if (random.nextBoolean()) {
                bad[at] ^= (byte) (1 << random.nextInt(8));
            } else {
                byte[] word = {-1, -1, -1, (byte) (random.nextBoolean() ? 127 : -1)};
                System.arraycopy(word, 0, bad, at, Math.min(4, bad.length - at));
            }
        }
        return bad;
    }

    /** Rows read; -1 when the file was refused. */
    private static int read(TraceFormat format, byte[] file) throws IOException {
        try {
            return RecordedRows.of(file, format::open).size();
        } catch (MalformedInputException e) {
            return -1;
        }
    }
}
