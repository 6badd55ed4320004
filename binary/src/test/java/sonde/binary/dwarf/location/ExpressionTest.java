package sonde.binary.dwarf.location;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.binary.MalformedInputException;
import sonde.testkit.Property;

/** Expressions byte by byte (DWARF 5, 2.5 and 2.6). */
final class ExpressionTest {
    private static Location locate(String hex) throws MalformedInputException {
        byte[] bytes = HexFormat.of().parseHex(hex.replace(" ", ""));
        return OneVariable.seen(OneVariable.expression(bytes), OneVariable.START + 4).location();
    }

    @Test
    void registersAndMemory() throws MalformedInputException {
        assertThat(locate("55")).isEqualTo(new Location.InRegister(5));
        assertThat(locate("90 21")).isEqualTo(new Location.InRegister(0x21));
        assertThat(locate("76 70"))
                .isEqualTo(memory(new Value.Sum(new Value.Register(6), -16))); // breg6 -16
        assertThat(locate("92 2a 08"))
                .isEqualTo(memory(new Value.Sum(new Value.Register(42), 8))); // bregx
        assertThat(locate("03 00 10 40 00 00 00 00 00"))
                .isEqualTo(memory(new Value.Static(0x401000)));
        assertThat(locate("91 60")) // fbreg -32, the frame base being the CFA, r7 + 16
                .isEqualTo(memory(new Value.Sum(new Value.Register(7), -16)));
        assertThat(locate("")).isEqualTo(new Location.Absent());
    }

    /** What clang 14 writes of a bool and of a short that lie in wider registers. */
    @Test
    void widenedNumbersHaveTheLowestBytesOfTheirRegister() throws MalformedInputException {
        Value.Register register = new Value.Register(5);
        Value bool = computed("75 00 10 ff ff ff ff 0f 1a 9f"); // & 0xffffffff
        assertThat(Value.lowest(bool, 1)).isEqualTo(register);
        assertThat(Value.lowest(bool, 4)).isEqualTo(register);
        assertThat(Value.lowest(bool, 8)).isEqualTo(bool);
        // ((v >> 15) * ~0 << 16) | v
        Value extended = computed("75 00 12 10 0f 25 30 20 1e 10 10 24 21 9f");
        assertThat(Value.lowest(extended, 2)).isEqualTo(register);
        assertThat(Value.lowest(extended, 4)).isEqualTo(extended);
        Value low = computed("75 00 31 1a 9f"); // & 1
        assertThat(Value.lowest(low, 1)).isEqualTo(low);
    }

    private static Value computed(String hex) throws MalformedInputException {
        return ((Location.Computed) locate(hex)).value();
    }

    private static Location memory(Value address) {
        return new Location.InMemory(address);
    }

    @ParameterizedTest
    @CsvSource({
        "08ff, 255",
        "09ff, -1",
        "0affff, 65535",
        "0bffff, -1",
        "0cffffffff, 4294967295",
        "0dffffffff, -1",
        "0e0000000001000000, 4294967296",
        "10e58e26, 624485",
        "117f, -1",
        "3f, 15",
        "333512, 5", // dup
        "333513, 3", // drop
        "333514, 3", // over
        "33353415 02, 3", // pick 2
        "333516, 3", // swap
        "31323317, 2", // rot: the third comes to the top... the top goes below two
        "117f19, 1", // abs
        "33351a, 1",
        "11793d1b, 0", // -7 / 13
        "11793 31b, -2",
        "33351c, -2",
        "37331d, 1",
        "33351e, 15",
        "331f, -3",
        "3320, -4",
        "333421, 7",
        "333522, 8",
        "3323 ac02, 303",
        "333424, 48",
        "117f 083c 25, 15",
        "1178 31 26, -4",
        "333627, 5",
        "333329, 1",
        "33352a, 0",
        "35332b, 1",
        "33332c, 1",
        "33352d, 1",
        "33352e, 1",
        "33 2f0100 35, 3", // skip over one
        "33 31 280100 96 35, 5",
        "33 31 280100 37 35, 5",
    })
    void constants(String hex, long value) throws MalformedInputException {
        assertThat(locate(hex + "9f")).isEqualTo(new Location.Computed(new Value.Constant(value)));
    }

