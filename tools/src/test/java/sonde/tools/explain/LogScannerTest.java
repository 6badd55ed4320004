package sonde.tools.explain;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Lines and marks of the scanner, beside those of String's methods. */
class LogScannerTest {
    private static final List<String> LITERALS = List.of("BUG: ", "UG", "Oops", "hers", "he");

    private static final String ALPHABET = "BUG: Oopshers\n";

    private static List<String> scanned(String text) throws IOException {
        List<String> lines = new ArrayList<>();
        LogScanner.ScannedLines sink =
                new LogScanner.ScannedLines() {
                    @Override
                    public void line(byte[] bytes, int from, int to, boolean marked) {
                        String line =
                                new String(bytes, from, to - from, StandardCharsets.ISO_8859_1);
                        lines.add(marked + line);
                    }

                    @Override
                    public void waits() {}
                };
        byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
        new LogScanner(new LiteralAutomaton(LITERALS)).scan(new ByteArrayInputStream(bytes), sink);
        return lines;
    }

    private static List<String> expected(String text) {
        List<String> lines = new ArrayList<>();
        String[] all = text.split("\n", -1);
        for (int i = 0; i < all.length; i++) {
            String line = all[i];
            if (i < all.length - 1 || !line.isEmpty()) {
                int end = Math.min(line.length(), LogScanner.MOST_LINE);
                lines.add(LITERALS.stream().anyMatch(line::contains) + line.substring(0, end));
            }
        }
        return lines;
    }

    @Test
    void linesAreThoseOfTheText() throws IOException {
        Random random = new Random(7);
        for (int length : new int[] {0, 1, 2, 3, 5, 40, 300, 9_000, 700_000}) {
            for (int i = 0; i < (length > 10_000 ? 2 : 40); i++) {
                StringBuilder text = new StringBuilder();
                for (int k = 0; k < length; k++) {
                    boolean ends = random.nextInt(ALPHABET.length() * 4) == 0;
                    int at = ends ? ALPHABET.length() - 1 : random.nextInt(ALPHABET.length());
                    text.append(length < 10_000 ? ALPHABET.charAt(at) : ends ? '\n' : 'x');
                }
                assertThat(scanned(text.toString())).isEqualTo(expected(text.toString()));
            }
        }
    }

    /** A literal behind the part of a long line that is kept may count or not. */
    @Test
    void longLineIsCut() throws IOException {
        for (int length : new int[] {16_383, 16_384, 16_385, 300_000, 900_000}) {
            String text = "he\n" + "x".repeat(length) + "\nOops\nhe";
            assertThat(scanned(text)).isEqualTo(expected(text));
        }
    }

    @Test
    void literalsOfAText() {
        LiteralAutomaton automaton = new LiteralAutomaton(LITERALS);
        assertThat(automaton.literals("ushers: BUG: \u20ac\nUG"))
                .containsExactlyInAnyOrder("he", "hers", "BUG: ", "UG");
        assertThat(automaton.literals("Oop\ns BU G:")).isEmpty();
    }
}
