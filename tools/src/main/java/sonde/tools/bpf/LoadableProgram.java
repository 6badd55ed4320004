package sonde.tools.bpf;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.bpf.AttachType;
import sonde.bpf.BpfMap;
import sonde.bpf.MapSpec;
import sonde.bpf.MapType;
import sonde.bpf.ProgramSpec;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.Instruction;
import sonde.bpf.insn.Instruction.ConstantMeaning;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.link.KernelTypes;

/** What a program needs to be loaded: maps for the descriptors it names, the place it is for. */
final class LoadableProgram implements AutoCloseable {
    private final Map<Integer, BpfMap> maps = new HashMap<>();
    private @Nullable AttachType place;
    private int target;

    private LoadableProgram() {}

    /**
     * Makes the maps and finds the place.
     *
     * @param descriptions {@code "3=hash,4,8,1024"}
     * @param attach {@code "tp_btf:sched_switch"}
     */
    static LoadableProgram of(@Nullable List<String> descriptions, @Nullable String attach)
            throws IOException {
        LoadableProgram loadable = new LoadableProgram();
        try {
            for (String description : descriptions == null ? List.<String>of() : descriptions) {
                loadable.add(description);
            }
            if (attach != null) {
                loadable.find(attach);
            }
            return loadable;
        } catch (IOException | RuntimeException e) {
            loadable.close();
            throw e;
        }
    }

    private void add(String description) throws IOException {
        String[] parts = description.split("[=,]", -1);
        MapType type = null;
        for (MapType one : MapType.values()) {
            if (parts.length == 5 && one.kernelName().equals(parts[1])) {
                type = one;
            }
        }
        if (type == null) {
            throw new BpfUseException("'" + description + "' is not a map; write 3=hash,4,8,1024");
        }
        try {
            int number = Integer.parseInt(parts[0]);
            int key = Integer.parseInt(parts[2]);
            int value = Integer.parseInt(parts[3]);
            int entries = Integer.parseInt(parts[4]);
            BpfMap made = BpfMap.create(new MapSpec("map" + parts[0], type, key, value, entries));
            BpfMap before = maps.put(number, made);
            if (before != null) {
                before.close();
            }
        } catch (NumberFormatException e) {
            throw new BpfUseException("'" + description + "': no number", e);
        }
    }

    private void find(String attach) throws IOException {
        int colon = attach.indexOf(':');
        String kind = colon < 0 ? attach : attach.substring(0, colon);
        String name = attach.substring(colon + 1);
        try (KernelTypes types = KernelTypes.open()) {
            place =
                    switch (kind) {
                        case "tp_btf" -> AttachType.TRACE_RAW_TP;
                        case "fentry" -> AttachType.TRACE_FENTRY;
                        case "fexit" -> AttachType.TRACE_FEXIT;
                        case "fmod_ret" -> AttachType.MODIFY_RETURN;
                        case "lsm" -> AttachType.LSM_MAC;
                        case "iter" -> AttachType.TRACE_ITER;
                        default ->
                                throw new BpfUseException(
                                        "--attach takes tp_btf:, fentry:, fexit:, fmod_ret:, lsm:"
                                                + " or iter: and a name");
                    };
            target =
                    switch (kind) {
                        case "tp_btf" -> types.tracepoint(name);
                        case "lsm" -> types.securityHook(name);
                        case "iter" -> types.iterator(name);
                        default -> types.function(name);
                    };
        }
    }

    /** The program with the descriptors of the maps made, and for the place. */
    ProgramSpec prepare(ProgramSpec spec) {
        AttachType wanted = place;
        ProgramSpec placed = wanted == null ? spec : spec.targeting(wanted, target);
        return maps.isEmpty() ? placed : placed.with(code(spec.code()));
    }

    private ProgramCode code(ProgramCode code) {
        CodeBuilder builder = new CodeBuilder();
        int slot = 0;
        for (Instruction instruction : code.instructions()) {
            builder.step(code.stepAt(slot));
            builder.add(withMap(instruction));
            slot += instruction.slots();
        }
        return builder.build();
    }

    private Instruction withMap(Instruction instruction) {
        if (instruction instanceof Instruction.LoadWide wide
                && (wide.meaning() == ConstantMeaning.MAP
                        || wide.meaning() == ConstantMeaning.MAP_VALUE)) {
            BpfMap map = maps.get((int) wide.value());
            if (map != null) {
                long value = wide.value() & ~0xffff_ffffL | map.fd();
                return new Instruction.LoadWide(wide.meaning(), wide.to(), value);
            }
        }
        return instruction;
    }

    @Override
    public void close() {
        maps.values().forEach(BpfMap::close);
    }
}
