import java.io.IOException;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.FieldModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.attribute.ConstantValueAttribute;
import java.lang.classfile.attribute.InnerClassInfo;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * What other classes see of a class file when they are compiled.
 *
 * @param name as in class files, {@code sonde/event/Batch$Row}
 * @param source the simple name of its source file, as {@code SourceFile} has it
 * @param header hash of flags, supertypes, type parameters, permitted classes and components; empty
 *     for a local class, which no other source can name
 * @param members hash of the fields and methods that are not private
 * @param constants hash of the value of each field that javac copies into its users
 */
record ClassFacts(
        String name, String source, String header, String members, Map<String, String> constants) {
    private static final String OURS = "sonde/";
    private static final int PRIVATE = ClassFile.ACC_PRIVATE;

    /** Flags of a method that its callers do not see. */
    private static final int BODY = ClassFile.ACC_SYNCHRONIZED | ClassFile.ACC_NATIVE | ClassFile.ACC_STRICT;

    static ClassFacts of(byte[] bytes) {
        ClassModel model = ClassFile.of().parse(bytes);
        String name = model.thisClass().asInternalName();
        String source =
                model.findAttribute(Attributes.sourceFile())
                        .map(file -> file.sourceFile().stringValue())
                        .orElse("");
        if (model.findAttribute(Attributes.enclosingMethod()).isPresent()) {
            return new ClassFacts(name, source, "", "", Map.of());
        }
        TreeMap<String, String> constants = new TreeMap<>();
        TreeSet<String> members = new TreeSet<>();
        for (FieldModel field : model.fields()) {
            if ((field.flags().flagsMask() & PRIVATE) == 0) {
                members.add(field(field));
                field.findAttribute(Attributes.constantValue())
                        .map(ConstantValueAttribute::constant)
                        .ifPresent(value ->
                                constants.put(
                                        field.fieldName().stringValue(),
                                        hash(value.constantValue().toString())));
            }
        }
        for (MethodModel method : model.methods()) {
            if ((method.flags().flagsMask() & PRIVATE) == 0) {
                members.add(method(method));
            }
        }
        return new ClassFacts(
                name, source, hash(header(model)), hash(String.join("\n", members)), constants);
    }

    boolean isLocal() {
        return header.isEmpty();
    }

    /** The name by which a source mentions it. */
    String simpleName() {
        return name.substring(Math.max(name.lastIndexOf('/'), name.lastIndexOf('$')) + 1);
    }

    String line() {
        return String.join(
                "\t",
                name,
                source,
                header,
                members,
                constants.entrySet().stream()
                        .map(one -> one.getKey() + "=" + one.getValue())
                        .collect(Collectors.joining(",")));
    }

    static ClassFacts parse(String line) {
        String[] parts = line.split("\t", -1);
        TreeMap<String, String> constants = new TreeMap<>();
        for (String constant : parts[4].isEmpty() ? new String[0] : parts[4].split(",")) {
            int equals = constant.indexOf('=');
            constants.put(constant.substring(0, equals), constant.substring(equals + 1));
        }
        return new ClassFacts(parts[0], parts[1], parts[2], parts[3], constants);
    }

    private static String header(ClassModel model) {
        StringBuilder text = new StringBuilder();
        text.append(model.flags().flagsMask());
        model.superclass().ifPresent(type -> text.append(' ').append(type.asInternalName()));
        model.interfaces().forEach(type -> text.append(' ').append(type.asInternalName()));
        model.findAttribute(Attributes.signature())
                .ifPresent(signature -> text.append(signature.signature().stringValue()));
        model.findAttribute(Attributes.permittedSubclasses())
                .ifPresent(permitted ->
                        permitted.permittedSubclasses()
                                .forEach(type -> text.append(" >").append(type.asInternalName())));
        model.findAttribute(Attributes.record())
                .ifPresent(record ->
                        record.components()
                                .forEach(part ->
                                        text.append(' ')
                                                .append(part.name())
                                                .append(part.descriptor())));
        model.findAttribute(Attributes.innerClasses())
                .ifPresent(inner -> inner.classes().stream()
                        .filter(one -> one.innerClass().equals(model.thisClass()))
                        .map(InnerClassInfo::flagsMask)
                        .forEach(flags -> text.append(" inner ").append(flags)));
        return text.toString();
    }

    private static String field(FieldModel field) {
        StringBuilder text = new StringBuilder();
        text.append(field.fieldName()).append(field.fieldType()).append(field.flags().flagsMask());
        field.findAttribute(Attributes.signature())
                .ifPresent(signature -> text.append(signature.signature().stringValue()));
        return text.toString();
    }

    private static String method(MethodModel method) {
        StringBuilder text = new StringBuilder();
        text.append(method.methodName())
                .append(method.methodType())
                .append(method.flags().flagsMask() & ~BODY);
        method.findAttribute(Attributes.signature())
                .ifPresent(signature -> text.append(signature.signature().stringValue()));
        method.findAttribute(Attributes.exceptions())
                .ifPresent(thrown ->
                        thrown.exceptions().forEach(type -> text.append(type.asInternalName())));
        method.findAttribute(Attributes.annotationDefault())
                .ifPresent(value -> text.append(value.defaultValue()));
        return text.toString();
    }

    private static String hash(String text) {
        try {
            byte[] digest =
                    MessageDigest.getInstance("SHA-256")
                            .digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest, 0, 8);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    /**
     * Our classes whose names a class file holds, in descriptors and signatures too. Between two
     * constants of the pool lies a tag, which no name contains.
     */
    static Set<String> mentions(Path file) throws IOException {
        String text = Files.readString(file, StandardCharsets.ISO_8859_1);
        Set<String> names = new HashSet<>();
        int at = text.indexOf(OURS);
        while (at >= 0) {
            int end = at;
            while (end < text.length() && isOfName(text.charAt(end))) {
                end++;
            }
            names.add(text.substring(at, end));
            at = text.indexOf(OURS, end);
        }
        return names;
    }

    private static boolean isOfName(char c) {
        return c >= '0' && c <= '9'
                || c >= 'A' && c <= 'Z'
                || c >= 'a' && c <= 'z'
                || c == '/'
                || c == '_'
                || c == '$';
    }

    /** Whether a class extends, implements or permits another, or its members' types name it. */
    enum Relation {
        NONE,
        SIGNATURE,
        SUBTYPE
    }

    static Relation relation(Path file, String other) throws IOException {
        ClassModel model = ClassFile.of().parse(Files.readAllBytes(file));
        boolean isSubtype =
                model.superclass().filter(type -> type.asInternalName().equals(other)).isPresent()
                        || model.interfaces().stream()
                                .anyMatch(type -> type.asInternalName().equals(other));
        if (isSubtype) {
            return Relation.SUBTYPE;
        }
        String reference = "L" + other;
        boolean isNamed =
                header(model).contains(other)
                        || model.fields().stream()
                                .filter(field -> (field.flags().flagsMask() & PRIVATE) == 0)
                                .anyMatch(field -> field(field).contains(reference))
                        || model.methods().stream()
                                .filter(method -> (method.flags().flagsMask() & PRIVATE) == 0)
                                .anyMatch(method -> method(method).contains(reference));
        return isNamed ? Relation.SIGNATURE : Relation.NONE;
    }
}
