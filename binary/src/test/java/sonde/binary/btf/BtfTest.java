package sonde.binary.btf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.binary.btf.BtfType.Member;
import sonde.binary.btf.BtfType.Struct;
import sonde.testkit.BtfBytes;

class BtfTest {
    private static final int SIGNED = 1;

    private static Btf read(byte[] bytes) throws MalformedInputException {
        return Btf.read(Input.of("btf", MemorySegment.ofArray(bytes)));
    }

    /**
     * {@code struct node { int value: 3; struct node *next; union { long a; char b[3]; }; };
     * typedef struct node node_t; enum e { MINUS = -1 }; int run(const char *, ...);}
     */
    private static BtfBytes node(ByteOrder order) {
        BtfBytes btf = new BtfBytes(order);
        int integer = btf.integer("int", 4, SIGNED); // 1
        int character = btf.integer("char", 1, SIGNED); // 2
        int wide = btf.integer("long", 8, SIGNED); // 3
        btf.type("", 2, 0, false, 7); // 4: PTR to struct node
        btf.type("", 3, 0, false, 0); // 5: ARRAY
        btf.word(character).word(integer).word(3);
        btf.type("", 5, 2, false, 8); // 6: UNION
        btf.name("a").word(wide).word(0);
        btf.name("b").word(5).word(0);
        btf.type("node", 4, 3, true, 24); // 7: STRUCT with bitfields
        btf.name("value").word(integer).word(3 << 24);
        btf.name("next").word(4).word(64);
        btf.name("").word(6).word(128);
        btf.type("node_t", 8, 0, false, 7); // 8: TYPEDEF
        btf.type("e", 6, 1, true, 4); // 9: ENUM
        btf.name("MINUS").word(-1);
        btf.type("", 10, 0, false, character); // 10: CONST
        btf.type("", 2, 0, false, 10); // 11: PTR
        btf.type("", 13, 2, false, integer); // 12: FUNC_PROTO
        btf.name("format").word(11);
        btf.name("").word(0);
        btf.type("run", 12, 1, false, 12); // 13: FUNC, global
        btf.type("", 2, 0, false, 12); // 14: PTR to it
        return btf;
    }

    @ParameterizedTest
    @ValueSource(strings = {"LITTLE_ENDIAN", "BIG_ENDIAN"})
    void typesComeBack(String order) throws IOException {
        boolean little = order.equals("LITTLE_ENDIAN");
        Btf btf = read(node(little ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN).toBytes());
        Struct node = btf.struct("node").orElseThrow();
        assertThat(node.sizeBytes()).isEqualTo(24);
        assertThat(btf.member(node, "value").orElseThrow()).isEqualTo(new Member("value", 1, 0, 3));
        assertThat(btf.member(node, "b").orElseThrow()).isEqualTo(new Member("b", 5, 128, 0));
        assertThat(btf.member(node, "c")).isEmpty();
        assertThat(btf.sizeBytes(5)).hasValue(3);
        assertThat(btf.sizeBytes(8)).hasValue(24);
        assertThat(btf.sizeBytes(13)).isEmpty();
        assertThat(((BtfType.Enum) btf.type(9)).values().getFirst().value()).isEqualTo(-1);
        assertThat(btf.findEnumerator("MINUS")).isEqualTo(9);
        assertThat(btf.findEnumerator("value")).isZero();
        assertThat(CHeader.definition(btf, 9)).isEqualTo("enum e {\n\tMINUS = -1,\n};");
        assertThat(btf.function("run").orElseThrow().isVariadic()).isTrue();
        assertThat(btf.find("node_t", BtfType.Typedef.class::isInstance)).isEqualTo(8);
        assertThat(btf.end()).isEqualTo(15);
    }

    @Test
    void declarationsAreSpelledAsInC() throws IOException {
        Btf btf = read(node(ByteOrder.LITTLE_ENDIAN).toBytes());
        assertThat(CHeader.declaration(btf, 14, "f")).isEqualTo("int (*f)(const char *, ...)");
        assertThat(CHeader.declaration(btf, 4, "p")).isEqualTo("struct node *p");
        assertThat(CHeader.declaration(btf, 5, "b")).isEqualTo("char b[3]");
        StringBuilder header = new StringBuilder();
        CHeader.write(btf, 8, header);
        CHeader.write(btf, 7, header);
        assertThat(header.toString())
                .isEqualTo(
                        """
                        struct node;

                        typedef struct node node_t;

                        struct node;

                        struct node {
                        \tint value: 3;
                        \tstruct node *next;
                        \tunion {
                        \t\tlong a;
                        \t\tchar b[3];
                        \t};
                        };

                        """);
    }

