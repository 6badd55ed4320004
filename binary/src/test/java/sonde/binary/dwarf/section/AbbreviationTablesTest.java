package sonde.binary.dwarf.section;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;
import sonde.binary.MalformedInputException;
import sonde.testkit.Bytes;

class AbbreviationTablesTest {
    private static final int COUNT = 1000;
    private static final int BYTES = 5;

    /** One table: codes from 1 on, each a DW_TAG_base_type without attributes and children. */
    private static SectionCursor section() {
        Bytes bytes = new Bytes(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < COUNT; i++) {
            bytes.u8(1).u8(0x24).u8(0).u8(0).u8(0);
        }
        return new SectionCursor(MemorySegment.ofArray(bytes.u8(0).toBytes()), false, 256);
    }

    private static UnitHeader unit(long abbreviations) {
        return new UnitHeader(0, 11, 12, 4, 4, 8, abbreviations, UnitHeader.COMPILE, 0, 0);
    }

    @Test
    void aTableIsReadOnce() throws MalformedInputException {
        AbbreviationTables tables = new AbbreviationTables();
        AbbreviationTable first = tables.of(section(), unit(0));
        for (int i = 0; i < 100; i++) {
            assertThat(tables.of(section(), unit(0))).isSameAs(first);
        }
        assertThat(first.tag(first.find(section(), 1))).isEqualTo(0x24);
    }

    /** Each unit may name a place in the table of another: a table of all that follows. */
    @Test
    void tablesThatLieOverEachOtherAreBounded() throws MalformedInputException {
        AbbreviationTables tables = new AbbreviationTables();
        int read = 0;
        for (int i = 0; i < COUNT; i++) {
            try {
                tables.of(section(), unit((long) BYTES * i));
                read++;
            } catch (MalformedInputException e) {
                assertThat(e).hasMessageContaining("over each other");
            }
        }
        assertThat(read).isBetween(4, 6);
        assertThat(tables.of(section(), unit(0))).isNotNull();
        assertThatThrownBy(() -> tables.of(section(), unit(BYTES * (COUNT - 1L))))
                .isInstanceOf(MalformedInputException.class);
    }
}
