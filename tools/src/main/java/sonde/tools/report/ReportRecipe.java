package sonde.tools.report;
public final class ReportRecipe { public static sonde.event.result.Result summary(java.nio.file.Path p) { return new sonde.event.result.Report("x", java.util.List.of(), java.util.List.of()); } }
