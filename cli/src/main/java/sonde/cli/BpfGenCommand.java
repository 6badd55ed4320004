package sonde.cli;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.bpf.object.ObjectFile;
import sonde.bpf.skeleton.JavaSkeleton;
import sonde.event.result.Listing;
import sonde.event.result.Result;
import sonde.tools.bpf.ObjectRecipe;

/** {@code sonde bpf gen}. */
@Command(
        name = "gen",
        mixinStandardHelpOptions = true,
        description = {
            "Writes a Java class that holds the objects and gives their programs, maps and global"
                    + " variables under their names, with types."
        },
        footer = {
            "",
            "Examples:",
            "  sonde bpf gen java switches.bpf.o > Switches.java",
            "  sonde bpf gen java switches.bpf.o --package com.example -o Switches.java",
            "",
            "Exit status: 0 done, 4 OBJECT is none."
        })
final class BpfGenCommand implements Callable<Integer> {
    @Spec private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "java", description = "the language")
    private @Nullable String language;

    @Parameters(
            index = "1..*",
            arity = "1..*",
            paramLabel = "OBJECT",
            description = "several are linked into one")
    private List<Path> objects;

    @Option(names = "--package", defaultValue = "", description = "of the class")
    private String packageName;

    @Option(names = "--class", paramLabel = "NAME", description = "of the class; the object's")
    private @Nullable String className;

    @Option(names = "-o", paramLabel = "OUT", description = "a new file instead of the output")
    private @Nullable Path out;

    @Option(
            names = {"-f", "--force"},
            description = "replace OUT when it exists")
    private boolean force;

    @SuppressWarnings("NullAway.Init") // picocli fills it in
    BpfGenCommand() {
        objects = List.of();
        packageName = "";
    }

    @Override
    public Integer call() throws Exception {
        var line = spec.commandLine();
        if (!"java".equals(language)) {
            throw new ParameterException(line, "only 'gen java' there is, no gen " + language);
        }
        ObjectFile file = ObjectRecipe.read(objects);
        String name = className == null ? JavaSkeleton.className(file) : className;
        if (!name.matches("[A-Za-z][A-Za-z0-9_]*")
                || !packageName.matches("([a-z][a-z0-9_]*(\\.[a-z][a-z0-9_]*)*)?")) {
            throw new ParameterException(line, "'%s.%s' is no class".formatted(packageName, name));
        }
        String source = JavaSkeleton.of(file, objects, packageName, name);
        Result result = Listing.ofLines(text -> text.print(source));
        Path target = out;
        return target == null
                ? Shown.onOut(result, Shown.Form.TEXT)
                : Shown.inFile(result, Shown.Form.TEXT, target, force);
    }
}
