package sonde.lang.declare;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.TypeSyntax;
import sonde.lang.bpftrace.syntax.TypeSyntax.ArraySyntax;
import sonde.lang.bpftrace.syntax.TypeSyntax.NamedSyntax;
import sonde.lang.bpftrace.syntax.TypeSyntax.PointerSyntax;
import sonde.lang.bpftrace.syntax.TypeSyntax.TypeofSyntax;
import sonde.lang.declare.FunctionSignature.SignatureParameter;
import sonde.lang.type.CompositeType;
import sonde.lang.type.StructType;
import sonde.lang.type.TypeField;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.ArrayType;
import sonde.lang.type.ValueType.AverageType;
import sonde.lang.type.ValueType.BoolType;
import sonde.lang.type.ValueType.BytesType;
import sonde.lang.type.ValueType.CountType;
import sonde.lang.type.ValueType.ExtremeType;
import sonde.lang.type.ValueType.FloatType;
import sonde.lang.type.ValueType.HistType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.LhistType;
import sonde.lang.type.ValueType.PointerSpace;
import sonde.lang.type.ValueType.PointerType;
import sonde.lang.type.ValueType.SeriesType;
import sonde.lang.type.ValueType.SpecialType;
import sonde.lang.type.ValueType.SpecialValue;
import sonde.lang.type.ValueType.StackType;
import sonde.lang.type.ValueType.SumType;
import sonde.lang.type.ValueType.TextType;
import sonde.lang.type.ValueType.VoidType;

/** How types are written: words of the language and of C, and listings of what has members. */
public final class ScriptTypeText {
    private static final int FRAMES = 127;
    private static final String INDENT = "    ";

    private static final Map<String, ValueType> WORDS =
            Map.ofEntries(
                    Map.entry("void", new VoidType()),
                    Map.entry("bool", new BoolType()),
                    Map.entry("int8", IntType.I8),
                    Map.entry("int16", LinuxBasicTypes.I16),
                    Map.entry("int32", IntType.I32),
                    Map.entry("int64", IntType.I64),
                    Map.entry("uint8", IntType.U8),
                    Map.entry("uint16", IntType.U16),
                    Map.entry("uint32", IntType.U32),
                    Map.entry("uint64", IntType.U64),
                    Map.entry("string", new TextType(0)),
                    Map.entry("buffer", new BytesType(0)),
                    Map.entry("inet", new SpecialType(SpecialValue.INET)),
                    Map.entry("ksym_t", new SpecialType(SpecialValue.KERNEL_SYMBOL)),
                    Map.entry("usym_t", new SpecialType(SpecialValue.USER_SYMBOL)),
                    Map.entry("macaddr_t", new SpecialType(SpecialValue.MAC_ADDRESS)),
                    Map.entry("cgroup_path_t", new SpecialType(SpecialValue.CGROUP_PATH)),
                    Map.entry("username", new SpecialType(SpecialValue.USERNAME)),
                    Map.entry("username_t", new SpecialType(SpecialValue.USERNAME)),
                    Map.entry("timestamp", new SpecialType(SpecialValue.TIMESTAMP)),
                    Map.entry("strerror_t", new SpecialType(SpecialValue.STRERROR)),
                    Map.entry("kstack_t", stack(false)),
                    Map.entry("ustack_t", stack(true)),
                    Map.entry("kstack", stack(false)),
                    Map.entry("ustack", stack(true)),
                    Map.entry("count_t", new CountType()),
                    Map.entry("sum_t", new SumType(true)),
                    Map.entry("usum_t", new SumType(false)),
                    Map.entry("min_t", new ExtremeType(false, true)),
                    Map.entry("umin_t", new ExtremeType(false, false)),
                    Map.entry("max_t", new ExtremeType(true, true)),
                    Map.entry("umax_t", new ExtremeType(true, false)),
                    Map.entry("avg_t", new AverageType(false, true)),
                    Map.entry("uavg_t", new AverageType(false, false)),
                    Map.entry("stats_t", new AverageType(true, true)),
                    Map.entry("ustats_t", new AverageType(true, false)),
                    Map.entry("hist_t", new HistType(0)),
                    Map.entry("lhist_t", new LhistType(0, 0, 1)),
                    Map.entry("tseries_t", new SeriesType(1, 1, true, ValueType.SeriesKind.LAST)));

    private ScriptTypeText() {}

    private static ValueType stack(boolean user) {
        return new StackType(user, ValueType.StackMode.BPFTRACE, FRAMES);
    }

    /**
     * A word of the language itself: {@code "uint64"}, {@code "string"} (of 0 bytes until an array
     * of it is made), {@code "hist_t"} (with the bounds that it has where none are said). Null for
     * none.
     */
    public static @Nullable ValueType word(String name) {
        return WORDS.get(name);
    }

