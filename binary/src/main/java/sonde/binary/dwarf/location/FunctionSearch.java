package sonde.binary.dwarf.location;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.section.AttributeForms;
import sonde.binary.dwarf.section.SectionCursor;

/**
 * Finds functions by name, with the places where they were inlined. A unit that is damaged is
 * passed over. Not safe for several threads.
 */
public final class FunctionSearch {
    private static final int MOST_DEPTH = 32;
    private static final String CALL = "operator()";
    private static final String ANONYMOUS = "(anonymous namespace)::";

    /** Entries that a search looks at: more than Chromium has. */
    private static final long MOST_ENTRIES = 500_000_000;

    private final DebugEntries entries;
    private long looked;

    /** Searches the functions of a file. */
    public FunctionSearch(DebugEntries entries) {
        this.entries = entries;
    }

    /** What was found of one function of the source. */
    private static final class FoundFunction {
        private final String name;
        private final String scope;
        private final DebugEntry declared;
        private final List<FunctionCopy> own = new ArrayList<>();
        private final List<FunctionCopy> inlined = new ArrayList<>();

        FoundFunction(String name, String scope, DebugEntry declared) {
            this.name = name;
            this.scope = scope;
            this.declared = declared;
        }
    }

    /**
     * Functions of a name: that of the source, with name spaces before it or not, or the symbol.
     * Several when files have functions of one name of their own, when a template or generic
     * function was made for several types, and when names are overloaded.
     */
    public List<SourceFunction> named(String name) {
        String wanted = name.replace("[...]", "");
        int start = lastPart(wanted);
        String last = wanted.substring(start);
        // A template is found by its name without arguments too.
        ScopeSearch search =
                new ScopeSearch(
                        (one, _) -> one.equals(last) || plain(one).equals(last), wanted, start > 0);
        return found(search, true);
    }

    /**
     * Where the last part of a name with name spaces begins: behind the last {@code ::} that is in
     * no bracket.
     */
    public static int lastPart(String name) {
        int operator = name.lastIndexOf("::operator");
        if (operator >= 0) {
            return operator + 2;
        }
        int depth = 0;
        for (int i = name.length() - 1; i > 0; i--) {
            char c = name.charAt(i);
            depth += ")]>}".indexOf(c) >= 0 ? 1 : "([<{".indexOf(c) >= 0 ? -1 : 0;
            if (depth == 0 && c == ':' && name.charAt(i - 1) == ':') {
                return i + 1;
            }
        }
        return 0;
    }

    /** Without the types that a template, or a generic function of Go, was made for. */
    private static String plain(String name) {
        if (name.startsWith("operator")) {
            return name;
        }
        int bracket = name.indexOf('<');
        String bare = bracket > 0 ? name.substring(0, bracket) : name;
        if (bare.indexOf('[') < 0) {
            return bare;
        }
        StringBuilder kept = new StringBuilder();
        int depth = 0;
        for (char c : bare.toCharArray()) {
            depth += c == '[' ? 1 : 0;
            if (depth == 0) {
                kept.append(c);
            }
            depth -= c == ']' ? 1 : 0;
        }
        return kept.toString();
    }

    /**
     * Functions that fit by the name in the source and the symbol, which is empty where it is that
     * name.
     *
     * @param withInlined whether all places where they were inlined are looked for; else those of
     *     functions that have no code of their own
     */
    public List<SourceFunction> matching(BiPredicate<String, String> fits, boolean withInlined) {
        return found(new ScopeSearch(fits, "", false), withInlined);
    }

    private List<SourceFunction> found(ScopeSearch search, boolean withInlined) {
        looked = 0;
        for (EntryUnit unit : entries.everyUnit()) {
            if (!unit.isType()) {
                search.unit(unit);
            }
        }
        Map<DebugEntry, FoundFunction> wanted = search.found;
        if (!withInlined) {
            wanted = new LinkedHashMap<>(wanted);
            wanted.values().removeIf(one -> !one.own.isEmpty());
        }
        if (!wanted.isEmpty()) {
            inlined(wanted);
        }
        return search.found.values().stream()
                .map(FunctionSearch::whole)
                .filter(function -> !function.copies().isEmpty())
                .toList();
    }

