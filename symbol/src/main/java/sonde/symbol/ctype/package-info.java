/**
 * Types of C, C++, Rust and Go as debugging information has them, their layout, and where functions
 * find their parameters. {@code SourceType} is the one model; {@code DwarfSourceTypes} and {@code
 * BtfSourceTypes} read it.
 *
 * <pre>{@code
 * DwarfSourceTypes types = new DwarfSourceTypes(entries);
 * types.find(NameSpace.STRUCT, "file").get().sizeBytes(); // 232
 * types.type(parameter.type()).declaration("argv"); // "char **argv"
 *
 * CallingConvention convention = new CallingConvention(types.layout(), ConventionMachine.X86_64);
 * convention.result(function.type()); // HomeRegisters[first=0, count=1]
 * convention.next(parameter.type()); // HomeRegisters[first=0, count=2]
 * }</pre>
 *
 * <p>Four kinds of types stay apart because they are something else: {@code lang.type} lays out the
 * values of a script, {@code recording.ftrace} knows types only by the text of event formats,
 * {@code binary.btf.CHeader} writes a whole BTF as C that compiles, and {@code bpf.core} compares
 * ids of two BTFs.
 */
@org.jspecify.annotations.NullMarked
package sonde.symbol.ctype;
