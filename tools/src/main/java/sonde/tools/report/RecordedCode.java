package sonde.tools.report;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import sonde.analysis.stack.LocationNames;
import sonde.analysis.stack.ProcessSymbols;
import sonde.event.result.Frame;
import sonde.format.export.CodePlace;
import sonde.symbol.CodeModule;
import sonde.symbol.KernelRun;
import sonde.symbol.Mapping;
import sonde.symbol.ProcessMaps;
import sonde.symbol.SymbolOptions;
import sonde.symbol.Symbolizer;
import sonde.symbol.line.CodePlaces;
import sonde.symbol.line.KernelCode;
import sonde.symbol.line.KnownPlaces;

/**
 * Names the code of a recording from where a report takes names: programs, the kernel and its
 * modules. Nothing is read before the first name is asked for. Not safe for several threads.
 */
public final class RecordedCode implements LocationNames, AutoCloseable {
    private static final int MOST_NAMED = 1 << 18;
    private static final long PAGE = 4096;

    private final ReportSource source;
    private final boolean lines;
    private final ProcessMaps maps = new ProcessMaps();
    private final Map<Long, List<Frame>> named = new HashMap<>();
    private @Nullable Symbolizer symbolizer;
    private @Nullable KnownPlaces places;
    private KernelRun ran = KernelRun.UNKNOWN;

    /**
     * {@code source} stays the caller's.
     *
     * @param lines whether frames are to have their lines
     */
    public RecordedCode(ReportSource source, boolean lines) {
        this.source = source;
        this.lines = lines;
    }

    /** Follows mappings, and names; rows are fed to it. */
    public ProcessSymbols follower() {
        return new ProcessSymbols(maps, this, source.fileIds());
    }

    /** Rows are about to come again from the first. */
    public void rewind() {
        maps.rewind();
    }

    @Override
    public Frame frame(long location) {
        return symbolizer().frame(location);
    }

    @Override
    public void learn(long[] locations) {
        symbolizer();
        KnownPlaces known = Objects.requireNonNull(places);
        known.learn(locations);
        known.close(); // the files alone: another location opens its file again
    }

    /** Calls and lines are those of debugging information that is read quickly. */
    @Override
    public List<Frame> frames(long location) {
        List<Frame> known = named.get(location);
        if (known == null) {
            known = name(location);
            if (named.size() >= MOST_NAMED) {
                named.clear();
            }
            named.put(location, known);
        }
        return known;
    }

    /** Where a location lies. */
    public CodePlace place(long location) {
        CodeModule module = maps.module(location);
        if (module == null) {
            return inKernel(location);
        }
        Mapping mapping = module.mapping();
        long offset = ProcessMaps.offset(location);
        long limit = mapping.start() + mapping.lengthBytes();
        return switch (module.kind()) {
            case FILE ->
                    new CodePlace(
                            mapping.path(),
                            mapping.buildIdHex(),
                            mapping.start() + (offset - mapping.fileOffset()),
                            mapping.start(),
                            limit,
                            mapping.fileOffset());
            case VDSO -> page(mapping.buildIdHex(), mapping.start() + offset);
            case ANONYMOUS, UNMAPPED, KERNEL_SYMBOL -> page("", module.base() + offset);
        };
    }

    private CodePlace inKernel(long address) {
        symbolizer();
        KernelRun kernel = ran;
        String name = frame(address).module();
        byte[] id = name.equals(KernelRun.KERNEL) ? kernel.buildId() : new byte[0];
        for (KernelRun.Loaded loaded : kernel.modules()) {
            id = loaded.name().equals(name) ? loaded.buildId() : id;
        }
        return page(HexFormat.of().formatHex(id), address);
    }

    /** Memory of no file. */
    private static CodePlace page(String buildId, long address) {
        long start = address & -PAGE;
        return new CodePlace("", buildId, address, start, start + PAGE, 0);
    }

    private List<Frame> name(long location) {
        Frame function = frame(location);
        KnownPlaces known = Objects.requireNonNull(places);
        known.learn(new long[] {location});
        CodePlaces.Found place = known.at(location);
        List<Frame> all = new ArrayList<>(place.inlined());
        all.add(lines ? function.at(place.file(), place.line()) : function);
        return List.copyOf(all);
    }

    private Symbolizer symbolizer() {
        Symbolizer found = symbolizer;
        if (found == null) {
            try {
                found = make();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            symbolizer = found;
        }
        return found;
    }

    private Symbolizer make() throws IOException {
        SymbolOptions from = source.symbolOptions();
        ran = RecordedKernel.run(source, RecordedKernel.symbols(source, from), maps.kernel());
        KernelCode code = new KernelCode(ran, from, source.given().vmlinux());
        long most = CodePlaces.QUICK_BYTES;
        places = new KnownPlaces(new CodePlaces(maps, from, true, lines, most, code));
        Symbolizer made = new Symbolizer(maps, code.symbols(maps.kernel().starts()), from);
        made.perfMapsFrom(pid -> LeftPerfMaps.read(source, pid));
        source.jvmMaps().forEach((pid, text) -> made.addPerfMap(pid, 0, text));
        return made;
    }

    @Override
    public void close() {
        if (places != null) {
            places.close();
        }
    }
}
