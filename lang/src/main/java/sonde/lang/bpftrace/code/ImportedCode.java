package sonde.lang.bpftrace.code;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.bpf.object.FunctionLibrary;
import sonde.bpf.object.ObjectException;
import sonde.bpf.object.ObjectFile;
import sonde.lang.bpftrace.code.Clang.ClangResult;
import sonde.lang.bpftrace.expand.CodeFile;
import sonde.lang.bpftrace.syntax.TypeSyntax;
import sonde.lang.declare.FunctionSignature;
import sonde.lang.declare.LibraryTypes;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceSpan;
import sonde.lang.type.ValueType;

/** The functions in C that a script imports. */
public final class ImportedCode {
    /** A script that imports none. */
    public static final ImportedCode NONE = new ImportedCode(null, null, Map.of(), List.of());

    private static final int MOST_BYTES = 64 << 20;
    private static final int MOST_LINES = 20;

    /** What follows is for who develops clang. */
    private static final String CRASH = "PLEASE submit a bug report";

    private final @Nullable FunctionLibrary library;
    private final @Nullable LibraryTypes types;
    private final Map<String, FunctionSignature> signatures;
    private final List<CodeFile> files;

    private ImportedCode(
            @Nullable FunctionLibrary library,
            @Nullable LibraryTypes types,
            Map<String, FunctionSignature> signatures,
            List<CodeFile> files) {
        this.library = library;
        this.types = types;
        this.signatures = signatures;
        this.files = files;
    }

    /** What they are put behind programs from; null for none. */
    public @Nullable FunctionLibrary library() {
        return library;
    }

    /** What its functions take and give, by name, with pointers into the kernel's memory. */
    public Map<String, FunctionSignature> signatures() {
        return signatures;
    }

    /** Numbers of the helpers that a function calls, or what it calls. */
    public Set<Integer> helpers(String function) {
        try {
            return library == null ? Set.of() : library.helpers(function);
        } catch (ObjectException e) {
            return Set.of(); // loading says it
        }
    }

    /** The file that has a static function of a name, which it alone may call; empty for none. */
    public Optional<String> ofStatic(String function) {
        return files.stream()
                .filter(file -> StaticFunctions.has(file, function))
                .findFirst()
                .map(CodeFile::name)
                .or(() ->
                        library == null || !library.hides(function)
                                ? Optional.empty()
                                : Optional.of(library.object().name()));
    }

    /** A type that they declare; null for none of that name. */
    public @Nullable ValueType type(TypeSyntax.Kind kind, String name) {
        return types == null ? null : types.type(kind, name);
    }

    /**
     * Compiles and reads; what is wrong is said at the import.
     *
     * @param environment where clang is found
     * @param folders of headers, to look in first
     */
    public static ImportedCode of(
            List<CodeFile> files,
            Map<String, String> environment,
            List<Path> folders,
            CompilerDiagnostics diagnostics) {
        if (files.isEmpty()) {
            return NONE;
        }
        SequencedMap<String, byte[]> objects = new LinkedHashMap<>();
        SequencedMap<String, SourceSpan> places = new LinkedHashMap<>();
        SourceSpan at = files.getFirst().span();
        try (Clang clang = Clang.find(environment, folders)) {
            for (CodeFile file : files) {
                at = file.span();
                byte[] object = file.isSource() ? compiled(file, clang, diagnostics) : read(file);
                String name = unique(file, objects);
                objects.put(name, object);
                places.put(name, file.span());
            }
        } catch (IOException e) {
            diagnostics.error(at, "import fails: " + visible(e.getMessage()));
        }
        return diagnostics.hasErrors() ? NONE : linked(files, objects, places, diagnostics);
    }

    /** Files of one name in two folders are two objects. */
    private static String unique(CodeFile file, Map<String, byte[]> taken) {
        String plain = file.name().substring(file.name().lastIndexOf('/') + 1);
        String name = plain;
        for (int i = 2; taken.containsKey(name); i++) {
            name = plain + " (" + i + ")";
        }
        return name;
    }

    private static byte[] read(CodeFile file) throws IOException {
        Path path = Path.of(file.name());
        if (Files.size(path) > MOST_BYTES) {
            throw new IOException("this file is too long to be imported: " + path);
        }
        return Files.readAllBytes(path);
    }

    private static byte[] compiled(
            CodeFile file, @Nullable Clang clang, CompilerDiagnostics diagnostics)
            throws IOException {
        if (clang == null) {
            diagnostics.error(
                    file.span(),
                    "functions in C need clang, which is not here",
                    "apt-get install clang, or name one in "
                            + Clang.VARIABLE
                            + "; what is compiled already (.bpf.o) needs none");
            return new byte[0];
        }
        ClangResult result = clang.compile(file);
        String words = visible(result.words());
        if (result.object().length == 0) {
            diagnostics.error(file.span(), "clang does not compile " + file.name(), words);
        } else if (!words.isEmpty()) {
            diagnostics.warning(file.span(), "clang warns of " + file.name(), words);
        }
        return result.object();
    }

    private static ImportedCode linked(
            List<CodeFile> files,
            SequencedMap<String, byte[]> objects,
            SequencedMap<String, SourceSpan> places,
            CompilerDiagnostics diagnostics) {
        SourceSpan first = places.firstEntry().getValue();
        try {
            FunctionLibrary library = FunctionLibrary.of(ObjectFile.of(objects));
            LibraryTypes types = new LibraryTypes(library.types());
            Map<String, FunctionSignature> signatures = new LinkedHashMap<>();
            for (String name : library.names()) {
                signatures.put(name, types.signature(library.prototype(name)));
            }
            return new ImportedCode(library, types, signatures, List.copyOf(files));
        } catch (ObjectException e) {
            SourceSpan span = places.getOrDefault(e.place().object(), first);
            diagnostics.error(span, visible(e.getMessage()));
        } catch (MalformedInputException e) {
            diagnostics.error(first, visible(e.getMessage()));
        }
        return NONE;
    }

    /** The first lines, without what terminals obey. */
    private static String visible(@Nullable String words) {
        StringBuilder out = new StringBuilder();
        String all = String.valueOf(words).strip();
        all.lines()
                .limit(MOST_LINES)
                .takeWhile(line -> !line.startsWith(CRASH))
                .forEach(line -> {
                    out.append(out.isEmpty() ? "" : "\n");
                    line.chars().forEach(c -> append((char) c, out));
                });
        return out.toString();
    }

    private static void append(char c, StringBuilder out) {
        if (c == '\t') {
            out.append(' ');
        } else if (Character.isISOControl(c)) {
            out.append("\\x%02x".formatted((int) c));
        } else {
            out.append(c);
        }
    }
}
