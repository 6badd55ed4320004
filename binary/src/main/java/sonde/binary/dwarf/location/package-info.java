/**
 * Where variables are when the processor stands at an address (DWARF 2 to 5): entries with all
 * their attributes, address ranges, location lists, and expressions worked out as far as they can
 * be without a process: to a register, a place in memory, a value, or nothing.
 *
 * <pre>{@code
 * DebugEntries entries = DebugEntries.read(ElfFile.of(input.segment()));
 * FunctionSearch functions = new FunctionSearch(entries);
 * FunctionCopy main = functions.named("main").getFirst().copies().getFirst();
 * SourceScope scope = new SourceScopes(entries, FrameRules.NONE).at(main.entry()).orElseThrow();
 * for (SourceVariable variable : scope.variables()) {
 *     variable.name(); // "argc"
 *     variable.location(); // Register[number=5]
 * }
 * }</pre>
 */
@org.jspecify.annotations.NullMarked
package sonde.binary.dwarf.location;
