/**
 * {@code sonde report}: where the time of a recording went.
 *
 * {@snippet :
 * try (ReportSource source = ReportSource.open(Path.of("xz.sonde"))) {
 *     Report report = new ReportRecipe(ReportOptions.of(sections)).run(source);
 *     new TextRenderer().render(report, out, TerminalStyle.PLAIN);
 * }
 * }
 */
package sonde.tools.report;
