/**
 * From an instruction pointer to a function.
 *
 * <p>Work is split in two, so that the pass over the events stays cheap: {@link
 * sonde.symbol.ProcessMaps} follows the recording forward in time and turns (process, ip) into a
 * location, one long that means the same code whatever address it was mapped at; {@link
 * sonde.symbol.Symbolizer} names the distinct locations after the pass. Users take both from {@code
 * sonde.symbol.resolve.SymbolResolver}.
 *
 * {@snippet :
 * ProcessMaps maps = new ProcessMaps();
 * maps.mapped(time, pid, new CodeMapping(start, length, fileOffset, "/usr/bin/xz"));
 * long location = maps.location(pid, ip); // a caller's frame: ip - 1
 * }
 */
package sonde.symbol;
