package sonde.lang.declare;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.TypeSyntax;
import sonde.lang.type.Composite;
import sonde.lang.type.Field;
import sonde.lang.type.Struct;
import sonde.lang.type.Type;
import sonde.lang.type.Type.Int;

/** How types are written: words of the language and of C, and listings of what has members. */
public final class TypeNames {
    private static final int FRAMES = 127;
    private static final String INDENT = "    ";

    private static final Map<String, Type> WORDS =
            Map.ofEntries(
                    Map.entry("void", new Type.Void()),
                    Map.entry("bool", new Type.Bool()),
                    Map.entry("int8", Int.I8),
                    Map.entry("int16", BasicTypes.I16),
                    Map.entry("int32", Int.I32),
                    Map.entry("int64", Int.I64),
                    Map.entry("uint8", Int.U8),
                    Map.entry("uint16", Int.U16),
                    Map.entry("uint32", Int.U32),
                    Map.entry("uint64", Int.U64),
                    Map.entry("string", new Type.Text(0)),
                    Map.entry("buffer", new Type.Bytes(0)),
                    Map.entry("inet", new Type.Named(Type.Special.INET)),
                    Map.entry("ksym_t", new Type.Named(Type.Special.KERNEL_SYMBOL)),
                    Map.entry("usym_t", new Type.Named(Type.Special.USER_SYMBOL)),
                    Map.entry("macaddr_t", new Type.Named(Type.Special.MAC_ADDRESS)),
                    Map.entry("cgroup_path_t", new Type.Named(Type.Special.CGROUP_PATH)),
                    Map.entry("username", new Type.Named(Type.Special.USERNAME)),
                    Map.entry("username_t", new Type.Named(Type.Special.USERNAME)),
                    Map.entry("timestamp", new Type.Named(Type.Special.TIMESTAMP)),
                    Map.entry("strerror_t", new Type.Named(Type.Special.STRERROR)),
                    Map.entry("kstack_t", stack(false)),
                    Map.entry("ustack_t", stack(true)),
                    Map.entry("kstack", stack(false)),
                    Map.entry("ustack", stack(true)),
                    Map.entry("count_t", new Type.Count()),
                    Map.entry("sum_t", new Type.Sum(true)),
                    Map.entry("usum_t", new Type.Sum(false)),
                    Map.entry("min_t", new Type.Extreme(false, true)),
                    Map.entry("umin_t", new Type.Extreme(false, false)),
                    Map.entry("max_t", new Type.Extreme(true, true)),
                    Map.entry("umax_t", new Type.Extreme(true, false)),
                    Map.entry("avg_t", new Type.Average(false, true)),
                    Map.entry("uavg_t", new Type.Average(false, false)),
                    Map.entry("stats_t", new Type.Average(true, true)),
                    Map.entry("ustats_t", new Type.Average(true, false)),
                    Map.entry("hist_t", new Type.Hist(0)),
                    Map.entry("lhist_t", new Type.Lhist(0, 0, 1)),
                    Map.entry("tseries_t", new Type.Series(1, 1, true, Type.SeriesKind.LAST)));

    private TypeNames() {}

    private static Type stack(boolean user) {
        return new Type.Stack(user, Type.StackMode.BPFTRACE, FRAMES);
    }

    /**
     * A word of the language itself: {@code "uint64"}, {@code "string"} (of 0 bytes until an array
     * of it is made), {@code "hist_t"} (with the bounds that it has where none are said). Null for
     * none.
     */
    public static @Nullable Type word(String name) {
        return WORDS.get(name);
    }

    /**
     * A type by its name: a word of the language, C's own ({@code "unsigned long"}, {@code "u32"}),
     * a typedef; with stars behind it too. Null for none.
     */
    public static @Nullable Type type(String name, TypeSource source) {
        Type word = WORDS.get(name);
        if (word == null && name.equals("char")) {
            // The kernel's has no sign since Linux 6.2.
            word = source.type(TypeSyntax.Kind.PLAIN, name);
        }
        return word != null ? word : CParser.type(name, source);
    }

    /**
     * A type as it is written.
     *
     * @param own what the script declares, which comes before the kernel's
     * @return null for one that is not known, or that of an expression
     */
    public static @Nullable Type type(TypeSyntax syntax, Declarations own, TypeSource kernel) {
        return switch (syntax) {
            case TypeSyntax.Named named -> {
                Type type = WORDS.get(named.kind() == TypeSyntax.Kind.PLAIN ? named.name() : "");
                type = type != null ? type : own.type(named.kind(), named.name());
                if (type == null && named.kind() == TypeSyntax.Kind.PLAIN) {
                    type = type(named.name(), kernel);
                }
                yield type != null ? type : kernel.type(named.kind(), named.name());
            }
            case TypeSyntax.Pointer pointer -> {
                Type to = type(pointer.element(), own, kernel);
                yield to == null ? null : new Type.Pointer(to, Type.Space.KERNEL);
            }
            case TypeSyntax.Array array -> {
                Type element = type(array.element(), own, kernel);
                boolean fits = array.count() >= 0 && array.count() <= CScope.MOST_BYTES;
                yield element == null || !fits ? null : array(element, (int) array.count());
            }
            case TypeSyntax.Of _ -> null;
        };
    }

