package sonde.format.dwarf;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.format.MalformedInputException;
import sonde.format.dwarf.location.Attribute;
import sonde.format.dwarf.location.Entries;
import sonde.format.dwarf.location.Entry;
import sonde.format.dwarf.location.EntryUnit;
import sonde.format.dwarf.location.FrameRules;
import sonde.format.dwarf.location.Functions;
import sonde.format.dwarf.location.Scopes;
import sonde.format.elf.ElfFile;

/**
 * Functions and types of an ELF file's debugging information, DWARF 2 to 5, by their names. Opening
 * looks at the headers of units alone; entries are read when asked for. A malformed unit is passed
 * over. Not safe for several threads.
 */
public final class Dwarf {
    /** Entries that a search looks at: more than Chromium has. */
    private static final long MOST_ENTRIES = 200_000_000;

    private static final int MOST_DEPTH = 16;

    private final Entries entries;

    /** Of entries that are open already, with those of other files. */
    public Dwarf(Entries entries) {
        this.entries = entries;
    }

    /**
     * Of a program, library or separate debug file; without any entries when it has none.
     *
     * @throws MalformedInputException when a section lies outside of the file
     */
    public static Dwarf read(ElfFile elf) throws MalformedInputException {
        return new Dwarf(Entries.read(elf));
    }

    /** Of a {@code .dwo} file, which has what skeleton units leave out. */
    public static Dwarf readSplit(ElfFile elf) throws MalformedInputException {
        return new Dwarf(Entries.readSplit(elf));
    }

    /** The entries themselves. */
    public Entries entries() {
        return entries;
    }

    /** Whether there is nothing. */
    public boolean isEmpty() {
        return entries.units().isEmpty();
    }

    private static @Nullable Entry root(EntryUnit unit) {
        try {
            return unit.root();
        } catch (MalformedInputException e) {
            return null;
        }
    }

    /** The files that skeleton units leave to others: name, and the folder that it counts from. */
    public List<String[]> splitFiles() {
        List<String[]> files = new ArrayList<>();
        for (EntryUnit unit : entries.units()) {
            Entry root = root(unit);
            try {
                String name = root == null ? "" : root.splitName();
                if (root != null && !name.isEmpty()) {
                    files.add(new String[] {root.text(Attribute.COMP_DIR), name});
                }
            } catch (MalformedInputException e) {
                // Its file is missing, those of other units are not.
                continue;
            }
        }
        return files;
    }

    /** The lines of all units; malformed tables are left out. */
    public List<LineTable> lineTables() {
        List<LineTable> tables = new ArrayList<>();
        for (EntryUnit unit : entries.units()) {
            try {
                if (!unit.isType() && unit.root().has(Attribute.STMT_LIST)) {
                    tables.add(new LineTable(unit, entries.elf()));
                }
            } catch (MalformedInputException e) {
                // Its places are missing, those of other units are not.
                continue;
            }
        }
        return tables;
    }

    /**
     * What an entry contains.
     *
     * @throws MalformedInputException when the entries of its unit are malformed
     */
    public List<Die> children(Die die) throws MalformedInputException {
        return die.entry.children().stream().map(Die::new).toList();
    }

    /** The function of a name or linkage name, its definition if there is one. */
    public Optional<Die> function(String name) {
        Search search = new Search(Set.of(Die.SUBPROGRAM), name, false);
        search.run();
        Entry found = search.definition == null ? search.declaration : search.definition;
        return Optional.ofNullable(found).map(Die::new);
    }

    /**
     * The definition of a type of a name; of a declaration nothing.
     *
     * @param name with name spaces and classes before it, or some of the last, or none: {@code
     *     shop::Item}
     */
    public Optional<Die> type(Set<Integer> tags, String name) {
        return type(tags, name, false);
    }

    /** As {@link #type}, of a type that a function has for itself; this reads all entries. */
    public Optional<Die> localType(Set<Integer> tags, String name) {
        return type(tags, name, true);
    }

