package sonde.symbol.line;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.format.MalformedInputException;
import sonde.symbol.KernelRun;
import sonde.symbol.KernelSymbols;
import sonde.symbol.SymbolOptions;
import sonde.symbol.files.Attempt;
import sonde.symbol.files.Attempt.Outcome;
import sonde.symbol.files.DebugFile;
import sonde.symbol.files.DebugSearch;
import sonde.symbol.files.KernelSearch;
import sonde.symbol.files.Need;
import sonde.symbol.files.Place;

/** Finds the files of a kernel that ran and says where in them its code is. */
public final class KernelCode {
    private final KernelRun run;
    private final KernelSearch search;
    private final SourceOptions options;
    private final Optional<Path> vmlinux;
    private final List<String> notes = new ArrayList<>();

    /**
     * Nothing is looked for yet.
     *
     * @param from folders and servers that are asked
     * @param vmlinux that the user named; empty to search
     */
    public KernelCode(KernelRun run, SymbolOptions from, Optional<Path> vmlinux) {
        this.run = run;
        search = new KernelSearch(new DebugSearch(from.search()));
        options = new SourceOptions(from.search(), false);
        this.vmlinux = vmlinux;
    }

    /**
     * The functions of the kernel that ran: those that are known, else those of its file, where a
     * record says where it was.
     */
    public KernelSymbols symbols() throws IOException {
        boolean known = run.symbols().count() > 0 || run.references().isEmpty();
        Optional<Place> place = known ? Optional.empty() : file(KernelRun.KERNEL, Need.SYMBOLS);
        if (place.isEmpty()) {
            return run.symbols();
        }
        try (SourceSymbols file = SourceSymbols.open(place.get(), options)) {
            KernelPlacing placing = placing(KernelRun.KERNEL, file);
            return placing == null ? run.symbols() : KernelSymbols.parse(placing.kallsyms());
        } catch (MalformedInputException e) {
            notes.add(place.get().shown() + ": " + e.getMessage());
            return run.symbols();
        }
    }

    /** Why there are no lines of a part, a line each. */
    public List<String> notes() {
        return notes;
    }

    /** The part of the kernel that holds an address and may have a file; empty for none. */
    String part(long address) {
        String part = run.part(address);
        // Of code that came while running, kernel/bpf and kernel/trace, there is no file.
        return part.equals("[bpf]") || part.startsWith("[__builtin__") ? "" : part;
    }

    /** The file with the debugging information of a part. */
    Optional<Place> file(String part, Need need) {
        byte[] id = run.buildId(part);
        DebugFile found;
        if (!part.equals(KernelRun.KERNEL)) {
            String name = part.substring(1, part.length() - 1);
            found = search.module(name, run.release(), id, need);
        } else if (vmlinux.isPresent()) {
            found = search.kernel(vmlinux.get(), id, need);
        } else {
            found = search.kernel(run.release(), id, need);
        }
        for (Attempt attempt : found.refusals()) {
            if (attempt.outcome() != Outcome.LACKING || vmlinux.isPresent()) {
                notes.add(attempt.sentence());
            }
        }
        if (!found.isFound()) {
            notes.add(
                    "no file with lines for "
                            + (part.equals(KernelRun.KERNEL) ? "the kernel" : part)
                            + (run.release().isEmpty() ? "" : " of " + run.release())
                            + (id.length == 0 ? "" : ", build-id " + HexFormat.of().formatHex(id)));
        }
        return Optional.ofNullable(found.place());
    }

    /** Where the code of a part is in its file; null when the file is of another build. */
    @Nullable KernelPlacing placing(String part, SourceSymbols file)
            throws MalformedInputException {
        KernelPlacing placing = KernelPlacing.of(run, part, file, run.buildId(part).length > 0);
        if (placing == null) {
            notes.add(
                    file.path()
                            + (run.symbols().count() == 0
                                    ? ": nothing tells where " + part + " was in memory"
                                    : " is of another build than " + part + " that ran"));
        }
        return placing;
    }
}
