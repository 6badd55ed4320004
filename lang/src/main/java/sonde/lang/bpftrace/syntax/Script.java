package sonde.lang.bpftrace.syntax;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.Expression.BlockExpression;
import sonde.lang.bpftrace.syntax.Expression.ScratchVariable;
import sonde.lang.source.SourceSpan;
import sonde.lang.source.SourceText;

/**
 * A whole file.
 *
 * @param header the {@code #!} line without its end, empty for none
 * @param definitions C preprocessor lines and struct, union and enum definitions, as they stand
 * @param items in the order of the file
 * @param comments in the order of the file
 */
public record Script(
        SourceText source,
        String header,
        List<SourceSpan> definitions,
        @Nullable Config config,
        List<ScriptImport> imports,
        List<ScriptItem> items,
        List<SourceSpan> comments) {
    public Script {
        definitions = List.copyOf(definitions);
        imports = List.copyOf(imports);
        items = List.copyOf(items);
        comments = List.copyOf(comments);
    }

    /** {@code config = { key = value; }}. */
    public record Config(SourceSpan span, List<ConfigEntry> settings) {
        public Config {
            settings = List.copyOf(settings);
        }
    }

    /**
     * A line of the config block.
     *
     * @param key as written, in any case, with or without {@code BPFTRACE_}
     * @param value a string's content, or the word or number as written
     */
    public record ConfigEntry(SourceSpan span, String key, String value) {}

    /** {@code import "path";}. */
    public record ScriptImport(SourceSpan span, String path) {}

    /** What a script is made of. */
    public sealed interface ScriptItem {
        /** Where it stands, from its first word to its last brace. */
        SourceSpan span();
    }

    /**
     * {@code points /predicate/ { … }}.
     *
     * @param body has no result
     */
    public record ProbeBlock(
            SourceSpan span,
            List<AttachPointText> attachPoints,
            @Nullable Expression predicate,
            BlockExpression body)
            implements ScriptItem {
        public ProbeBlock {
            attachPoints = List.copyOf(attachPoints);
        }
    }

    /**
     * {@code kprobe:vfs_*}, before anything in it is looked at.
     *
     * @param text with quotes and wildcards as they stand
     */
    public record AttachPointText(SourceSpan span, String text) {}

    /**
     * {@code macro name($a, b, @c) { … }}.
     *
     * @param parameters variables, names of expressions, maps
     */
    public record ScriptMacro(
            SourceSpan span, String name, List<Expression> parameters, BlockExpression body)
            implements ScriptItem {
        public ScriptMacro {
            parameters = List.copyOf(parameters);
        }
    }

    /** {@code let @map = type(entries);}. */
    public record MapDeclaration(SourceSpan span, String map, String type, long entries)
            implements ScriptItem {}

    /** {@code fn name($a: type): result { … }}. */
    public record ScriptFunction(
            SourceSpan span,
            String name,
            List<ParameterDeclaration> parameters,
            TypeSyntax result,
            BlockExpression body)
            implements ScriptItem {
        public ScriptFunction {
            parameters = List.copyOf(parameters);
        }

        /** {@code $name: type}. */
        public record ParameterDeclaration(ScratchVariable variable, TypeSyntax type) {}
    }
}
