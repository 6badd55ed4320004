/**
 * Maps addresses to functions, inlined calls and lines by DWARF 2 to 5: units and line programs,
 * ranges, split and supplementary files.
 *
 * {@snippet :
 * DwarfCode code = DwarfCode.of(elf, companions);
 * long address = 0x401136;
 * UnitCode unit = code.reader().read(code.unitOf(address), new long[] {address}, false);
 * int row = unit.rowAt(address);
 * show(unit.path(unit.rowFile(row)), unit.rowLine(row));
 * for (int node = unit.nodeAt(address); node != UnitCode.NONE; node = unit.parent(node)) {
 *     show(unit.name(node));
 * }
 * }
 *
 * <p>Nothing the bytes say is believed: counts, depths and chains have bounds, and what is
 * malformed ends the unit it stands in, not the file.
 */
@org.jspecify.annotations.NullMarked
package sonde.binary.dwarf.code;
