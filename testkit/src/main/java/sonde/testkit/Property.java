package sonde.testkit;

import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * Runs a test body with many random inputs. The run that fails is named by a seed that repeats it
 * alone: {@code Property.forAll(thatSeed, 1, body)}.
 */
public final class Property {
    /** Fewer runs than these are not worth sharing out. */
    private static final int FEW = 40;

    private Property() {}

    /** One run: makes its input from {@code random} and asserts. */
    @FunctionalInterface
    public interface Body {
        /** Throws to fail. */
        void run(RandomGenerator random) throws Exception;
    }

    /**
     * Runs the body with seeds {@code seed}, {@code seed + 1}, …. Of {@value #FEW} runs and more it
     * takes today's {@link Shard}.
     *
     * @throws AssertionError naming the seed, with the body's failure as cause
     */
    public static void forAll(long seed, int runs, Body body) {
        for (int i = 0; i < runs; i++) {
            if (runs >= FEW && !Shard.has(i)) {
                continue;
            }
            long used = seed + i;
            try {
                body.run(RandomGeneratorFactory.of("L64X128MixRandom").create(used));
            } catch (Exception | AssertionError e) {
                throw new AssertionError("run " + i + " fails with seed " + used + ": " + e, e);
            }
        }
    }
}
