package sonde.recording.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import sonde.binary.MalformedInputException;
import sonde.testkit.Property;
import sonde.testkit.TraceTexts;

class TextPropertyTest {
    private static final List<String> TEXTS = new ArrayList<>(TraceTexts.all().keySet());

    @Test
    void damagedTextsAreReadOrRefused() {
        Property.forAll(
                20_261_120,
                600,
                random -> {
                    byte[] text = text(random).getBytes(StandardCharsets.UTF_8);
                    int flips = random.nextInt(20);
                    for (int i = 0; i < flips; i++) {
                        text[random.nextInt(text.length)] = (byte) random.nextInt(256);
                    }
                    read(Arrays.copyOf(text, random.nextInt(text.length + 1)));
                });
    }

    @Test
    void piecesOfLinesInAnyOrderAreReadOrRefused() {
        Property.forAll(
                7,
                400,
                random -> {
                    StringBuilder made = new StringBuilder(text(random));
                    for (int i = 0; i < 30; i++) {
                        String one = text(random);
                        int from = random.nextInt(one.length());
                        int to = from + random.nextInt(Math.min(90, one.length() - from) + 1);
                        made.append(one, from, to);
                        made.append(random.nextBoolean() ? "\n" : "");
                    }
                    read(made.toString().getBytes(StandardCharsets.UTF_8));
                });
    }

    @Test
    void rowsDoNotDependOnWhereTheWindowCuts() {
        Property.forAll(
                3,
                10,
                random -> {
                    int blanks = random.nextInt(200_000);
                    String text = TraceTexts.TRACE_NO_HEADER.repeat(2000);
                    String shifted =
                            TraceTexts.TRACE_NO_HEADER + "#" + "x".repeat(blanks) + "\n" + text;
                    assertThat(Reading.of(shifted).rows()).hasSize(4002);
                });
    }

    @Test
    void hostileLinesAreBounded() throws IOException {
        byte[] endless = (TraceTexts.TRACE + "x".repeat(1 << 20)).getBytes(StandardCharsets.UTF_8);
        assertThat(Reading.of(endless).rows()).hasSize(7);
        StringBuilder names = new StringBuilder();
        for (int i = 0; i < 10_000; i++) {
            names.append("a-1 [000] 1.000000: e").append(i).append(": k").append(i % 70);
            names.append("=1\n");
        }
        Reading read = Reading.of(names.toString());
        assertThat(read.rows()).hasSize(10_000);
        assertThat(read.notes()).anyMatch(note -> note.startsWith("More than 4096 names"));
        StringBuilder keys = new StringBuilder("a-1 [000] 1.000000: e:");
        for (int i = 0; i < 3000; i++) {
            keys.append(" k").append(i).append("=1");
        }
        assertThat(Reading.of(keys + "\n").only().fields()).hasSizeLessThan(80);
    }

    private static String text(RandomGenerator random) {
        return TEXTS.get(random.nextInt(TEXTS.size()));
    }

    private static void read(byte[] text) throws IOException {
        try {
            Reading.of(text);
        } catch (MalformedInputException e) {
            assertThat(e).hasMessageContaining(":");
        }
    }
}
