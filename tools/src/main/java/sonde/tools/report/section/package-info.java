/**
 * The sections of {@code sonde report}, a class each; {@link
 * sonde.tools.report.section.ReportSections} lists them.
 *
 * {@snippet :
 * try (ReportSource source = ReportSource.open(Path.of("xz.sonde"))) {
 *     ReportOptions options = ReportOptions.of(ReportSections.named("threads", "io"));
 *     new TextRenderer().render(new ReportRecipe(options).run(source), out, TerminalStyle.PLAIN);
 * }
 * }
 */
package sonde.tools.report.section;
