package sonde.bpf.inventory;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.binary.btf.Btf;
import sonde.testkit.BtfBytes;
import sonde.testkit.Property;

final class TypedBytesPropertyTest {
    private static final int PAIR = 3;

    /** int, bool, struct pair { int count; bool on; int low:3; union { int a; }; int list[2] }. */
    private static byte[] types() {
        BtfBytes btf = new BtfBytes(ByteOrder.nativeOrder());
        int number = btf.integer("int", 4, 1);
        int flag = btf.integer("bool", 1, 4);
        btf.type("pair", 4, 5, true, 24);
        btf.name("count").word(number).word(0);
        btf.name("on").word(flag).word(32);
        btf.name("low").word(number).word(3 << 24 | 64);
        btf.name("").word(PAIR + 1).word(96);
        btf.name("list").word(PAIR + 2).word(128);
        btf.type("", 5, 1, false, 4);
        btf.name("a").word(number).word(0);
        btf.type("", 3, 0, false, 0);
        btf.word(number).word(number).word(2);
        return btf.toBytes();
    }

    private static final byte[] VALUE = {
        -2, -1, -1, -1, 1, 0, 0, 0, 0x1d, 0, 0, 0, 9, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0
    };

    private static Object of(byte[] types, byte[] value) throws MalformedInputException {
        Btf btf = Btf.read(Input.of("test", MemorySegment.ofArray(types)));
        return TypedBytes.of(btf, PAIR, value);
    }

    @Test
    void everyKindOfMember() throws Exception {
        assertThat(of(types(), VALUE))
                .isEqualTo(
                        Map.of(
                                "count",
                                -2L,
                                "on",
                                true,
                                "low",
                                -3L,
                                "a",
                                9L,
                                "list",
                                List.of(5L, 6L)));
    }

    @Test
    void namesTextsAndWholeSections() throws Exception {
        BtfBytes btf = new BtfBytes(ByteOrder.nativeOrder());
        int letter = btf.integer("char", 1, 1);
        int wide = btf.integer("__int128", 16, 1);
        int number = btf.integer("unsigned long", 8, 0);
        int text = btf.type("", 3, 0, false, 0);
        btf.word(letter).word(number).word(4);
        int color = btf.type("color", 6, 2, false, 4);
        btf.name("RED").word(0);
        btf.name("NONE").word(-1);
        int pointer = btf.type("", 2, 0, false, 0);
        int point = btf.type("float", 16, 0, false, 4);
        List<Integer> members = List.of(text, color, pointer, point, wide);
        List<Integer> variables = new ArrayList<>();
        for (int type : members) {
            variables.add(btf.type("v" + type, 14, 0, false, type));
            btf.word(1);
        }
        int section = btf.type(".bss", 15, members.size(), false, 48);
        int[] offsets = {0, 4, 8, 16, 32};
        for (int i = 0; i < offsets.length; i++) {
            btf.word(variables.get(i)).word(offsets[i]).word(i == 4 ? 16 : 4);
        }
        ByteBuffer value = ByteBuffer.allocate(48).order(ByteOrder.nativeOrder());
        value.put(new byte[] {'o', 'k', 0, 7}).putInt(-1).putLong(-2).putFloat(0.5f);
        value.putLong(32, 5).putLong(40, 1);
        Btf types = Btf.read(Input.of("test", MemorySegment.ofArray(btf.toBytes())));
        assertThat(TypedBytes.of(types, section, value.array()))
                .isEqualTo(
                        Map.of(
                                ".bss",
                                List.of(
                                        Map.of("v" + text, "ok"),
                                        Map.of("v" + color, "NONE"),
                                        Map.of(
                                                "v" + pointer,
                                                new BigInteger("18446744073709551614")),
                                        Map.of("v" + point, 0.5),
                                        Map.of("v" + wide, "0x10000000000000005"))));
        value.put(0, (byte) 9).putInt(4, 3);
        assertThat(TypedBytes.of(types, section, value.array()).toString())
                .contains("[9, 107, 0, 7]", "=3");
    }

    @Test
    void damagedTypesAndShortValuesAreMalformedAtWorst() {
        byte[] types = types();
        int[] refused = {0};
        Property.forAll(
                20_261_121,
                20_000,
                random -> {
                    byte[] bad = types.clone();
                    for (int flips = random.nextInt(4); flips >= 0; flips--) {
                        bad[random.nextInt(bad.length)] ^= (byte) (1 << random.nextInt(8));
                    }
                    boolean cut = random.nextInt(3) == 0;
                    int length = cut ? random.nextInt(VALUE.length) : VALUE.length;
                    try {
                        assertThat(of(bad, Arrays.copyOf(VALUE, length))).isNotNull();
                    } catch (MalformedInputException e) {
                        refused[0]++;
                    }
                });
        assertThat(refused[0]).isBetween(1000, 19_999);
    }
}
