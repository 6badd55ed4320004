/**
 * {@code sonde explain}: incidents of kernel logs. {@link sonde.tools.explain.LogScanner} cuts
 * bytes into lines and knows by one automaton which of them may begin a report; {@link
 * sonde.tools.explain.LogLine} takes the prefixes off; {@link sonde.tools.explain.IncidentFinder}
 * collects the lines of each report by the table {@code incidents.txt}; {@link
 * sonde.tools.explain.IncidentReader} makes an {@link sonde.tools.explain.Incident} of them, with
 * the function to blame by {@code frames.txt}; {@link sonde.tools.explain.ReportDamage} says why a
 * report cannot be trusted, {@link sonde.tools.explain.FaultCode} decodes the instruction that
 * failed, and {@link sonde.tools.explain.OperandNames} names what it accessed.
 */
@org.jspecify.annotations.NullMarked
package sonde.tools.explain;
