package sonde.probe.dynamic;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.location.AddressRange;
import sonde.binary.dwarf.location.DebugEntry;
import sonde.binary.dwarf.location.DwarfAttribute;
import sonde.binary.dwarf.location.EntryUnit;
import sonde.binary.dwarf.location.FunctionCopy;
import sonde.binary.dwarf.location.LineRows;
import sonde.binary.dwarf.location.SourceFunction;
import sonde.binary.dwarf.location.SourceScope;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSegment;
import sonde.probe.dynamic.ObjectSymbols.ObjectSymbol;
import sonde.probe.dynamic.PointSpec.PointPlace;
import sonde.probe.dynamic.PointSpec.PointPlace.AddressPoint;
import sonde.probe.dynamic.PointSpec.PointPlace.FilePoint;
import sonde.probe.dynamic.PointSpec.PointPlace.FunctionPoint;
import sonde.probe.dynamic.PointSpec.PointPlace.LinePoint;
import sonde.probe.dynamic.PointSpec.PointPlace.MarkerPoint;
import sonde.probe.dynamic.PointSpec.PointPlace.TracepointPoint;
import sonde.symbol.CloneSuffix;
import sonde.symbol.demangle.Demangler;

/** From a place of the source to addresses: every copy of the code, each with what it sees. */
public final class PointResolver {
    private final ProbedObject subject;
    private final boolean every;

    /** Resolves places of a program or the kernel. */
    public PointResolver(ProbedObject subject) {
        this(subject, false);
    }

    /**
     * Resolves places of a program or the kernel.
     *
     * @param every whether a line means each place at which its code begins, not the first alone
     */
    PointResolver(ProbedObject subject, boolean every) {
        this.subject = subject;
        this.every = every;
    }

    /**
     * All addresses of a place; the first is the function's own code where there is any.
     *
     * @throws ProbeException with what there is instead when there is none
     */
    public List<ProbeLocation> spots(PointPlace place) throws IOException {
        return switch (place) {
            case FunctionPoint function -> function(function);
            case LinePoint line -> line(line);
            case AddressPoint address -> List.of(at(address.address(), false));
            case FilePoint file -> List.of(at(address(file), file.isReturn()));
            case MarkerPoint marker ->
                    throw new ProbeException(
                            "marker " + marker.name() + " is not a place of source");
            case TracepointPoint tracepoint ->
                    throw new ProbeException(
                            "tracepoint " + tracepoint.name() + " is not a place of source");
        };
    }

    private long address(FilePoint file) throws ProbeException {
        ElfFile elf = subject.elf().orElse(null);
        if (elf != null && !subject.isKernel()) {
            for (ElfSegment segment : elf.segments()) {
                long into = file.offset() - segment.offset();
                if (segment.isCode() && Long.compareUnsigned(into, segment.fileBytes()) < 0) {
                    return segment.address() + into;
                }
            }
        }
        throw new ProbeException(
                "byte 0x" + Long.toHexString(file.offset()) + " is in no code of " + file.path());
    }

    private List<ProbeLocation> function(FunctionPoint wanted) throws IOException {
        if (!subject.hasEntries() && wanted.line() < 0) {
            return symbols(wanted);
        }
        List<SourceFunction> functions = functions(wanted.name(), wanted.file());
        if (functions.isEmpty()) {
            return symbols(wanted);
        }
        List<ProbeLocation> spots = new ArrayList<>();
        for (SourceFunction function : functions) {
            if (wanted.line() >= 0) {
                spots.addAll(lineOf(function, wanted.line()));
            } else if (wanted.offset() >= 0) {
                offsets(function, wanted, spots);
            } else {
                entries(function, wanted.isReturn(), spots);
            }
        }
        if (spots.isEmpty()) {
            throw new ProbeException(
                    wanted.isReturn()
                            ? wanted.name() + " is inlined everywhere: it has no return of its own"
                            : wanted.name() + " has no code of its own there");
        }
        return spots;
    }

