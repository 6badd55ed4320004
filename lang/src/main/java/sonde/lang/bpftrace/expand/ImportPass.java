package sonde.lang.bpftrace.expand;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import sonde.lang.bpftrace.syntax.Script;
import sonde.lang.bpftrace.syntax.Script.ScriptImport;
import sonde.lang.bpftrace.syntax.Script.ScriptItem;
import sonde.lang.bpftrace.syntax.ScriptParser;
import sonde.lang.bpftrace.syntax.ScriptStatement;
import sonde.lang.bpftrace.syntax.ScriptStatement.LocalImport;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceSpan;
import sonde.lang.source.SourceText;

/**
 * Merges imported files into a script: their definitions before its own, their items too. A file is
 * read once, so that files which import each other do no harm.
 */
final class ImportPass extends TreeRewriter {
    /** Imports that import nothing but more imports. */
    private static final int MAX_FILES = 1_000;

    /** What tells whether functions in C can be called here. */
    private static final String LIBRARY_TEST = "stdlib/test";

    private static final String LIBRARY_CODE = LIBRARY_TEST + "/test.bpf.c";

    private final ImportPath imports;
    private final CompilerDiagnostics diagnostics;
    private final Set<String> seen = new HashSet<>();
    private final Deque<Script> open = new ArrayDeque<>();
    private final List<SourceSpan> definitions = new ArrayList<>();
    private final List<ScriptItem> items = new ArrayList<>();
    private final List<CodeFile> code = new ArrayList<>();

    ImportPass(ImportPath imports, CompilerDiagnostics diagnostics) {
        this.imports = imports;
        this.diagnostics = diagnostics;
    }

    Script merge(Script script) {
        seen.add(script.source().name());
        add(script);
        return new Script(
                script.source(),
                script.header(),
                definitions,
                script.config(),
                List.of(),
                items,
                script.comments());
    }

    /** The functions in C that are imported, in the order of the imports. */
    List<CodeFile> code() {
        return code;
    }

    private void add(Script script) {
        open.push(script);
        for (ScriptImport one : script.imports()) {
            load(one.span(), one.path(), script.source());
        }
        List<ScriptItem> own = new ArrayList<>();
        for (ScriptItem item : script.items()) {
            own.add(item(item));
        }
        open.pop();
        definitions.addAll(script.definitions());
        items.addAll(own);
    }

    @Override
    protected void statement(ScriptStatement statement, List<ScriptStatement> to) {
        if (statement instanceof LocalImport(var span, var path)) {
            load(span, path, open.element().source());
        } else {
            super.statement(statement, to);
        }
    }

    private void load(SourceSpan span, String path, SourceText from) {
        try {
            List<String> sources = imports.code(path, from);
            for (String source : sources) {
                code(new CodeFile(span, source, null));
            }
            if (CodeFile.isCode(path) && !sources.isEmpty()) {
                return;
            }
            List<SourceText> texts = imports.readAll(path, from);
            // Ours is always there, whatever part of it is named.
            boolean library = path.equals("stdlib") || path.startsWith("stdlib/");
            if (library && texts.isEmpty() && sources.isEmpty()) {
                libraryCode(span, path);
            } else if (texts.isEmpty() && sources.isEmpty()) {
                diagnostics.error(
                        span,
                        "there is nothing to import: " + path,
                        "paths are relative to the script that imports");
            }
            for (SourceText text : texts) {
                load(span, text);
            }
        } catch (IOException e) {
            diagnostics.error(span, "import of " + path + " fails: " + e.getMessage());
        }
    }

    private void code(CodeFile file) {
        if (seen.add(file.name())) {
            code.add(file);
        }
    }

    private void libraryCode(SourceSpan span, String path) {
        if (path.equals(LIBRARY_TEST) || LIBRARY_CODE.equals(path)) {
            code(new CodeFile(span, LIBRARY_CODE, ScriptExpansion.resource("test.bpf.c")));
        }
    }

    private void load(SourceSpan span, SourceText text) {
        if (!seen.add(text.name()) || diagnostics.isFull()) {
            return;
        }
        if (seen.size() > MAX_FILES) {
            diagnostics.error(span, "more than " + MAX_FILES + " files are imported");
        } else if (text.name().endsWith(".h")) {
            definitions.add(new SourceSpan(text, 0, text.text().length()));
        } else if (text.name().endsWith(".bt")) {
            Script script = ScriptParser.parse(text, diagnostics);
            if (script.config() != null) {
                diagnostics.error(
                        script.config().span(),
                        "only the script itself may have a config block, not what it imports");
            }
            add(script);
        } else {
            diagnostics.error(
                    span,
                    "files of this type cannot be imported: " + text.name(),
                    "scripts end with .bt, C headers with .h, functions in C with .bpf.c, compiled"
                            + " ones with .bpf.o");
        }
    }
}