    /**
     * A type by its name: a word of the language, C's own ({@code "unsigned long"}, {@code "u32"}),
     * a typedef; with stars behind it too. Null for none.
     */
    public static @Nullable ValueType type(String name, TypeSource source) {
        ValueType word = WORDS.get(name);
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
    public static @Nullable ValueType type(
            TypeSyntax syntax, CDeclarations own, TypeSource kernel) {
        return switch (syntax) {
            case NamedSyntax named -> {
                ValueType type =
                        WORDS.get(named.kind() == TypeSyntax.Kind.PLAIN ? named.name() : "");
                type = type != null ? type : own.type(named.kind(), named.name());
                if (type == null && named.kind() == TypeSyntax.Kind.PLAIN) {
                    type = type(named.name(), kernel);
                }
                yield type != null ? type : kernel.type(named.kind(), named.name());
            }
            case PointerSyntax pointer -> {
                ValueType to = type(pointer.element(), own, kernel);
                yield to == null ? null : new PointerType(to, PointerSpace.KERNEL);
            }
            case ArraySyntax array -> {
                ValueType element = type(array.element(), own, kernel);
                boolean fits = array.count() >= 0 && array.count() <= CScope.MOST_BYTES;
                yield element == null || !fits ? null : array(element, (int) array.count());
            }
            case TypeofSyntax _ -> null;
        };
    }

    /** {@code element[count]}: of strings and buffers their size. */
    public static ValueType array(ValueType element, int count) {
        return switch (element) {
            case TextType text when text.sizeBytes() == 0 -> new TextType(count);
            case BytesType bytes when bytes.capacity() == 0 -> new BytesType(count);
            case SpecialType named when named.kind() == SpecialValue.INET -> named;
            case ValueType other -> new ArrayType(other, count);
        };
    }

    /**
     * A structure as C defines it, on lines with tabs. Typedefs are gone by then: see {@link
     * KernelTypeSource#definition} for the kernel's own spelling.
     */
    public static String describe(StructType struct) {
        StringBuilder out = new StringBuilder();
        body(struct, 0, out);
        return out.append(';').toString();
    }

    private static void body(StructType struct, int depth, StringBuilder out) {
        String indent = "\t".repeat(depth + 1);
        out.append(struct.isUnion() ? "union" : "struct");
        out.append(struct.name().isEmpty() ? "" : " " + struct.name()).append(" {\n");
        for (TypeField field : struct.fields()) {
            out.append(indent);
            boolean inPlace =
                    field.type() instanceof StructType inner
                            && inner.name().isEmpty()
                            && depth < 16;
            if (inPlace && field.type() instanceof StructType inner) {
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
    public static String declare(ValueType type, String name) {
        return switch (type) {
            case PointerType pointer -> {
                boolean array = pointer.to() instanceof ArrayType;
                yield declare(pointer.to(), array ? "(*" + name + ")" : "*" + name);
            }
            case ArrayType array -> declare(array.element(), name + "[" + array.count() + "]");
            case ValueType plain -> spell(plain) + (name.isEmpty() ? "" : " " + name);
        };
    }

    private static String spell(ValueType type) {
        return switch (type) {
            case IntType number -> integer(number);
            case FloatType number ->
                    switch (number.sizeBytes()) {
                        case 4 -> "float";
                        case 8 -> "double";
                        default -> "long double";
                    };
            case ValueType other -> other.toString();
        };
    }

    private static String integer(IntType number) {
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
    public static List<String> arguments(CompositeType arguments) {
        List<String> lines = new ArrayList<>();
        for (TypeField field : arguments.fields()) {
            lines.add(INDENT + declare(field.type(), field.name()));
        }
        return lines;
    }

    /** Lines of a listing, with the names of parameters: {@code " struct file * file"}. */
    public static List<String> arguments(FunctionSignature signature) {
        return signature.parameters().stream()
                .map(one -> INDENT + one.spelling() + " " + one.name())
                .toList();
    }

    /**
     * Lines of a listing, with the names of registers: {@code " struct file * arg0"}; numbers with
     * a point are not passed in those.
     */
    public static List<String> registers(FunctionSignature signature) {
        List<String> lines = new ArrayList<>();
        for (SignatureParameter one : signature.parameters()) {
            if (!(one.type() instanceof FloatType)) {
                lines.add(INDENT + one.spelling() + " arg" + lines.size());
            }
        }
        return lines;
    }

    /** The line of a listing for what a function gives: {@code " ssize_t retval"}; or none. */
    public static List<String> result(FunctionSignature signature) {
        return signature.result() instanceof VoidType
                ? List.of()
                : List.of(INDENT + signature.resultSpelling() + " retval");
    }
}
