package sonde.lang.output;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import sonde.lang.output.MapRows.MapStyle;

/** What an output writes. */
final class Printed {
    private Printed() {}

    /** What the script prints as text; messages are left out. */
    static String text(Consumer<ScriptOutput> body) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        run(new TextOutput(out, new ByteArrayOutputStream(), new MachineNames()), body);
        return out.toString(StandardCharsets.UTF_8);
    }

    /** As {@link #text(Consumer)}, maps in a style. */
    static String text(MapStyle style, Consumer<ScriptOutput> body) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        run(
                new TextOutput(out, new ByteArrayOutputStream(), new MachineNames(), style, null),
                body);
        return out.toString(StandardCharsets.UTF_8);
    }

    /** Messages alone. */
    static String messages(Consumer<ScriptOutput> body) {
        ByteArrayOutputStream errors = new ByteArrayOutputStream();
        run(new TextOutput(new ByteArrayOutputStream(), errors, new MachineNames()), body);
        return errors.toString(StandardCharsets.UTF_8);
    }

    static String json(Consumer<ScriptOutput> body) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        run(new JsonOutput(out, new MachineNames()), body);
        return out.toString(StandardCharsets.UTF_8);
    }

    private static void run(ScriptOutput output, Consumer<ScriptOutput> body) {
        body.accept(output);
        output.flush();
    }
}
