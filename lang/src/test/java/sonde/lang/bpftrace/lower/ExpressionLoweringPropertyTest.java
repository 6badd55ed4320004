package sonde.lang.bpftrace.lower;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random expressions of all widths and signs, whose leaves are read at run time: what the compiled
 * program computes is what Java does with 64-bit numbers cut to their types.
 */
final class ExpressionLoweringPropertyTest {
    private static final int SCRIPTS = 30;
    private static final int EXPRESSIONS = 6;
    private static final int LEAVES = 4;
    private static final int DEPTH = 4;
    private static final long[] EDGES = {
        0,
        1,
        -1,
        127,
        128,
        255,
        256,
        0x7fff,
        0x8000,
        0xffff,
        0x7fffffffL,
        0x80000000L,
        0xffffffffL,
        Long.MAX_VALUE,
        Long.MIN_VALUE
    };

    /** A type of integers. */
    record Number(int bits, boolean signed) {
        long cut(long value) {
            int up = 64 - bits;
            return signed ? value << up >> up : value << up >>> up;
        }

        String text() {
            return (signed ? "int" : "uint") + bits;
        }

        int compare(long a, long b) {
            return signed ? Long.compare(a, b) : Long.compareUnsigned(a, b);
        }
    }

    /** An expression and what it is worth. */
    record Term(String text, long value) {}

    private final long[] leaves = new long[LEAVES];

    private Term of(Random random, Number type, int depth) {
        if (depth == 0) {
            return leaf(random, type);
        }
        return switch (random.nextInt(9)) {
            case 0 -> leaf(random, type);
            case 1 -> converted(random, type, depth);
            case 2 -> unary(random, type, depth);
            case 3 -> shifted(random, type, depth);
            case 4 -> divided(random, type, depth);
            case 5 -> compared(random, type, depth);
            case 6 -> chosen(random, type, depth);
            default -> binary(random, type, depth);
        };
    }

    private Term leaf(Random random, Number type) {
        int index = random.nextInt(LEAVES);
        return new Term("(" + type.text() + ")$v" + index, type.cut(leaves[index]));
    }

    private static Term cast(Number type, String text, long value) {
        return new Term("((" + type.text() + ")(" + text + "))", type.cut(value));
    }

    private static Number any(Random random) {
        return new Number(8 << random.nextInt(4), random.nextBoolean());
    }

    private Term converted(Random random, Number type, int depth) {
        Term of = of(random, any(random), depth - 1);
        return cast(type, of.text(), of.value());
    }

    private Term unary(Random random, Number type, int depth) {
        Term of = of(random, type, depth - 1);
        return random.nextBoolean()
                ? cast(type, "~(" + of.text() + ")", ~of.value())
                : cast(type, "-(" + of.text() + ")", -of.value());
    }

    /** To the right zeros come in from bit 63 on, whatever the sign. */
    private Term shifted(Random random, Number type, int depth) {
        Term of = of(random, type, depth - 1);
        int by = random.nextInt(type.bits());
        return random.nextBoolean()
                ? cast(type, "(" + of.text() + ") << " + by, of.value() << by)
                : cast(type, "((uint64)(" + of.text() + ")) >> " + by, of.value() >>> by);
    }

    private Term divided(Random random, Number type, int depth) {
        Term of = of(random, type, depth - 1);
        int by = 2 + random.nextInt(100);
        String right = "(" + type.text() + ")" + by;
        boolean remainder = random.nextBoolean();
        long value =
                remainder
                        ? type.signed() ? of.value() % by : Long.remainderUnsigned(of.value(), by)
                        : type.signed() ? of.value() / by : Long.divideUnsigned(of.value(), by);
        return cast(type, "(" + of.text() + ") " + (remainder ? "%" : "/") + " " + right, value);
    }

    private Term binary(Random random, Number type, int depth) {
        Term a = of(random, type, depth - 1);
        Term b = of(random, type, depth - 1);
        String[] operators = {"+", "-", "*", "&", "|", "^"};
        int one = random.nextInt(operators.length);
        long value =
                switch (one) {
                    case 0 -> a.value() + b.value();
                    case 1 -> a.value() - b.value();
                    case 2 -> a.value() * b.value();
                    case 3 -> a.value() & b.value();
                    case 4 -> a.value() | b.value();
                    default -> a.value() ^ b.value();
                };
        return cast(type, "(" + a.text() + ") " + operators[one] + " (" + b.text() + ")", value);
    }

    private Term condition(Random random, int depth) {
        Number type = any(random);
        Term a = of(random, type, depth - 1);
        Term b = of(random, type, depth - 1);
        String[] operators = {"<", "<=", ">", ">=", "==", "!="};
        int one = random.nextInt(operators.length);
        int order = type.compare(a.value(), b.value());
        boolean holds =
                switch (one) {
                    case 0 -> order < 0;
                    case 1 -> order <= 0;
                    case 2 -> order > 0;
                    case 3 -> order >= 0;
                    case 4 -> order == 0;
                    default -> order != 0;
                };
        return new Term(
                "((" + a.text() + ") " + operators[one] + " (" + b.text() + "))", holds ? 1 : 0);
    }

    private Term compared(Random random, Number type, int depth) {
        Term a = condition(random, depth);
        if (random.nextBoolean()) {
            return cast(type, a.text(), a.value());
        }
        Term b = condition(random, depth);
        boolean both = random.nextBoolean();
        long value = both ? a.value() & b.value() : a.value() | b.value();
        return cast(type, a.text() + (both ? " && " : " || ") + b.text(), value);
    }

    private Term chosen(Random random, Number type, int depth) {
        Term c = condition(random, depth);
        Term a = of(random, type, depth - 1);
        Term b = of(random, type, depth - 1);
        return cast(
                type,
                c.text() + " ? (" + a.text() + ") : (" + b.text() + ")",
                c.value() != 0 ? a.value() : b.value());
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void computeWhatJavaDoes(long seed) throws Exception {
        Random random = new Random(seed);
        for (int script = 0; script < SCRIPTS; script++) {
            for (int i = 0; i < LEAVES; i++) {
                leaves[i] =
                        random.nextInt(3) == 0
                                ? EDGES[random.nextInt(EDGES.length)]
                                : random.nextLong() >> random.nextInt(64);
            }
            check(random, seed + "/" + script);
        }
    }

    private void check(Random random, String name) throws Exception {
        StringBuilder text = new StringBuilder("begin { @in[99] = (int64)1;");
        for (int i = 0; i < LEAVES; i++) {
            text.append(" $v").append(i).append(" = @in[").append(i).append("];");
        }
        List<Term> terms = new ArrayList<>();
        for (int i = 0; i < EXPRESSIONS; i++) {
            Term term = of(random, any(random), DEPTH);
            terms.add(term);
            text.append(" @r[").append(i).append("] = (int64)(").append(term.text()).append(");");
        }
        Interpreted script = new Interpreted(text.append(" }").toString());
        for (int i = 0; i < LEAVES; i++) {
            script.put("@in", i, leaves[i]);
        }
        script.run();
        for (int i = 0; i < EXPRESSIONS; i++) {
            assertThat(script.at("@r", i))
                    .as(
                            "%s: %s with %s",
                            name, terms.get(i).text(), java.util.Arrays.toString(leaves))
                    .isEqualTo(terms.get(i).value());
        }
    }
}
