/**
 * Finds the location of a variable at a program counter (DWARF 2 to 5): entries with all
 * attributes, address ranges and location lists. Expressions are evaluated as far as possible
 * without a process: to a register, a memory location, a value, or nothing.
 *
 * <pre>{@code
 * DebugEntries entries = DebugEntries.read(ElfFile.of(input.segment()));
 * FunctionSearch functions = new FunctionSearch(entries);
 * FunctionCopy main = functions.named("main").getFirst().copies().getFirst();
 * SourceScope scope = new SourceScopes(entries, FrameRules.NONE).at(main.entry()).orElseThrow();
 * for (SourceVariable variable : scope.variables()) {
 *     variable.name(); // "argc"
 *     variable.location(); // RegisterValue[number=5]
 * }
 * }</pre>
 */
@org.jspecify.annotations.NullMarked
package sonde.binary.dwarf.location;
