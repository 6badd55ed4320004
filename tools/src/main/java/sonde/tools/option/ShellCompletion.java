package sonde.tools.option;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Writes what bash, zsh and fish complete, from the models of all commands. Names of options and
 * commands are offered, and the words of an option that lists them; files, folders, processes, and
 * behind the options of a command that runs a program, programs.
 */
public final class ShellCompletion {
    private static final int HELP_LENGTH = 90;

    private final Map<String, CommandModel> models;
    private final List<String> tools;
    private final StringBuilder out = new StringBuilder(60_000);

    private ShellCompletion(Map<String, CommandModel> models, Collection<String> tools) {
        this.models = models;
        this.tools = List.copyOf(tools);
    }

    /**
     * The completion of bash (bash 4.2 or newer; no other script is needed).
     *
     * @param models by full name: {@code record}, {@code bpf asm}
     * @param tools that {@code sonde tool} takes
     */
    public static String bash(Map<String, CommandModel> models, Collection<String> tools) {
        return new ShellCompletion(models, tools).bash();
    }

    /** As {@link #bash}, for zsh. */
    public static String zsh(Map<String, CommandModel> models, Collection<String> tools) {
        return new ShellCompletion(models, tools).zsh();
    }

    /** As {@link #bash}, for fish 3. */
    public static String fish(Map<String, CommandModel> models, Collection<String> tools) {
        return new ShellCompletion(models, tools).fish();
    }

    private List<String> below(String name) {
        String start = name.isEmpty() ? "" : name + " ";
        return models.keySet().stream()
                .filter(one -> one.startsWith(start))
                .map(one -> one.substring(start.length()))
                .filter(one -> one.indexOf(' ') < 0)
                .toList();
    }

    /** The words that may follow a command: the commands below it, or the tools. */
    private List<String> words(String name) {
        return name.equals("tool") ? tools : below(name);
    }

    private static List<OptionModel> shown(CommandModel model) {
        return model.groups().entrySet().stream()
                .filter(group -> !group.getKey().equals(CommandModel.HIDDEN))
                .flatMap(group -> group.getValue().stream())
                .toList();
    }

    private String bash() {
        out.append("# bash completion of sonde, made from the options of its commands\n\n");
        out.append("_sonde_options() {\n    case $1 in\n");
        models.forEach((name, model) -> {
            String names =
                    shown(model).stream()
                            .flatMap(one -> one.names().stream())
                            .collect(Collectors.joining(" "));
            out.append("    '").append(name).append("') echo '").append(names).append("' ;;\n");
        });
        out.append("    esac\n}\n\n_sonde_words() {\n    case $1 in\n");
        out.append("    '') echo '").append(String.join(" ", below(""))).append(" help' ;;\n");
        models.keySet().stream()
                .filter(name -> !words(name).isEmpty())
                .forEach(name -> {
                    String words = String.join(" ", words(name));
                    out.append("    ").append(name).append(") echo '").append(words);
                    out.append("' ;;\n");
                });
        out.append("    esac\n}\n\n# what the value of an option is\n_sonde_value() {\n");
        out.append("    case \"$1 $2\" in\n");
        models.forEach((name, model) ->
                shown(model).stream()
                        .filter(one -> !one.isFlag() && !one.value().attached())
                        .forEach(one -> bashValue(name, one)));
        out.append("    esac\n}\n").append(BASH);
        return out.toString();
    }

    private void bashValue(String name, OptionModel option) {
        String cases =
                option.names().stream()
                        .map(one -> "'" + name + " " + one + "'")
                        .collect(Collectors.joining(" | "));
        String kind =
                switch (option.value().kind()) {
                    case FILE -> "file";
                    case FOLDER -> "folder";
                    case PROCESS -> "process";
                    case CHOICE -> "words " + String.join(" ", option.value().choices());
                    case FLAG, TEXT, NUMBER, TIME, URL -> "text";
                };
        out.append("    ").append(cases).append(") echo '").append(kind).append("' ;;\n");
    }

