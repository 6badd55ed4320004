package sonde.binary.dwarf.location;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.location.ObjectLocation.AbsentLocation;
import sonde.binary.dwarf.location.ObjectLocation.UnreadableLocation;
import sonde.testkit.Bytes;
import sonde.testkit.Property;

/** Lists of {@code .debug_loc} (DWARF 4, 2.6.2). */
final class LocationListTest {
    private static Bytes bytes() {
        return new Bytes(ByteOrder.LITTLE_ENDIAN);
    }

    private static ObjectLocation at(byte[] list, long offset) throws MalformedInputException {
        DebugEntries entries = OneVariable.list(list);
        return OneVariable.seen(entries, OneVariable.START + offset).location();
    }

    @Test
    void theEntryOfTheAddressCounts() throws MalformedInputException {
        byte[] list =
                bytes().u64(0)
                        .u64(0x10)
                        .u16(1)
                        .u8(0x55) // rdi
                        .u64(0x10)
                        .u64(0x20)
                        .u16(1)
                        .u8(0x53) // rbx
                        .u64(-1)
                        .u64(OneVariable.START + 0x40) // another base
                        .u64(0)
                        .u64(8)
                        .u16(1)
                        .u8(0x50)
                        .u64(0)
                        .u64(0)
                        .toBytes();
        assertThat(at(list, 0)).isEqualTo(new ObjectLocation.InRegister(5));
        assertThat(at(list, 0xf)).isEqualTo(new ObjectLocation.InRegister(5));
        assertThat(at(list, 0x10)).isEqualTo(new ObjectLocation.InRegister(3));
        assertThat(at(list, 0x20)).isEqualTo(new AbsentLocation());
        assertThat(at(list, 0x47)).isEqualTo(new ObjectLocation.InRegister(0));
        SourceVariable variable =
                OneVariable.seen(OneVariable.list(list), OneVariable.START + 0x30);
        assertThat(variable.ranges())
                .containsExactly(
                        new AddressRange(OneVariable.START, OneVariable.START + 0x10),
                        new AddressRange(OneVariable.START + 0x10, OneVariable.START + 0x20),
                        new AddressRange(OneVariable.START + 0x40, OneVariable.START + 0x48));
    }

    @Test
    void aListWithoutEndKeepsWhatItHas() throws MalformedInputException {
        byte[] list = bytes().u64(0).u64(0x10).u16(1).u8(0x55).toBytes();
        assertThat(at(list, 4)).isEqualTo(new ObjectLocation.InRegister(5));
        assertThat(at(new byte[5], 4)).isInstanceOf(UnreadableLocation.class);
    }

    @Test
    void anyListGivesAnAnswer() {
        Property.forAll(
                11,
                500,
                random -> {
                    byte[] list = new byte[random.nextInt(200)];
                    random.nextBytes(list);
                    for (int i = 0; i + 2 < list.length; i++) {
                        list[i] = random.nextInt(3) > 0 ? 0 : list[i];
                    }
                    assertThat(at(list, random.nextInt(0x100))).isNotNull();
                });
    }
}
