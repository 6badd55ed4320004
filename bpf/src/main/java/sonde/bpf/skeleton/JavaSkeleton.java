package sonde.bpf.skeleton;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import sonde.bpf.MapType;
import sonde.bpf.object.GlobalSection;
import sonde.bpf.object.GlobalSection.GlobalVariable;
import sonde.bpf.object.ObjectFile;
import sonde.bpf.object.ObjectMap;
import sonde.bpf.object.ObjectProgram;
import sonde.bpf.skeleton.JavaType.JavaField;
import sonde.bpf.skeleton.JavaType.JavaStructure;
import sonde.bpf.skeleton.JavaType.JavaTypeTable;

/**
 * Writes a Java class that holds an object and gives its programs, maps and variables under their
 * names, with types: structures are records, numbers are numbers, arrays of char are texts. What
 * Java has no type for (unions, bit fields) is bytes.
 */
public final class JavaSkeleton {
    private static final int LINE = 88;
    private static final Set<String> TAKEN =
            Set.of("Codec", "TypedMap", "BpfMap", "Program", "Link", "Map", "List", "String");

    private final ObjectFile file;
    private final StringBuilder out = new StringBuilder();
    private final JavaTypeTable types;
    private final Set<String> methods =
            new HashSet<>(Set.of("file", "load", "attach", "object", "close", "bytes"));

    private JavaSkeleton(ObjectFile file, String className) {
        this.file = file;
        Set<String> taken = new HashSet<>(TAKEN);
        taken.add(className);
        file.data().forEach(data -> taken.add(JavaNames.type(data.section())));
        types = new JavaTypeTable(file.types(), taken);
    }

    /**
     * The source of a class.
     *
     * @param file read from those objects
     * @param objects whose bytes the class keeps
     * @param packageName empty for none
     */
    public static String of(
            ObjectFile file, List<Path> objects, String packageName, String className)
            throws IOException {
        return new JavaSkeleton(file, className).source(objects, packageName, className);
    }

    /** The usual name of the class: {@code "Switches"} of {@code switches.bpf.o}. */
    public static String className(ObjectFile file) {
        return JavaNames.type(file.shortName());
    }

    private void line(String text, Object... arguments) {
        out.append(arguments.length == 0 ? text : text.formatted(arguments)).append('\n');
    }

    private String source(List<Path> objects, String packageName, String className)
            throws IOException {
        if (!packageName.isEmpty()) {
            line("package %s;", packageName);
            line("");
        }
        line(
                """
                import java.io.IOException;
                import java.lang.foreign.MemorySegment;
                import java.lang.foreign.ValueLayout;
                import java.util.Base64;
                import java.util.LinkedHashMap;
                import java.util.List;
                import sonde.bpf.BpfMap;
                import sonde.bpf.Link;
                import sonde.bpf.Program;
                import sonde.bpf.map.Codec;
                import sonde.bpf.map.TypedMap;
                import sonde.bpf.object.LoadOptions;
                import sonde.bpf.object.LoadedObject;
                import sonde.bpf.object.ObjectFile;
                """);
        line("/** The eBPF object %s; made by sonde bpf gen java. */", safe(file.name()));
        line("public final class %s implements AutoCloseable {", className);
        line("    private final LoadedObject object;");
        line("");
        line("    private %s(LoadedObject object) {", className);
        line("        this.object = object;");
        line("    }");
        loading(objects, className);
        for (ObjectProgram program : file.programs()) {
            program(program);
        }
        for (ObjectMap map : file.maps()) {
            map(map);
        }
        for (GlobalSection data : file.data()) {
            if (!data.variables().isEmpty()) {
                data(data);
            }
        }
        // More may be asked for while the first are written.
        for (int i = 0; i < types.structures().size(); i++) {
            structure(types.structures().get(i));
        }
        objects(objects);
        line("}");
        return out.toString();
    }

    private static String safe(String text) {
        return text.replaceAll("[^A-Za-z0-9._ /+-]", "_");
    }

    private void loading(List<Path> objects, String className) {
        line("");
        line("    /** The object itself, whose variables may be set before it is loaded. */");
        line("    public static ObjectFile file() throws IOException {");
        line("        LinkedHashMap<String, byte[]> all = new LinkedHashMap<>();");
        for (int i = 0; i < objects.size(); i++) {
            Path name = objects.get(i).getFileName();
            String text = safe(name == null ? "object" + i : name.toString());
            line("        all.put(\"%s\", bytes(Object%d.BYTES));", text, i);
        }
        line("        return ObjectFile.of(all);");
        line("    }");
        line("");
        line("    /** Loads it as it is. */");
        line("    public static %s load() throws IOException {", className);
        line("        return load(file(), LoadOptions.USUAL);");
        line("    }");
        line("");
        line("    /** Loads what {@link #file} gave. */");
        line("    public static %s load(ObjectFile file, LoadOptions options)", className);
        line("            throws IOException {");
        line("        return new %s(file.load(options));", className);
        line("    }");
        line("");
        line("    /** What is loaded. */");
        line("    public LoadedObject object() {");
        line("        return object;");
        line("    }");
        line("");
        line("    /** Attaches every program whose section says where. */");
        line("    public List<Link> attach() throws IOException {");
        line("        return object.attach();");
        line("    }");
        line("");
        line("    /** Detaches and closes. */");
        line("    @Override");
        line("    public void close() {");
        line("        object.close();");
        line("    }");
        line("");
        line("    private static byte[] bytes(String[] lines) {");
        line("        return Base64.getDecoder().decode(String.join(\"\", lines));");
        line("    }");
    }

