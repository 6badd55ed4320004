package sonde.tools.script;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Listing;
import sonde.event.result.Result;
import sonde.event.result.RowOutput;
import sonde.event.result.Table;
import sonde.event.result.TableBuilder;
import sonde.event.result.TextLayout;
import sonde.tools.option.OptionException;
import sonde.tools.script.ScriptTool.ToolVariant;
import sonde.tools.trace.TraceRecipe;
import sonde.tools.trace.TraceRequest;

/** Lists ready scripts and chooses those that this kernel takes. */
public final class ToolRecipe {
    /** What the language says where a program has no such function. */
    private static final String NO_FUNCTION = "No matches for u";

    private ToolRecipe() {}

    /** All tools. */
    public static Result list() {
        List<ScriptTool> tools =
                ScriptTool.names().stream()
                        .flatMap(name -> ScriptTool.find(name).stream())
                        .toList();
        Table table =
                new TableBuilder<ScriptTool>("tools")
                        .text("tool", ScriptTool::name)
                        .text("summary", ScriptTool::summary)
                        .table(tools);
        return new TextLayout(
                table,
                out ->
                        tools.forEach(
                                tool -> out.printf("%-16s %s%n", tool.name(), tool.summary())));
    }

    /** The text of a tool's first script, byte for byte. */
    public static Result script(ScriptTool tool) {
        byte[] text = tool.variants().getFirst().text().getBytes(StandardCharsets.UTF_8);
        return new Listing("", List.of(), (out, _) -> RowOutput.unchanged(out).write(text));
    }

    /**
     * The first script that can run here; the last one when none can, to say why.
     *
     * @param request as it would run
     * @param plan gets a sentence for each script that was looked at
     */
    public static ToolVariant choose(
            List<ToolVariant> variants, TraceRequest request, Consumer<String> plan)
            throws IOException {
        ToolVariant chosen = variants.getLast();
        List<String> said = new ArrayList<>();
        for (ToolVariant variant : variants.subList(0, variants.size() - 1)) {
            Optional<String> refusal = TraceRecipe.refusal(request, variant.source());
            if (refusal.isEmpty()) {
                chosen = variant;
                break;
            }
            said.add("plan: not " + variant.name() + ": " + refusal.get());
        }
        said.forEach(plan);
        plan.accept("plan: " + chosen.name());
        return chosen;
    }

    /**
     * Says that a program lacks a function in one line, without the script's lines.
     *
     * @param word that names the function, {@code "u:/bin/bash:readline"}
     */
    public static void checkFunction(TraceRequest request, ToolVariant variant, String word)
            throws IOException {
        Optional<String> refusal = TraceRecipe.refusal(request, variant.source());
        if (refusal.isPresent() && refusal.get().startsWith(NO_FUNCTION)) {
            int colon = word.indexOf(':', word.indexOf('/'));
            String file = word.substring(word.indexOf('/'), colon);
            throw new IOException("no function " + word.substring(colon + 1) + " in " + file);
        }
    }

    /** Refuses a file of {@code --output} that exists or has no folder. */
    public static void checkOutput(@Nullable String output, boolean force) throws IOException {
        Path folder = output == null ? null : Path.of(output).toAbsolutePath().getParent();
        if (folder != null && !Files.isDirectory(folder)) {
            throw new IOException("-o " + output + ": there is no folder " + folder);
        }
        if (output != null && !force && Files.isRegularFile(Path.of(output))) {
            throw new OptionException(output + " exists; --force overwrites it");
        }
    }
}
