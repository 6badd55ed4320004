package sonde.bpf.object;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import sonde.binary.btf.BtfType;
import sonde.binary.btf.BtfType.Int.IntEncoding;
import sonde.binary.btf.BtfWriter;
import sonde.bpf.LoadedBtf;

/**
 * Which kinds of types the running kernel's BTF knows: functions with linkage and sections since
 * Linux 5.6 and 5.2, FLOAT 5.13, DECL_TAG 5.16, TYPE_TAG 5.17, ENUM64 6.0, question marks in names
 * of sections 6.11.
 */
record TypeSupport(
        boolean sections,
        boolean globalFunctions,
        boolean floats,
        boolean declarationTags,
        boolean typeTags,
        boolean wideEnums,
        boolean questionMarks) {
    private static final BtfType INT = new BtfType.Int("int", 4, IntEncoding.SIGNED, 0, 32);
    private static final BtfType VAR = new BtfType.Var("x", BtfType.Linkage.STATIC, 1);

    /** Asks with a few types at a time. */
    static TypeSupport ofThisKernel() {
        List<BtfType.SectionVar> one = List.of(new BtfType.SectionVar(2, 0, 4));
        BtfType.Enumerator wide = new BtfType.Enumerator("w", 1L << 40);
        return new TypeSupport(
                takes(INT, VAR, new BtfType.Datasec(".data", 4, one)),
                takes(
                        INT,
                        new BtfType.FuncProto(1, List.of(new BtfType.Param("a", 1))),
                        new BtfType.Func("f", BtfType.Linkage.GLOBAL, 2)),
                takes(new BtfType.Float("float", 4)),
                takes(INT, VAR, new BtfType.DeclTag("tag", 2, -1)),
                takes(INT, modifier(BtfType.Modifier.Kind.TYPE_TAG), new BtfType.Ptr(2)),
                takes(new BtfType.Enum("e", 8, false, List.of(wide))),
                takes(INT, VAR, new BtfType.Datasec("?.data", 4, one)));
    }

    private static BtfType modifier(BtfType.Modifier.Kind kind) {
        return new BtfType.Modifier(kind, kind == BtfType.Modifier.Kind.TYPE_TAG ? "tag" : "", 1);
    }

    private static boolean takes(BtfType... types) {
        BtfWriter writer = new BtfWriter();
        for (BtfType type : types) {
            writer.add(type);
        }
        try (LoadedBtf loaded = LoadedBtf.load(writer.bytes())) {
            return loaded.fd() >= 0;
        } catch (IOException e) {
            return false;
        }
    }

    /** Puts something known in place of what is not. */
    void adapt(List<BtfType> types) {
        int wide = 0;
        for (int id = 1; id < types.size(); id++) {
            BtfType type = types.get(id);
            switch (type) {
                case BtfType.Float f when !floats ->
                        types.set(id, new BtfType.Struct("", false, f.sizeBytes(), List.of()));
                case BtfType.DeclTag _ when !declarationTags -> types.set(id, smallest("tag"));
                case BtfType.Modifier m
                        when !typeTags && m.kind() == BtfType.Modifier.Kind.TYPE_TAG ->
                        types.set(
                                id,
                                new BtfType.Modifier(BtfType.Modifier.Kind.CONST, "", m.type()));
                case BtfType.Func f
                        when !globalFunctions && f.linkage() == BtfType.Linkage.GLOBAL ->
                        types.set(id, new BtfType.Func(f.name(), BtfType.Linkage.STATIC, f.type()));
                case BtfType.Var v when !sections -> types.set(id, smallest(v.name()));
                case BtfType.Datasec d when !sections -> types.set(id, structure(d));
                case BtfType.Datasec d when !questionMarks && d.name().indexOf('?') >= 0 ->
                        types.set(
                                id,
                                new BtfType.Datasec(
                                        d.name().replace('?', '_'), d.sizeBytes(), d.vars()));
                case BtfType.Enum e when !wideEnums && isWide(e) -> {
                    if (wide == 0) {
                        wide = types.size();
                        types.add(new BtfType.Int("enum64", 8, IntEncoding.UNSIGNED, 0, 64));
                    }
                    types.set(id, union(e, wide));
                }
                case BtfType _ -> {}
            }
        }
    }

    /** Larger might be more than the section has room for. */
    private static BtfType smallest(String name) {
        return new BtfType.Int(name, 1, IntEncoding.UNSIGNED, 0, 8);
    }

    private static BtfType structure(BtfType.Datasec section) {
        List<BtfType.Member> members = new ArrayList<>();
        for (BtfType.SectionVar one : section.vars()) {
            String name = "m" + members.size();
            members.add(new BtfType.Member(name, one.type(), 8 * one.offset(), 0));
        }
        String name = section.name().replace('.', '_').replace('?', '_');
        return new BtfType.Struct(name, false, section.sizeBytes(), List.copyOf(members));
    }

    private static boolean isWide(BtfType.Enum type) {
        return type.values().stream()
                .anyMatch(
                        v -> type.signed() ? v.value() != (int) v.value() : v.value() >>> 32 != 0);
    }

    private static BtfType union(BtfType.Enum type, int member) {
        List<BtfType.Member> members =
                type.values().stream()
                        .map(value -> new BtfType.Member(value.name(), member, 0, 0))
                        .toList();
        return new BtfType.Struct(type.name(), true, 8, members);
    }
}
