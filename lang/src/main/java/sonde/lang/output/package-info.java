/**
 * Formats the output of a script as text and as JSON lines, equal to the output of bpftrace 0.26.
 *
 * <pre>{@code
 * PrintFormat format = PrintFormat.parse("%-16s %5d\n");
 * TupleType arguments = TupleType.of(List.of(new ValueType.TextType(16), ValueType.IntType.I64));
 * String wrong = format.check(arguments.types()); // null
 * ScriptOutput output = new TextOutput(System.out, System.err, names);
 * output.printf(format, arguments, event, 16);
 * output.value(ValueType.IntType.I64, event, 32); // "5\n"
 * output.flush();
 * }</pre>
 *
 * <p>Control characters in values that come from processes are written {@code \xNN} in text, so
 * that no process can steer the terminal; newline and tab stay.
 */
@org.jspecify.annotations.NullMarked
package sonde.lang.output;
