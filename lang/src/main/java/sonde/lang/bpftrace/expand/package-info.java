/**
 * Expands imports, macros, parameters and options in the tree of a script, evaluates its settings
 * and constant expressions, and prints the tree as text.
 *
 * <pre>{@code
 * CompilerDiagnostics diagnostics = new CompilerDiagnostics();
 * SourceText text = new SourceText("stdin", "macro twice(x) { x + x } begin { print(twice($1)); }");
 * Script parsed = ScriptParser.parse(text, diagnostics);
 * ScriptParameters parameters = ScriptParameters.of(List.of("21"));
 * Script expanded = ScriptExpansion.expand(parsed, parameters, ImportPath.NONE, diagnostics);
 * Script folded = ConstantFolding.fold(expanded, diagnostics);
 * TreeText.of(folded); // probe begin … print 42
 * }</pre>
 *
 * <p>Source: docs/language.md of bpftrace 0.26 ("Macros", "Imports", "Command Line Parameters",
 * "Config Variables").
 */
@org.jspecify.annotations.NullMarked
package sonde.lang.bpftrace.expand;
