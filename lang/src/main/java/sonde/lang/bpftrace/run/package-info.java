/**
 * Compiles and runs scripts: {@link sonde.lang.bpftrace.run.Compilation} is the visible list of
 * passes, {@link sonde.lang.bpftrace.run.TraceSession} loads, attaches, prints.
 *
 * <pre>{@code
 * CompilerDiagnostics diagnostics = new CompilerDiagnostics();
 * Compilation compiled = Compilation.of(new SourceText("stdin", text), options, diagnostics);
 * }</pre>
 */
@org.jspecify.annotations.NullMarked
package sonde.lang.bpftrace.run;
