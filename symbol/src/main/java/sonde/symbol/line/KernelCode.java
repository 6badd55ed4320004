package sonde.symbol.line;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.symbol.KernelRun;
import sonde.symbol.KernelSymbols;
import sonde.symbol.SymbolOptions;
import sonde.symbol.files.Attempt;
import sonde.symbol.files.Attempt.AttemptResult;
import sonde.symbol.files.DebugFile;
import sonde.symbol.files.DebugSearch;
import sonde.symbol.files.FilePlace;
import sonde.symbol.files.KernelSearch;
import sonde.symbol.files.RequiredContent;

/** Finds the files of a kernel that ran and says where in them its code is. */
public final class KernelCode {
    /** Names of modules become parts of paths, and a recording may say anything. */
    private static final Pattern NAME = Pattern.compile("\\[[\\w-]{1,64}\\]");

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
     * The functions of the kernel that ran: those that are known; else those of the files of what
     * holds these addresses, where records say where that was.
     */
    public KernelSymbols symbols(long[] addresses) {
        if (run.symbols().count() > 0) {
            return run.symbols();
        }
        Set<String> parts = new TreeSet<>();
        for (long address : addresses) {
            parts.add(address < 0 ? part(address) : "");
        }
        parts.remove("");
        StringBuilder text = new StringBuilder();
        for (String part : parts) {
            Optional<FilePlace> place = file(part, RequiredContent.SYMBOLS);
            if (place.isPresent()) {
                addFunctions(part, place.get(), text);
            }
        }
        return text.isEmpty()
                ? run.symbols()
                : KernelSymbols.parse(text.toString().getBytes(StandardCharsets.UTF_8));
    }

    private void addFunctions(String part, FilePlace place, StringBuilder text) {
        try (SourceSymbols file = SourceSymbols.open(place, options)) {
            KernelPlacing placing = placing(part, file);
            if (placing != null) {
                placing.writeKallsyms(text);
            }
        } catch (IOException | InternalError e) {
            // InternalError: the file shrank while it was mapped
            notes.add(place.shown() + ": " + e.getMessage());
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
        boolean none = part.equals("[bpf]") || part.startsWith("[__builtin__");
        return none || !NAME.matcher(part).matches() ? "" : part;
    }

    /** The file with the debugging information of a part. */
    Optional<FilePlace> file(String part, RequiredContent need) {
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
            if (attempt.outcome() != AttemptResult.LACKING || vmlinux.isPresent()) {
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
