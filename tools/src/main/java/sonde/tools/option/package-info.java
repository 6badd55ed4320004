/**
 * The options of every command as data: names, letters, kinds, units, ranges, help and examples.
 * The command line is read by this model, and help is printed from it.
 *
 * <pre>{@code
 * CommandModel model = CommandModel.parse(text);
 * GivenOptions given = OptionWords.read(model, List.of("--rows", "5", "make.sonde"));
 * long rows = given.number("--rows");
 * }</pre>
 */
@org.jspecify.annotations.NullMarked
package sonde.tools.option;
