package sonde.tools.option;

import java.util.List;
import java.util.Map;
import java.util.Stack;
import picocli.CommandLine;
import picocli.CommandLine.IParameterPreprocessor;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Reads a command line by a model with picocli. {@code trace} and {@code tool}, whose letters and
 * order are those of bpftrace and BCC, are read by {@link OptionWords}.
 */
public final class PicocliWords {
    /** What picocli says of a flag with a value. */
    private static final String VALUED = "(?s)^option '(\\S+)'.* should be specified without .*";

    private PicocliWords() {}

    /**
     * Reads all words; kinds and ranges are checked by {@link GivenOptions#check}.
     *
     * @throws OptionException for an option that there is not, or one without its value
     */
    public static GivenOptions read(CommandModel model, List<String> words) {
        CommandSpec spec = CommandSpec.create();
        model.options().forEach(option -> spec.addOption(option(option)));
        spec.addPositional(
                PositionalParamSpec.builder()
                        .index("0..*")
                        .arity("0..*")
                        .type(List.class)
                        .auxiliaryTypes(String.class)
                        .build());
        CommandLine line =
                new CommandLine(spec)
                        .setStopAtPositional(model.endsOptionsAtWord())
                        .setOverwrittenOptionsAllowed(true)
                        .setExpandAtFiles(false);
        try {
            return given(model, line.parseArgs(words.toArray(String[]::new)));
        } catch (UnmatchedArgumentException e) {
            String word = e.getUnmatched().getFirst();
            String name = word.startsWith("--") ? word.replaceFirst("=.*", "") : word;
            throw new OptionException("unknown option " + name + OptionWords.meant(model, name));
        } catch (MissingParameterException e) {
            OptionSpec option = (OptionSpec) e.getMissing().getFirst();
            throw new OptionException(option.longestName() + " needs a value");
        } catch (ParameterException e) {
            throw new OptionException(
                    String.valueOf(e.getMessage()).replaceFirst(VALUED, "$1 takes no value"));
        }
    }

    private static GivenOptions given(CommandModel model, ParseResult parsed) {
        GivenOptions given = new GivenOptions(model);
        for (OptionSpec option : parsed.commandSpec().options()) {
            OptionModel known = model.option(option.longestName()).orElseThrow();
            switch (option.getValue()) {
                case Boolean flag when flag -> given.add(known, known.name(), "");
                case List<?> all ->
                        all.forEach(one -> given.add(known, known.name(), String.valueOf(one)));
                case null, default -> {}
            }
        }
        // Not matchedPositionals(): words on both sides of an option are in it twice.
        parsed.commandSpec()
                .positionalParameters()
                .forEach(words -> words.stringValues().forEach(given::addWord));
        return given;
    }

    private static OptionSpec option(OptionModel option) {
        OptionSpec.Builder spec =
                OptionSpec.builder(option.spellings().toArray(String[]::new)).required(false);
        if (option.isFlag()) {
            return spec.arity("0").type(boolean.class).build();
        }
        boolean optional = option.value().optional();
        spec.arity(optional ? "0..1" : "1").type(List.class).auxiliaryTypes(String.class);
        return optional ? spec.preprocessor(new OwnWord(option)).build() : spec.build();
    }

    /** The word behind the option is its own only when it can be its value: it may be a file. */
    private static final class OwnWord implements IParameterPreprocessor {
        // No record: picocli asks for its hash code, for which the JVM would spin classes at each
        // start.
        private final OptionModel option;

        OwnWord(OptionModel option) {
            this.option = option;
        }

        @Override
        @SuppressWarnings("JdkObsolete") // picocli's own signature
        public boolean preprocess(
                Stack<String> words, CommandSpec command, ArgSpec spec, Map<String, Object> any) {
            boolean own = !words.isEmpty() && option.value().mayBe(words.peek());
            spec.setValue(List.of(own ? words.pop() : ""));
            return true;
        }
    }
}
