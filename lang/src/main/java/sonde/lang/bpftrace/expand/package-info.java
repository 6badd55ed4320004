/**
 * From the tree of a script to one without imports, macros, parameters and options; its settings;
 * folding of what is known before it runs; its text again.
 *
 * <pre>{@code
 * Diagnostics diagnostics = new Diagnostics();
 * SourceText text = new SourceText("stdin", "macro twice(x) { x + x } begin { print(twice($1)); }");
 * Script parsed = Parser.parse(text, diagnostics);
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
