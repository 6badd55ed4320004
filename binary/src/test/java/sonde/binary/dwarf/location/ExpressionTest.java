package sonde.binary.dwarf.location;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.location.ObjectLocation.AbsentLocation;
import sonde.binary.dwarf.location.ObjectLocation.ImplicitBytes;
import sonde.binary.dwarf.location.ObjectLocation.ImplicitValue;
import sonde.binary.dwarf.location.ObjectLocation.LocationPiece;
import sonde.binary.dwarf.location.ObjectLocation.LocationPieces;
import sonde.binary.dwarf.location.ObjectLocation.UnreadableLocation;
import sonde.binary.dwarf.location.SymbolicValue.ConstantValue;
import sonde.binary.dwarf.location.SymbolicValue.MemoryValue;
import sonde.binary.dwarf.location.SymbolicValue.OperationValue;
import sonde.binary.dwarf.location.SymbolicValue.RegisterValue;
import sonde.binary.dwarf.location.SymbolicValue.StaticAddress;
import sonde.binary.dwarf.location.SymbolicValue.SumValue;
import sonde.testkit.Property;

/** Expressions byte by byte (DWARF 5, 2.5 and 2.6). */
final class ExpressionTest {
    private static ObjectLocation locate(String hex) throws MalformedInputException {
        byte[] bytes = HexFormat.of().parseHex(hex.replace(" ", ""));
        return OneVariable.seen(OneVariable.expression(bytes), OneVariable.START + 4).location();
    }

    @Test
    void registersAndMemory() throws MalformedInputException {
        assertThat(locate("55")).isEqualTo(new ObjectLocation.InRegister(5));
        assertThat(locate("90 21")).isEqualTo(new ObjectLocation.InRegister(0x21));
        assertThat(locate("76 70"))
                .isEqualTo(memory(new SumValue(new RegisterValue(6), -16))); // breg6 -16
        assertThat(locate("92 2a 08"))
                .isEqualTo(memory(new SumValue(new RegisterValue(42), 8))); // bregx
        assertThat(locate("03 00 10 40 00 00 00 00 00"))
                .isEqualTo(memory(new StaticAddress(0x401000)));
        assertThat(locate("91 60")) // fbreg -32, the frame base being the CFA, r7 + 16
                .isEqualTo(memory(new SumValue(new RegisterValue(7), -16)));
        assertThat(locate("")).isEqualTo(new AbsentLocation());
    }

    /** What clang 14 writes of a bool and of a short that lie in wider registers. */
    @Test
    void widenedNumbersHaveTheLowestBytesOfTheirRegister() throws MalformedInputException {
        RegisterValue register = new RegisterValue(5);
        SymbolicValue bool = computed("75 00 10 ff ff ff ff 0f 1a 9f"); // & 0xffffffff
        assertThat(SymbolicValue.lowest(bool, 1)).isEqualTo(register);
        assertThat(SymbolicValue.lowest(bool, 4)).isEqualTo(register);
        assertThat(SymbolicValue.lowest(bool, 8)).isEqualTo(bool);
        // ((v >> 15) * ~0 << 16) | v
        SymbolicValue extended = computed("75 00 12 10 0f 25 30 20 1e 10 10 24 21 9f");
        assertThat(SymbolicValue.lowest(extended, 2)).isEqualTo(register);
        assertThat(SymbolicValue.lowest(extended, 4)).isEqualTo(extended);
        SymbolicValue sum = new SumValue(new SymbolicValue.TruncatedValue(register, 4, true), 5);
        assertThat(SymbolicValue.lowest(sum, 4)).isEqualTo(new SumValue(register, 5));
        assertThat(SymbolicValue.lowest(sum, 8)).isEqualTo(sum);
        SymbolicValue low = computed("75 00 31 1a 9f"); // & 1
        assertThat(SymbolicValue.lowest(low, 1)).isEqualTo(low);
    }

    private static SymbolicValue computed(String hex) throws MalformedInputException {
        return ((ImplicitValue) locate(hex)).value();
    }

