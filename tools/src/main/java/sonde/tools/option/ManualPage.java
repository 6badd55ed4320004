package sonde.tools.option;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Writes the manual page of a command from its model, with the macros of man(7). */
public final class ManualPage {
    private final StringBuilder out = new StringBuilder(4000);

    private ManualPage() {}

    /**
     * The page of a command.
     *
     * @param name of the page: {@code sonde-bpf-asm}
     * @param version of the program
     * @param others pages that it names at its end
     */
    static String of(String name, CommandModel model, String version, List<String> others) {
        ManualPage page = new ManualPage();
        page.begin(name, model.summary(), version);
        page.section("SYNOPSIS");
        model.usage()
                .forEach(usage -> page.out.append(".B ").append(text(usage)).append("\n.br\n"));
        page.section("DESCRIPTION");
        model.about().forEach(page::paragraph);
        if (model.arguments().stream().anyMatch(one -> !one.help().isEmpty())) {
            page.section("ARGUMENTS");
            model.arguments().forEach(one -> page.entry(one.shown(), one.help()));
        }
        page.section("OPTIONS");
        model.groups()
                .forEach((title, options) -> {
                    if (!title.equals(CommandModel.HIDDEN)) {
                        page.out.append(".SS ").append(text(title)).append('\n');
                        options.forEach(one -> page.entry(one.head(), one.help()));
                    }
                });
        for (Map.Entry<String, List<String>> note : model.notes().entrySet()) {
            page.section(note.getKey().toUpperCase(java.util.Locale.ROOT));
            page.verbatim(note.getValue());
        }
        page.end(others);
        return page.out.toString();
    }

    /**
     * The page of the program.
     *
     * @param summaries of the commands by name
     */
    static String overview(
            String about, Map<String, String> summaries, String version, List<String> others) {
        ManualPage page = new ManualPage();
        page.begin(
                "sonde", "record, trace, profile and explain what a Linux machine does", version);
        page.section("SYNOPSIS");
        page.out.append(".B sonde COMMAND [OPTIONS]\n");
        page.section("DESCRIPTION");
        page.paragraph(about);
        page.section("COMMANDS");
        summaries.forEach(page::entry);
        page.end(others);
        return page.out.toString();
    }

    /**
     * The pages of the program and of all commands, by path below /usr/share.
     *
     * @param models by full name: {@code record}, {@code bpf asm}
     */
    public static Map<String, String> files(
            Map<String, CommandModel> models, String about, String version) {
        Map<String, String> summaries = new LinkedHashMap<>();
        models.forEach((name, model) -> summaries.put("sonde " + name, model.summary()));
        List<String> pages = models.keySet().stream().map(ManualPage::page).toList();
        Map<String, String> files = new LinkedHashMap<>();
        files.put("man/man1/sonde.1", overview(about, summaries, version, pages));
        models.forEach((name, model) -> {
            String page = page(name);
            List<String> others = pages.stream().filter(one -> one.startsWith(page + "-")).toList();
            List<String> seeAlso = others.isEmpty() ? List.of("sonde") : others;
            files.put("man/man1/" + page + ".1", of(page, model, version, seeAlso));
        });
        return files;
    }

    private static String page(String name) {
        return "sonde-" + name.replace(' ', '-');
    }

    private void begin(String name, String summary, String version) {
        out.append(".\\\" Made from the options of sonde ").append(version).append(".\n");
        out.append(".TH ").append(name.toUpperCase(java.util.Locale.ROOT));
        out.append(" 1 \"\" \"sonde ").append(text(version)).append("\" \"User Commands\"\n");
        section("NAME");
        out.append(text(name)).append(" \\- ").append(text(summary)).append('\n');
    }

    private void section(String title) {
        out.append(".SH ").append(text(title)).append('\n');
    }

    private void paragraph(String paragraph) {
        out.append(".PP\n").append(text(paragraph)).append('\n');
    }

    private void entry(String head, String help) {
        out.append(".TP\n.B ").append(text(head)).append('\n');
        out.append(text(help.isEmpty() ? " " : help)).append('\n');
    }

    private void verbatim(List<String> lines) {
        out.append(".nf\n");
        lines.forEach(line -> out.append(text(line)).append('\n'));
        out.append(".fi\n");
    }

    private void end(List<String> others) {
        if (!others.isEmpty()) {
            section("SEE ALSO");
            List<String> pages = others.stream().map(one -> text(one) + "(1)").toList();
            out.append(String.join(", ", pages)).append('\n');
        }
    }

    /** Text that roff prints as it stands: no line of it is a request (groff_char(7), roff(7)). */
    static String text(String plain) {
        String escaped = plain.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq");
        escaped = escaped.replace("`", "\\(ga").replace("^", "\\(ha").replace("~", "\\(ti");
        return escaped.startsWith(".") ? "\\&" + escaped : escaped;
    }
}
