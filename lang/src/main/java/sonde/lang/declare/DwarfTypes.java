package sonde.lang.declare;

import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.format.MalformedInputException;
import sonde.format.dwarf.Die;
import sonde.format.dwarf.Dwarf;
import sonde.format.dwarf.LineTable;
import sonde.lang.bpftrace.syntax.TypeSyntax;
import sonde.lang.type.Type;
import sonde.symbol.Clones;

/**
 * Functions and types of a program from its debugging information. Pointers are the process's own.
 * A program without any gives null for everything. Not safe for several threads.
 */
public final class DwarfTypes implements TypeSource, AutoCloseable {
    private final List<DwarfMapping> parts;
    private final DebugFiles files;
    private final Map<String, Optional<Type>> types = new HashMap<>();
    private final Map<String, Optional<Signature>> functions = new HashMap<>();

    private DwarfTypes(List<DwarfMapping> parts, DebugFiles files) {
        this.parts = parts;
        this.files = files;
    }

    /**
     * Opens a program or library.
     *
     * @param debugFolders where separate debug files may be, besides the usual places
     * @throws IOException when it is no ELF file that can be read
     */
    public static DwarfTypes open(Path program, List<Path> debugFolders) throws IOException {
        DebugFiles files = DebugFiles.open(program, debugFolders);
        try {
            List<DwarfMapping> parts = new ArrayList<>();
            for (Dwarf dwarf : files.all()) {
                parts.add(new DwarfMapping(dwarf));
            }
            return new DwarfTypes(parts, files);
        } catch (IOException e) {
            files.close();
            throw e;
        }
    }

    private static final class Shared {
        static final Map<List<Object>, Optional<DwarfTypes>> ALL = new HashMap<>();
    }

    /**
     * A program, which stays open for the life of the process.
     *
     * @param debugFolders where separate debug files may be, besides the usual places
     * @return null for a program that cannot be read
     */
    public static @Nullable DwarfTypes shared(String program, List<Path> debugFolders) {
        synchronized (Shared.ALL) {
            return Shared.ALL
                    .computeIfAbsent(
                            List.of(program, debugFolders), _ -> readable(program, debugFolders))
                    .orElse(null);
        }
    }

    private static Optional<DwarfTypes> readable(String program, List<Path> debugFolders) {
        try {
            return Optional.of(open(Path.of(program), debugFolders));
        } catch (IOException | InvalidPathException e) {
            return Optional.empty();
        }
    }

    @Override
    public boolean isThere() {
        return !parts.isEmpty();
    }

    /**
     * The parameters of a function with where they are when it is entered; null for none.
     *
     * @param entry its address as stated in the ELF
     * @param arm whether the machine is AArch64, else x86-64
     */
    public @Nullable List<Argument> arguments(String name, long entry, boolean arm) {
        for (DwarfMapping part : parts) {
            try {
                Optional<Die> at = part.dwarf().functionAt(entry);
                Optional<Die> die = at.isPresent() ? at : part.dwarf().function(name);
                if (die.isPresent()) {
                    return new Arguments(part, die.get(), Clones.isClone(name), arm)
                            .at(at.isPresent() ? entry : -1);
                }
            } catch (MalformedInputException e) {
                return null;
            }
        }
        return null;
    }

    /** A function by its name or, for C++ and Rust, that of its symbol; null for none. */
    public @Nullable Signature function(String name) {
        return functions.computeIfAbsent(name, this::signature).orElse(null);
    }

    private Optional<Signature> signature(String name) {
        for (DwarfMapping part : parts) {
            Optional<Die> die = part.dwarf().function(name);
            if (die.isPresent()) {
                try {
                    return Optional.of(signature(part, die.get()));
                } catch (MalformedInputException e) {
                    return Optional.empty();
                }
            }
        }
        return Optional.empty();
    }

    private static Signature signature(DwarfMapping part, Die function)
            throws MalformedInputException {
        Dwarf dwarf = part.dwarf();
        List<Signature.Parameter> parameters = new ArrayList<>();
        for (Die child : dwarf.children(function)) {
            if (child.tag() == Die.FORMAL_PARAMETER) {
                Optional<Die> type = dwarf.typeOf(child);
                parameters.add(
                        new Signature.Parameter(
                                dwarf.name(child), type(part, type), part.spelling(type)));
            }
        }
        Optional<Die> result = dwarf.typeOf(function);
        return new Signature(parameters, type(part, result), part.spelling(result), 0, "");
    }

    private static Type type(DwarfMapping part, Optional<Die> die) {
        return die.map(part::type).orElseGet(Type.Void::new);
    }

    @Override
    public @Nullable Type type(TypeSyntax.Kind kind, String name) {
        Set<Integer> tags =
                switch (kind) {
                    case STRUCT -> DwarfMapping.STRUCTURES;
                    case UNION -> Set.of(Die.UNION_TYPE);
                    case ENUM -> Set.of(Die.ENUMERATION_TYPE);
                    case PLAIN -> Set.of(Die.TYPEDEF, Die.BASE_TYPE);
                };
        return types.computeIfAbsent(
                        kind + " " + name,
                        _ -> {
                            for (DwarfMapping part : parts) {
                                Optional<Die> die = part.dwarf().type(tags, name);
                                if (die.isPresent()) {
                                    return Optional.of(part.type(die.get()));
                                }
                            }
                            return Optional.empty();
                        })
                .orElse(null);
    }

    /**
     * Where a line of source is.
     *
     * @param address as stated in the ELF, 0 where there is none
     * @param problem why there is none, else empty
     */
    public record LineAddress(long address, String problem) {}

    /**
     * The first instruction of a line.
     *
     * @param file the last parts of its path
     * @param column 0 for any
     */
    public LineAddress address(String file, int line, int column) {
        String path = "";
        List<LineTable> tables = new ArrayList<>();
        for (DwarfMapping part : parts) {
            for (LineTable table : part.dwarf().lineTables()) {
                for (String one : table.files()) {
                    if (endsWith(one, file)) {
                        if (!path.isEmpty() && !path.equals(one)) {
                            return new LineAddress(
                                    0,
                                    "Ambiguous source path, matches multiple files: %s, %s"
                                            .formatted(path, one));
                        }
                        path = one;
                        tables.add(table);
                    }
                }
            }
        }
        if (path.isEmpty()) {
            return new LineAddress(0, "No compilation unit matches " + file);
        }
        for (LineTable table : tables) {
            try {
                OptionalLong address = table.address(path, line, column);
                if (address.isPresent()) {
                    return new LineAddress(address.getAsLong(), "");
                }
            } catch (MalformedInputException e) {
                // Another unit may have the line.
                continue;
            }
        }
        String place = file + ":" + line + (column > 0 ? ":" + column : "");
        return new LineAddress(0, "Unable to map '" + place + "' to address");
    }

    /** Whether the last parts of a path are those. */
    private static boolean endsWith(String path, String parts) {
        return !parts.isEmpty() && (path.equals(parts) || path.endsWith("/" + parts));
    }

    /** None: constants of programs are asked for with their enumeration. */
    @Override
    public @Nullable Long constant(String enumerator) {
        return null;
    }

    /** Unmaps the files; structures whose members were not looked at must not be used then. */
    @Override
    public void close() {
        files.close();
    }
}