    private static ObjectLocation memory(SymbolicValue address) {
        return new ObjectLocation.InMemory(address);
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
        assertThat(locate(hex + "9f")).isEqualTo(new ImplicitValue(new ConstantValue(value)));
    }

    /** DW_OP_const_type (DWARF 5, 2.5.1.1): numbers of a base type, which may be no integer. */
    @Test
    void constantsHaveTheirType() throws MalformedInputException {
        String integer = "a4 %02x 04".formatted(OneVariable.INT);
        assertThat(locate(integer + "feffffff 9f"))
                .isEqualTo(new ImplicitValue(new ConstantValue(-2)));
        String floating = "a4 %02x 04".formatted(OneVariable.FLOAT);
        SymbolicValue one = new OperationValue("floating", new ConstantValue(0x3f800000), null);
        assertThat(locate(floating + "0000803f 9f")).isEqualTo(new ImplicitValue(one));
        assertThat(locate(floating + "0000803f" + floating + "0000803f 22 9f"))
                .isEqualTo(new ImplicitValue(new OperationValue("+", one, one)));
        assertThat(locate("a4 %02x 10".formatted(OneVariable.INT) + "00".repeat(16) + "9f"))
                .isInstanceOf(UnreadableLocation.class);
    }

    @Test
    void whatIsNotKnownStays() throws MalformedInputException {
        SymbolicValue rdi = new RegisterValue(5);
        assertThat(locate("75 08 06 23 10 9f"))
                .isEqualTo(
                        new ImplicitValue(
                                new SumValue(new MemoryValue(new SumValue(rdi, 8), 8), 16)));
        assertThat(locate("75 00 94 04 9f")).isEqualTo(new ImplicitValue(new MemoryValue(rdi, 4)));
        assertThat(locate("75 00 73 00 22 9f"))
                .isEqualTo(new ImplicitValue(new OperationValue("+", rdi, new RegisterValue(3))));
        assertThat(locate("a3 01 55 9f"))
                .isEqualTo(new ImplicitValue(new SymbolicValue.AtEntry(rdi)));
        assertThat(locate("f3 01 55 9f"))
                .isEqualTo(new ImplicitValue(new SymbolicValue.AtEntry(rdi)));
        assertThat(locate("38 e0"))
                .isEqualTo(memory(new SymbolicValue.ThreadLocal(new ConstantValue(8))));
    }

    @Test
    void piecesAndWhatHasNoPlace() throws MalformedInputException {
        assertThat(locate("55 93 08 51 93 04"))
                .isEqualTo(
                        new LocationPieces(
                                List.of(
                                        new LocationPiece(new ObjectLocation.InRegister(5), 64, 0),
                                        new LocationPiece(
                                                new ObjectLocation.InRegister(1), 32, 0))));
        assertThat(locate("93 04 55 9d 08 10"))
                .isEqualTo(
                        new LocationPieces(
                                List.of(
                                        new LocationPiece(new AbsentLocation(), 32, 0),
                                        new LocationPiece(
                                                new ObjectLocation.InRegister(5), 8, 16))));
        assertThat(locate("9e 03 01 02 03"))
                .isInstanceOfSatisfying(
                        ImplicitBytes.class, b -> assertThat(b.bytes()).containsExactly(1, 2, 3));
        assertThat(locate("a0 2a 00 00 00 7c"))
                .isEqualTo(new ObjectLocation.ImplicitPointer(0x2a, -4));
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
        assertThat(locate(hex)).isInstanceOf(UnreadableLocation.class);
    }

    @Test
    void valuesThatDoubleAreBounded() throws MalformedInputException {
        assertThat(locate("75 00" + "12 1e".repeat(60) + "9f"))
                .isInstanceOf(UnreadableLocation.class);
    }

    @Test
    void anyBytesGiveAnAnswer() {
        Property.forAll(
                7,
                3000,
                random -> {
                    byte[] bytes = new byte[random.nextInt(60)];
                    random.nextBytes(bytes);
                    DebugEntries entries = OneVariable.expression(bytes);
                    assertThat(OneVariable.seen(entries, OneVariable.START).location()).isNotNull();
                });
    }
}
