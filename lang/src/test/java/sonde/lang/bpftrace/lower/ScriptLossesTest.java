package sonde.lang.bpftrace.lower;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import org.junit.jupiter.api.Test;
import sonde.lang.bpftrace.lower.ScriptLosses.LossReason;

final class ScriptLossesTest {
    private static final int E2BIG = 7;

    private final ScriptUnit unit = unit();
    private final ByteBuffer shared = ByteBuffer.wrap(unit.shared()).order(ByteOrder.LITTLE_ENDIAN);
    private final ScriptLosses losses = new ScriptLosses(unit);

    private static ScriptUnit unit() {
        ScriptUnit unit = Interpreted.unitOf("begin { @a = 1; } end { @h[1] = hist(2); }");
        assertThat(unit.programs()).isEqualTo(2);
        assertThat(unit.zeroBytes()).isPositive();
        return unit;
    }

    /** What the program of that number does when an update fails. */
    private void fail(int program, int error, long times) {
        int at = unit.row(program) + ScriptLosses.UPDATES;
        shared.putLong(at, shared.getLong(at) + times * Integer.toUnsignedLong(-error));
    }

    private void expect(int program, long full, long busy) {
        losses.read(shared);
        assertThat(losses.count(program, LossReason.MAP_FULL)).isEqualTo(full);
        assertThat(losses.count(program, LossReason.MAP_BUSY)).isEqualTo(busy);
    }

    @Test
    void rowsBeginWithOneBehindTheZeros() {
        for (int at = 0; at < shared.capacity(); at += 8) {
            boolean one = at == unit.row(0) || at == unit.row(1);
            assertThat(shared.getLong(at)).as("at %d", at).isEqualTo(one ? 1 : 0);
        }
        expect(0, 0, 0);
    }

    @Test
    void eachErrorAloneIsExact() {
        fail(0, E2BIG, 123_456_789);
        fail(1, 16, 99);
        expect(0, 123_456_789, 0);
        expect(1, 0, 99);
        fail(0, 35, 3);
        expect(0, 123_456_789, 3);
        fail(0, 110, 1);
        expect(0, 123_456_789, 4);
        fail(0, 12, 5);
        expect(0, 123_456_789, 9);
        expect(1, 0, 99);
    }

    @Test
    void aFullMapAndOneOtherErrorAreTold() {
        fail(1, E2BIG, 1_000_003);
        fail(1, 16, 2);
        expect(1, 1_000_003, 2);
        fail(1, E2BIG, 500);
        fail(1, 35, 1);
        expect(1, 1_000_503, 3);
    }

    /** The sum has 64 bits: 2^32 failures fill it, and the next go round. */
    @Test
    void theSumMayGoRound() {
        long all = 0;
        for (int i = 0; i < 20; i++) {
            fail(0, E2BIG, 400_000_000);
            all += 400_000_000;
            expect(0, all, 0);
        }
    }

    @Test
    void theNumberOfFailuresIsExactForAnyMix() {
        Random random = new Random(7);
        int[] errors = {E2BIG, 16, 35, 110, 12, 1, 22};
        long all = 0;
        for (int i = 0; i < 10_000; i++) {
            for (int kinds = random.nextInt(4); kinds > 0; kinds--) {
                int times = random.nextInt(1 << random.nextInt(1, 20));
                fail(0, errors[random.nextInt(errors.length)], times);
                all += times;
            }
            losses.read(shared);
            assertThat(losses.count(0, LossReason.MAP_FULL) + losses.count(0, LossReason.MAP_BUSY))
                    .isEqualTo(all);
        }
    }

    @Test
    void eventsAreCountedOneByOne() {
        int row = unit.row(1);
        shared.putLong(row + ScriptLosses.at(LossReason.RING_FULL), 5);
        shared.putLong(row + ScriptLosses.at(LossReason.CONTROL_FULL), 6);
        losses.read(shared);
        losses.read(shared);
        assertThat(losses.count(1, LossReason.RING_FULL)).isEqualTo(5);
        assertThat(losses.count(1, LossReason.CONTROL_FULL)).isEqualTo(6);
    }
}
