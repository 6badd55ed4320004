package sonde.lang.declare;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import sonde.lang.bpftrace.syntax.TypeSyntax.Kind;
import sonde.lang.type.StructType;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.ArrayType;
import sonde.lang.type.ValueType.PointerType;

/** Whatever is written, something is said and nothing is thrown. */
class CDeclarationsPropertyTest {
    private static final int ROUNDS = 1500;
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private static final List<String> WORDS =
            List.of(
                    "struct",
                    "union",
                    "enum",
                    "typedef",
                    "int",
                    "char",
                    "unsigned",
                    "long",
                    "a",
                    "b",
                    "s0",
                    "s1",
                    "{",
                    "}",
                    "(",
                    ")",
                    "[",
                    "]",
                    ";",
                    ",",
                    ":",
                    "*",
                    "=",
                    "1",
                    "3",
                    "0x7fffffff",
                    "99999999999999999999",
                    "sizeof",
                    "\n#define",
                    "\n#if",
                    "\n#else",
                    "\n#endif\n",
                    "\n#ifdef",
                    "\n#include",
                    "<",
                    ">",
                    "\"x\"",
                    "'",
                    "\\",
                    "##",
                    "#",
                    "__attribute__",
                    "((packed))",
                    "((aligned(64)))",
                    "?",
                    "+",
                    "-",
                    "/",
                    "%",
                    "<<",
                    "...",
                    "\u00e4",
                    "\0",
                    "_Alignas",
                    "typeof",
                    "\n");

    private static void use(String text) {
        Scripts.Result result = Scripts.plain(text, TypeSource.NONE);
        for (String name : result.declarations().names()) {
            result.declarations().constant(name);
            result.declarations().text(name);
            result.declarations().expansion(name);
        }
        for (String name : List.of("a", "b", "s0", "s1", "s2", "deep")) {
            for (Kind kind : Kind.values()) {
                walk(result.declarations().type(kind, name), 0);
            }
        }
    }

    private static void walk(ValueType type, int depth) {
        if (depth < 4) {
            switch (type) {
                case StructType struct -> {
                    assertThat(struct.sizeBytes()).isNotNegative();
                    struct.fields().stream().limit(20).forEach(f -> walk(f.type(), depth + 1));
                }
                case PointerType pointer -> walk(pointer.to(), depth + 1);
                case ArrayType array -> walk(array.element(), depth + 1);
                case null, default -> {}
            }
        }
    }

    @Test
    void bearsRandomWords() {
        Random random = new Random(5);
        Assertions.assertTimeout(
                LIMIT,
                () -> {
                    for (int round = 0; round < ROUNDS; round++) {
                        StringBuilder text = new StringBuilder();
                        int count = random.nextInt(60);
                        for (int i = 0; i < count; i++) {
                            text.append(WORDS.get(random.nextInt(WORDS.size()))).append(' ');
                        }
                        use(text.toString());
                    }
                });
    }

    @Test
    void bearsDamage() {
        Random random = new Random(6);
        StringBuilder all = new StringBuilder("#define A(x) x x\n#if A(1)\n#endif\n");
        RandomStructs structs = new RandomStructs(random, true);
        all.append(RandomStructs.prologue());
        for (int i = 0; i < 6; i++) {
            all.append(structs.make(i).text());
        }
        Assertions.assertTimeout(
                LIMIT,
                () -> {
                    for (int round = 0; round < ROUNDS; round++) {
                        StringBuilder text = new StringBuilder(all);
                        for (int i = random.nextInt(4); i >= 0; i--) {
                            int at = random.nextInt(text.length());
                            switch (random.nextInt(3)) {
                                case 0 -> text.setLength(at + 1);
                                case 1 -> text.setCharAt(at, (char) random.nextInt(128));
                                default -> text.insert(at, WORDS.get(random.nextInt(WORDS.size())));
                            }
                        }
                        use(text.toString());
                    }
                });
    }

    @Test
    void bearsDepthAndLength() {
        int many = 20_000;
        Assertions.assertTimeout(
                LIMIT,
                () -> {
                    use("struct a {".repeat(many));
                    use("struct a { int x[" + "(".repeat(many) + "1");
                    use("struct a { int x[" + "-".repeat(many) + "1];");
                    use("int " + "(*".repeat(many) + "x");
                    use("int x" + "[1]".repeat(many) + ";");
                    use("int " + "*".repeat(many) + "x;");
                    use("#if " + "(".repeat(many));
                    use("#if 1\n".repeat(many));
                    use("#define a " + "b ".repeat(many) + "\nint a;");
                    use("#define a(x) x x\nint x[" + "a(".repeat(200) + "1" + ")".repeat(200));
                    use("#define a(x) a(x x)\nint x[a(a)];");
                    use("enum e {" + "a,".repeat(many) + "}");
                    use("1?".repeat(many));
                    StringBuilder chain = new StringBuilder("typedef int t0;\n");
                    for (int i = 1; i < many; i++) {
                        chain.append("typedef t%d t%d[1];\n".formatted(i - 1, i));
                    }
                    use(chain + "struct deep { t%d x; };".formatted(many - 1));
                    StringBuilder nested = new StringBuilder("struct s0 { char x[1000]; };\n");
                    for (int i = 1; i < 60; i++) {
                        nested.append("struct s%d { struct s%d a, b[9]; };\n".formatted(i, i - 1));
                    }
                    use(nested.toString());
                });
    }
}