    /** Functions of a name whose source file ends as wanted. */
    List<SourceFunction> functions(String name, String file) throws IOException {
        List<SourceFunction> found = subject.functions().named(name);
        if (found.isEmpty()) {
            found =
                    subject.functions()
                            .matching((_, symbol) -> Demangler.means(symbol, name), true);
        }
        if (found.isEmpty()) {
            found = bySymbol(name);
        }
        if (file.isEmpty()) {
            return found;
        }
        List<SourceFunction> fitting = new ArrayList<>();
        for (SourceFunction one : found) {
            if (endsWith(subject.written(one).file(), file)) {
                fitting.add(one);
            }
        }
        if (fitting.isEmpty() && !found.isEmpty()) {
            String there = subject.written(found.getFirst()).file();
            throw new ProbeException(name + " is not in " + file + " but in " + there);
        }
        return fitting;
    }

    /**
     * Functions that the source calls otherwise (aliases, lambdas), by their symbols' addresses.
     */
    private List<SourceFunction> bySymbol(String name) throws IOException {
        List<SourceFunction> found = new ArrayList<>();
        for (ObjectSymbol symbol : subject.symbols().functions(name)) {
            SourceScope scope = subject.scopes().at(symbol.address()).orElse(null);
            DebugEntry function = scope == null ? null : scope.functions().getFirst();
            if (function != null) {
                SourceFunction one = subject.functions().of(function, name);
                boolean clone = CloneSuffix.isClone(name);
                List<FunctionCopy> copies =
                        one.copies().stream()
                                .filter(copy -> !clone || copy.entryAddress() == symbol.address())
                                .toList();
                if (!copies.isEmpty() && copies.getFirst().entryAddress() == symbol.address()) {
                    found.add(one.with(copies));
                }
            }
        }
        return found;
    }

    static boolean endsWith(String path, String wanted) {
        return path.equals(wanted) || path.endsWith(wanted.startsWith("/") ? wanted : "/" + wanted);
    }

    /**
     * Copies whose code is there: of what a linker left out, entries stay, at address 0 or another
     * that is no code.
     */
    private List<FunctionCopy> live(SourceFunction function) throws ProbeException {
        List<FunctionCopy> live =
                function.copies().stream()
                        .filter(copy -> subject.isCode(copy.entryAddress()))
                        .toList();
        if (live.isEmpty() && !function.copies().isEmpty()) {
            throw new ProbeException(
                    function.name() + " was left out of " + subject.path() + " when it was linked");
        }
        return live;
    }

    private void entries(SourceFunction function, boolean isReturn, List<ProbeLocation> spots)
            throws IOException {
        List<FunctionCopy> live = live(function);
        for (FunctionCopy copy : live) {
            boolean part = live.size() > 1 && (isPart(copy) || isInlinedPart(copy, live));
            if (!part && (!isReturn || !copy.isInlined())) {
                int line = subject.written(function).line();
                spots.add(spot(function, copy, copy.entryAddress(), line, isReturn));
            }
        }
    }

    /** Whether a copy is what the others call after their first lines: {@code f.part.0}. */
    private boolean isPart(FunctionCopy copy) throws IOException {
        ObjectSymbol symbol = subject.symbols().functionAt(copy.entryAddress());
        return symbol != null && symbol.name().contains(".part.");
    }

    /**
     * Whether a copy is such a part, put into the copy that called it: gcc states the line of the
     * function itself as that of the call, and no entry.
     */
    private static boolean isInlinedPart(FunctionCopy copy, List<FunctionCopy> live)
            throws IOException {
        DebugEntry entry = copy.entry();
        long line = entry.original().constant(DwarfAttribute.DECL_LINE, 0);
        return copy.isInlined()
                && !entry.has(DwarfAttribute.ENTRY_PC)
                && line > 0
                && entry.constant(DwarfAttribute.CALL_LINE, 0) == line
                && live.stream()
                        .anyMatch(other ->
                                !other.equals(copy)
                                        && AddressRange.anyContains(
                                                other.ranges(), copy.entryAddress()));
    }

