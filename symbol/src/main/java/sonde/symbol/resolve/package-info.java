/**
 * The one place where addresses get their names: functions, inlined calls and source lines, of the
 * kernel and of processes.
 *
 * <p>A {@link sonde.symbol.resolve.SymbolResolver} is told of mappings by whoever knows them: the
 * records of a recording, or the kernel while processes run.
 *
 * {@snippet :
 * ProcessMaps maps = new ProcessMaps();
 * NameDetail naming = NameDetail.of(SymbolOptions.here(), given).with(new CodeDetail(true, true));
 * try (SymbolResolver resolver =
 *         new SymbolResolver(maps, naming, KernelRun::here, pid -> new byte[0])) {
 *     maps.mapped(time, pid, new CodeMapping(start, length, fileOffset, "/usr/bin/xz"));
 *     long location = maps.location(pid, ip); // a caller's frame: ip - 1
 *     List<Frame> frames = resolver.frames(location);
 * }
 * }
 */
package sonde.symbol.resolve;