    /**
     * A function by an entry that has its code, with all places where it was inlined.
     *
     * @param name that it is to bear
     */
    public SourceFunction of(DebugEntry entry, String name) throws MalformedInputException {
        looked = 0;
        DebugEntry original = entry.original();
        FoundFunction found = new FoundFunction(name, "", original);
        List<AddressRange> ranges = entry.ranges();
        if (!ranges.isEmpty()) {
            found.own.add(copy(entry, ranges));
        }
        inlined(Map.of(original, found));
        return whole(found);
    }

    private static SourceFunction whole(FoundFunction found) {
        List<FunctionCopy> copies = new ArrayList<>(found.own);
        copies.addAll(found.inlined);
        return new SourceFunction(found.name, found.scope, found.declared, List.copyOf(copies));
    }

    private void look() throws MalformedInputException {
        if (++looked > MOST_ENTRIES) {
            throw new MalformedInputException("DWARF", "entries", -1, "too many");
        }
    }

    /** Looks for functions in the scopes of names. */
    private final class ScopeSearch {
        private final BiPredicate<String, String> fits;
        private final String full;
        private final boolean qualified;
        private final Map<DebugEntry, FoundFunction> found = new LinkedHashMap<>();
        private final Map<DebugEntry, String> scopes = new HashMap<>();

        /** A full name is met with all name spaces before it, or the last of them. */
        ScopeSearch(BiPredicate<String, String> fits, String full, boolean qualified) {
            this.fits = fits;
            this.full = full;
            this.qualified = qualified;
        }

        void unit(EntryUnit unit) {
            try {
                in(unit.root(), "", 0);
            } catch (MalformedInputException e) {
                // The other units may have more.
                return;
            }
        }

        private void in(DebugEntry scope, String prefix, int depth) throws MalformedInputException {
            SectionCursor cursor = scope.unit.cursor(scope.next());
            while (scope.hasChildren() && cursor.hasMore()) {
                DebugEntry child = scope.unit.read(cursor);
                look();
                if (child == null) {
                    return;
                }
                if (child.tag() == DwarfTag.SUBPROGRAM) {
                    function(child, prefix);
                    if (full.equals(CALL)) {
                        inside(child, prefix + child.name() + "::", depth + 1);
                    }
                } else if (DwarfTag.isNameScope(child.tag())
                        && child.hasChildren()
                        && depth < MOST_DEPTH) {
                    in(child, prefix + scopeName(child), depth + 1);
                }
                cursor.seek(child.behind());
            }
        }

        private boolean fitsScope(String where) {
            String bare = where.replace(ANONYMOUS, "");
            return ends(where) || bare.length() < where.length() && ends(bare);
        }

        private boolean ends(String where) {
            return where.equals(full) || where.endsWith("::" + full);
        }

        /** Methods of local classes and lambdas, which have no names of their own to look for. */
        private void inside(DebugEntry in, String prefix, int depth)
                throws MalformedInputException {
            SectionCursor cursor = in.unit.cursor(in.next());
            while (in.hasChildren() && depth < MOST_DEPTH && cursor.hasMore()) {
                DebugEntry child = in.unit.read(cursor);
                look();
                if (child == null) {
                    return;
                }
                if (child.tag() == DwarfTag.LEXICAL_BLOCK) {
                    inside(child, prefix, depth + 1);
                } else if (DwarfTag.isNameScope(child.tag()) && child.hasChildren()) {
                    in(child, prefix + scopeName(child), depth + 1);
                }
                cursor.seek(child.behind());
            }
        }

