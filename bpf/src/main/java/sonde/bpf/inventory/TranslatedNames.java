package sonde.bpf.inventory;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.bpf.BpfMap;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.ListingSymbols;
import sonde.symbol.KernelRun;
import sonde.symbol.KernelSymbols;
import sonde.sys.SyscallException;

/**
 * Names for what the verifier wrote into a program: helpers as distances from __bpf_call_base,
 * kernel functions as such too, maps by id.
 */
final class TranslatedNames implements ListingSymbols {
    /** BPF_FUNC_tail_call. */
    private static final String BASE = "__bpf_call_base";

    private final Map<Integer, String> maps = new HashMap<>();
    private @Nullable KernelSymbols symbols;
    private long base;

    TranslatedNames() {}

    @Override
    public String map(int number) {
        return ListingSymbols.IDS.map(number);
    }

    @Override
    public String helper(int number) {
        String name = number == 0 ? "unknown" : at(number);
        // A tail call is an instruction of its own there, shown by the helper's number.
        return number == HelperFunctionId.TAIL_CALL && name.equals("unknown")
                ? "bpf_tail_call"
                : name;
    }

    @Override
    public String kernelFunction(int btfId, int module) {
        String name = at(btfId);
        return name.equals("unknown") ? ListingSymbols.NUMBERS.kernelFunction(btfId, module) : name;
    }

    /** The symbol so far from __bpf_call_base; reads /proc/kallsyms when first asked. */
    private String at(int distance) {
        KernelSymbols known = symbols;
        if (known == null) {
            known = KernelRun.symbolsHere();
            symbols = known;
            base = known.addressOf(BASE);
        }
        if (base == 0) {
            return "unknown";
        }
        int index = known.find(base + distance);
        return index >= 0 && known.address(index) == base + distance
                ? known.name(index)
                : "unknown";
    }

    /** The name of a map; empty when it is gone or has none. */
    String mapName(int id) {
        return maps.computeIfAbsent(id, TranslatedNames::nameOf);
    }

    private static String nameOf(int id) {
        try (BpfMap map = BpfMap.openId(id)) {
            return map.spec().name();
        } catch (SyscallException e) {
            return "";
        }
    }
}
