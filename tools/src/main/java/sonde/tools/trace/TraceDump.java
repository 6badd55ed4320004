package sonde.tools.trace;

import java.io.PrintStream;
import java.util.Locale;
import java.util.Set;
import java.util.function.Supplier;
import sonde.lang.bpftrace.run.CompilerPass;
import sonde.lang.bpftrace.run.PassListener;

/** {@code --dump=PASS}: what passes of the compiler made, as they end. */
final class TraceDump implements PassListener {
    private final Set<CompilerPass> wanted;
    private final PrintStream out;

    TraceDump(Set<CompilerPass> wanted, PrintStream out) {
        this.wanted = wanted;
        this.out = out;
    }

    @Override
    public void made(CompilerPass pass, Supplier<String> text) {
        if (!wanted.contains(pass)) {
            return;
        }
        if (wanted.size() > 1) {
            String name = pass.name().toLowerCase(Locale.ROOT);
            out.print("== " + name + ": " + pass.meaning() + "\n");
        }
        out.print(text.get() + "\n");
    }
}
