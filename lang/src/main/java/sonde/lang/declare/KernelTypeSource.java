package sonde.lang.declare;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.btf.Btf;
import sonde.binary.btf.BtfType;
import sonde.binary.btf.CHeader;
import sonde.bpf.core.TargetTypes;
import sonde.bpf.link.KernelTypes;
import sonde.lang.bpftrace.syntax.TypeSyntax;
import sonde.lang.declare.FunctionSignature.SignatureParameter;
import sonde.lang.type.StructType;
import sonde.lang.type.TypeField;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.PointerSpace;
import sonde.symbol.ctype.BtfSourceTypes;
import sonde.symbol.ctype.SourceType;

/**
 * Types of the running kernel from its BTF, vmlinux first, then modules. Nothing is opened before
 * something is asked for; a kernel without BTF gives null for everything. Not safe for several
 * threads.
 */
public final class KernelTypeSource implements TypeSource, AutoCloseable {
    private static final String FOLDER = "/sys/kernel/btf";
    private static final String VMLINUX = "vmlinux";

    /** Functions that have a tracepoint's parameters with their names. */
    private static final List<String> STUBS = List.of("__probestub_", "__traceiter_");

    private boolean opened;
    private final Map<String, Optional<BtfTypes>> modules = new LinkedHashMap<>();
    private final Map<String, Optional<ValueType>> found = new HashMap<>();
    private final Map<String, Optional<Long>> constants = new HashMap<>();

    /** Opens nothing yet. */
    public KernelTypeSource() {}

    private static final class SharedKernelTypes {
        static final KernelTypeSource ALL = new KernelTypeSource();
    }

    /** One for the whole process, which nobody closes. */
    public static KernelTypeSource shared() {
        return SharedKernelTypes.ALL;
    }

    private @Nullable BtfTypes vmlinux() {
        if (!opened) {
            opened = true;
            try {
                Btf btf = Btf.read(KernelTypes.file(FOLDER + "/" + VMLINUX));
                modules.put(VMLINUX, Optional.of(new BtfTypes(btf)));
            } catch (IOException e) {
                // A kernel without BTF, or one that hides it: the scripts' own types are left.
                modules.put(VMLINUX, Optional.empty());
            }
        }
        return modules.getOrDefault(VMLINUX, Optional.empty()).orElse(null);
    }

    @Override
    public boolean isThere() {
        return vmlinux() != null;
    }

    private @Nullable BtfTypes module(String name) {
        BtfTypes base = vmlinux();
        if (base == null || name.isEmpty() || name.equals(VMLINUX)) {
            return base;
        }
        Optional<BtfTypes> known = modules.get(name);
        if (known == null) {
            known = Optional.empty();
            if (name.matches("[A-Za-z0-9_-]+")) {
                try {
                    String path = FOLDER + "/" + name.replace('-', '_');
                    Btf split = Btf.readSplit(KernelTypes.file(path), base.btf());
                    known = Optional.of(new BtfTypes(split));
                } catch (IOException e) {
                    // Not loaded, or without BTF.
                    known = Optional.empty();
                }
            }
            modules.put(name, known);
        }
        return known.orElse(null);
    }

    /** Names of what has BTF besides vmlinux. */
    private static List<String> moduleNames() {
        String[] names = new File(FOLDER).list();
        if (names == null) {
            return List.of();
        }
        Arrays.sort(names);
        List<String> all = new ArrayList<>(List.of(names));
        all.remove(VMLINUX);
        return all;
    }

    /** A type of a BTF. */
    private record KernelTypePlace(String module, BtfTypes types, int id) {
        Btf btf() {
            return types.btf();
        }
    }

    /**
     * Where something of that name is.
     *
     * @param module where alone to look, empty for everywhere
     */
    private @Nullable KernelTypePlace find(String module, String name, Predicate<BtfType> fits) {
        BtfTypes base = vmlinux();
        if (base == null || name.isEmpty()) {
            return null;
        }
        try {
            if (!module.isEmpty()) {
                BtfTypes only = module(module);
                return only == null ? null : place(module, only, name, fits);
            }
            KernelTypePlace place = place(VMLINUX, base, name, fits);
            for (String one : place == null ? moduleNames() : List.<String>of()) {
                BtfTypes types = module(one);
                KernelTypePlace there = types == null ? null : place(one, types, name, fits);
                if (there != null) {
                    return there;
                }
            }
            return place;
        } catch (MalformedInputException e) {
            return null;
        }
    }

    private static @Nullable KernelTypePlace place(
            String module, BtfTypes types, String name, Predicate<BtfType> fits)
            throws MalformedInputException {
        int id = types.btf().find(name, fits);
        if (id == 0) {
            return null;
        }
        return new KernelTypePlace(id < types.btf().firstId() ? VMLINUX : module, types, id);
    }

