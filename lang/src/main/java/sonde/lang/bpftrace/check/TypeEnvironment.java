package sonde.lang.bpftrace.check;

import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.TypeSyntax;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.StackMode;

/** What the types of a script depend on beside its text. */
public interface TypeEnvironment {
    /** A type of the script's declarations or of the kernel; null for none. */
    @Nullable ValueType type(TypeSyntax.Kind kind, String name);

    /** An enumerator or constant; null for none. */
    @Nullable Long constant(String name);

    /** The enumeration that an enumerator is of; null for none. */
    ValueType.@Nullable EnumType enumeration(String enumerator);

    /** A constant that is a text; null for none. */
    @Nullable String text(String name);

    /** Bytes of a text that is read, with its NUL. */
    int maxText();

    /** How stacks are shown unless said otherwise. */
    StackMode stackMode();

    /** Whether the kernel has a function that programs may call. */
    boolean hasKernelFunction(String name);

    /** The functions in C that the script imports, by name. */
    Map<String, ImportedFunction> imported();

    /** The file in C that has a static function of a name; empty for none. */
    Optional<String> fileOfStatic(String function);

    /** Whether the kernel has a symbol. */
    boolean hasKernelSymbol(String name);

    /** Whether a path is that of a cgroup. */
    boolean hasControlGroup(String path);

    /** Bytes of a symbol of a program, 0 where unknown; -1 for no such symbol. */
    long userSymbolBytes(String path, String name);

    /** Names of the functions that change more than the trace ({@code system}). */
    Set<String> unsafe();

    /** Whether those may be used. */
    boolean isUnsafeAllowed();

    /** A setting of the script: a Long, String or Boolean; null for none. */
    @Nullable Object setting(String name);

    /** Whether it was said whose stacks are copied. */
    boolean hasUnwindTarget();
}