    private Optional<Die> type(Set<Integer> tags, String name, boolean inFunctions) {
        Search search = new Search(tags, name, inFunctions);
        search.run();
        return Optional.ofNullable(search.definition).map(Die::new);
    }

    /** Looks for a name in the scopes of names, up to the first definition. */
    private final class Search {
        private final Set<Integer> tags;
        private final byte[] name;
        private final String text;
        private final String scopes;
        private final boolean inFunctions;
        private final List<Entry> around = new ArrayList<>();
        private long looked;
        private @Nullable Entry definition;
        private @Nullable Entry declaration;

        Search(Set<Integer> tags, String name, boolean inFunctions) {
            this.tags = tags;
            this.inFunctions = inFunctions;
            int last = Functions.lastPart(name);
            this.text = name.substring(last);
            this.scopes = name.substring(0, last);
            this.name = text.getBytes(StandardCharsets.UTF_8);
        }

        void run() {
            for (EntryUnit unit : entries.unitsFor(text)) {
                Entry root = root(unit);
                try {
                    if (root != null && !in(root, 0)) {
                        return;
                    }
                } catch (MalformedInputException e) {
                    // The other units may have it.
                    continue;
                }
            }
        }

        /** Whether to go on. */
        private boolean in(Entry scope, int depth) throws MalformedInputException {
            scope.eachChild(child -> look(child, depth));
            return definition == null;
        }

        private boolean look(Entry entry, int depth) throws MalformedInputException {
            if (++looked > MOST_ENTRIES) {
                throw new MalformedInputException("DWARF", "entries", entry.offset(), "too many");
            }
            int tag = entry.tag();
            if (tags.contains(tag) && entry.isNamed(name) && isAround()) {
                if (!entry.flag(Attribute.DECLARATION)) {
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
                case Die.NAMESPACE, Die.STRUCTURE_TYPE, Die.CLASS_TYPE, Die.UNION_TYPE -> true;
                case Die.SUBPROGRAM, Die.LEXICAL_BLOCK -> inFunctions;
                default -> false;
            };
        }

        /** Whether the name spaces that were said are those around; unnamed ones do not count. */
        private boolean isAround() throws MalformedInputException {
            if (scopes.isEmpty()) {
                return true;
            }
            StringBuilder here = new StringBuilder("::");
            for (Entry one : around) {
                String known = one.name();
                here.append(known).append(known.isEmpty() ? "" : "::");
            }
            return here.toString().endsWith("::" + scopes);
        }
    }

    /**
     * The function whose code has an address; where it was inlined, the function around it.
     *
     * @param address as stated in the ELF
     */
    public Optional<Die> functionAt(long address) throws MalformedInputException {
        return new Scopes(entries, FrameRules.NONE)
                .at(address)
                .map(scope -> new Die(scope.functions().getFirst()));
    }

    /** The name of an entry, or of the one that it completes; empty for none. */
    public String name(Die die) throws MalformedInputException {
        return die.entry.name();
    }

    /** What an entry is of: DW_AT_type; empty for void. */
    public Optional<Die> typeOf(Die die) throws MalformedInputException {
        Entry typed = die.entry.withOwn(Attribute.TYPE);
        return typed == null
                ? Optional.empty()
                : Optional.ofNullable(typed.reference(Attribute.TYPE)).map(Die::new);
    }

    /** The class that a pointer to member points into: DW_AT_containing_type. */
    public Optional<Die> containerOf(Die die) throws MalformedInputException {
        return Optional.ofNullable(die.entry.reference(Attribute.CONTAINING_TYPE)).map(Die::new);
    }

    /** Where the type of a declaration is defined in a unit of its own; empty elsewhere. */
    public Optional<Die> signed(Die die) throws MalformedInputException {
        return Optional.ofNullable(die.entry.reference(Attribute.SIGNATURE)).map(Die::new);
    }
}