    private @Nullable KernelTypePlace find(TypeSyntax.Kind kind, String name) {
        return find("", name, BtfSourceTypes.fits(DwarfTypes.space(kind)));
    }

    @Override
    public @Nullable ValueType type(TypeSyntax.Kind kind, String name) {
        String key = kind + " " + name;
        Optional<ValueType> known = found.get(key);
        if (known == null) {
            KernelTypePlace place = find(kind, name);
            known = Optional.ofNullable(place).map(p -> p.types().type(p.id()));
            found.put(key, known);
        }
        return known.orElse(null);
    }

    /** Types of the kernel and of its modules, for programs that were compiled elsewhere. */
    public @Nullable TargetTypes targets() {
        BtfTypes base = vmlinux();
        if (base == null) {
            return null;
        }
        return new TargetTypes() {
            @Override
            public Btf kernel() {
                return base.btf();
            }

            @Override
            public List<Btf> modules() {
                List<Btf> all = new ArrayList<>();
                for (String name : moduleNames()) {
                    BtfTypes types = module(name);
                    if (types != null) {
                        all.add(types.btf());
                    }
                }
                return all;
            }
        };
    }

    /**
     * The value of a constant of an enumeration in vmlinux, or in the modules looked into so far.
     */
    @Override
    public @Nullable Long constant(String enumerator) {
        Optional<Long> known = constants.get(enumerator);
        if (known == null) {
            known = Optional.ofNullable(plainConstant(enumerator));
            if (known.isEmpty()) {
                known = Optional.ofNullable(flag(enumerator));
            }
            constants.put(enumerator, known);
        }
        return known.orElse(null);
    }

    private @Nullable Long plainConstant(String name) {
        SourceType.Enumeration one = enumOf(name);
        if (one != null) {
            for (SourceType.Constant value : one.constants().get()) {
                if (value.name().equals(name)) {
                    return value.value();
                }
            }
        }
        return null;
    }

    /**
     * Flags of requests and allocations are macros over numbers of bits, whose names BTF has:
     * REQ_SYNC over __REQ_SYNC (blk_types.h), __GFP_IO over ___GFP_IO_BIT (gfp_types.h).
     */
    private @Nullable Long flag(String name) {
        Long bit = null;
        if (name.startsWith("REQ_")) {
            bit = plainConstant("__" + name);
        } else if (name.startsWith("__GFP_")) {
            bit = plainConstant("_" + name + "_BIT");
        }
        return bit == null || bit < 0 || bit > 63 ? null : 1L << bit;
    }

    private SourceType.@Nullable Enumeration enumOf(String enumerator) {
        if (vmlinux() == null || enumerator.isEmpty()) {
            return null;
        }
        for (Optional<BtfTypes> one : List.copyOf(modules.values())) {
            if (one.isPresent()) {
                Btf btf = one.get().btf();
                try {
                    int id = btf.findEnumerator(enumerator);
                    SourceType found = one.get().source().type(id);
                    if (id != 0 && found instanceof SourceType.Enumeration type) {
                        return type;
                    }
                } catch (MalformedInputException e) {
                    // A module's: what the others have counts.
                    continue;
                }
            }
        }
        return null;
    }

    /** The enumeration that a constant is of, without a name too; null for none. */
    public ValueType.@Nullable EnumType enumerationOf(String enumerator) {
        SourceType.Enumeration one = enumOf(enumerator);
        return one == null ? null : ScriptTypes.enumerationType(one);
    }

    /**
     * As {@link #function(String, String, PointerSpace)}, with pointers to be read as the kernel's.
     */
    public @Nullable FunctionSignature function(String module, String name) {
        return function(module, name, PointerSpace.KERNEL);
    }

    /**
     * A function of the kernel.
     *
     * @param module {@code "vmlinux"} or a module's name; empty for whichever has it
     * @param space of its pointers: TYPED where the program gets them from BTF (fentry, fexit)
     * @return null for none of that name
     */
    public @Nullable FunctionSignature function(String module, String name, PointerSpace space) {
        KernelTypePlace place = find(module, name, BtfType.Func.class::isInstance);
        return place == null ? null : signature(place, place.id(), 0, space);
    }

    /** As {@link #rawTracepoint(String, PointerSpace)} with typed pointers. */
    public @Nullable FunctionSignature rawTracepoint(String name) {
        return rawTracepoint(name, PointerSpace.TYPED);
    }

    /**
     * What a tracepoint hands to raw programs, without the first parameter, which is nobody's.
     *
     * @return with the id of {@code btf_trace_NAME}, to attach to; null for none of that name
     */
    public @Nullable FunctionSignature rawTracepoint(String name, PointerSpace space) {
        KernelTypePlace typedef = find("", "btf_trace_" + name, BtfType.Typedef.class::isInstance);
        if (typedef == null) {
            return null;
        }
        for (String stub : STUBS) {
            KernelTypePlace place =
                    find(typedef.module(), stub + name, BtfType.Func.class::isInstance);
            if (place != null) {
                return signature(place, typedef.id(), 1, space);
            }
        }
        return signature(typedef, typedef.id(), 1, space);
    }

