/**
 * From an address to functions, inlined calls and lines of source.
 *
 * {@snippet :
 * try (SourceSymbols symbols = SourceSymbols.open(Path.of("a.out"), SourceOptions.USUAL)) {
 *     for (SourceFrame frame : symbols.lookup(0x401136)) {
 *         show(frame.function(), frame.file(), frame.line());
 *     }
 * }
 * }
 */
package sonde.symbol.line;
