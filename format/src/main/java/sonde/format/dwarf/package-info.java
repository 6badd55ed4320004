/**
 * Debugging information of programs (DWARF 2 to 5): functions with their parameters, types, and
 * where lines of source are in code.
 *
 * <pre>{@code
 * Dwarf dwarf = Dwarf.read(ElfFile.of(input.segment()));
 * Die main = dwarf.function("main").orElseThrow();
 * for (Die child : dwarf.children(main)) {
 *     if (child.tag() == Die.FORMAL_PARAMETER) {
 *         dwarf.name(child); // "argc"
 *     }
 * }
 * }</pre>
 */
@org.jspecify.annotations.NullMarked
package sonde.format.dwarf;
