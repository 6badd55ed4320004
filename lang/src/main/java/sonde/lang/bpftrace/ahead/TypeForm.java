package sonde.lang.bpftrace.ahead;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sonde.binary.MalformedInputException;
import sonde.lang.type.Field;
import sonde.lang.type.Struct;
import sonde.lang.type.Tuple;
import sonde.lang.type.Type;

/** Types of values as bytes; what a pointer points to is left out. */
final class TypeForm {
    private static final int MOST_DEPTH = 32;
    private static final int MOST_BYTES = 1 << 24;
    private static final int MOST_BUCKETS = 1 << 20;

    private TypeForm() {}

    static void write(Out out, Type type) {
        switch (type) {
            case Type.Void _ -> out.u8(0);
            case Type.Int t ->
                    out.u8(1).u8(t.sizeBytes()).flag(t.signed()).flag(t.isChar()).flag(t.either());
            case Type.Bool _ -> out.u8(2);
            case Type.Float t -> out.u8(3).u8(t.sizeBytes());
            case Type.Text t -> out.u8(4).u32(t.sizeBytes());
            case Type.Bytes t -> out.u8(5).u32(t.capacity());
            case Type.Pointer t -> out.u8(6).text(t.space().name());
            case Type.Array t -> {
                out.u8(7).u32(t.count());
                write(out, t.element());
            }
            case Type.Enum t -> {
                out.u8(8).text(t.name()).u8(t.sizeBytes()).flag(t.signed());
                out.list(
                        List.copyOf(t.names().entrySet()),
                        (o, entry) -> o.u64(entry.getKey()).text(entry.getValue()));
            }
            case Type.Named t -> out.u8(9).text(t.kind().name());
            case Type.Stack t ->
                    out.u8(t.copied() ? 20 : 10)
                            .flag(t.user())
                            .text(t.mode().name())
                            .u32(t.frames());
            case Type.Count _ -> out.u8(11);
            case Type.Sum t -> out.u8(12).flag(t.signed());
            case Type.Extreme t -> out.u8(13).flag(t.max()).flag(t.signed());
            case Type.Average t -> out.u8(14).flag(t.full()).flag(t.signed());
            case Type.Hist t -> out.u8(15).u8(t.bits());
            case Type.Lhist t -> out.u8(16).u64(t.min()).u64(t.max()).u64(t.step());
            case Type.Series t ->
                    out.u8(17)
                            .u64(t.intervalNanos())
                            .u32(t.buckets())
                            .flag(t.signed())
                            .text(t.kind().name());
            case Tuple t -> {
                out.u8(18).flag(t.named()).u32(t.sizeBytes()).u8(t.align());
                fields(out, t.fields());
            }
            case Struct t -> {
                out.u8(19).text(t.name()).flag(t.isUnion()).u32(t.sizeBytes()).u8(t.align());
                fields(out, t.fields());
            }
        }
    }

    private static void fields(Out out, List<Field> fields) {
        out.list(
                fields,
                (o, field) -> {
                    o.text(field.name()).u64(field.bitOffset()).u8(field.bits());
                    o.text(field.place().name());
                    write(o, field.type());
                });
    }

    static Type read(In in) throws MalformedInputException {
        return read(in, 0);
    }

    private static Type read(In in, int depth) throws MalformedInputException {
        if (depth > MOST_DEPTH) {
            throw in.malformed("type", "nested too deeply");
        }
        int form = in.u8("type");
        return switch (form) {
            case 0 -> new Type.Void();
            case 1 ->
                    new Type.Int(
                            size(in), in.flag("sign"), in.flag("character"), in.flag("either"));
            case 2 -> new Type.Bool();
            case 3 -> new Type.Float(size(in));
            case 4 -> new Type.Text(bytes(in));
            case 5 -> new Type.Bytes(bytes(in));
            case 6 -> new Type.Pointer(new Type.Void(), in.constant(Type.Space.class, "space"));
            case 7 -> array(in, depth);
            case 8 -> enumeration(in);
            case 9 -> new Type.Named(in.constant(Type.Special.class, "kind"));
            case 10, 20 ->
                    new Type.Stack(
                            in.flag("user"),
                            in.constant(Type.StackMode.class, "mode"),
                            in.number("frames", 0, 1024),
                            form == 20);
            case 18 -> {
                boolean named = in.flag("names");
                int size = bytes(in);
                int align = align(in);
                yield new Tuple(fields(in, size, depth), named, size, align);
            }
            case 19 -> structure(in, depth);
            default -> aggregate(in, form);
        };
    }

