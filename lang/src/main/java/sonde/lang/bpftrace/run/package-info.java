/**
 * Compiles and runs scripts: {@link sonde.lang.bpftrace.run.Compilation} is the visible list of
 * passes, {@link sonde.lang.bpftrace.run.LoadedScript} has its programs in the kernel, {@link
 * sonde.lang.bpftrace.run.TraceSession} attaches and prints.
 *
 * <pre>{@code
 * CompilerDiagnostics diagnostics = new CompilerDiagnostics();
 * Compilation compiled = Compilation.of(new SourceText("stdin", text), options, diagnostics);
 * }</pre>
 */
@org.jspecify.annotations.NullMarked
package sonde.lang.bpftrace.run;
