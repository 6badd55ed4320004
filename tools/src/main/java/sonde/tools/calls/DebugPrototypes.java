package sonde.tools.calls;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.location.DebugEntries;
import sonde.binary.dwarf.location.DebugEntry;
import sonde.binary.dwarf.location.DwarfAttribute;
import sonde.binary.dwarf.location.DwarfTag;
import sonde.binary.dwarf.location.FrameRules;
import sonde.binary.dwarf.location.SourceScope;
import sonde.binary.dwarf.location.SourceScopes;
import sonde.binary.elf.ElfFile;
import sonde.recording.library.LibraryPrototype;
import sonde.recording.library.LibraryPrototype.CValueKind;
import sonde.recording.library.LibraryPrototype.CValueType;
import sonde.symbol.CloneSuffix;
import sonde.symbol.ctype.CallingConvention;
import sonde.symbol.ctype.CallingConvention.ConventionMachine;
import sonde.symbol.ctype.CallingConvention.ParameterHome;
import sonde.symbol.ctype.CallingConvention.ParameterHome.HomeReference;
import sonde.symbol.ctype.CallingConvention.ParameterHome.HomeRegisters;
import sonde.symbol.ctype.DwarfSourceTypes;
import sonde.symbol.ctype.SourceType;
import sonde.symbol.ctype.SourceType.Enumeration;
import sonde.symbol.ctype.SourceType.Kind;
import sonde.symbol.ctype.SourceType.NumberType;
import sonde.symbol.files.DebugSearch;
import sonde.symbol.files.FilePlace;
import sonde.symbol.files.OpenDebug;
import sonde.symbol.files.RequiredContent;
import sonde.symbol.files.SearchFolders;
import sonde.sys.TargetFile;

/** Types of the functions of an object, as its debugging information states them. */
final class DebugPrototypes implements AutoCloseable {
    /** Each is looked up among the functions of its source file. */
    private static final int MOST_FUNCTIONS = 2000;

    private static final int MOST_NAMES = 256;
    private static final int NOT_CALLED_AS_STATED = 3; // DW_CC_nocall

    private final TargetFile file;
    private final ElfFile elf;
    private final OpenDebug debug;
    private final @Nullable SourceScopes scopes;
    private final DwarfSourceTypes types;
    private int asked;

    private DebugPrototypes(String root, TracedObject object) throws IOException {
        file = object.open(root);
        try {
            elf = ElfFile.of(file);
            debug =
                    OpenDebug.of(
                            new DebugSearch(SearchFolders.here()),
                            FilePlace.in(root, object.path()),
                            elf,
                            RequiredContent.ENTRIES);
        } catch (IOException | RuntimeException e) {
            file.close();
            throw e;
        }
        try {
            DebugEntries entries = debug.entries(_ -> {});
            scopes = entries.units().isEmpty() ? null : new SourceScopes(entries, FrameRules.NONE);
            types = new DwarfSourceTypes(entries);
        } catch (IOException | RuntimeException e) {
            close();
            throw e;
        }
    }

    /** Those of an object that a process has mapped. */
    static DebugPrototypes of(String root, TracedObject object) throws IOException {
        return new DebugPrototypes(root, object);
    }

    /**
     * The type of a function.
     *
     * @param offset where it begins in the file
     * @return empty when nothing is said, or the compiler calls it in another way
     */
    Optional<LibraryPrototype> of(String symbol, long offset) {
        if (scopes == null || CloneSuffix.isClone(symbol) || ++asked > MOST_FUNCTIONS) {
            return Optional.empty();
        }
        try {
            long address = elf.addressOf(offset);
            SourceScope scope = scopes.at(address).orElse(null);
            DebugEntry function = scope == null ? null : scope.functions().getFirst();
            return function == null || !CallingConvention.isOf(function.unit().language())
                    ? Optional.empty()
                    : prototype(function);
        } catch (MalformedInputException | InternalError e) {
            return Optional.empty();
        }
    }