    /** {@code element[count]}: of strings and buffers their size. */
    public static Type array(Type element, int count) {
        return switch (element) {
            case Type.Text text when text.sizeBytes() == 0 -> new Type.Text(count);
            case Type.Bytes bytes when bytes.capacity() == 0 -> new Type.Bytes(count);
            case Type.Named named when named.kind() == Type.Special.INET -> named;
            case Type other -> new Type.Array(other, count);
        };
    }

    /**
     * A structure as C defines it, on lines with tabs. Typedefs are gone by then: see {@link
     * KernelTypeSource#definition} for the kernel's own spelling.
     */
    public static String describe(Struct struct) {
        StringBuilder out = new StringBuilder();
        body(struct, 0, out);
        return out.append(';').toString();
    }

    private static void body(Struct struct, int depth, StringBuilder out) {
        String indent = "\t".repeat(depth + 1);
        out.append(struct.isUnion() ? "union" : "struct");
        out.append(struct.name().isEmpty() ? "" : " " + struct.name()).append(" {\n");
        for (Field field : struct.fields()) {
            out.append(indent);
            boolean inPlace =
                    field.type() instanceof Struct inner && inner.name().isEmpty() && depth < 16;
            if (inPlace && field.type() instanceof Struct inner) {
                body(inner, depth + 1, out);
                out.append(field.name().isEmpty() ? "" : " " + field.name());
            } else {
                out.append(declare(field.type(), field.name()));
            }
            out.append(field.bits() > 0 ? ": " + field.bits() : "").append(";\n");
        }
        out.append("\t".repeat(depth)).append('}');
    }

    /** A declaration of C: {@code "char comm[16]"}, {@code "struct file *file"}. */
    public static String declare(Type type, String name) {
        return switch (type) {
            case Type.Pointer pointer -> {
                boolean array = pointer.to() instanceof Type.Array;
                yield declare(pointer.to(), array ? "(*" + name + ")" : "*" + name);
            }
            case Type.Array array -> declare(array.element(), name + "[" + array.count() + "]");
            case Type plain -> spell(plain) + (name.isEmpty() ? "" : " " + name);
        };
    }

    private static String spell(Type type) {
        return switch (type) {
            case Int number -> integer(number);
            case Type.Float number ->
                    switch (number.sizeBytes()) {
                        case 4 -> "float";
                        case 8 -> "double";
                        default -> "long double";
                    };
            case Type other -> other.toString();
        };
    }

    private static String integer(Int number) {
        String sign = number.signed() ? "" : "unsigned ";
        return switch (number.sizeBytes()) {
            case 1 -> number.isChar() || !number.signed() ? sign + "char" : "signed char";
            case 2 -> sign + "short";
            case 4 -> sign + "int";
            case 8 -> sign + "long";
            default -> sign + "__int128";
        };
    }

    /** Lines of a listing for what a probe's {@code args} has: {@code " int common_pid"}. */
    public static List<String> arguments(Composite arguments) {
        List<String> lines = new ArrayList<>();
        for (Field field : arguments.fields()) {
            lines.add(INDENT + declare(field.type(), field.name()));
        }
        return lines;
    }

    /** Lines of a listing, with the names of parameters: {@code " struct file * file"}. */
    public static List<String> arguments(Signature signature) {
        return signature.parameters().stream()
                .map(one -> INDENT + one.spelling() + " " + one.name())
                .toList();
    }

    /**
     * Lines of a listing, with the names of registers: {@code " struct file * arg0"}; numbers with
     * a point are not passed in those.
     */
    public static List<String> registers(Signature signature) {
        List<String> lines = new ArrayList<>();
        for (Signature.Parameter one : signature.parameters()) {
            if (!(one.type() instanceof Type.Float)) {
                lines.add(INDENT + one.spelling() + " arg" + lines.size());
            }
        }
        return lines;
    }

    /** The line of a listing for what a function gives: {@code " ssize_t retval"}; or none. */
    public static List<String> result(Signature signature) {
        return signature.result() instanceof Type.Void
                ? List.of()
                : List.of(INDENT + signature.resultSpelling() + " retval");
    }
}
