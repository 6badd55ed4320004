package sonde.tools.option;

import java.util.List;
import java.util.Map;

/** A script by which bash completes commands, options and values, from the models of commands. */
public final class ShellCompletion {
    private static final String FUNCTION =
            """
            _sonde() {
                local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
                local command=${COMP_WORDS[1]} below value at=2
                COMPREPLY=()
                if ((COMP_CWORD == 1)); then
                    COMPREPLY=($(compgen -W "${_sonde_below[sonde]}" -- "$word"))
                    return
                fi
                if [[ $command == help ]]; then
                    command=${COMP_WORDS[2]-} at=3
                    if ((COMP_CWORD == 2)); then
                        COMPREPLY=($(compgen -W "${_sonde_below[sonde]}" -- "$word"))
                        return
                    fi
                fi
                below=${_sonde_below[$command]-}
                if [[ -n $below ]]; then
                    if ((COMP_CWORD == at)) && [[ $word != -* ]]; then
                        COMPREPLY=($(compgen -W "$below" -- "$word"))
                        return
                    fi
                    [[ " $below " != *" ${COMP_WORDS[at]-} "* ]] || command+=" ${COMP_WORDS[at]}"
                fi
                # bash makes a word of an equals sign
                if [[ $word == = ]]; then
                    word=
                elif [[ $before == = ]]; then
                    before=${COMP_WORDS[COMP_CWORD-2]}
                fi
                value=${_sonde_values["$command $before"]-}
                case $value in
                @file) ;; # the usual completion
                @folder) COMPREPLY=($(compgen -d -- "$word")) ;;
                @pid) COMPREPLY=($(compgen -W "$(cd /proc && echo [0-9]*)" -- "$word")) ;;
                @other) COMPREPLY=("$word") ;;
                ?*) COMPREPLY=($(compgen -W "$value" -- "$word")) ;;
                *)
                    if [[ $word == -* ]]; then
                        COMPREPLY=($(compgen -W "${_sonde_options[$command]-}" -- "$word"))
                    fi
                    ;;
                esac
            }
            complete -o bashdefault -o default -F _sonde sonde
            """;

    private ShellCompletion() {}

    /**
     * The script for bash.
     *
     * @param below names by the command that they follow; those that follow {@code sonde} itself
     *     too
     * @param models by the full name of a command: {@code bpf asm}
     */
    public static String bash(Map<String, List<String>> below, Map<String, CommandModel> models) {
        StringBuilder out = new StringBuilder("# completion of sonde for bash\n");
        out.append("declare -A _sonde_below _sonde_options _sonde_values\n");
        below.forEach((name, words) -> assign(out, "below", name, String.join(" ", words)));
        models.forEach((name, model) -> {
            StringBuilder options = new StringBuilder();
            for (OptionModel option : model.options().toList()) {
                options.append(options.isEmpty() ? "" : " ")
                        .append(String.join(" ", option.names()));
                String value = value(option.value());
                if (!value.isEmpty()) {
                    option.spellings()
                            .forEach(one -> assign(out, "values", name + " " + one, value));
                }
            }
            assign(out, "options", name, options.toString());
        });
        return out.append(FUNCTION).toString();
    }

    private static String value(OptionValue value) {
        return switch (value.kind()) {
            case FLAG -> "";
            case FILE -> "@file";
            case FOLDER -> "@folder";
            case PROCESS -> "@pid";
            case CHOICE -> value.label().replace('|', ' ');
            case TEXT, NUMBER, TIME, URL -> value.optional() ? "" : "@other";
        };
    }

    private static void assign(StringBuilder out, String table, String key, String words) {
        String safe = (key + words).replaceAll("[\\w =@.,|-]", "");
        if (!safe.isEmpty()) {
            throw new IllegalArgumentException("not for a shell: " + key + " " + words);
        }
        out.append("_sonde_%s[\"%s\"]=\"%s\"\n".formatted(table, key, words));
    }
}