    /** A function that bash calls with the words of the line in COMP_WORDS. */
    private static final String BASH =
            """

            _sonde() {
                local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
                local name='' word kind at
                for ((at = 1; at < COMP_CWORD; at++)); do
                    word=${COMP_WORDS[at]}
                    if [[ $word == -- ]]; then
                        COMPREPLY=($(compgen -c -f -- "$current"))
                        return
                    fi
                    if [[ -z $name || " $(_sonde_words "$name") " == *" $word "* &&
                        $name != *' '* && $name != tool ]]; then
                        [[ $word == -* || $word == help ]] || name=${name:+$name }$word
                    fi
                done
                kind=$(_sonde_value "$name" "$before")
                case $kind in
                file) COMPREPLY=($(compgen -f -- "$current")) ;;
                folder) COMPREPLY=($(compgen -d -- "$current")) ;;
                process) COMPREPLY=($(compgen -W "$(cd /proc && echo [0-9]*)" -- "$current")) ;;
                words*) COMPREPLY=($(compgen -W "${kind#words }" -- "$current")) ;;
                text) COMPREPLY=() ;;
                *)
                    if [[ $current == -* ]]; then
                        word="$(_sonde_options "$name")"
                        COMPREPLY=($(compgen -W "${word:---help --version}" -- "$current"))
                    else
                        COMPREPLY=($(compgen -W "$(_sonde_words "$name")" -- "$current"))
                        [[ -z $name || -n ${COMPREPLY[0]-} ]] ||
                            COMPREPLY=($(compgen -f -- "$current"))
                    fi
                    ;;
                esac
            }
            complete -o filenames -F _sonde sonde
            """;

    private String zsh() {
        out.append("#compdef sonde\n# made from the options of sonde's commands\n\n");
        out.append(
                "_sonde_programs() {\n    [[ $words[1] != -- ]] || { shift words; (( CURRENT-- )); }\n");
        out.append("    _normal\n}\n\n");
        models.forEach((name, model) -> {
            out.append("_sonde_").append(name.replace(' ', '_')).append("() {\n");
            if (!below(name).isEmpty()) {
                zshDispatch(name);
            }
            out.append("    _arguments -S");
            shown(model).forEach(this::zshOption);
            String rest = words(name).isEmpty() ? "_files" : zshWords(words(name));
            boolean runs = model.endsOptionsAtWord() && words(name).isEmpty();
            out.append(" \\\n        '*::word:").append(runs ? "_sonde_programs" : rest);
            out.append("'\n}\n\n");
        });
        out.append("_sonde() {\n");
        zshDispatch("");
        out.append("    _arguments '--help[print the commands]' '--version[print the version]'\n");
        out.append("}\n\n_sonde \"$@\"\n");
        return out.toString();
    }

    /** Calls the function of the command that the next word names, or offers the commands. */
    private void zshDispatch(String name) {
        out.append("    if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n");
        out.append("        local -a commands=(\n");
        for (String word : below(name)) {
            CommandModel model = models.get((name + " " + word).strip());
            String help = model == null ? "" : model.summary().replace(":", "\\:");
            out.append("            '").append(word).append(':').append(quoted(help)).append("'\n");
        }
        out.append("        )\n        _describe command commands\n        return\n    fi\n");
        String start = name.isEmpty() ? "" : name.replace(' ', '_') + "_";
        String names = String.join("|", below(name));
        out.append("    case $words[2] in\n    ").append(names).append(")\n");
        out.append("        local command=$words[2]\n        shift words\n");
        out.append("        (( CURRENT-- ))\n        _sonde_").append(start);
        out.append("$command\n        return\n        ;;\n    esac\n");
    }

    private static String zshWords(List<String> words) {
        return "(" + String.join(" ", words) + ")";
    }

    private void zshOption(OptionModel option) {
        OptionValue value = option.value();
        String help = shortHelp(option).replace("[", "\\[").replace("]", "\\]").replace(":", "\\:");
        String action =
                switch (value.kind()) {
                    case FILE -> "_files";
                    case FOLDER -> "_files -/";
                    case PROCESS -> "_pids";
                    case CHOICE -> zshWords(value.choices());
                    case FLAG, TEXT, NUMBER, TIME, URL -> " ";
                };
        for (String name : option.names()) {
            boolean isLong = name.startsWith("--");
            String others = value.repeatable() ? "*" : "(" + String.join(" ", option.names()) + ")";
            String sign = value.attached() ? "=-" : isLong ? "=" : "+";
            out.append(" \\\n        '").append(others).append(name);
            out.append(option.isFlag() ? "" : sign).append('[').append(quoted(help)).append(']');
            if (!option.isFlag()) {
                String colon = value.optional() || value.attached() ? "::" : ":";
                out.append(colon).append(value.label()).append(':').append(action);
            }
            out.append('\'');
        }
    }