    private Optional<LibraryPrototype> prototype(DebugEntry function)
            throws MalformedInputException {
        if (function.constant(DwarfAttribute.CALLING_CONVENTION, 0) == NOT_CALLED_AS_STATED) {
            return Optional.empty();
        }
        CallingConvention convention =
                new CallingConvention(types.layout(), ConventionMachine.X86_64);
        DebugEntry returned = function.type();
        ParameterHome home = convention.result(returned);
        List<CValueType> arguments = new ArrayList<>();
        if (home instanceof HomeReference) {
            arguments.add(CValueType.number(CValueKind.HIDDEN, Long.SIZE, false));
        }
        boolean variadic = false;
        String last = "";
        for (DebugEntry child : function.children()) {
            if (child.tag() == DwarfTag.FORMAL_PARAMETER) {
                DebugEntry type = child.type();
                arguments.add(value(types.type(type), convention.next(type)));
                last = child.name();
            }
            variadic |= child.tag() == DwarfTag.UNSPECIFIED_PARAMETERS;
        }
        int end = arguments.size() - 1;
        if (variadic
                && end >= 0
                && last.matches("(?i).*(fmt|format).*")
                && arguments.get(end).kind() == CValueKind.STRING) {
            arguments.set(end, CValueType.number(CValueKind.FORMAT, Long.SIZE, false));
        }
        CValueType result =
                returned == null
                        ? CValueType.number(CValueKind.NOTHING, 0, false)
                        : value(types.type(returned), home);
        return Optional.of(new LibraryPrototype(arguments, variadic, result, true));
    }

    private static CValueType value(SourceType stated, ParameterHome home) {
        SourceType type = stated.plain();
        int bits = (int) Math.min(Long.SIZE, 8 * type.sizeBytes());
        if (type instanceof SourceType.Pointer pointer) {
            return address(pointer);
        }
        if (type instanceof Enumeration names && bits > 0) {
            return CValueType.number(CValueKind.INTEGER, bits, names.isSigned())
                    .named(names(names));
        }
        if (type instanceof NumberType number && type.sizeBytes() <= Long.BYTES && bits > 0) {
            if (number.kind() == Kind.FLOATING) {
                return CValueType.number(CValueKind.FLOATING, bits, true);
            }
            boolean isChar = number.name().equals("char");
            return CValueType.number(
                    isChar ? CValueKind.CHAR : CValueKind.INTEGER, bits, number.isSigned());
        }
        return switch (home) {
            case HomeRegisters registers ->
                    CValueType.number(CValueKind.AGGREGATE, Long.SIZE * registers.count(), false);
            case HomeReference _ -> CValueType.number(CValueKind.ADDRESS, Long.SIZE, false);
            case ParameterHome.HomeStack _, ParameterHome.HomeUnread _ ->
                    CValueType.number(CValueKind.AGGREGATE, 0, false);
        };
    }

    private static CValueType address(SourceType.Pointer pointer) {
        SourceType target = pointer.target().get().plain();
        if (target instanceof SourceType.Prototype) {
            return CValueType.number(CValueKind.FUNCTION, Long.SIZE, false);
        }
        boolean isText = target instanceof NumberType number && number.name().equals("char");
        return CValueType.number(
                isText && !pointer.isReference() ? CValueKind.STRING : CValueKind.ADDRESS,
                Long.SIZE,
                false);
    }

    /** Names of single numbers; those of flags are not put together. */
    private static Map<Long, String> names(Enumeration type) {
        Map<Long, String> names = new HashMap<>();
        type.constants().get().stream()
                .limit(MOST_NAMES)
                .forEach(one -> names.putIfAbsent(one.value(), one.name()));
        return names;
    }

    /** That some functions were not looked up. */
    Optional<String> note() {
        return asked <= MOST_FUNCTIONS
                ? Optional.empty()
                : Optional.of(
                        "the types of "
                                + (asked - MOST_FUNCTIONS)
                                + " functions were not looked up; name fewer with -x");
    }

    @Override
    public void close() {
        debug.close();
        file.close();
    }
}
