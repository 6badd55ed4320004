package sonde.cli;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Stack;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.IParameterPreprocessor;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;
import sonde.symbol.files.Debuginfod;
import sonde.sys.Processes;

/** Which debuginfod servers are asked. */
final class ServerArguments {
    private static final String URLS = "DEBUGINFOD_URLS";

    @Spec(Target.MIXEE)
    private @Nullable CommandSpec spec;

    @Option(
            names = "--debuginfod",
            paramLabel = "URL",
            arity = "0..1",
            fallbackValue = "",
            preprocessor = OnlyUrls.class,
            description =
                    "ask this debuginfod server; without URL, as root, too, those of"
                            + " DEBUGINFOD_URLS")
    private @Nullable String server;

    ServerArguments() {
        // picocli fills the fields
    }

    /** The word behind the option is its own only when it is an address: it may be a file. */
    private static final class OnlyUrls implements IParameterPreprocessor {
        @Override
        @SuppressWarnings("JdkObsolete") // picocli's own signature
        public boolean preprocess(
                Stack<String> words, CommandSpec command, ArgSpec option, Map<String, Object> any) {
            boolean url = !words.isEmpty() && isUrl(words.peek());
            option.setValue(url ? words.pop() : "");
            return true;
        }
    }

    /** Whether a word can be a server's address. */
    static boolean isUrl(String word) {
        return word.matches("(?i)https?://.*");
    }

    /** The servers; empty when none was named, or root did not say so here. */
    Optional<Debuginfod> servers() {
        return servers(
                Optional.ofNullable(server),
                line -> {
                    if (spec != null) {
                        Failures.say(spec.commandLine().getErr(), line);
                    }
                });
    }

    /**
     * The servers of the environment or the one that was named.
     *
     * @param said what the option said: an address, nothing for those of the environment; empty
     *     when it was not there
     * @param progress is told of every question, one line
     */
    static Optional<Debuginfod> servers(Optional<String> said, Consumer<String> progress) {
        Map<String, String> environment = new HashMap<>(System.getenv());
        said.filter(url -> !url.isEmpty()).ifPresent(url -> environment.put(URLS, url));
        return Debuginfod.of(environment, Processes.geteuid() == 0, said.isPresent(), progress);
    }
}
