package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The three shells complete every option that the help of a command shows; man reads each page. */
@Tag("product")
class CompletionTest {
    private static final Pattern ENTRY = Pattern.compile("(?m)^ {2,6}((?:-[^ ,\\n]+(?:, )?)+)");

    private static Path folder;
    private static Map<String, Set<String>> options;

    @BeforeAll
    static void write() throws Exception {
        folder = Files.createTempDirectory("sonde-completion");
        Files.createDirectory(folder.resolve("bin"));
        Files.createSymbolicLink(folder.resolve("bin/sonde"), Sonde.ROOT.resolve("sonde"));
        assertThat(Sonde.in(folder).run("--manuals", folder.toString()).status()).isZero();
        options = new LinkedHashMap<>();
        try (Stream<Path> pages = Files.list(folder.resolve("man/man1"))) {
            for (Path page : pages.sorted().toList()) {
                String name = page.getFileName().toString();
                name =
                        name.replaceFirst("^sonde-?", "")
                                .replaceFirst("\\.1$", "")
                                .replace('-', ' ');
                if (!name.isEmpty()) {
                    options.put(name, ofHelp(name));
                }
            }
        }
        assertThat(options).containsKeys("record", "bpf asm", "tool");
    }

    @AfterAll
    static void remove() throws Exception {
        Sonde.in(folder).execute(List.of("rm", "-r", folder.toString()));
    }

    /** What help shows in the parts of options. */
    private static Set<String> ofHelp(String name) throws Exception {
        List<String> words = new ArrayList<>(List.of("help"));
        words.addAll(List.of(name.split(" ")));
        String help = Sonde.in(folder).run(words.toArray(String[]::new)).out();
        Set<String> names = new TreeSet<>();
        Matcher entry = ENTRY.matcher(help);
        while (entry.find()) {
            for (String one : entry.group(1).split(", ")) {
                names.add(one.replaceFirst("\\[?=.*", ""));
            }
        }
        assertThat(names).as(name).contains("--help");
        return names;
    }

    /**
     * Runs a shell that prints {@code COMMAND TAB WORD} for what it offers behind a dash and two.
     */
    private void checkOffers(String shell, String script) throws Exception {
        assumeTrue(Files.exists(Path.of("/usr/bin", shell)), shell + " is not installed");
        Path file = Files.writeString(folder.resolve("script." + shell), script);
        List<String> command =
                new ArrayList<>(List.of("env", "PATH=" + folder.resolve("bin") + ":/usr/bin:/bin"));
        command.addAll(List.of(shell, file.toString(), folder.toString()));
        command.addAll(options.keySet());
        Sonde.Outcome outcome = Sonde.in(folder).execute(command);
        Map<String, Set<String>> offered = new LinkedHashMap<>();
        outcome.out()
                .lines()
                .map(line -> line.split("\t"))
                .filter(line -> line.length == 2)
                .forEach(line ->
                        offered.computeIfAbsent(line[0], _ -> new TreeSet<>()).add(line[1]));
        assertThat(offered.keySet()).as(outcome.toString()).containsAll(options.keySet());
        options.forEach((name, names) -> {
            Set<String> missing = new TreeSet<>(names);
            missing.removeAll(offered.get(name));
            assertThat(missing).as(name).isEmpty();
        });
        assertThat(offered.get("tool exe")).containsExactly("execsnoop");
        assertThat(offered.get("rec")).containsExactly("record");
        assertThat(offered.get("record -- sle")).contains("sleep");
    }

    @Test
    void bash() throws Exception {
        checkOffers(
                "bash",
                """
                . "$1/bash-completion/completions/sonde"
                offer() {
                    COMP_WORDS=(sonde $1)
                    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
                    _sonde
                    [[ ${#COMPREPLY[@]} = 0 ]] || printf "$2\\t%s\\n" "${COMPREPLY[@]}"
                }
                shift
                for name; do offer "$name -" "$name"; done
                for name in 'tool exe' rec 'record -- sle'; do offer "$name" "$name"; done
                """);
    }

    @Test
    void fish() throws Exception {
        checkOffers(
                "fish",
                """
                set -p fish_complete_path $argv[1]/fish/vendor_completions.d
                function offer
                    complete -C"sonde $argv[1]" | string replace -r '\\t.*' '' |
                        string replace -r '^' "$argv[2]"\\t
                end
                for name in $argv[2..-1]
                    offer "$name -" $name
                    offer "$name --" $name
                end
                for name in 'tool exe' rec 'record -- sle'
                    offer $name $name
                end
                """);
    }

    @Test
    void zsh() throws Exception {
        // A shell at a terminal of its own; what its completion adds is printed too.
        checkOffers(
                "zsh",
                """
                zmodload zsh/zpty
                zpty -b shell zsh -f -i
                zpty -w shell "PROMPT=; COLUMNS=400; LISTMAX=9999
                    unset zle_bracketed_paste
                    fpath=($1/zsh/vendor-completions \\$fpath)
                    autoload -Uz compinit; compinit -u -D
                    bindkey '^I' list-choices
                    compadd() {
                        local -a all; builtin compadd -O all \\"\\$@\\"
                        [[ \\${#all} = 0 ]] || print -rl -- OFFER:\\${^all} >\\$TTY
                        builtin compadd \\"\\$@\\"
                    }
                    ended() { print -l '' ENDED >\\$TTY }; zle -N ended; bindkey '^]' ended
                    print REA''DY"
                zpty -r shell out '*READY*'
                offer() {
                    zpty -w -n shell "sonde $1"$'\\t'$'\\x1d'$'\\x15'
                    zpty -r shell out '*ENDED*'
                    print -r -- ${out//$'\\r'/} | sed -n "s/.*OFFER:/$2\\t/p"
                }
                shift
                for name; do offer "$name -" $name; offer "$name --" $name; done
                for name in 'tool exe' rec 'record -- sle'; do offer $name $name; done
                zpty -d shell
                """);
    }

    @Test
    void manualPagesAreRead() throws Exception {
        assumeTrue(Files.exists(Path.of("/usr/bin/groff")), "groff is not installed");
        for (String name : List.of("", "-record", "-bpf-asm", "-trace", "-report", "-tool")) {
            String page = folder.resolve("man/man1/sonde" + name + ".1").toString();
            Sonde.Outcome outcome =
                    Sonde.in(folder)
                            .execute(List.of("groff", "-ww", "-man", "-Tutf8", "-P-cbou", page));
            assertThat(outcome.err()).isEmpty();
            assertThat(outcome.out()).contains("SYNOPSIS").containsPattern("sonde" + name);
        }
    }
}
