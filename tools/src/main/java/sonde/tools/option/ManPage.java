package sonde.tools.option;

import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The manual page of a command, for man(1), from its model. */
public final class ManPage {
    private ManPage() {}

    /**
     * The page in the macros of man(7).
     *
     * @param name in full: {@code sonde record}
     */
    public static String of(CommandModel model, String name, String version) {
        StringBuilder out = new StringBuilder(4000);
        String title = name.replace(' ', '-').toUpperCase(Locale.ROOT);
        out.append(".TH \"").append(escaped(title)).append("\" 1 \"\" \"sonde ");
        out.append(version).append("\"\n.SH NAME\n").append(escaped(name.replace(' ', '-')));
        out.append(" \\- ").append(escaped(model.summary())).append("\n.SH SYNOPSIS\n.nf\n");
        model.usage().forEach(line -> line(out, line));
        out.append(".fi\n.SH DESCRIPTION\n");
        for (String paragraph : model.about()) {
            out.append(".PP\n");
            line(out, paragraph);
        }
        for (CommandModel.Argument one : model.arguments()) {
            entry(out, one.shown(), one.help());
        }
        for (Map.Entry<String, List<OptionModel>> group : model.groups().entrySet()) {
            if (!group.getKey().equals(CommandModel.HIDDEN)) {
                section(out, group.getKey());
                group.getValue().forEach(option -> entry(out, option.head(), option.help()));
            }
        }
        for (Map.Entry<String, List<String>> note : model.notes().entrySet()) {
            section(out, note.getKey());
            out.append(".nf\n");
            note.getValue().forEach(text -> line(out, text));
            out.append(".fi\n");
        }
        return out.toString();
    }

    private static void section(StringBuilder out, String title) {
        out.append(".SH ").append(escaped(title.toUpperCase(Locale.ROOT))).append('\n');
    }

    private static void entry(StringBuilder out, String head, String help) {
        out.append(".TP\n");
        line(out, head);
        line(out, help);
    }

    /** A dot or quote that begins a line would be a request. */
    private static void line(StringBuilder out, String text) {
        out.append("\\&").append(escaped(text)).append('\n');
    }

    private static String escaped(String text) {
        return text.replace("\\", "\\e").replace("-", "\\-").replace("\"", "\\(dq");
    }
}
