package sonde.lang.bpftrace.syntax;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.Expression.Block;
import sonde.lang.bpftrace.syntax.Expression.Variable;
import sonde.lang.source.SourceText;
import sonde.lang.source.Span;

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
        List<Span> definitions,
        @Nullable Config config,
        List<Import> imports,
        List<Item> items,
        List<Span> comments) {
    public Script {
        definitions = List.copyOf(definitions);
        imports = List.copyOf(imports);
        items = List.copyOf(items);
        comments = List.copyOf(comments);
    }

    /** {@code config = { key = value; }}. */
    public record Config(Span span, List<Setting> settings) {
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
    public record Setting(Span span, String key, String value) {}

    /** {@code import "path";}. */
    public record Import(Span span, String path) {}

    /** What a script is made of. */
    public sealed interface Item {
        /** Where it stands, from its first word to its last brace. */
        Span span();
    }

    /**
     * {@code points /predicate/ { … }}.
     *
     * @param body has no result
     */
    public record Probe(
            Span span, List<AttachPoint> attachPoints, @Nullable Expression predicate, Block body)
            implements Item {
        public Probe {
            attachPoints = List.copyOf(attachPoints);
        }
    }

    /**
     * {@code kprobe:vfs_*}, before anything in it is looked at.
     *
     * @param text with quotes and wildcards as they stand
     */
    public record AttachPoint(Span span, String text) {}

    /**
     * {@code macro name($a, b, @c) { … }}.
     *
     * @param parameters variables, names of expressions, maps
     */
    public record Macro(Span span, String name, List<Expression> parameters, Block body)
            implements Item {
        public Macro {
            parameters = List.copyOf(parameters);
        }
    }

    /** {@code let @map = type(entries);}. */
    public record MapDeclaration(Span span, String map, String type, long entries)
            implements Item {}

    /** {@code fn name($a: type): result { … }}. */
    public record Function(
            Span span, String name, List<Parameter> parameters, TypeSyntax result, Block body)
            implements Item {
        public Function {
            parameters = List.copyOf(parameters);
        }

        /** {@code $name: type}. */
        public record Parameter(Variable variable, TypeSyntax type) {}
    }
}
