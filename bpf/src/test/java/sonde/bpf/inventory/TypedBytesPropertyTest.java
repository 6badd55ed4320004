package sonde.bpf.inventory;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import sonde.format.Input;
import sonde.format.MalformedInputException;
import sonde.format.btf.Btf;
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
                                5L,
                                "a",
                                9L,
                                "list",
                                List.of(5L, 6L)));
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
