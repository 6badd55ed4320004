package sonde.lang.bpftrace.check;

import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.type.Composite;
import sonde.lang.type.Field;
import sonde.lang.type.Type;

/** Where members lie. */
final class Members {
    private Members() {}

    /** Bytes from the start of the type; -1 when there is no such member. */
    static int offset(Expression.OffsetOf o, Typer typer) {
        Type type = typer.reader().type(o.type());
        int offset = 0;
        for (String name : o.path()) {
            while (type instanceof Type.Pointer p) {
                type = p.to();
            }
            if (type == null) {
                return -1;
            }
            if (!(type instanceof Composite composite)) {
                typer.globals().error(o.span(), "'" + type + "' is not a C type.");
                return -1;
            }
            Field field = composite.field(name);
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