    /** DW_OP_const_type (DWARF 5, 2.5.1.1): numbers of a base type, which may be no integer. */
    @Test
    void constantsHaveTheirType() throws MalformedInputException {
        String integer = "a4 %02x 04".formatted(OneVariable.INT);
        assertThat(locate(integer + "feffffff 9f"))
                .isEqualTo(new Location.Computed(new Value.Constant(-2)));
        String floating = "a4 %02x 04".formatted(OneVariable.FLOAT);
        Value one = new Value.Operation("floating", new Value.Constant(0x3f800000), null);
        assertThat(locate(floating + "0000803f 9f")).isEqualTo(new Location.Computed(one));
        assertThat(locate(floating + "0000803f" + floating + "0000803f 22 9f"))
                .isEqualTo(new Location.Computed(new Value.Operation("+", one, one)));
        assertThat(locate("a4 %02x 10".formatted(OneVariable.INT) + "00".repeat(16) + "9f"))
                .isInstanceOf(Location.Unreadable.class);
    }

    @Test
    void whatIsNotKnownStays() throws MalformedInputException {
        Value rdi = new Value.Register(5);
        assertThat(locate("75 08 06 23 10 9f"))
                .isEqualTo(
                        new Location.Computed(
                                new Value.Sum(new Value.Load(new Value.Sum(rdi, 8), 8), 16)));
        assertThat(locate("75 00 94 04 9f"))
                .isEqualTo(new Location.Computed(new Value.Load(rdi, 4)));
        assertThat(locate("75 00 73 00 22 9f"))
                .isEqualTo(
                        new Location.Computed(
                                new Value.Operation("+", rdi, new Value.Register(3))));
        assertThat(locate("a3 01 55 9f")).isEqualTo(new Location.Computed(new Value.AtEntry(rdi)));
        assertThat(locate("f3 01 55 9f")).isEqualTo(new Location.Computed(new Value.AtEntry(rdi)));
        assertThat(locate("38 e0")).isEqualTo(memory(new Value.ThreadLocal(new Value.Constant(8))));
    }

    @Test
    void piecesAndWhatHasNoPlace() throws MalformedInputException {
        assertThat(locate("55 93 08 51 93 04"))
                .isEqualTo(
                        new Location.Pieces(
                                List.of(
                                        new Location.Piece(new Location.InRegister(5), 64, 0),
                                        new Location.Piece(new Location.InRegister(1), 32, 0))));
        assertThat(locate("93 04 55 9d 08 10"))
                .isEqualTo(
                        new Location.Pieces(
                                List.of(
                                        new Location.Piece(new Location.Absent(), 32, 0),
                                        new Location.Piece(new Location.InRegister(5), 8, 16))));
        assertThat(locate("9e 03 01 02 03"))
                .isInstanceOfSatisfying(
                        Location.Bytes.class, b -> assertThat(b.bytes()).containsExactly(1, 2, 3));
        assertThat(locate("a0 2a 00 00 00 7c")).isEqualTo(new Location.ImplicitPointer(0x2a, -4));
    }

    @ParameterizedTest
    @CsvSource({
        "2ffdff", // jumps to itself
        "31 31 28fcff", // a branch that is always taken
        "22", // no operands
        "33 30 1b 9f", // a division by zero
        "75 00 28 0000", // depends on the process
        "ff", // no operation
        "93", // ends too early
        "93 ffffffffffffffff7f",
        "2f ff7f", // out of the expression
        "98 0000", // calls what is no entry
    })
    void hostileExpressionsAreUnreadable(String hex) throws MalformedInputException {
        assertThat(locate(hex)).isInstanceOf(Location.Unreadable.class);
    }

    @Test
    void valuesThatDoubleAreBounded() throws MalformedInputException {
        assertThat(locate("75 00" + "12 1e".repeat(60) + "9f"))
                .isInstanceOf(Location.Unreadable.class);
    }

    @Test
    void anyBytesGiveAnAnswer() {
        Property.forAll(
                7,
                3000,
                random -> {
                    byte[] bytes = new byte[random.nextInt(60)];
                    random.nextBytes(bytes);
                    Entries entries = OneVariable.expression(bytes);
                    assertThat(OneVariable.seen(entries, OneVariable.START).location()).isNotNull();
                });
    }
}
