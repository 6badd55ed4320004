/**
 * Contains source texts, positions in them, and diagnostics.
 *
 * <pre>{@code
 * SourceText text = new SourceText("script.bt", "begin { exit( }");
 * CompilerDiagnostics diagnostics = new CompilerDiagnostics();
 * diagnostics.error(new SourceSpan(text, 14, 15), "expected an expression", "close the call: exit()");
 * diagnostics.all().getFirst().render();
 * // script.bt:1:15-16: ERROR: expected an expression
 * // begin { exit( }
 * //               ~
 * // HINT: close the call: exit()
 * }</pre>
 */
@org.jspecify.annotations.NullMarked
package sonde.lang.source;
