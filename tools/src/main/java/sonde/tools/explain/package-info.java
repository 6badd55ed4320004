/**
 * {@code sonde explain}: incidents of kernel logs. {@link sonde.tools.explain.LogScanner} cuts
 * bytes into lines and knows by one automaton which of them may begin a report; {@link
 * sonde.tools.explain.LogLine} takes the prefixes off; {@link sonde.tools.explain.IncidentFinder}
 * collects the lines of each report by the table {@code incidents.txt}; {@link
 * sonde.tools.explain.Incident} is what one of them says, with the function to blame by {@code
 * frames.txt}.
 */
@org.jspecify.annotations.NullMarked
package sonde.tools.explain;