        private void function(DebugEntry entry, String prefix) throws MalformedInputException {
            String name = entry.name();
            String symbol = entry.linkageName();
            boolean bySymbol = !full.isEmpty() && !qualified && symbol.equals(full);
            if (!bySymbol && !fits.test(name, symbol)) {
                return;
            }
            DebugEntry original = entry.original();
            if (original.equals(entry)) {
                scopes.put(entry, prefix);
            }
            String scope = scopes.getOrDefault(original, prefix);
            if (qualified && !fitsScope(scope + name) && !fitsScope(scope + plain(name))) {
                return;
            }
            FoundFunction function =
                    found.computeIfAbsent(original, _ -> new FoundFunction(name, scope, original));
            List<AddressRange> ranges = entry.ranges();
            if (!ranges.isEmpty()) {
                function.own.add(copy(entry, ranges));
            }
        }
    }

    private static String scopeName(DebugEntry scope) throws MalformedInputException {
        String name = scope.name();
        return name.isEmpty() && scope.tag() == DwarfTag.NAMESPACE
                ? ANONYMOUS
                : name.isEmpty() ? "" : name + "::";
    }

    private static FunctionCopy copy(DebugEntry entry, List<AddressRange> ranges)
            throws MalformedInputException {
        OptionalLong stated = OptionalLong.empty();
        if (entry.has(DwarfAttribute.ENTRY_PC)) {
            stated =
                    AttributeForms.isConstant(entry.form(DwarfAttribute.ENTRY_PC))
                            ? OptionalLong.of(
                                    ranges.getFirst().start() + entry.raw(DwarfAttribute.ENTRY_PC))
                            : entry.address(DwarfAttribute.ENTRY_PC);
        }
        if (stated.isEmpty()) {
            stated = entry.address(DwarfAttribute.LOW_PC);
        }
        return new FunctionCopy(entry, stated.orElse(ranges.getFirst().start()), ranges);
    }

    /** The second pass: inlined copies, in units that have the function or refer to others. */
    private void inlined(Map<DebugEntry, FoundFunction> found) {
        for (EntryUnit unit : entries.units()) {
            try {
                boolean own = found.keySet().stream().anyMatch(entry -> entry.unit == unit);
                if (!unit.isType()
                        && (own
                                || unit.abbreviations()
                                        .leaves(
                                                DwarfTag.INLINED_SUBROUTINE,
                                                DwarfAttribute.ABSTRACT_ORIGIN))) {
                    inlined(unit, found);
                }
            } catch (MalformedInputException e) {
                // The other units may have more.
                continue;
            }
        }
    }

    private void inlined(EntryUnit unit, Map<DebugEntry, FoundFunction> found)
            throws MalformedInputException {
        Set<DebugEntry> wanted = found.keySet();
        SectionCursor cursor = unit.cursor(unit.first());
        while (cursor.hasMore()) {
            look();
            DebugEntry entry = unit.read(cursor);
            if (entry == null || entry.tag() != DwarfTag.INLINED_SUBROUTINE) {
                continue;
            }
            DebugEntry origin = wantedOrigin(entry, wanted);
            FoundFunction function = origin == null ? null : found.get(origin);
            List<AddressRange> ranges = function == null ? List.of() : entry.ranges();
            if (function != null && !ranges.isEmpty()) {
                function.inlined.add(copy(entry, ranges));
            }
        }
    }

    private static @Nullable DebugEntry wantedOrigin(DebugEntry entry, Set<DebugEntry> wanted)
            throws MalformedInputException {
        int form = entry.form(DwarfAttribute.ABSTRACT_ORIGIN);
        if (form == 0) {
            return null;
        }
        DebugEntry origin = entry.reference(DwarfAttribute.ABSTRACT_ORIGIN);
        if (origin == null) {
            return null;
        }
        DebugEntry original = origin.original();
        return wanted.contains(original) ? original : null;
    }
}
