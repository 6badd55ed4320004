package sonde.bpf.object;

import java.util.function.IntUnaryOperator;
import sonde.binary.btf.BtfType;

/** Types whose references lead elsewhere. */
final class TypeShift {
    private TypeShift() {}

    /** All ids but that of void grow by so much. */
    static BtfType by(int shift, BtfType type) {
        return map(type, id -> id == 0 ? 0 : id + shift);
    }

    static BtfType map(BtfType type, IntUnaryOperator to) {
        return switch (type) {
            case BtfType.Int t -> t;
            case BtfType.Float t -> t;
            case BtfType.Enum t -> t;
            case BtfType.Fwd t -> t;
            case BtfType.Void t -> t;
            case BtfType.Ptr t -> new BtfType.Ptr(to.applyAsInt(t.type()));
            case BtfType.Array t ->
                    new BtfType.Array(
                            to.applyAsInt(t.type()), to.applyAsInt(t.indexType()), t.count());
            case BtfType.Struct t ->
                    new BtfType.Struct(
                            t.name(),
                            t.isUnion(),
                            t.sizeBytes(),
                            t.members().stream()
                                    .map(m ->
                                            new BtfType.Member(
                                                    m.name(),
                                                    to.applyAsInt(m.type()),
                                                    m.bitOffset(),
                                                    m.bits()))
                                    .toList());
            case BtfType.Typedef t -> new BtfType.Typedef(t.name(), to.applyAsInt(t.type()));
            case BtfType.Modifier t ->
                    new BtfType.Modifier(t.kind(), t.name(), to.applyAsInt(t.type()));
            case BtfType.Func t -> new BtfType.Func(t.name(), t.linkage(), to.applyAsInt(t.type()));
            case BtfType.FuncProto t ->
                    new BtfType.FuncProto(
                            to.applyAsInt(t.returnType()),
                            t.params().stream()
                                    .map(p -> new BtfType.Param(p.name(), to.applyAsInt(p.type())))
                                    .toList());
            case BtfType.Var t -> new BtfType.Var(t.name(), t.linkage(), to.applyAsInt(t.type()));
            case BtfType.Datasec t ->
                    new BtfType.Datasec(
                            t.name(),
                            t.sizeBytes(),
                            t.vars().stream()
                                    .map(v ->
                                            new BtfType.SectionVar(
                                                    to.applyAsInt(v.type()),
                                                    v.offset(),
                                                    v.sizeBytes()))
                                    .toList());
            case BtfType.DeclTag t ->
                    new BtfType.DeclTag(t.name(), to.applyAsInt(t.type()), t.component());
        };
    }
}