    private String method(String name) {
        String one = JavaNames.unique(methods, name);
        methods.add(one);
        return one;
    }

    private void program(ObjectProgram program) {
        line("");
        line("    /** The program in section %s. */", safe(program.sectionName()));
        line("    public Program %sProgram() {", method(JavaNames.member(program.name())));
        line("        return object.program(\"%s\");", safe(program.name()));
        line("    }");
    }

    private void map(ObjectMap map) {
        MapType type = MapType.of(map.type());
        JavaType key = element(type, map.keyType(), map.keyBytes());
        JavaType value = element(type, map.valueType(), map.valueBytes());
        String name = method(JavaNames.member(map.name()) + "Map");
        line("");
        line("    /** The %s %s. */", MapType.nameOf(map.type()), safe(map.name()));
        if (key == null || value == null) {
            line("    public BpfMap %s() {", name);
            line("        return object.map(\"%s\");", safe(map.name()));
        } else {
            line(
                    "    public TypedMap<%s, %s> %s() {",
                    JavaType.boxed(key), JavaType.boxed(value), name);
            line(
                    "        return new TypedMap<>(object.map(\"%s\"), %s, %s);",
                    safe(map.name()), key.codec(), value.codec());
        }
        line("    }");
    }

    /** Null for maps whose entries are no values. */
    private @Nullable JavaType element(@Nullable MapType type, int id, int bytes) {
        boolean plain =
                type != null
                        && switch (type) {
                            case HASH,
                                    ARRAY,
                                    PER_CPU_HASH,
                                    PER_CPU_ARRAY,
                                    LRU_HASH,
                                    LRU_PER_CPU_HASH,
                                    LPM_TRIE ->
                                    true;
                            default -> false;
                        };
        return plain && bytes > 0 ? types.of(id, bytes) : null;
    }

    private void data(GlobalSection data) {
        String name = JavaNames.type(data.section());
        line("");
        line("    /** The variables in %s as the programs see them. */", safe(data.section()));
        line(
                "    public %s %s() throws IOException {",
                name, method(JavaNames.member(data.section())));
        line(
                "        return new %s(object.globals(\"%s\").segment());",
                name, safe(data.section()));
        line("    }");
        line("");
        line("    /** The variables in %s. */", safe(data.section()));
        line("    public record %s(MemorySegment segment) {", name);
        line("        /** What they begin with, to be set before loading. */");
        line("        public static %s of(ObjectFile file) {", name);
        line(
                "            return new %s(file.data(\"%s\").orElseThrow().initial());",
                name, safe(data.section()));
        line("        }");
        Set<String> taken = new HashSet<>();
        for (GlobalVariable variable : data.variables()) {
            String member = JavaNames.unique(taken, JavaNames.member(variable.name()));
            taken.add(member);
            JavaType type = types.of(variable.type(), variable.sizeBytes());
            if (variable.sizeBytes() == 0) {
                continue;
            }
            line("");
            line("        public %s %s() {", type.name(), member);
            line("            return %s;", type.read("segment", variable.offset()));
            line("        }");
            line("");
            line("        public void %s(%s value) {", member, type.name());
            line("            %s;", type.write("segment", variable.offset(), "value"));
            line("        }");
        }
        line("    }");
    }

    private void structure(JavaStructure struct) {
        String fields =
                struct.fields().entrySet().stream()
                        .map(one -> one.getValue().type().name() + " " + one.getKey())
                        .collect(Collectors.joining(", "));
        String name = struct.name();
        line("");
        line("    /** A structure of %d bytes. */", struct.bytes());
        line("    public record %s(%s) {", name, fields);
        line("        public static final Codec<%s> CODEC = new Codec<>() {", name);
        line("            @Override");
        line("            public int bytes() {");
        line("                return %d;", struct.bytes());
        line("            }");
        line("");
        line("            @Override");
        line("            public void encode(%s value, MemorySegment to) {", name);
        for (Map.Entry<String, JavaField> one : struct.fields().entrySet()) {
            JavaField field = one.getValue();
            String value = "value." + one.getKey() + "()";
            line("                %s;", field.type().write("to", field.offset(), value));
        }
        line("            }");
        line("");
        line("            @Override");
        line("            public %s decode(MemorySegment from) {", name);
        List<String> reads = new ArrayList<>();
        for (JavaField field : struct.fields().values()) {
            reads.add(field.type().read("from", field.offset()));
        }
        line("                return new %s(", name);
        line("                        %s);", String.join(",\n                        ", reads));
        line("            }");
        line("        };");
        line("    }");
    }

    private void objects(List<Path> objects) throws IOException {
        for (int i = 0; i < objects.size(); i++) {
            String text = Base64.getEncoder().encodeToString(Files.readAllBytes(objects.get(i)));
            line("");
            line("    private static final class Object%d {", i);
            line("        static final String[] BYTES = {");
            for (int at = 0; at < text.length(); at += LINE) {
                String part = text.substring(at, Math.min(text.length(), at + LINE));
                line("            \"%s\",", part);
            }
            line("        };");
            line("    }");
        }
    }
}
