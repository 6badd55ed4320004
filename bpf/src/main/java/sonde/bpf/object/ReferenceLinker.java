package sonde.bpf.object;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.bpf.BpfMap;
import sonde.bpf.object.ExternValues.FoundExtern.ExternAddress;
import sonde.bpf.object.ExternValues.FoundExtern.MissingExtern;
import sonde.bpf.object.ExternValues.FoundExtern.TypedExtern;
import sonde.bpf.object.KernelBtfs.ModuleBtf;
import sonde.bpf.object.ObjectFunction.FunctionReference;
import sonde.bpf.object.ObjectFunction.FunctionReference.FunctionPointer;
import sonde.bpf.object.ProgramAssembly.PoisonedInstruction;

/** Puts what a program refers to outside of itself into its instructions. */
final class ReferenceLinker {
    // Source register of 64-bit constants and calls: enum of include/uapi/linux/bpf.h.
    private static final int PSEUDO_MAP_FD = 1;
    private static final int PSEUDO_MAP_VALUE = 2;
    private static final int PSEUDO_BTF_ID = 3;
    private static final int PSEUDO_KFUNC_CALL = 2;

    /** Weak functions that are missing, from here on; libbpf's number. */
    private static final int MISSING_FUNCTION = 2_002_000_000;

    private final ObjectFile object;
    private final ExternValues externs;

    ReferenceLinker(ObjectFile object, ExternValues externs) {
        this.object = object;
        this.externs = externs;
    }

    /** Puts descriptors and addresses into the instructions. */
    void link(
            ProgramAssembly code,
            Map<String, BpfMap> maps,
            Map<String, BpfMap> data,
            @Nullable BpfMap settings) {
        List<ModuleBtf> modules = modules(code);
        code.references.forEach((slot, reference) -> {
            switch (reference) {
                case FunctionReference.MapOf one ->
                        wide(code, slot, PSEUDO_MAP_FD, fd(maps, one.map().name()), 0);
                case FunctionReference.DataOf one -> {
                    int fd = fd(data, one.data().section());
                    wide(code, slot, PSEUDO_MAP_VALUE, fd, one.offset());
                }
                case FunctionReference.Outside one -> outside(code, slot, one.target(), settings);
                case FunctionReference.CallOutside one -> call(code, slot, one.target(), modules);
                case FunctionReference.CallOf _, FunctionPointer _ -> {}
            }
        });
    }

    private static int fd(Map<String, BpfMap> maps, String name) {
        BpfMap map = maps.get(name);
        return map == null ? -1 : map.fd();
    }

    /** The modules whose functions a program calls, in the order of their slots. */
    List<ModuleBtf> modules(ProgramAssembly code) {
        List<ModuleBtf> modules = new ArrayList<>();
        for (FunctionReference reference : code.references.values()) {
            if (reference instanceof FunctionReference.CallOutside call
                    && externs.found(call.target()) instanceof TypedExtern typed
                    && typed.module() != null
                    && !modules.contains(typed.module())) {
                modules.add(typed.module());
            }
        }
        return modules;
    }

    private static void wide(ProgramAssembly code, int slot, int source, int low, int high) {
        code.words[slot] = code.words[slot] & 0x0fffL | (long) source << 12 | (long) low << 32;
        code.words[slot + 1] = (long) high << 32;
    }

    private void outside(
            ProgramAssembly code, int slot, ExternSymbol extern, @Nullable BpfMap settings) {
        if (extern.kind() == ExternSymbol.Kind.CONFIG) {
            int at = object.fixes().configOffsets().getOrDefault(extern.name(), 0);
            wide(code, slot, PSEUDO_MAP_VALUE, settings == null ? -1 : settings.fd(), at);
            return;
        }
        switch (externs.found(extern)) {
            case MissingExtern _ -> wide(code, slot, 0, 0, 0);
            case ExternAddress one ->
                    wide(code, slot, 0, (int) one.address(), (int) (one.address() >>> 32));
            case TypedExtern one -> {
                ModuleBtf module = one.module();
                int fd = module == null ? 0 : module.types().fd();
                wide(code, slot, PSEUDO_BTF_ID, one.id(), fd);
            }
        }
    }

    private void call(
            ProgramAssembly code, int slot, ExternSymbol extern, List<ModuleBtf> modules) {
        if (externs.found(extern) instanceof TypedExtern one) {
            ModuleBtf module = one.module();
            int index = module == null ? 0 : modules.indexOf(module) + 1;
            code.words[slot] =
                    0x85L
                            | PSEUDO_KFUNC_CALL << 12
                            | (long) (index & 0xffff) << 16
                            | (long) one.id() << 32;
            return;
        }
        code.words[slot] = FunctionFit.poison(MISSING_FUNCTION + code.missing.size());
        code.missing.put(
                slot,
                new PoisonedInstruction(
                        code.origin(slot),
                        "the weak function " + extern.name() + " is not in this kernel"));
    }
}
