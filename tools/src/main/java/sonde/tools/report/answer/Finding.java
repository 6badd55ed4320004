package sonde.tools.report.answer;

/**
 * A sentence of judgement.
 *
 * @param explained the part of the time it explains, 0 to 1; sentences come in this order
 * @param text ends with a full stop
 */
record Finding(double explained, String text) {}