    private String fish() {
        out.append("# fish completion of sonde, made from the options of its commands\n\n");
        out.append(FISH);
        fishWords("", below(""));
        models.forEach((name, model) -> {
            fishWords(name, words(name));
            shown(model).forEach(one -> fishOption(name, one));
        });
        return out.toString();
    }

    /** Whether the line's command is the one of the arguments. */
    private static final String FISH =
            """
            function __sonde_at
                set -l words (commandline -opc)
                set -e words[1]
                contains -- -- $words; and return 1
                for name in $argv
                    test (count $words) -gt 0; and test "$words[1]" = "$name"; or return 1
                    set -e words[1]
                end
                return 0
            end

            function __sonde_before
                set -l words (commandline -opc)
                test (count $words) -eq (math (count $argv) + 1); and __sonde_at $argv
            end

            function __sonde_program
                set -l words (commandline -opc)
                set -l at (contains -i -- -- $words); or return 1
                set -e words[1..$at]
                complete -C (string join ' ' -- $words (commandline -ct))
            end

            complete -c sonde -f -n 'contains -- -- (commandline -opc)' -a '(__sonde_program)'
            """;

    private void fishWords(String name, List<String> words) {
        for (String word : words) {
            CommandModel model = models.get((name + " " + word).strip());
            out.append("complete -c sonde -f -n '__sonde_before ").append(name).append("' -a ");
            out.append(word);
            if (model != null) {
                out.append(" -d '").append(fishQuoted(model.summary())).append('\'');
            }
            out.append('\n');
        }
    }

    private void fishOption(String name, OptionModel option) {
        out.append("complete -c sonde -n '__sonde_at ").append(name).append('\'');
        for (String one : option.names()) {
            String bare = one.replaceFirst("^-+", "");
            out.append(one.startsWith("--") ? " -l " : bare.length() == 1 ? " -s " : " -o ");
            out.append('\'').append(fishQuoted(bare)).append('\'');
        }
        if (!option.isFlag() && !option.value().optional() && !option.value().attached()) {
            out.append(
                    switch (option.value().kind()) {
                        case FILE -> " -r -F";
                        case FOLDER -> " -x -a '(__fish_complete_directories)'";
                        case PROCESS -> " -x -a '(__fish_complete_pids)'";
                        case CHOICE ->
                                " -x -a '" + String.join(" ", option.value().choices()) + "'";
                        case FLAG, TEXT, NUMBER, TIME, URL -> " -x";
                    });
        }
        out.append(" -d '").append(fishQuoted(shortHelp(option))).append("'\n");
    }

    /** The first part of the help, of one line. */
    private static String shortHelp(OptionModel option) {
        String help = option.help().replaceFirst("([;.] | \\().*", "").strip();
        if (help.length() <= HELP_LENGTH) {
            return help;
        }
        int end = help.lastIndexOf(' ', HELP_LENGTH);
        return help.substring(0, end < 0 ? HELP_LENGTH : end) + " …";
    }

    private static String quoted(String text) {
        return text.replace("'", "'\\''");
    }

    private static String fishQuoted(String text) {
        return text.replace("\\", "\\\\").replace("'", "\\'");
    }

    /** The files of completion below /usr/share, by path; the two last where Debian looks. */
    public static Map<String, String> files(
            Map<String, CommandModel> models, Collection<String> tools) {
        List<String> sorted = new ArrayList<>(tools);
        sorted.sort(null);
        return Map.of(
                "bash-completion/completions/sonde", bash(models, sorted),
                "zsh/vendor-completions/_sonde", zsh(models, sorted),
                "fish/vendor_completions.d/sonde.fish", fish(models, sorted));
    }
}
