package sonde.tools.probe;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import sonde.event.result.Table;
import sonde.event.result.TableBuilder;
import sonde.event.result.TextLayout;
import sonde.probe.dynamic.FunctionNames;
import sonde.probe.dynamic.PointSpec;
import sonde.probe.dynamic.ProbedObject;
import sonde.probe.dynamic.SourceView;
import sonde.probe.dynamic.SourceView.ViewedLine;
import sonde.probe.dynamic.VariableView;
import sonde.probe.dynamic.VariableView.ViewedVariable;
import sonde.view.TextEscape;

/** Functions, lines and variables of a kernel or a program that a probe can use. */
public final class SourceProbeRecipe {
    private static final int TAB = 8;

    /** A longer type and name pushes the place of its variable to the right. */
    private static final int MOST_NAMED = 48;

    private SourceProbeRecipe() {}

    private record Line(SourceView view, ViewedLine row) {}

    private record Variable(VariableView view, ViewedVariable row) {}

    /** Functions whose name a glob matches. */
    public static ProbeAnswer functions(ProbedObject subject, String pattern) throws IOException {
        List<String> names = FunctionNames.matching(subject, pattern);
        List<String> notes = new ArrayList<>(subject.notes());
        if (names.isEmpty()) {
            notes.add(
                    "no function of "
                            + subject.path()
                            + " matches '"
                            + TextEscape.line(pattern)
                            + "'"
                            + (subject.hasEntries()
                                    ? ""
                                    : "; it has no debugging information, so that only its symbol"
                                            + " table could be asked"));
        }
        Table table =
                new TableBuilder<String>("functions").text("function", name -> name).table(names);
        return new ProbeAnswer(
                new TextLayout(
                        table, out -> names.forEach(name -> out.println(TextEscape.line(name)))),
                notes,
                !names.isEmpty());
    }

    /**
     * Source, with the lines that take probes.
     *
     * @param what a function or a file, see {@link SourceView#of}
     * @param sources folders that have the source
     */
    public static ProbeAnswer lines(ProbedObject subject, String what, List<Path> sources)
            throws IOException {
        List<SourceView> views = SourceView.of(subject, PointSpec.withoutModule(what), sources);
        List<Line> lines = new ArrayList<>();
        List<String> notes = new ArrayList<>();
        for (SourceView view : views) {
            view.rows().forEach(row -> lines.add(new Line(view, row)));
            notes.addAll(view.notes());
        }
        Table table =
                new TableBuilder<Line>("lines")
                        .text("function", line -> line.view.title())
                        .text("file", line -> line.view.file())
                        .id("line", line -> line.row.number())
                        .id("number", line -> line.row.number() - line.view.base())
                        .text("probe", line -> line.row.hasCode() ? "yes" : "no")
                        .text("text", line -> line.row.text())
                        .table(lines);
        return new ProbeAnswer(
                new TextLayout(table, out -> views.forEach(view -> source(view, out))),
                notes,
                true);
    }

    private static void source(SourceView view, PrintWriter out) {
        boolean function = view.base() > 0;
        out.println(
                "<"
                        + TextEscape.line(view.title())
                        + (function ? "@" + TextEscape.line(view.file()) + ":" + view.base() : "")
                        + ">");
        for (ViewedLine row : view.rows()) {
            String number = row.hasCode() ? Integer.toString(row.number() - view.base()) : "";
            String text = TextEscape.line(untabbed(row.text()));
            out.println("%7s  %s".formatted(number, text).stripTrailing());
        }
        out.println();
    }

    /** The text with each tab replaced by the blanks up to the next tab stop. */
    private static String untabbed(String text) {
        StringBuilder wide = new StringBuilder();
        for (char c : text.toCharArray()) {
            if (c == '\t') {
                wide.append(" ".repeat(TAB - wide.length() % TAB));
            } else {
                wide.append(c);
            }
        }
        return wide.toString();
    }

    /** Variables that a probe can see at a place, and where they are. */
    public static ProbeAnswer variables(ProbedObject subject, String place) throws IOException {
        List<VariableView> views = VariableView.of(subject, PointSpec.withoutModule(place));
        List<String> notes = new ArrayList<>(subject.notes());
        subject.foreign().ifPresent(notes::add);
        List<Variable> variables = new ArrayList<>();
        for (VariableView view : views) {
            view.rows().forEach(row -> variables.add(new Variable(view, row)));
        }
        Table table =
                new TableBuilder<Variable>("variables")
                        .text("place", one -> one.view.place())
                        .text("code", one -> one.view.code())
                        .text("name", one -> one.row.name())
                        .text("type", one -> one.row.type())
                        .text("where", one -> one.row.where())
                        .text("kind", one -> one.row.isParameter() ? "parameter" : "variable")
                        .text("available", one -> one.row.isAvailable() ? "yes" : "no")
                        .table(variables);
        return new ProbeAnswer(
                new TextLayout(table, out -> views.forEach(view -> variables(view, out))),
                notes,
                true);
    }

    private static void variables(VariableView view, PrintWriter out) {
        String note = view.note().isEmpty() ? "" : "  " + TextEscape.line(view.note());
        out.println(
                TextEscape.line(view.place()) + "  <" + TextEscape.line(view.code()) + ">" + note);
        int width =
                view.rows().stream()
                        .mapToInt(row -> row.type().length() + row.name().length() + 1)
                        .max()
                        .orElse(0);
        String format = "  %-" + Math.clamp(width, 1, MOST_NAMED) + "s  %s";
        for (ViewedVariable row : view.rows()) {
            String named = TextEscape.line(row.type() + " " + row.name());
            out.println(format.formatted(named, TextEscape.line(row.where())));
        }
    }
}