    private void offsets(SourceFunction function, FunctionPoint wanted, List<ProbeLocation> all)
            throws IOException {
        for (FunctionCopy copy : live(function)) {
            long address = copy.entryAddress() + wanted.offset();
            if (copy.isInlined()) {
                continue;
            }
            if (!AddressRange.anyContains(copy.ranges(), address)) {
                throw new ProbeException(
                        wanted.name()
                                + " has no code at +"
                                + wanted.offset()
                                + ": it is "
                                + (copy.ranges().getFirst().end() - copy.entryAddress())
                                + " bytes long");
            }
            LineRows rows = subject.lines(copy.entry().unit());
            all.add(spot(function, copy, address, lineAt(rows, address), false));
        }
    }

    private static int lineAt(LineRows rows, long address) {
        int line = 0;
        long best = 0;
        boolean found = false;
        for (int i = 0; i < rows.count(); i++) {
            long at = rows.address(i);
            boolean before = Long.compareUnsigned(at, address) <= 0;
            if (before && !rows.isEnd(i) && (!found || Long.compareUnsigned(at, best) >= 0)) {
                best = at;
                line = rows.line(i);
                found = true;
            }
        }
        return line;
    }

    private ProbeLocation spot(
            SourceFunction function, FunctionCopy copy, long address, int line, boolean isReturn)
            throws IOException {
        ObjectSymbol symbol = subject.symbols().functionAt(address);
        SourceScope scope = subject.scopes().at(address).orElse(null);
        SourceScope own = scope == null ? null : scopeOf(scope, copy.entry(), address);
        ProbedObject.Written written = subject.written(function);
        return new ProbeLocation(
                address,
                function.name(),
                symbol == null ? "" : symbol.name(),
                symbol == null ? 0 : address - symbol.address(),
                own,
                written.file(),
                line,
                written.line(),
                address == copy.entryAddress() && !copy.isInlined(),
                isReturn,
                copy.isInlined(),
                copy.isInlined() ? "inlined in " + outer(scope) : clone(function, symbol));
    }

    /** Which clone it is, where the symbol says so and was not asked for. */
    private static String clone(
            SourceFunction function, ObjectSymbols.@Nullable ObjectSymbol symbol) {
        if (symbol == null || symbol.name().equals(function.name())) {
            return "";
        }
        return CloneSuffix.isClone(symbol.name()) ? "clone " + symbol.name() : "";
    }

    /** What the function sees, where others begin at the same address. */
    private SourceScope scopeOf(SourceScope scope, DebugEntry function, long address)
            throws IOException {
        return scope.functions().contains(function)
                ? scope.of(function)
                : subject.scopes().of(function, address).orElse(scope);
    }

    private static String outer(@Nullable SourceScope scope) throws MalformedInputException {
        return scope == null ? "?" : scope.functions().getFirst().name();
    }

    /** One address for each copy: the lowest of the line in its first part. */
    private List<ProbeLocation> lineOf(SourceFunction function, int relative) throws IOException {
        int first = subject.written(function).line();
        int line = first + relative;
        FunctionLines lines = FunctionLines.of(subject, function);
        List<ProbeLocation> spots = places(function, lines, line);
        if (spots.isEmpty()) {
            throw new ProbeException(
                    function.name()
                            + ":"
                            + relative
                            + " has no code"
                            + near(lines.lines(), line, first));
        }
        return spots;
    }

    /** Where a line of the file begins in each copy of a function. */
    List<ProbeLocation> places(SourceFunction function, FunctionLines lines, int line)
            throws IOException {
        List<ProbeLocation> spots = new ArrayList<>();
        for (FunctionCopy copy : live(function)) {
            List<Long> addresses = lines.addresses(copy, line);
            for (long address : every ? addresses : addresses.stream().limit(1).toList()) {
                ProbeLocation spot = spot(function, copy, address, line, false);
                String also = lines.othersAt(address, line);
                String more = every ? "" : lines.more(copy, line);
                spot = also.isEmpty() ? spot : spot.noted(also);
                spots.add(more.isEmpty() ? spot : spot.noted(more));
            }
        }
        return spots;
    }