    private static @Nullable FunctionSignature signature(
            KernelTypePlace place, int btfId, int skip, PointerSpace space) {
        try {
            BtfType.FuncProto proto = prototype(place.btf(), place.id());
            if (proto == null) {
                return null;
            }
            List<SignatureParameter> parameters = new ArrayList<>();
            for (int i = skip; i < proto.params().size(); i++) {
                BtfType.Param param = proto.params().get(i);
                if (param.type() != 0) {
                    parameters.add(
                            new SignatureParameter(
                                    param.name(),
                                    ScriptTypes.in(space, place.types().type(param.type())),
                                    CHeader.declaration(place.btf(), param.type(), "")));
                }
            }
            return new FunctionSignature(
                    parameters,
                    ScriptTypes.in(space, place.types().type(proto.returnType())),
                    CHeader.declaration(place.btf(), proto.returnType(), ""),
                    btfId,
                    place.module());
        } catch (MalformedInputException e) {
            return null;
        }
    }

    /** Behind a function, a typedef, a pointer. */
    private static BtfType.@Nullable FuncProto prototype(Btf btf, int id)
            throws MalformedInputException {
        int at = id;
        for (int step = 0; step < 8; step++) {
            at = btf.skipModifiers(at);
            switch (btf.type(at)) {
                case BtfType.Func func -> at = func.type();
                case BtfType.Ptr pointer -> at = pointer.type();
                case BtfType.FuncProto proto -> {
                    return proto;
                }
                case BtfType _ -> {
                    return null;
                }
            }
        }
        return null;
    }

    /**
     * What an iterator's programs get, {@code struct bpf_iter__NAME}: pointers in it are typed, and
     * the unions that they lie in are left out.
     */
    public @Nullable StructType iterator(String name) {
        if (!(type(TypeSyntax.Kind.STRUCT, "bpf_iter__" + name) instanceof StructType context)) {
            return null;
        }
        List<TypeField> fields = new ArrayList<>();
        for (TypeField field : context.fields()) {
            boolean unnamed = field.name().isEmpty();
            List<TypeField> inner =
                    unnamed && field.type() instanceof StructType union
                            ? union.fields()
                            : List.of(field);
            for (TypeField one : inner) {
                long offset = unnamed ? field.bitOffset() + one.bitOffset() : one.bitOffset();
                ValueType type = ScriptTypes.in(PointerSpace.TYPED, one.type());
                fields.add(new TypeField(one.name(), type, offset, one.bits(), one.place()));
            }
        }
        return new StructType(
                context.name(), false, context.sizeBytes(), context.align(), () -> fields);
    }

    /**
     * A structure, union or enumeration as C defines it, on lines with tabs, and whose it is:
     * {@code "vmlinux: struct list_head {…};"}.
     *
     * @return null for none of that name
     */
    public @Nullable String definition(TypeSyntax.Kind kind, String name) {
        KernelTypePlace place = kind == TypeSyntax.Kind.PLAIN ? null : find(kind, name);
        if (place == null) {
            return null;
        }
        try {
            return place.module() + ": " + CHeader.definition(place.btf(), place.id());
        } catch (MalformedInputException e) {
            return null;
        }
    }

    /** Names of all structures, unions and enumerations: {@code "struct file"}; for listings. */
    public List<String> tags() {
        BtfTypes base = vmlinux();
        if (base == null) {
            return List.of();
        }
        List<String> names = new ArrayList<>();
        try {
            tags(base.btf(), names);
            for (String module : moduleNames()) {
                BtfTypes types = module(module);
                if (types != null) {
                    tags(types.btf(), names);
                }
            }
        } catch (MalformedInputException e) {
            throw new UncheckedIOException(e);
        }
        return names.stream().sorted().distinct().toList();
    }

    private static void tags(Btf btf, List<String> names) throws MalformedInputException {
        for (int id = btf.firstId(); id < btf.end(); id++) {
            String word =
                    switch (btf.type(id)) {
                        case BtfType.Struct struct -> struct.isUnion() ? "union " : "struct ";
                        case BtfType.Enum _ -> "enum ";
                        case BtfType _ -> "";
                    };
            String name = word.isEmpty() ? "" : btf.type(id).name();
            if (!name.isEmpty()) {
                names.add(word + name);
            }
        }
    }

    /** Forgets all; types handed out before stay as they are. */
    @Override
    public void close() {
        opened = true;
        modules.clear();
        found.clear();
        constants.clear();
    }
}
