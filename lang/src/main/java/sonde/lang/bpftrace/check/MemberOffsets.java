package sonde.lang.bpftrace.check;

import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.type.CompositeType;
import sonde.lang.type.TypeField;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.PointerType;

/** Where members lie. */
final class MemberOffsets {
    private MemberOffsets() {}

    /** Bytes from the start of the type; -1 when there is no such member. */
    static int offset(Expression.OffsetOf o, ClauseTyper typer) {
        ValueType type = typer.reader().type(o.type());
        int offset = 0;
        for (String name : o.path()) {
            while (type instanceof PointerType p) {
                type = p.to();
            }
            if (type == null) {
                return -1;
            }
            if (!(type instanceof CompositeType composite)) {
                typer.globals().error(o.span(), "'" + type + "' is not a C type.");
                return -1;
            }
            TypeField field = composite.field(name);
            if (field == null) {
                typer.globals().error(o.span(), "'" + type + "' has no field named '" + name + "'");
                return -1;
            }
            offset += field.offsetBytes();
            type = field.type();
        }
        return offset;
    }
}