    private static String near(TreeSet<Integer> lines, int line, int base) {
        Integer below = lines.floor(line);
        Integer above = lines.ceiling(line);
        if (below == null && above == null) {
            return "";
        }
        String first = below == null ? "" : "line " + (below - base);
        String second = above == null ? "" : "line " + (above - base);
        String both =
                first.isEmpty() || second.isEmpty() ? first + second : first + " and " + second;
        return "; " + both + (both.contains(" and ") ? " have" : " has");
    }

    /**
     * A line of a file, wherever code was made of it; of a function, where no file is called so:
     * those of Go have dots and slashes in their names.
     */
    private List<ProbeLocation> line(LinePoint wanted) throws IOException {
        Map<DebugEntry, TreeSet<Long>> found = new LinkedHashMap<>();
        TreeSet<Integer> lines = new TreeSet<>();
        boolean fileSeen = false;
        for (EntryUnit unit : subject.entries().units()) {
            LineRows rows = rows(unit);
            if (rows == null || rows.files().stream().noneMatch(f -> endsWith(f, wanted.file()))) {
                continue;
            }
            fileSeen = true;
            boolean begun = false;
            for (int i = 0; i < rows.count(); i++) {
                begun &= rows.continues(i);
                boolean counts = !rows.isEnd(i) && rows.isStatement(i);
                if (counts && endsWith(rows.file(i), wanted.file())) {
                    lines.add(rows.line(i));
                    if (rows.line(i) == wanted.line() && !begun) {
                        add(rows.address(i), rows.file(i), wanted.line(), found);
                    }
                    begun = true;
                }
            }
        }
        if (!fileSeen && !functions(wanted.file(), "").isEmpty()) {
            return function(new FunctionPoint(wanted.file(), "", wanted.line(), -1, false));
        }
        if (found.isEmpty()) {
            throw new ProbeException(
                    fileSeen
                            ? wanted.file()
                                    + ":"
                                    + wanted.line()
                                    + " has no code"
                                    + near(lines, wanted.line(), 0)
                            : "no source file ends with " + wanted.file());
        }
        List<ProbeLocation> spots = new ArrayList<>();
        for (Map.Entry<DebugEntry, TreeSet<Long>> one : found.entrySet()) {
            for (long address : every ? one.getValue() : List.of(one.getValue().getFirst())) {
                SourceScope scope = subject.scopes().at(address).orElse(null);
                spots.add(
                        at(
                                address,
                                scope == null ? null : scopeOf(scope, one.getKey(), address),
                                false));
            }
        }
        return spots;
    }

    private @Nullable LineRows rows(EntryUnit unit) {
        try {
            return subject.lines(unit);
        } catch (MalformedInputException e) {
            // Its lines are lost, those of other units are not.
            return null;
        }
    }

    private void add(long address, String file, int line, Map<DebugEntry, TreeSet<Long>> found)
            throws IOException {
        SourceScope scope = subject.scopes().at(address).orElse(null);
        if (scope != null) {
            found.computeIfAbsent(
                            owner(scope, file, line), _ -> new TreeSet<>(Long::compareUnsigned))
                    .add(address);
        }
    }

    /** The function that a line is written in: a call inlined at its start has lines of its own. */
    private DebugEntry owner(SourceScope scope, String file, int line) throws IOException {
        DebugEntry owner = scope.function();
        int start = -1;
        for (DebugEntry one : scope.functions()) {
            ProbedObject.Written written = written(one);
            if (written.file().equals(file) && written.line() <= line && written.line() >= start) {
                owner = one;
                start = written.line();
            }
        }
        return owner;
    }

    private ProbedObject.Written written(DebugEntry copy) throws MalformedInputException {
        List<AddressRange> ranges = copy.ranges();
        return subject.written(
                copy.original(), copy, ranges.isEmpty() ? 0 : ranges.getFirst().start());
    }

