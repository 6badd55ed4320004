package sonde.bpf.object;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sonde.binary.btf.BtfType;
import sonde.binary.btf.BtfType.Int.IntEncoding;
import sonde.binary.btf.BtfType.Linkage;
import sonde.bpf.object.ObjectException.ObjectPosition;
import sonde.bpf.object.ObjectImage.ImageSymbol;

/**
 * Makes the types of an object what the kernel takes: compilers leave the sizes of sections and the
 * places of variables to the linker, and the kernel knows nothing of externs (kernel/bpf/btf.c,
 * btf_datasec_check_meta, btf_var_check_meta, btf_func_check_meta).
 */
final class TypeFixes {
    static final String CONFIG_SECTION = ".kconfig";
    static final String KERNEL_SECTION = ".ksyms";
    private static final int INT_BYTES = 4;

    private final ObjectImage image;
    private final List<BtfType> types;
    private final Map<String, ImageSymbol> globals = new HashMap<>();
    private final Map<String, ExternSymbol> externs = new LinkedHashMap<>();
    private final Map<String, Integer> configOffsets = new LinkedHashMap<>();
    private int configBytes;
    private int integer;
    private int stand;

    /**
     * Types as the kernel takes them, and what was found on the way.
     *
     * @param types by id; the first is void
     * @param externs by name
     * @param configOffsets of each setting in the map of settings
     * @param configBytes of that map's value
     */
    record FixedTypes(
            List<BtfType> types,
            Map<String, ExternSymbol> externs,
            Map<String, Integer> configOffsets,
            int configBytes) {}

    private TypeFixes(ObjectImage image) {
        this.image = image;
        types = new ArrayList<>(image.types());
    }

    static FixedTypes of(ObjectImage image) throws ObjectException {
        return new TypeFixes(image).result();
    }

    private FixedTypes result() throws ObjectException {
        for (ImageSymbol symbol : image.symbols()) {
            if (!symbol.isLocal() && !symbol.name().isEmpty()) {
                globals.putIfAbsent(symbol.name(), symbol);
            }
        }
        int count = types.size();
        for (int id = 1; id < count; id++) {
            if (types.get(id) instanceof BtfType.Datasec section) {
                types.set(id, section(section));
            }
        }
        for (int id = 1; id < count; id++) {
            linkage(id);
        }
        return new FixedTypes(
                List.copyOf(types), Map.copyOf(externs), Map.copyOf(configOffsets), configBytes);
    }

    private ObjectPosition place(String section, String symbol) {
        return image.place().section(section).symbol(symbol);
    }

    private BtfType type(int id, ObjectPosition place) throws ObjectException {
        return image.type(id, place);
    }

    private BtfType section(BtfType.Datasec section) throws ObjectException {
        if (section.name().equals(KERNEL_SECTION)) {
            return kernelSymbols(section);
        }
        if (section.name().equals(CONFIG_SECTION)) {
            return settings(section);
        }
        int part = image.part(section.name());
        int size = part >= 0 ? image.parts().get(part).sizeBytes() : section.sizeBytes();
        List<BtfType.SectionVar> vars = new ArrayList<>();
        int end = 0;
        for (BtfType.SectionVar one : section.vars()) {
            ObjectPosition here = place(section.name(), "");
            if (!(type(one.type(), here) instanceof BtfType.Var variable)) {
                throw new ObjectException(here, "BTF type " + one.type() + " is not a variable");
            }
            if (variable.linkage() == Linkage.EXTERN) {
                continue;
            }
            int offset = one.offset();
            ImageSymbol symbol = globals.get(variable.name());
            if (variable.linkage() == Linkage.GLOBAL && symbol != null && symbol.part() == part) {
                offset = bounded(symbol.value(), here.symbol(variable.name()));
            }
            vars.add(new BtfType.SectionVar(one.type(), offset, one.sizeBytes()));
            end = Math.max(end, offset + Math.max(0, one.sizeBytes()));
        }
        if (part < 0) {
            size = Math.max(size, end);
        }
        if (vars.isEmpty() || size == 0) {
            return new BtfType.Struct("", false, 0, List.of());
        }
        vars.sort(Comparator.comparingInt(BtfType.SectionVar::offset));
        return new BtfType.Datasec(section.name(), size, List.copyOf(vars));
    }

    private static int bounded(long value, ObjectPosition place) throws ObjectException {
        if (value < 0 || value > Integer.MAX_VALUE) {
            throw new ObjectException(place, "lies at " + Long.toUnsignedString(value));
        }
        return (int) value;
    }

    private boolean isWeak(String name) {
        ImageSymbol symbol = globals.get(name);
        return symbol != null && symbol.isWeak();
    }

