package sonde.lang.declare;

import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.location.DebugEntries;
import sonde.binary.dwarf.location.DebugEntry;
import sonde.binary.dwarf.location.DwarfTag;
import sonde.binary.dwarf.location.EntryUnit;
import sonde.binary.dwarf.location.FrameRules;
import sonde.binary.dwarf.location.LineRows;
import sonde.binary.dwarf.location.SourceScopes;
import sonde.lang.bpftrace.syntax.TypeSyntax;
import sonde.lang.declare.FunctionSignature.SignatureParameter;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.PointerSpace;
import sonde.symbol.CloneSuffix;
import sonde.symbol.ctype.DwarfSourceTypes;
import sonde.symbol.ctype.NamedTypes.NameSpace;
import sonde.symbol.ctype.SourceType;
import sonde.symbol.ctype.TypeLayout;
import sonde.symbol.files.DebugSearch;
import sonde.symbol.files.FilePlace;
import sonde.symbol.files.OpenDebug;
import sonde.symbol.files.OpenElf;
import sonde.symbol.files.RequiredContent;
import sonde.symbol.files.SearchFolders;

/**
 * Functions and types of a program from its debugging information. Pointers are the process's own.
 * A program without any gives null for everything. Not safe for several threads.
 */
public final class DwarfTypes implements TypeSource, AutoCloseable {
    private final OpenElf program;
    private final OpenDebug debug;
    private final DebugEntries entries;
    private final SourceScopes scopes;
    private final DwarfSourceTypes source;
    private final ScriptTypes made = new ScriptTypes(PointerSpace.USER);
    private final Map<String, Optional<FunctionSignature>> functions = new HashMap<>();

    private DwarfTypes(OpenElf program, OpenDebug debug) throws IOException {
        this.program = program;
        this.debug = debug;
        this.entries = debug.entries(_ -> {});
        this.scopes = new SourceScopes(entries, FrameRules.NONE);
        this.source = new DwarfSourceTypes(entries);
    }

    /**
     * Opens a program or library.
     *
     * @param debugFolders where separate debug files may be, besides the usual places; one that is
     *     not absolute also means that folder beside the program
     * @throws IOException when it is not an ELF file that can be read
     */
    public static DwarfTypes open(Path program, List<Path> debugFolders) throws IOException {
        Path path = program.toAbsolutePath().normalize();
        Set<String> folders = new LinkedHashSet<>();
        for (Path folder : debugFolders) {
            folders.add(folder.toAbsolutePath().toString());
            folders.add(path.resolveSibling(folder).toString());
        }
        DebugSearch search = new DebugSearch(SearchFolders.here().withUser(List.copyOf(folders)));
        FilePlace place = FilePlace.named(path.toString());
        OpenElf file = OpenElf.asIs(place);
        OpenDebug debug = null;
        try {
            debug = OpenDebug.of(search, place, file.elf(), RequiredContent.ENTRIES);
            return new DwarfTypes(file, debug);
        } catch (IOException | RuntimeException e) {
            if (debug != null) {
                debug.close();
            }
            file.close();
            throw e;
        }
    }

    private static final class SharedDwarfTypes {
        static final Map<List<Object>, Optional<DwarfTypes>> ALL = new HashMap<>();
    }

    /**
     * A program, which stays open for the life of the process.
     *
     * @param debugFolders where separate debug files may be, besides the usual places
     * @return null for a program that cannot be read
     */
    public static @Nullable DwarfTypes shared(String program, List<Path> debugFolders) {
        synchronized (SharedDwarfTypes.ALL) {
            return SharedDwarfTypes.ALL
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
        return !entries.units().isEmpty();
    }

    /** What an address can see. */
    SourceScopes scopes() {
        return scopes;
    }

    /** Sizes and members as the calling convention asks for them. */
    TypeLayout layout() {
        return source.layout();
    }

    /** The type of an entry; null stands for void. */
    ValueType type(@Nullable DebugEntry entry) {
        return made.type(source.type(entry));
    }

    /**
     * The parameters of a function with where they are when it is entered; null for none.
     *
     * @param entry its address as stated in the ELF
     * @param arm whether the machine is AArch64, else x86-64
     */
    public @Nullable List<EntryArgument> arguments(String name, long entry, boolean arm) {
        try {
            Optional<DebugEntry> at = scopes.at(entry).map(scope -> scope.functions().getFirst());
            Optional<DebugEntry> function = at.or(() -> layout().named().function(name));
            return function.isEmpty()
                    ? null
                    : new EntryArguments(this, function.get(), CloneSuffix.isClone(name), arm)
                            .at(at.isPresent() ? entry : -1);
        } catch (MalformedInputException e) {
            return null;
        }
    }

    /** A function by its name or, for C++ and Rust, that of its symbol; null for none. */
    public @Nullable FunctionSignature function(String name) {
        return functions
                .computeIfAbsent(name, _ -> layout().named().function(name).map(this::signature))
                .orElse(null);
    }

    private @Nullable FunctionSignature signature(DebugEntry function) {
        try {
            List<SignatureParameter> parameters = new ArrayList<>();
            for (DebugEntry child : function.children()) {
                if (child.tag() == DwarfTag.FORMAL_PARAMETER) {
                    SourceType type = source.type(child.type());
                    parameters.add(
                            new SignatureParameter(
                                    child.name(), made.type(type), ScriptTypes.spelling(type)));
                }
            }
            SourceType result = source.type(function.type());
            return new FunctionSignature(
                    parameters, made.type(result), ScriptTypes.spelling(result), 0, "");
        } catch (MalformedInputException e) {
            return null;
        }
    }

    @Override
    public @Nullable ValueType type(TypeSyntax.Kind kind, String name) {
        return source.find(space(kind), name).map(made::type).orElse(null);
    }

    /** The name space of C that a word of a script is in. */
    static NameSpace space(TypeSyntax.Kind kind) {
        return switch (kind) {
            case STRUCT -> NameSpace.STRUCT;
            case UNION -> NameSpace.UNION;
            case ENUM -> NameSpace.ENUM;
            case PLAIN -> NameSpace.PLAIN;
        };
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
        List<EntryUnit> units = new ArrayList<>();
        for (EntryUnit unit : entries.units()) {
            for (String one : unit.isType() ? List.<String>of() : files(unit)) {
                if (endsWith(one, file)) {
                    if (!path.isEmpty() && !path.equals(one)) {
                        return new LineAddress(
                                0,
                                "Ambiguous source path, matches multiple files: %s, %s"
                                        .formatted(path, one));
                    }
                    path = one;
                    units.add(unit);
                }
            }
        }
        if (path.isEmpty()) {
            return new LineAddress(0, "No compilation unit matches " + file);
        }
        for (EntryUnit unit : units) {
            try {
                OptionalLong address = LineRows.of(unit).lowest(path, line, column);
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

    private static List<String> files(EntryUnit unit) {
        try {
            return LineRows.files(unit);
        } catch (MalformedInputException e) {
            // Its lines are lost, those of other units are not.
            return List.of();
        }
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
        debug.close();
        program.close();
    }
}
