/**
 * The first paragraph of a summary: what was slow or stuck, in which function, on which object.
 * {@link sonde.tools.report.answer.EvidenceMaker} takes numbers and names from operators, rules
 * make sentences of them, and {@link sonde.tools.report.answer.Judgement} keeps those that explain
 * most.
 */
@org.jspecify.annotations.NullMarked
package sonde.tools.report.answer;
