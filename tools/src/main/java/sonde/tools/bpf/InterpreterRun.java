package sonde.tools.bpf;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.interpreter.BpfMachine;
import sonde.bpf.interpreter.MachineEnvironment;
import sonde.bpf.interpreter.ProgramContext;
import sonde.bpf.interpreter.ProgramFaultException;
import sonde.event.result.Document;
import sonde.event.result.Listing;
import sonde.event.result.Result;

/** {@code sonde bpf run}: a program that runs here while its result is written. */
public final class InterpreterRun {
    private final ProgramCode code;
    private final ProgramContext context;
    private final boolean hasPacket;
    private final long budget;
    private String fault = "";

    private InterpreterRun(
            ProgramCode code, ProgramContext context, boolean hasPacket, long budget) {
        this.code = code;
        this.context = context;
        this.hasPacket = hasPacket;
        this.budget = budget;
    }

    /**
     * A program with the context of XDP, or with bytes that R1 points to.
     *
     * @param packet hexadecimal digits, or null
     * @param bytes hexadecimal digits, or null
     * @param budget instructions it may take
     */
    public static InterpreterRun of(
            Path file, @Nullable String packet, @Nullable String bytes, long budget)
            throws IOException {
        ProgramContext context = context(packet, bytes);
        return new InterpreterRun(ProgramFile.assemble(file), context, packet != null, budget);
    }

    /** The context that these words mean. */
    private static ProgramContext context(@Nullable String packet, @Nullable String bytes) {
        if (packet != null) {
            return ProgramContext.xdp(hex("--xdp", packet));
        }
        return bytes == null ? ProgramContext.none() : ProgramContext.of(hex("--context", bytes));
    }

    private static byte[] hex(String option, String digits) {
        try {
            return HexFormat.of().parseHex(digits.replaceAll("[\\s:,]", ""));
        } catch (IllegalArgumentException e) {
            throw new BpfUseException(option + " takes two hexadecimal digits a byte", e);
        }
    }

    /** What no program may, and where it did that; empty when it ended by itself. */
    public String fault() {
        return fault;
    }

    /** R0, the packet, and what the program printed. */
    public Result result() {
        return new Document(out -> out.value(tree()), Listing.ofLines(this::lines));
    }

    /** What it left of the packet; null when it had none. */
    private byte @Nullable [] packet() {
        var left = hasPacket ? context.packet() : null;
        return left == null ? null : left.bytes();
    }

    private Map<String, Object> tree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        List<String> printed = new ArrayList<>();
        try {
            tree.put("r0", run(printed::add));
            byte[] packet = packet();
            if (packet != null) {
                tree.put("packet", HexFormat.of().formatHex(packet));
            }
        } catch (ProgramFaultException e) {
            tree.put("fault", String.valueOf(e.getMessage()));
            tree.put("insn", (long) e.slot());
            tree.put("place", code.stepAt(e.slot()));
        }
        tree.put("trace_printk", printed);
        return tree;
    }

    private void lines(PrintWriter out) {
        try {
            long result = run(line -> out.println("trace_printk: " + line));
            out.println(String.format(Locale.ROOT, "r0 = %d (0x%x)", result, result));
            byte[] packet = packet();
            if (packet != null) {
                out.println("packet " + HexFormat.of().formatHex(packet));
            }
        } catch (ProgramFaultException e) {
            // fault() has it
        }
    }

    private long run(Consumer<String> printed) throws ProgramFaultException {
        BpfMachine machine =
                new BpfMachine(
                        new MachineEnvironment() {
                            @Override
                            public void trace(String line) {
                                printed.accept(line.stripTrailing());
                            }
                        });
        try {
            return machine.load(code).run(context, budget);
        } catch (ProgramFaultException e) {
            String step = code.stepAt(e.slot());
            fault = (step.isEmpty() ? "" : step + ", ") + e.getMessage();
            throw e;
        }
    }
}