    private static Type aggregate(In in, int form) throws MalformedInputException {
        return switch (form) {
            case 11 -> new Type.Count();
            case 12 -> new Type.Sum(in.flag("sign"));
            case 13 -> new Type.Extreme(in.flag("max"), in.flag("sign"));
            case 14 -> new Type.Average(in.flag("full"), in.flag("sign"));
            case 15 -> {
                int bits = in.u8("bits");
                if (bits > 5) {
                    throw in.malformed("bits", bits + " of a histogram");
                }
                yield new Type.Hist(bits);
            }
            case 16 -> linear(in);
            case 17 -> {
                long interval = in.u64("interval");
                if (interval <= 0) {
                    throw in.malformed("interval", interval + " ns");
                }
                yield new Type.Series(
                        interval,
                        in.number("buckets", 1, MOST_BUCKETS),
                        in.flag("sign"),
                        in.constant(Type.SeriesKind.class, "kind"));
            }
            default -> throw in.malformed("type", form + " is none");
        };
    }

    private static Type linear(In in) throws MalformedInputException {
        long min = in.u64("min");
        long max = in.u64("max");
        long step = in.u64("step");
        if (min < 0 || max < min || step <= 0 || (max - min) / step > MOST_BUCKETS) {
            throw in.malformed("buckets", "from " + min + " to " + max + " by " + step);
        }
        return new Type.Lhist(min, max, step);
    }

    private static Type array(In in, int depth) throws MalformedInputException {
        int count = in.number("elements", 0, MOST_BYTES);
        Type element = read(in, depth + 1);
        if ((long) count * element.sizeBytes() > MOST_BYTES) {
            throw in.malformed("elements", count + " of " + element.sizeBytes() + " bytes");
        }
        return new Type.Array(element, count);
    }

    private static Type enumeration(In in) throws MalformedInputException {
        String name = in.text("name");
        int size = size(in);
        boolean signed = in.flag("sign");
        Map<Long, String> names = new HashMap<>();
        for (Map.Entry<Long, String> one :
                in.list("names", i -> Map.entry(i.u64("value"), i.text("name")))) {
            names.putIfAbsent(one.getKey(), one.getValue());
        }
        return new Type.Enum(name, size, signed, Map.copyOf(names));
    }

    private static Type structure(In in, int depth) throws MalformedInputException {
        String name = in.text("name");
        boolean union = in.flag("union");
        int size = bytes(in);
        int align = align(in);
        List<Field> fields = fields(in, size, depth);
        return new Struct(name, union, size, align, () -> fields);
    }

    private static List<Field> fields(In in, int size, int depth) throws MalformedInputException {
        return in.list(
                "members",
                i -> {
                    String name = i.text("name");
                    long offset = i.u64("offset");
                    int bits = i.u8("bits");
                    Field.Place place = i.constant(Field.Place.class, "place");
                    Type type = read(i, depth + 1);
                    boolean fits =
                            offset >= 0
                                    && bits <= 64
                                    && offset / 8 + (bits > 0 ? (bits + 7) / 8 : type.sizeBytes())
                                            <= size;
                    if (!fits) {
                        throw i.malformed("offset", offset + " in " + size + " bytes");
                    }
                    return new Field(name, type, offset, bits, place);
                });
    }

    private static int size(In in) throws MalformedInputException {
        int size = in.u8("size");
        if (size > 16 || Integer.bitCount(size) != 1) {
            throw in.malformed("size", size + " bytes of a number");
        }
        return size;
    }

    private static int align(In in) throws MalformedInputException {
        int align = in.u8("alignment");
        if (align > 8 || Integer.bitCount(align) != 1) {
            throw in.malformed("alignment", Integer.toString(align));
        }
        return align;
    }

    private static int bytes(In in) throws MalformedInputException {
        return in.number("size", 0, MOST_BYTES);
    }
}