    /**
     * Each becomes a variable of 4 bytes, functions the same nameless one: the kernel takes only
     * variables in sections, and these are never looked at.
     */
    private BtfType kernelSymbols(BtfType.Datasec section) throws ObjectException {
        List<BtfType.SectionVar> vars = new ArrayList<>();
        for (BtfType.SectionVar one : section.vars()) {
            ObjectPosition here = place(section.name(), "");
            switch (type(one.type(), here)) {
                case BtfType.Var v -> {
                    boolean typed =
                            !(ObjectTypes.skip(types, v.type(), here) instanceof BtfType.Void);
                    ExternSymbol.Kind kind =
                            typed ? ExternSymbol.Kind.VARIABLE : ExternSymbol.Kind.ADDRESS;
                    externs.put(
                            v.name(), new ExternSymbol(v.name(), kind, isWeak(v.name()), v.type()));
                    types.set(one.type(), new BtfType.Var(v.name(), Linkage.GLOBAL, integer()));
                    vars.add(new BtfType.SectionVar(one.type(), INT_BYTES * vars.size(), 4));
                }
                case BtfType.Func f -> {
                    externs.put(
                            f.name(),
                            new ExternSymbol(
                                    f.name(),
                                    ExternSymbol.Kind.FUNCTION,
                                    isWeak(f.name()),
                                    f.type()));
                    vars.add(new BtfType.SectionVar(stand(), INT_BYTES * vars.size(), 4));
                }
                case BtfType other ->
                        throw new ObjectException(
                                here, "'" + other.name() + "' is neither variable nor function");
            }
        }
        return vars.isEmpty()
                ? new BtfType.Struct("", false, 0, List.of())
                : new BtfType.Datasec(section.name(), INT_BYTES * vars.size(), List.copyOf(vars));
    }

    /** Settings lie in their map by alignment, then size, then name. */
    private BtfType settings(BtfType.Datasec section) throws ObjectException {
        record ConfigVariable(int id, BtfType.Var variable, int size, int alignment) {}
        List<ConfigVariable> all = new ArrayList<>();
        for (BtfType.SectionVar one : section.vars()) {
            ObjectPosition here = place(section.name(), "");
            if (!(type(one.type(), here) instanceof BtfType.Var v)) {
                throw new ObjectException(here, "BTF type " + one.type() + " is not a variable");
            }
            here = here.symbol(v.name());
            int size = ObjectTypes.size(types, v.type(), here);
            all.add(new ConfigVariable(one.type(), v, size, alignment(v.type(), size, here)));
        }
        all.sort(
                Comparator.comparingInt(ConfigVariable::alignment)
                        .thenComparingInt(ConfigVariable::size)
                        .thenComparing(one -> one.variable().name()));
        List<BtfType.SectionVar> vars = new ArrayList<>();
        int at = 0;
        for (ConfigVariable one : all) {
            String name = one.variable().name();
            at = at + one.alignment() - 1 & -one.alignment();
            externs.put(
                    name,
                    new ExternSymbol(
                            name, ExternSymbol.Kind.CONFIG, isWeak(name), one.variable().type()));
            configOffsets.put(name, at);
            vars.add(new BtfType.SectionVar(one.id(), at, one.size()));
            at += one.size();
            if (at > 1 << 20 || at < 0) {
                throw new ObjectException(place(section.name(), name), "settings too large");
            }
        }
        configBytes = at;
        return vars.isEmpty()
                ? new BtfType.Struct("", false, 0, List.of())
                : new BtfType.Datasec(section.name(), at, List.copyOf(vars));
    }

    private int alignment(int type, int size, ObjectPosition place) throws ObjectException {
        boolean single = !(ObjectTypes.skip(types, type, place) instanceof BtfType.Array);
        return single && size > 1 ? Math.min(8, Integer.highestOneBit(size)) : 1;
    }

    /** Externs and hidden ones become what the kernel knows: global and static. */
    private void linkage(int id) {
        switch (types.get(id)) {
            case BtfType.Var v when v.linkage() == Linkage.EXTERN ->
                    types.set(id, new BtfType.Var(v.name(), Linkage.GLOBAL, v.type()));
            case BtfType.Var v when v.linkage() == Linkage.GLOBAL && isHidden(v.name()) ->
                    types.set(id, new BtfType.Var(v.name(), Linkage.STATIC, v.type()));
            case BtfType.Func f when f.linkage() == Linkage.EXTERN -> {
                types.set(id, new BtfType.Func(f.name(), Linkage.GLOBAL, f.type()));
                nameParameters(f.type());
            }
            case BtfType.Func f when f.linkage() == Linkage.GLOBAL && isHidden(f.name()) ->
                    types.set(id, new BtfType.Func(f.name(), Linkage.STATIC, f.type()));
            case BtfType _ -> {}
        }
    }

    private boolean isHidden(String name) {
        ImageSymbol symbol = globals.get(name);
        return symbol != null && symbol.isHidden();
    }

    /** btf_func_check: parameters of a function have names. */
    private void nameParameters(int prototype) {
        if (prototype > 0
                && prototype < types.size()
                && types.get(prototype) instanceof BtfType.FuncProto p) {
            List<BtfType.Param> params = new ArrayList<>();
            for (BtfType.Param param : p.params()) {
                boolean nameless = param.name().isEmpty() && param.type() != 0;
                params.add(nameless ? new BtfType.Param("extern_arg", param.type()) : param);
            }
            types.set(prototype, new BtfType.FuncProto(p.returnType(), List.copyOf(params)));
        }
    }

    private int integer() {
        for (int id = 1; integer == 0 && id < types.size(); id++) {
            if (types.get(id) instanceof BtfType.Int i && i.sizeBytes() == INT_BYTES) {
                integer = id;
            }
        }
        if (integer == 0) {
            integer = types.size();
            types.add(new BtfType.Int("int", 4, IntEncoding.SIGNED, 0, 32));
        }
        return integer;
    }

    private int stand() {
        if (stand == 0) {
            int type = integer();
            stand = types.size();
            types.add(new BtfType.Var("extern_function", Linkage.GLOBAL, type));
        }
        return stand;
    }
}