    @Test
    void arraysTakeAQualifierOnceAndHeadsNameParameters() throws IOException {
        BtfBytes bytes = new BtfBytes(ByteOrder.LITTLE_ENDIAN);
        int letter = bytes.integer("char", 1, 1);
        int fixed = bytes.type("", 10, 0, false, letter);
        int list = bytes.type("", 3, 0, false, 0);
        bytes.word(fixed).word(letter).word(4);
        int both = bytes.type("", 10, 0, false, list);
        int plain = bytes.type("", 3, 0, false, 0);
        bytes.word(letter).word(letter).word(4);
        int outer = bytes.type("", 10, 0, false, plain);
        int pointer = bytes.type("", 2, 0, false, 0);
        int proto = bytes.type("", 13, 2, false, letter);
        bytes.name("ctx").word(pointer).name("c").word(letter);
        int function = bytes.type("count", 12, 1, false, proto);
        Btf btf = read(bytes.toBytes());
        assertThat(CHeader.declaration(btf, both, "x")).isEqualTo("const char x[4]");
        assertThat(CHeader.declaration(btf, outer, "x")).isEqualTo("const char x[4]");
        assertThat(CHeader.head(btf, function, "count")).isEqualTo("char count(void *ctx, char c)");
    }

    @Test
    void aSplitBlobGoesOnWhereItsBaseEnds() throws IOException {
        BtfBytes base = node(ByteOrder.LITTLE_ENDIAN);
        BtfBytes module = base.split();
        int id = module.type("tail", 4, 1, false, 24);
        module.name("node").word(7).word(0);
        Btf vmlinux = read(base.toBytes());
        Input input = Input.of("module", MemorySegment.ofArray(module.toBytes()));
        Btf btf = Btf.readSplit(input, vmlinux);
        assertThat(btf.firstId()).isEqualTo(id).isEqualTo(15);
        Struct tail = btf.struct("tail").orElseThrow();
        assertThat(tail.members().getFirst().name()).isEqualTo("node");
        assertThat(btf.type(tail.members().getFirst().type()).name()).isEqualTo("node");
        assertThat(btf.struct("node")).isPresent();
        assertThat(vmlinux.struct("tail")).isEmpty();
    }

    @Test
    void circlesEnd() throws IOException {
        BtfBytes bytes = new BtfBytes(ByteOrder.LITTLE_ENDIAN);
        bytes.type("a", 8, 0, false, 2);
        bytes.type("b", 8, 0, false, 1);
        bytes.type("s", 4, 1, false, 8);
        bytes.name("self").word(3).word(0);
        Btf btf = read(bytes.toBytes());
        assertThatThrownBy(() -> btf.skipModifiers(1)).isInstanceOf(MalformedInputException.class);
        assertThat(CHeader.declaration(btf, 1, "x")).isEqualTo("a x");
        assertThatThrownBy(() -> CHeader.write(btf, new StringBuilder()))
                .isInstanceOf(MalformedInputException.class);
    }

    @Test
    void structuresInEachOtherAreBounded() throws IOException {
        BtfBytes bytes = new BtfBytes(ByteOrder.LITTLE_ENDIAN);
        int count = 100_000;
        for (int id = 1; id <= count; id++) {
            bytes.type("", 4, 1, false, 8); // struct { struct of the next id; }
            bytes.name("").word(id % count + 1).word(0);
        }
        Btf btf = read(bytes.toBytes());
        BtfType.Struct first = (BtfType.Struct) btf.type(1);
        assertThatThrownBy(() -> btf.member(first, "wanted"))
                .isInstanceOf(MalformedInputException.class)
                .hasMessageContaining("too deep");
    }

    @Test
    void damageIsAMalformedInput() {
        Random random = new Random(5);
        byte[] whole = node(ByteOrder.LITTLE_ENDIAN).toBytes();
        int refused = 0;
        for (int i = 0; i < 3000; i++) {
            byte[] broken = Arrays.copyOf(whole, 1 + random.nextInt(whole.length));
            if (i % 2 == 0) {
                broken = whole.clone();
            }
            for (int flips = 1 + random.nextInt(3); flips > 0; flips--) {
                broken[random.nextInt(broken.length)] ^= (byte) (1 << random.nextInt(8));
            }
            try {
                Btf btf = read(broken);
                for (int id = 0; id < btf.end(); id++) {
                    btf.sizeBytes(id);
                }
                btf.find("node", _ -> true);
                CHeader.write(btf, new StringBuilder());
            } catch (IOException e) {
                assertThat(e).isInstanceOf(MalformedInputException.class);
                refused++;
            }
        }
        assertThat(refused).isBetween(1000, 2999);
    }
}
