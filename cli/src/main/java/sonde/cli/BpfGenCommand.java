package sonde.cli;

import java.nio.file.Path;
import java.util.List;
import sonde.bpf.object.ObjectFile;
import sonde.bpf.skeleton.JavaSkeleton;
import sonde.cli.ResultPrinter.OutputForm;
import sonde.event.result.Listing;
import sonde.event.result.Result;
import sonde.tools.bpf.ObjectRecipe;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.OptionException;

/** {@code sonde bpf gen}. */
final class BpfGenCommand {
    static final String MODEL =
            """
            sonde bpf gen java [OPTIONS] OBJECT...

            Write a Java class for objects. It holds them and gives access to their programs, maps
            and global variables under their names, with types.

            Arguments:
              java            the language
              OBJECT...       objects of clang or gcc; several are linked into one

            Options:
              --package NAME  the package of the class
              --class NAME    the name of the class; without it that of the object
              -o, --output FILE
                              write to a new file instead of standard output
              --force         overwrite the file of --output if it exists

            Old spellings:
              -f = --force

            Examples:
              sonde bpf gen java switches.bpf.o > Switches.java
              sonde bpf gen java switches.bpf.o --package com.example -o Switches.java

            Exit status:
              0 done, 4 OBJECT is none
            """;

    private BpfGenCommand() {}

    static int run(CommandCall call) throws Exception {
        GivenOptions given = call.given();
        List<Path> objects = given.paths().subList(1, given.words().size());
        String language = given.words().getFirst();
        String packageName = given.text("--package", "");
        String className = given.text("--class");
        if (!language.equals("java")) {
            throw new OptionException("only 'gen java' there is, no gen " + language);
        }
        ObjectFile file = ObjectRecipe.read(objects);
        String name = className == null ? JavaSkeleton.className(file) : className;
        if (!name.matches("[A-Za-z][A-Za-z0-9_]*")
                || !packageName.matches("([a-z][a-z0-9_]*(\\.[a-z][a-z0-9_]*)*)?")) {
            throw new OptionException("'%s.%s' is no class".formatted(packageName, name));
        }
        String source = JavaSkeleton.of(file, objects, packageName, name);
        Result result = Listing.ofLines(text -> text.print(source));
        Path target = given.path("--output");
        return target == null
                ? ResultPrinter.onOut(result, OutputForm.TEXT)
                : ResultPrinter.inFile(result, OutputForm.TEXT, target, given.has("--force"));
    }
}