    /** A spot at an address, with all that is known of it. */
    ProbeLocation at(long address, boolean isReturn) throws IOException {
        SourceScope scope = subject.hasEntries() ? subject.scopes().at(address).orElse(null) : null;
        return at(address, scope, isReturn);
    }

    /** Another address of the function of a scope, whatever was inlined there. */
    ProbeLocation inside(SourceScope function, long address) throws IOException {
        SourceScope scope = subject.scopes().at(address).orElse(null);
        SourceScope own = scope == null ? null : scopeOf(scope, function.function(), address);
        ProbeLocation spot = at(address, own, false);
        LineRows rows = subject.lines(function.unit());
        int row = rows.rowAt(address);
        // The line of a call that was inlined from another file is none of the function.
        return row < 0 || rows.file(row).equals(spot.file()) ? spot : spot.withoutLine();
    }

    private ProbeLocation at(long address, @Nullable SourceScope scope, boolean isReturn)
            throws IOException {
        ObjectSymbol symbol = subject.symbols().functionAt(address);
        String name = symbol == null ? "" : symbol.name();
        long offset = symbol == null ? 0 : address - symbol.address();
        if (scope == null) {
            return new ProbeLocation(
                    address, name, name, offset, null, "", 0, 0, offset == 0, isReturn, false, "");
        }
        DebugEntry function = scope.function();
        ProbedObject.Written written = written(function);
        LineRows rows = subject.lines(scope.unit());
        boolean inlined = scope.functions().size() > 1;
        return new ProbeLocation(
                address,
                function.name(),
                name,
                offset,
                scope,
                written.file(),
                lineAt(rows, address),
                written.line(),
                offset == 0 && !inlined,
                isReturn,
                inlined,
                inlined ? "inlined in " + outer(scope) : "");
    }

    /** Functions known by their symbols alone. */
    private List<ProbeLocation> symbols(FunctionPoint wanted) throws IOException {
        if (wanted.line() >= 0) {
            subject.entries(); // says what is missing
        }
        List<ObjectSymbol> found = subject.symbols().functions(wanted.name());
        long offset = Math.max(0, wanted.offset());
        List<ProbeLocation> spots = new ArrayList<>();
        for (ObjectSymbol symbol : found) {
            ProbeLocation spot = bare(symbol.address() + offset, symbol.name(), wanted, offset);
            boolean clone =
                    !symbol.name().equals(wanted.name()) && CloneSuffix.isClone(symbol.name());
            spots.add(clone ? spot.noted("clone " + symbol.name()) : spot);
        }
        KernelImage kernel = subject.kernel();
        if (spots.isEmpty()
                && kernel != null
                && kernel.foreign().isEmpty()
                && kernel.names().count(wanted.name()) > 0) {
            if (kernel.names().count(wanted.name()) > 1) {
                throw new ProbeException(
                        wanted.name()
                                + " is the name of "
                                + kernel.names().count(wanted.name())
                                + " functions of the kernel; without its debugging information"
                                + " nothing tells them apart");
            }
            spots.add(bare(0, wanted.name(), wanted, offset));
        }
        if (spots.isEmpty()) {
            List<String> near =
                    kernel != null && found.isEmpty() && subject.elf().isEmpty()
                            ? kernel.names().near(wanted.name())
                            : subject.symbols().near(wanted.name());
            throw new ProbeException(
                    "there is no function "
                            + wanted.name()
                            + " in "
                            + subject.path()
                            + (near.isEmpty()
                                    ? ""
                                    : "; did you mean " + String.join(" or ", near) + "?")
                            + (subject.isKernel() || subject.hasEntries()
                                    ? ""
                                    : ". " + subject.bareNames()));
        }
        return spots;
    }

    private static ProbeLocation bare(
            long address, String symbol, FunctionPoint wanted, long offset) {
        return new ProbeLocation(
                address,
                wanted.name(),
                symbol,
                offset,
                null,
                "",
                0,
                0,
                offset == 0,
                wanted.isReturn(),
                false,
                "");
    }
}
