package sonde.format.dwarf.location;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import sonde.format.MalformedInputException;
import sonde.format.dwarf.section.Forms;
import sonde.format.dwarf.section.SectionCursor;

/**
 * Finds functions by name, with the places where they were inlined. A unit that is damaged is
 * passed over. Not safe for several threads.
 */
public final class Functions {
    private static final int MOST_DEPTH = 32;

    /** Entries that a search looks at: more than Chromium has. */
    private static final long MOST_ENTRIES = 500_000_000;

    private final Entries entries;
    private long looked;

    /** Of a file. */
    public Functions(Entries entries) {
        this.entries = entries;
    }

    /** What was found of one function of the source. */
    private static final class Found {
        private final String name;
        private final Entry declared;
        private final List<FunctionCopy> own = new ArrayList<>();
        private final List<FunctionCopy> inlined = new ArrayList<>();

        Found(String name, Entry declared) {
            this.name = name;
            this.declared = declared;
        }
    }

    /**
     * Functions of a name: that of the source, with name spaces before it or not, or the symbol.
     * Several when files have functions of one name of their own.
     */
    public List<SourceFunction> named(String name) {
        int colons = name.lastIndexOf("::");
        String last = colons < 0 ? name : name.substring(colons + 2);
        // A template is found by its name without arguments too.
        return find(one -> one.equals(last) || plain(one).equals(last), name, colons >= 0, true);
    }

    private static String plain(String name) {
        int bracket = name.indexOf('<');
        return bracket > 0 && !name.startsWith("operator") ? name.substring(0, bracket) : name;
    }

    /** Functions whose name in the source fits; without the places where they were inlined. */
    public List<SourceFunction> matching(Predicate<String> fits) {
        return find(fits, "", false, false);
    }

    private List<SourceFunction> find(
            Predicate<String> fits, String full, boolean qualified, boolean withInlined) {
        looked = 0;
        Map<Entry, Found> found = new LinkedHashMap<>();
        Search search = new Search(fits, full, qualified, found);
        for (EntryUnit unit : entries.everyUnit()) {
            if (!unit.isType()) {
                search.unit(unit);
            }
        }
        if (withInlined && !found.isEmpty()) {
            inlined(found);
        }
        return found.values().stream()
                .map(Functions::whole)
                .filter(function -> !function.copies().isEmpty())
                .toList();
    }

    private static SourceFunction whole(Found found) {
        List<FunctionCopy> copies = new ArrayList<>(found.own);
        copies.addAll(found.inlined);
        return new SourceFunction(found.name, found.declared, List.copyOf(copies));
    }

    private void look() throws MalformedInputException {
        if (++looked > MOST_ENTRIES) {
            throw new MalformedInputException("DWARF", "entries", -1, "too many");
        }
    }

    /** Looks for functions in the scopes of names. */
    private final class Search {
        private final Predicate<String> fits;
        private final String full;
        private final boolean qualified;
        private final Map<Entry, Found> found;
        private final Map<Entry, String> scopes = new HashMap<>();

        Search(Predicate<String> fits, String full, boolean qualified, Map<Entry, Found> found) {
            this.fits = fits;
            this.full = full;
            this.qualified = qualified;
            this.found = found;
        }

        void unit(EntryUnit unit) {
            try {
                in(unit.root(), "", 0);
            } catch (MalformedInputException e) {
                // The other units may have more.
                return;
            }
        }

        private void in(Entry scope, String prefix, int depth) throws MalformedInputException {
            SectionCursor cursor = scope.unit.cursor(scope.next());
            while (scope.hasChildren() && cursor.hasMore()) {
                Entry child = scope.unit.read(cursor);
                look();
                if (child == null) {
                    return;
                }
                if (child.tag() == Tag.SUBPROGRAM) {
                    function(child, prefix);
                } else if (Tag.isNameScope(child.tag())
                        && child.hasChildren()
                        && depth < MOST_DEPTH) {
                    in(child, qualified ? prefix + child.name() + "::" : prefix, depth + 1);
                }
                cursor.seek(child.behind());
            }
        }

        private boolean fitsScope(String where) {
            return where.equals(full) || where.endsWith("::" + full);
        }

        private void function(Entry entry, String prefix) throws MalformedInputException {
            String name = entry.name();
            boolean symbol = !full.isEmpty() && !qualified && entry.linkageName().equals(full);
            if (!symbol && !fits.test(name)) {
                return;
            }
            Entry original = entry.original();
            if (qualified) {
                if (original.equals(entry)) {
                    scopes.put(entry, prefix);
                }
                String scope = scopes.getOrDefault(original, prefix);
                if (!fitsScope(scope + name) && !fitsScope(scope + plain(name))) {
                    return;
                }
            }
            Found function = found.computeIfAbsent(original, _ -> new Found(name, original));
            List<AddressRange> ranges = entry.ranges();
            if (!ranges.isEmpty()) {
                function.own.add(copy(entry, ranges));
            }
        }
    }

    private static FunctionCopy copy(Entry entry, List<AddressRange> ranges)
            throws MalformedInputException {
        OptionalLong stated = OptionalLong.empty();
        if (entry.has(Attribute.ENTRY_PC)) {
            stated =
                    Forms.isConstant(entry.form(Attribute.ENTRY_PC))
                            ? OptionalLong.of(
                                    ranges.getFirst().start() + entry.raw(Attribute.ENTRY_PC))
                            : entry.address(Attribute.ENTRY_PC);
        }
        if (stated.isEmpty()) {
            stated = entry.address(Attribute.LOW_PC);
        }
        return new FunctionCopy(entry, stated.orElse(ranges.getFirst().start()), ranges);
    }

    /** The second pass: inlined copies, in units that have the function or refer to others. */
    private void inlined(Map<Entry, Found> found) {
        for (EntryUnit unit : entries.units()) {
            try {
                boolean own = found.keySet().stream().anyMatch(entry -> entry.unit == unit);
                if (!unit.isType()
                        && (own
                                || unit.abbreviations()
                                        .leaves(
                                                Tag.INLINED_SUBROUTINE,
                                                Attribute.ABSTRACT_ORIGIN))) {
                    inlined(unit, found);
                }
            } catch (MalformedInputException e) {
                // The other units may have more.
                continue;
            }
        }
    }

    private void inlined(EntryUnit unit, Map<Entry, Found> found) throws MalformedInputException {
        Set<Entry> wanted = found.keySet();
        SectionCursor cursor = unit.cursor(unit.first());
        while (cursor.hasMore()) {
            look();
            Entry entry = unit.read(cursor);
            if (entry == null || entry.tag() != Tag.INLINED_SUBROUTINE) {
                continue;
            }
            Entry origin = wantedOrigin(entry, wanted);
            Found function = origin == null ? null : found.get(origin);
            List<AddressRange> ranges = function == null ? List.of() : entry.ranges();
            if (function != null && !ranges.isEmpty()) {
                function.inlined.add(copy(entry, ranges));
            }
        }
    }

    private static @Nullable Entry wantedOrigin(Entry entry, Set<Entry> wanted)
            throws MalformedInputException {
        int form = entry.form(Attribute.ABSTRACT_ORIGIN);
        if (form == 0) {
            return null;
        }
        Entry origin = entry.reference(Attribute.ABSTRACT_ORIGIN);
        if (origin == null) {
            return null;
        }
        Entry original = origin.original();
        return wanted.contains(original) ? original : null;
    }
}
