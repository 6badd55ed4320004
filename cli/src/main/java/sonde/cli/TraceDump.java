package sonde.cli;

import java.util.List;
import java.util.Locale;
import sonde.lang.bpftrace.expand.TreeText;
import sonde.lang.bpftrace.run.Compilation;
import sonde.lang.bpftrace.run.CompiledProgram;
import sonde.lang.ir.Assembly;

/** What the passes of the compiler made. */
final class TraceDump {
    private TraceDump() {}

    static String of(Compilation compiled, List<String> passes) {
        StringBuilder out = new StringBuilder(4096);
        for (String pass : passes) {
            switch (pass.toLowerCase(Locale.ROOT)) {
                case "parse", "ast" -> out.append(TreeText.of(compiled.script())).append('\n');
                case "ir", "codegen" -> programs(compiled, Assembly.Stage.IR, out);
                case "optimised", "codegen-opt" ->
                        programs(compiled, Assembly.Stage.OPTIMISED, out);
                case "allocated" -> programs(compiled, Assembly.Stage.ALLOCATED, out);
                case "code", "dis" -> code(compiled, out);
                default ->
                        out.append("passes: parse, ir, optimised, allocated, code; not ")
                                .append(pass)
                                .append('\n');
            }
        }
        return out.toString();
    }

    private static void programs(Compilation compiled, Assembly.Stage stage, StringBuilder out) {
        for (CompiledProgram program : compiled.programs()) {
            out.append("# ").append(program.group().first().name()).append('\n');
            out.append(program.assembly().dump(stage)).append('\n');
        }
    }

    private static void code(Compilation compiled, StringBuilder out) {
        for (CompiledProgram program : compiled.programs()) {
            out.append("# ").append(program.group().first().name()).append('\n');
            out.append(
                            program.assembly()
                                    .code(
                                            new Assembly.Symbols() {
                                                @Override
                                                public int map(String name) {
                                                    return 0;
                                                }

                                                @Override
                                                public int function(String kernelFunction) {
                                                    return 0;
                                                }
                                            }))
                    .append('\n');
        }
    }
}
