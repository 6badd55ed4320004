package sonde.probe.stack;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import sonde.event.result.Frame;
import sonde.probe.stack.PythonLayout.LayoutField;

/** Code objects as the program in the kernel reports them, and as a hostile process makes them. */
final class PythonFunctionTest {
    private static final PythonLayout LAYOUT =
            Objects.requireNonNull(PythonLayout.of("3.11", 0, MemorySegment.NULL));
    private static final long PLACE = 0x7f00_0000_0000L;

    /** struct PyASCIIObject of 3.11: refcount, type, length, hash, state, wstr; then letters. */
    private static void string(MemorySegment to, String text) {
        to.set(JAVA_LONG_UNALIGNED, 8, PLACE);
        to.set(JAVA_LONG_UNALIGNED, 16, text.length());
        to.set(JAVA_INT_UNALIGNED, 32, 1 << 2 | 1 << 5 | 1 << 6); // kind 1, compact, ascii
        MemorySegment letters = MemorySegment.ofArray(text.getBytes(StandardCharsets.US_ASCII));
        to.asSlice(48, text.length()).copyFrom(letters);
    }

    private static MemorySegment report(int... lines) {
        MemorySegment report = MemorySegment.ofArray(new byte[PythonReport.BYTES]);
        int[] read = {
            PythonReport.CODE_BYTES,
            PythonReport.NAME_BYTES,
            PythonReport.FILE_BYTES,
            PythonReport.LINES_BYTES
        };
        for (int i = 0; i < read.length; i++) {
            report.set(JAVA_INT_UNALIGNED, PythonReport.READ + 4L * i, read[i]);
        }
        MemorySegment code = report.asSlice(PythonReport.CODE, PythonReport.CODE_BYTES);
        code.set(JAVA_INT_UNALIGNED, LAYOUT.get(LayoutField.FIRST_LINE), 10);
        string(report.asSlice(PythonReport.NAME), "Shop.total");
        string(report.asSlice(PythonReport.FILE), "/srv/shop.py");
        MemorySegment table = report.asSlice(PythonReport.LINES);
        table.set(JAVA_LONG_UNALIGNED, 16, lines.length);
        for (int i = 0; i < lines.length; i++) {
            table.set(java.lang.foreign.ValueLayout.JAVA_BYTE, 32 + i, (byte) lines[i]);
        }
        return report;
    }

    private static @Nullable PythonFunction read(MemorySegment report) {
        return PythonFunction.of(report, LAYOUT, (_, _) -> MemorySegment.NULL);
    }

    @Test
    void linesAreThoseOfTheLocationTable() {
        PythonFunction function =
                Objects.requireNonNull(
                        read(
                                report(
                                        // form 11 (line + 1), 2 code units, two columns
                                        0x80 | 11 << 3 | 1,
                                        0,
                                        0,
                                        // form 13 (no columns), 1 code unit, + 3
                                        0x80 | 13 << 3,
                                        6,
                                        // form 15 (no place), 4 code units
                                        0x80 | 15 << 3 | 3,
                                        // form 14 (long), 1 code unit, - 2
                                        0x80 | 14 << 3,
                                        5,
                                        0,
                                        1,
                                        1)));
        assertThat(function.frames(0))
                .containsExactly(
                        new Frame("Shop.total", "shop.py", Frame.Kind.JIT).at("/srv/shop.py", 11));
        assertThat(function.line(1)).isEqualTo(11);
        assertThat(function.line(2)).isEqualTo(14);
        assertThat(function.line(3)).isZero();
        assertThat(function.line(7)).isEqualTo(12);
        assertThat(function.line(8)).as("behind the table").isZero();
        assertThat(function.frames(RuntimeWord.NO_POSITION).getFirst().line()).isZero();
    }

    @Test
    void aPartThatWasNotReadMakesNoFunction() {
        MemorySegment report = report();
        report.set(JAVA_INT_UNALIGNED, PythonReport.READ + 4, 0);
        assertThat(read(report)).isNull();
    }

    @Test
    void anyBytesAreBorne() {
        Random random = new Random(11);
        for (int i = 0; i < 20_000; i++) {
            MemorySegment report = report(0x80, 1);
            int damages = 1 + random.nextInt(12);
            for (int j = 0; j < damages; j++) {
                long at = 8L * random.nextInt(PythonReport.BYTES / 8);
                long value = random.nextBoolean() ? random.nextLong() : 1L << random.nextInt(64);
                report.set(JAVA_LONG_UNALIGNED, at, value);
            }
            byte[] memory = new byte[random.nextInt(200)];
            random.nextBytes(memory);
            PythonFunction function =
                    PythonFunction.of(
                            report,
                            LAYOUT,
                            (_, bytes) -> {
                                assertThat(bytes).isBetween(1, 2 << 20);
                                return MemorySegment.ofArray(memory)
                                        .asSlice(0, Math.min(bytes, memory.length));
                            });
            if (function != null) {
                Frame frame = function.frames(random.nextInt(1 << 16)).getFirst();
                assertThat(frame.name().length()).isLessThanOrEqualTo(4096);
                assertThat(frame.line()).isNotNegative();
            }
        }
    }

    @Test
    void everyVersionOfTheTableHasALayout() {
        MemorySegment state = MemorySegment.ofArray(new byte[512]);
        state.set(JAVA_LONG_UNALIGNED, 0, 0x7970677562656478L);
        for (int i = 3; i < 64; i++) {
            state.set(JAVA_LONG_UNALIGNED, 8L * i, 8L * i);
        }
        for (String version : new String[] {"3.9", "3.10", "3.11", "3.12", "3.13", "3.14"}) {
            assertThat(PythonLayout.of(version, 0, state)).as(version).isNotNull();
        }
        assertThat(PythonLayout.of("3.13", 0, MemorySegment.NULL)).isNull();
        state.set(JAVA_LONG_UNALIGNED, 16, 1); // without the GIL
        assertThat(PythonLayout.of("3.14", 0, state)).isNull();
        assertThat(PythonLayout.of("3.8", 0, state)).isNull();
    }
}
