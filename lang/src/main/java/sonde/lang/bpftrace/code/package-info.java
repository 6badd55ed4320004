/**
 * Functions in C that scripts import: compiled by clang, or read from an object.
 *
 * {@snippet :
 * ImportedCode code = ImportedCode.of(files, options, diagnostics);
 * code.signature("count"); // what it takes and gives
 * }
 */
package sonde.lang.bpftrace.code;
