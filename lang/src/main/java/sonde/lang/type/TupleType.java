package sonde.lang.type;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Values side by side, laid out as C would; the bytes between them are 0.
 *
 * @param named a record {@code (a=1, b=2)}, else a tuple {@code (1, 2)} whose members are called
 *     {@code "0"}, {@code "1"}
 */
public record TupleType(List<TypeField> fields, boolean named, int sizeBytes, int align)
        implements CompositeType {
    public TupleType {
        fields = List.copyOf(fields);
    }

    /** A tuple of these types. */
    public static TupleType of(List<ValueType> types) {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < types.size(); i++) {
            names.add(Integer.toString(i));
        }
        return of(names, types, false);
    }

    /** A record of these names and types. */
    public static TupleType ofRecord(List<String> names, List<ValueType> types) {
        return of(names, types, true);
    }

    private static TupleType of(List<String> names, List<ValueType> types, boolean named) {
        List<TypeField> fields = new ArrayList<>();
        int at = 0;
        int align = 1;
        for (int i = 0; i < types.size(); i++) {
            ValueType type = types.get(i);
            at = up(at, type.align());
            fields.add(new TypeField(names.get(i), type, at));
            at += type.sizeBytes();
            align = Math.max(align, type.align());
        }
        return new TupleType(fields, named, up(at, align), align);
    }

    private static int up(int offset, int align) {
        return (offset + align - 1) / align * align;
    }

    /** The types of its members. */
    public List<ValueType> types() {
        return fields.stream().map(TypeField::type).toList();
    }

    @Override
    public String toString() {
        return fields.stream()
                .map(f -> named ? f.name() + "=" + f.type() : f.type().toString())
                .collect(Collectors.joining(",", "(", !named && fields.size() == 1 ? ",)" : ")"));
    }
}
