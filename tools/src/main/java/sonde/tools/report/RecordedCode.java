package sonde.tools.report;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import sonde.analysis.stack.LocationNames;
import sonde.analysis.stack.ProcessSymbols;
import sonde.event.result.Frame;
import sonde.exchange.export.CodePlace;
import sonde.open.ReportSource;
import sonde.symbol.CodeMapping;
import sonde.symbol.CodeModule;
import sonde.symbol.KernelRun;
import sonde.symbol.KernelRun.LoadedModule;
import sonde.symbol.KernelSymbols;
import sonde.symbol.ProcessMaps;
import sonde.symbol.RuntimeFrames;
import sonde.symbol.SymbolOptions;
import sonde.symbol.line.CodeDetail;
import sonde.symbol.resolve.NameDetail;
import sonde.symbol.resolve.SymbolResolver;

/**
 * Names the code of a recording from where a report takes names: programs, the kernel and its
 * modules. Nothing is read before the first name is asked for. Not safe for several threads.
 */
public final class RecordedCode implements LocationNames, AutoCloseable {
    private static final long PAGE = 4096;

    private final ReportSource source;
    private final SymbolResolver resolver;

    /**
     * {@code source} stays the caller's. Calls and lines are those of debugging information that is
     * read quickly.
     *
     * @param lines whether frames are to have their lines
     */
    public RecordedCode(ReportSource source, boolean lines) {
        this.source = source;
        try {
            resolver = resolver(source, CodeDetail.quick(true, lines));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Names code of a recording; its maps are fed by whoever reads rows. */
    static SymbolResolver resolver(ReportSource source, CodeDetail detail) throws IOException {
        SymbolOptions from = source.symbolOptions();
        return resolver(
                source,
                new ProcessMaps(),
                NameDetail.of(from, source.given()).with(detail),
                new KernelFunctions(source, from));
    }

    /** As above, with functions of the kernel from elsewhere. */
    static SymbolResolver resolver(
            ReportSource source,
            ProcessMaps maps,
            NameDetail naming,
            Supplier<KernelSymbols> functions) {
        return new SymbolResolver(
                maps,
                naming,
                () -> RecordedKernel.run(source, functions.get(), maps.kernel()),
                pid -> perfMap(source, pid));
    }

    /**
     * Frames of run times, or what the recorder kept of a JVM's code, else what a compiler left.
     */
    private static byte[] perfMap(ReportSource source, int pid) {
        if (pid == RuntimeFrames.ALL) {
            return source.runtimeFrames();
        }
        byte[] kept = source.jvmMaps().get(pid);
        return kept == null ? LeftPerfMaps.read(source, pid) : kept;
    }

    /** Reads the functions of the kernel that was recorded, once. */
    private static final class KernelFunctions implements Supplier<KernelSymbols> {
        private final ReportSource source;
        private final SymbolOptions from;
        private @Nullable KernelSymbols known;

        KernelFunctions(ReportSource source, SymbolOptions from) {
            this.source = source;
            this.from = from;
        }

        @Override
        public KernelSymbols get() {
            KernelSymbols found = known;
            if (found == null) {
                try {
                    found = RecordedKernel.symbols(source, from);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
                known = found;
            }
            return found;
        }
    }

    /** Follows mappings, and names; rows are fed to it. */
    public ProcessSymbols follower() {
        return new ProcessSymbols(resolver.maps(), this, source.fileIds());
    }

    /** Rows are about to come again from the first. */
    public void rewind() {
        resolver.maps().rewind();
    }

    @Override
    public Frame frame(long location) {
        return resolver.function(location);
    }

    @Override
    public void learn(long[] locations) {
        resolver.learn(locations);
        resolver.close(); // the files alone: another location opens its file again
    }

    @Override
    public List<Frame> frames(long location) {
        return resolver.frames(location);
    }

    /** Where a location lies. */
    public CodePlace place(long location) {
        CodeModule module = resolver.maps().module(location);
        if (module == null) {
            return inKernel(location);
        }
        CodeMapping mapping = module.mapping();
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
            case ANONYMOUS, UNMAPPED, KERNEL_SYMBOL, RUN_TIME -> page("", module.base() + offset);
        };
    }

    private CodePlace inKernel(long address) {
        KernelRun kernel = resolver.kernel();
        String name = frame(address).module();
        byte[] id = name.equals(KernelRun.KERNEL) ? kernel.buildId() : new byte[0];
        for (LoadedModule loaded : kernel.modules()) {
            id = loaded.name().equals(name) ? loaded.buildId() : id;
        }
        return page(HexFormat.of().formatHex(id), address);
    }

    /** Memory of no file. */
    private static CodePlace page(String buildId, long address) {
        long start = address & -PAGE;
        return new CodePlace("", buildId, address, start, start + PAGE, 0);
    }

    @Override
    public void close() {
        resolver.close();
    }
}
