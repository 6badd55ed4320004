/**
 * Parses bpftrace's language into a tree with the position of every part. Nothing here depends on a
 * kernel.
 *
 * <p>Source: docs/language.md and docs/language_parsing.md of bpftrace 0.26.
 *
 * <pre>{@code
 * CompilerDiagnostics diagnostics = new CompilerDiagnostics();
 * SourceText text = new SourceText("stdin", "kprobe:f /pid == 1/ { @[comm] = count(); }");
 * Script script = ScriptParser.parse(text, diagnostics);
 * Script.ProbeBlock probe = (Script.ProbeBlock) script.items().getFirst();
 * probe.attachPoints().getFirst().text(); // "kprobe:f"
 * }</pre>
 */
@org.jspecify.annotations.NullMarked
package sonde.lang.bpftrace.syntax;
