package sonde.lang.bpftrace.run;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import sonde.symbol.KernelRun;
import sonde.symbol.KernelSymbols;
import sonde.symbol.ProcessMaps;
import sonde.symbol.SymbolOptions;
import sonde.symbol.files.GivenPlaces;
import sonde.symbol.line.CodePlaces;
import sonde.symbol.line.KernelCode;
import sonde.symbol.line.KnownPlaces;

/**
 * Names addresses of the kernel: its functions, and where its debugging information is there their
 * lines and what was inlined. Nothing is read before the first address is asked for.
 */
final class RunningKernel implements AutoCloseable {
    private final Supplier<KernelRun> kernel;
    private final GivenPlaces places;
    private final boolean withLines;
    private @Nullable KernelRun run;
    private @Nullable KnownPlaces lines;

    /**
     * @param kernel is asked once
     * @param places where its files may be, besides the usual places
     * @param withLines whether stacks have lines and inlined functions
     */
    RunningKernel(Supplier<KernelRun> kernel, GivenPlaces places, boolean withLines) {
        this.kernel = kernel;
        this.places = places;
        this.withLines = withLines;
    }

    /** The kernel of this machine. */
    RunningKernel(GivenPlaces places, boolean withLines) {
        this(() -> KernelRun.here(KernelRun.symbolsHere()), places, withLines);
    }

    private KernelRun run() {
        KernelRun known = run;
        if (known == null) {
            known = kernel.get();
            run = known;
        }
        return known;
    }

    private KnownPlaces lines() {
        KnownPlaces known = lines;
        if (known == null) {
            SymbolOptions from = SymbolOptions.here().with(places);
            KernelCode code = new KernelCode(run(), from, places.vmlinux());
            known =
                    new KnownPlaces(
                            new CodePlaces(
                                    new ProcessMaps(), from, true, true, Long.MAX_VALUE, code));
            lines = known;
        }
        return known;
    }

    /** A function; the file is its module, {@code "[kernel]"} for the kernel itself. */
    UserCode.@Nullable Place find(long address) {
        KernelSymbols symbols = run().symbols();
        int index = symbols.find(address);
        return index < 0
                ? null
                : new UserCode.Place(
                        symbols.name(index),
                        address - symbols.address(index),
                        symbols.module(index));
    }

    /** The lines of a stack, innermost frame first. */
    List<CodePlaces.Found> sources(long[] addresses) {
        List<CodePlaces.Found> found = new ArrayList<>();
        if (!withLines) {
            for (int i = 0; i < addresses.length; i++) {
                found.add(CodePlaces.Found.UNKNOWN);
            }
            return found;
        }
        long[] locations = new long[addresses.length];
        for (int i = 0; i < addresses.length; i++) {
            // Where a call returns to may be the next line, or the next function.
            locations[i] = i > 0 ? addresses[i] - 1 : addresses[i];
        }
        lines().learn(locations);
        for (long location : locations) {
            found.add(lines().at(location));
        }
        return found;
    }

    @Override
    public void close() {
        if (lines != null) {
            lines.close();
        }
    }
}
