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
 *
 * <p>{@link sonde.lang.output.PrintFormat} is not shared with the print fmt of the kernel ({@code
 * sonde.recording.ftrace.PrintConversion}): bpftrace fixes the order of flags, cuts numbers by
 * length and has {@code %r} and {@code %gr}; the kernel has {@code %pM}, {@code %*ph}, {@code %.*s}
 * and takes its arguments from expressions. Both only pad numbers in the same way.
 *
 * <p>JSON is written as bytes, because bpftrace prints bytes that are not UTF-8 as the text {@code
 * \xNN}, and has its own layout for each kind of value. Rows of comma-separated values take their
 * quotes from {@link sonde.event.result.CsvCell}, as all exports do.
 */
@org.jspecify.annotations.NullMarked
package sonde.lang.output;
