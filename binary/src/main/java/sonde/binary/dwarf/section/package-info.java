/**
 * Contains what all DWARF readers share: the cursor, forms of values, unit headers, abbreviations
 * and line programs. The package is not exported.
 *
 * {@snippet :
 * SectionCursor cursor = new SectionCursor(elf.content(section), false, 512);
 * UnitHeader unit = UnitHeader.read(cursor, 0, false);
 * cursor.seek(unit.first());
 * int entry = abbreviations.find(cursor, cursor.uleb());
 * }
 */
package sonde.binary.dwarf.section;
