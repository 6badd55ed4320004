package sonde.tools.option;

import java.util.List;
import java.util.Map;
import sonde.view.WrappedText;

/** Prints the help of a command from its model. */
public final class HelpText {
    /** Where help begins behind names. */
    private static final int COLUMN = 26;

    private static final int PIPE_COLUMNS = 80;
    private static final String INDENT = "  ";

    private HelpText() {}

    /**
     * The help of a command.
     *
     * @param columns of the terminal; 0 where there is none
     */
    public static String of(CommandModel model, int columns) {
        int width = columns == 0 ? PIPE_COLUMNS : columns;
        StringBuilder out = new StringBuilder(2000);
        String lead = "Usage: ";
        for (String usage : model.usage()) {
            out.append(lead).append(usage).append('\n');
            lead = " ".repeat(lead.length());
        }
        for (String paragraph : model.about()) {
            out.append('\n').append(WrappedText.of("", "", paragraph, width));
        }
        if (model.arguments().stream().anyMatch(one -> !one.help().isEmpty())) {
            out.append("\nArguments:\n");
            for (CommandModel.Argument one : model.arguments()) {
                entry(out, one.shown(), one.help(), width);
            }
        }
        for (Map.Entry<String, List<OptionModel>> group : model.groups().entrySet()) {
            if (group.getKey().equals(CommandModel.HIDDEN)) {
                continue;
            }
            out.append('\n').append(group.getKey()).append(":\n");
            for (OptionModel option : group.getValue()) {
                entry(out, option.head(), option.help(), width);
            }
        }
        for (Map.Entry<String, List<String>> note : model.notes().entrySet()) {
            out.append('\n').append(note.getKey()).append(":\n");
            note.getValue().forEach(line -> out.append(line).append('\n'));
        }
        return out.toString();
    }

    private static void entry(StringBuilder out, String head, String help, int width) {
        // Letters and names without a letter are in columns of their own.
        String names = (head.startsWith("--") ? INDENT + INDENT : "") + head;
        String first = INDENT + names;
        String indent = " ".repeat(COLUMN);
        if (first.length() + 2 > COLUMN) {
            out.append(first).append('\n');
            first = indent;
        }
        first += " ".repeat(COLUMN - first.length());
        out.append(WrappedText.of(first, indent, help, width));
    }
}
