package sonde.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.tools.option.CommandModel;
import sonde.tools.option.ManPage;
import sonde.tools.option.OptionModel;

/** Completion by bash and manual pages by groff, both made from the models of commands. */
class HelpFormsTest {
    @TempDir Path folder;

    private String run(List<String> command) throws IOException, InterruptedException {
        Path out = folder.resolve("out");
        Process process =
                new ProcessBuilder(command)
                        .directory(folder.toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(out.toFile())
                        .start();
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        String text = Files.readString(out, StandardCharsets.UTF_8);
        assertThat(process.exitValue()).as(text).isZero();
        return text;
    }

    /** What bash offers for the last word. */
    private List<String> offered(String line) throws Exception {
        Path script = Files.writeString(folder.resolve("c"), CommandTable.completion());
        String words = "COMP_WORDS=(" + line.replace("=", " = ") + "); COMP_CWORD=$1; _sonde";
        int last = line.replace("=", " = ").split(" +").length - 1;
        String print = "; printf '%s\\n' \"${COMPREPLY[@]}\"";
        String text = ". " + script + "; set -u; " + words.replace("$1", last + "") + print;
        return run(List.of("bash", "-c", text)).lines().toList();
    }

    @ParameterizedTest
    @CsvSource({
        "sonde rec, record",
        "sonde help qu, query",
        "sonde bpf dis, disasm",
        "sonde tool execsn, execsnoop",
        "sonde report --thr, --threads",
        "sonde bpf verify --slee, --sleepable",
        "sonde tool execsnoop --fo, --format",
        "sonde report --call-graph calle, callee",
        "sonde report --call-graph=calle, callee",
        "sonde record -p 1, 1",
    })
    void bashOffersWhatTheModelsSay(String line, String word) throws Exception {
        assertThat(offered(line)).contains(word);
    }

    @Test
    void namesOfFilesAreLeftToBash() throws Exception {
        assertThat(offered("sonde report --html x")).containsOnly("");
        assertThat(offered("sonde report x")).containsOnly("");
        Files.createDirectory(folder.resolve("made"));
        Files.createFile(folder.resolve("map"));
        assertThat(offered("sonde elf --debug-dir ma")).containsExactly("made");
    }

    @Test
    void manualPagesAreWithoutFault() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/groff")), "needs groff");
        for (String name : CommandTable.all()) {
            CommandModel model = CommandTable.find(name).orElseThrow().model();
            Path page = folder.resolve("page.1");
            Files.writeString(page, ManPage.of(model, "sonde " + name, "1"));
            assertThat(run(List.of("groff", "-man", "-Tascii", "-ww", "-z", page.toString())))
                    .as(name)
                    .isEmpty();
            String shown = run(List.of("groff", "-man", "-Tascii", "-P-c", page.toString()));
            String plain = shown.replaceAll(".\b", "");
            List<OptionModel> hidden = model.groups().getOrDefault(CommandModel.HIDDEN, List.of());
            model.options()
                    .filter(option -> !option.help().isEmpty() && !hidden.contains(option))
                    .forEach(option -> assertThat(plain).contains(option.names()));
        }
    }

    @Test
    void textsAreNoRequests() {
        CommandModel model = CommandModel.parse("sonde x\n\n.so /etc/passwd \\n \"q\"\n'x\n");
        assertThat(ManPage.of(model, "sonde x", "1").lines())
                .contains("\\&.so /etc/passwd \\en \\(dqq\\(dq 'x");
    }
}
