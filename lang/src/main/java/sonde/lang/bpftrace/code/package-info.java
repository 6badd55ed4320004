/**
 * Compiles C functions that scripts import with clang, or reads them from an object.
 *
 * {@snippet :
 * ImportedCode code = ImportedCode.of(files, options, diagnostics);
 * code.signature("count"); // what it takes and gives
 * }
 */
package sonde.lang.bpftrace.code;
