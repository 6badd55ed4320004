package sonde.binary.dwarf.location;

import java.nio.ByteOrder;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.location.SymbolicValue.RegisterValue;
import sonde.binary.elf.ElfFile;
import sonde.testkit.Bytes;
import sonde.testkit.ElfWriter;

/** A file of one unit (DWARF 4), one function of 0x100 bytes and one variable. */
final class OneVariable {
    static final long START = ElfWriter.TEXT_ADDRESS;

    /** Offsets in the unit of its base types. */
    static final int INT = 28;

    static final int FLOAT = 31;

    private OneVariable() {}

    /** The variable's location is an expression. */
    static DebugEntries expression(byte[] expression) throws MalformedInputException {
        return entries(expression, new byte[0], false);
    }

    /** The variable's location is a list, {@code .debug_loc} from its byte 0. */
    static DebugEntries list(byte[] list) throws MalformedInputException {
        return entries(new byte[0], list, true);
    }

    private static DebugEntries entries(byte[] expression, byte[] list, boolean isList)
            throws MalformedInputException {
        return DebugEntries.read(ElfFile.of(file(expression, list, isList)));
    }

    static byte[] file(byte[] expression, byte[] list, boolean isList) {
        ByteOrder order = ByteOrder.LITTLE_ENDIAN;
        Bytes abbreviations = new Bytes(order);
        // 1: compile_unit, low_pc addr, high_pc data8
        abbreviations.u8(1).u8(0x11).u8(1).u8(0x11).u8(0x01).u8(0x12).u8(0x07).u8(0).u8(0);
        // 2: subprogram, name string, low_pc, high_pc, frame_base exprloc
        abbreviations.u8(2).u8(0x2e).u8(1).u8(0x03).u8(0x08).u8(0x11).u8(0x01);
        abbreviations.u8(0x12).u8(0x07).u8(0x40).u8(0x18).u8(0).u8(0);
        // 3: variable, name string, location exprloc or sec_offset
        abbreviations.u8(3).u8(0x34).u8(0).u8(0x03).u8(0x08);
        abbreviations.u8(0x02).u8(isList ? 0x17 : 0x18).u8(0).u8(0);
        // 4: base_type, encoding data1, byte_size data1
        abbreviations.u8(4).u8(0x24).u8(0).u8(0x3e).u8(0x0b).u8(0x0b).u8(0x0b).u8(0).u8(0);
        abbreviations.u8(0);

        Bytes entries = new Bytes(order);
        entries.u8(1).u64(START).u64(0x100);
        entries.u8(4).u8(5).u8(4); // DW_ATE_signed
        entries.u8(4).u8(4).u8(4); // DW_ATE_float
        entries.u8(2).text("f").u64(START).u64(0x100).u8(1).u8(0x9c); // call_frame_cfa
        entries.u8(3).text("v");
        if (isList) {
            entries.u32(0);
        } else {
            entries.u8(0x80 | expression.length & 0x7f).u8(expression.length >> 7).raw(expression);
        }
        entries.u8(0).u8(0);

        Bytes unit = new Bytes(order);
        unit.u32(entries.size() + 7).u16(4).u32(0).u8(8).raw(entries.toBytes());
        return new ElfWriter(true, order, 0x100)
                .section(".debug_abbrev", 1, 0, abbreviations.toBytes())
                .section(".debug_info", 1, 0, unit.toBytes())
                .section(".debug_loc", 1, 0, list)
                .bytes();
    }

    /** The variable as seen from an address. */
    static SourceVariable seen(DebugEntries entries, long address) throws MalformedInputException {
        FrameRules rules = _ -> java.util.Optional.of(SymbolicValue.plus(new RegisterValue(7), 16));
        return new SourceScopes(entries, rules).at(address).orElseThrow().find("v").orElseThrow();
    }
}
