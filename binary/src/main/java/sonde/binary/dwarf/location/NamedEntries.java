package sonde.binary.dwarf.location;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;

/**
 * Finds functions and types by their names; indexes of the file say which units come first. A
 * malformed unit is passed over. Not safe for several threads.
 */
public final class NamedEntries {
    /** Entries that a search looks at: more than Chromium has. */
    private static final long MOST_ENTRIES = 200_000_000;

    private static final int MOST_DEPTH = 16;

    private final DebugEntries entries;

    /** Finds entries of a file. */
    public NamedEntries(DebugEntries entries) {
        this.entries = entries;
    }

    /** The function of a name or linkage name, its definition if there is one. */
    public Optional<DebugEntry> function(String name) {
        Search search = new Search(Set.of(DwarfTag.SUBPROGRAM), name, false);
        search.run();
        return Optional.ofNullable(
                search.definition == null ? search.declaration : search.definition);
    }

    /**
     * The definition of a type of a name; of a declaration nothing.
     *
     * @param tags DW_TAG_* that it may have
     * @param name with name spaces and classes before it, or some of the last, or none: {@code
     *     shop::Item}
     */
    public Optional<DebugEntry> type(Set<Integer> tags, String name) {
        return type(tags, name, false);
    }

    /** As {@link #type}, of a type that a function has for itself; this reads all entries. */
    public Optional<DebugEntry> localType(Set<Integer> tags, String name) {
        return type(tags, name, true);
    }

    private Optional<DebugEntry> type(Set<Integer> tags, String name, boolean inFunctions) {
        Search search = new Search(tags, name, inFunctions);
        search.run();
        return Optional.ofNullable(search.definition);
    }

    /** Looks for a name in the scopes of names, up to the first definition. */
    private final class Search {
        private final Set<Integer> tags;
        private final byte[] name;
        private final String text;
        private final String scopes;
        private final boolean inFunctions;
        private final List<DebugEntry> around = new ArrayList<>();
        private long looked;
        private @Nullable DebugEntry definition;
        private @Nullable DebugEntry declaration;

        Search(Set<Integer> tags, String name, boolean inFunctions) {
            this.tags = tags;
            this.inFunctions = inFunctions;
            int last = FunctionSearch.lastPart(name);
            this.text = name.substring(last);
            this.scopes = name.substring(0, last);
            this.name = text.getBytes(StandardCharsets.UTF_8);
        }

        void run() {
            for (EntryUnit unit : entries.unitsFor(text)) {
                around.clear();
                try {
                    if (!in(unit.root(), 0)) {
                        return;
                    }
                } catch (MalformedInputException e) {
                    // The other units may have it.
                    continue;
                }
            }
        }

        /** Whether to go on. */
        private boolean in(DebugEntry scope, int depth) throws MalformedInputException {
            scope.eachChild(child -> look(child, depth));
            return definition == null;
        }

        private boolean look(DebugEntry entry, int depth) throws MalformedInputException {
            if (++looked > MOST_ENTRIES) {
                throw new MalformedInputException("DWARF", "entries", entry.offset(), "too many");
            }
            int tag = entry.tag();
            if (tags.contains(tag) && entry.isNamed(name) && isAround()) {
                if (!entry.flag(DwarfAttribute.DECLARATION)) {
                    definition = entry;
                    return false;
                }
                declaration = declaration == null ? entry : declaration;
            }
            if (!isScope(tag) || depth >= MOST_DEPTH) {
                return true;
            }
            around.add(entry);
            boolean goesOn = in(entry, depth + 1);
            around.removeLast();
            return goesOn;
        }

        private boolean isScope(int tag) {
            return switch (tag) {
                case DwarfTag.NAMESPACE,
                        DwarfTag.STRUCTURE_TYPE,
                        DwarfTag.CLASS_TYPE,
                        DwarfTag.UNION_TYPE ->
                        true;
                case DwarfTag.SUBPROGRAM, DwarfTag.LEXICAL_BLOCK -> inFunctions;
                default -> false;
            };
        }

        /** Whether the name spaces that were said are those around; unnamed ones do not count. */
        private boolean isAround() throws MalformedInputException {
            if (scopes.isEmpty()) {
                return true;
            }
            StringBuilder here = new StringBuilder("::");
            for (DebugEntry one : around) {
                String known = one.name();
                here.append(known).append(known.isEmpty() ? "" : "::");
            }
            return here.toString().endsWith("::" + scopes);
        }
    }
}
