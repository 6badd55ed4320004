/**
 * What all readers of DWARF share: the cursor, forms of values, heads of units, abbreviations, line
 * programs. Not exported.
 *
 * {@snippet :
 * SectionCursor cursor = new SectionCursor(elf.content(section), false, 512);
 * UnitHeader unit = UnitHeader.read(cursor, 0, false);
 * cursor.seek(unit.first());
 * int entry = abbreviations.find(cursor, cursor.uleb());
 * }
 */
package sonde.binary.dwarf.section;
