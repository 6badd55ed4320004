package sonde.lang.bpftrace.ahead;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sonde.binary.MalformedInputException;
import sonde.lang.type.StructType;
import sonde.lang.type.TupleType;
import sonde.lang.type.TypeField;
import sonde.lang.type.TypeField.FieldPlace;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.ArrayType;
import sonde.lang.type.ValueType.AverageType;
import sonde.lang.type.ValueType.BoolType;
import sonde.lang.type.ValueType.BytesType;
import sonde.lang.type.ValueType.CountType;
import sonde.lang.type.ValueType.EnumType;
import sonde.lang.type.ValueType.ExtremeType;
import sonde.lang.type.ValueType.FloatType;
import sonde.lang.type.ValueType.HistType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.LhistType;
import sonde.lang.type.ValueType.PointerSpace;
import sonde.lang.type.ValueType.PointerType;
import sonde.lang.type.ValueType.SeriesType;
import sonde.lang.type.ValueType.SpecialType;
import sonde.lang.type.ValueType.SpecialValue;
import sonde.lang.type.ValueType.StackType;
import sonde.lang.type.ValueType.SumType;
import sonde.lang.type.ValueType.TextType;
import sonde.lang.type.ValueType.VoidType;

/** Types of values as bytes; what a pointer points to is left out. */
final class TypeForm {
    private static final int MOST_DEPTH = 32;
    private static final int MOST_BYTES = 1 << 24;
    private static final int MOST_BUCKETS = 1 << 20;

    private TypeForm() {}

    static void write(AotOutput out, ValueType type) {
        switch (type) {
            case VoidType _ -> out.u8(0);
            case IntType t ->
                    out.u8(1).u8(t.sizeBytes()).flag(t.signed()).flag(t.isChar()).flag(t.either());
            case BoolType _ -> out.u8(2);
            case FloatType t -> out.u8(3).u8(t.sizeBytes());
            case TextType t -> out.u8(4).u32(t.sizeBytes());
            case BytesType t -> out.u8(5).u32(t.capacity());
            case PointerType t -> out.u8(6).text(t.space().name());
            case ArrayType t -> {
                out.u8(7).u32(t.count());
                write(out, t.element());
            }
            case EnumType t -> {
                out.u8(8).text(t.name()).u8(t.sizeBytes()).flag(t.signed());
                out.list(
                        List.copyOf(t.names().entrySet()),
                        (o, entry) -> o.u64(entry.getKey()).text(entry.getValue()));
            }
            case SpecialType t -> out.u8(9).text(t.kind().name());
            case StackType t ->
                    out.u8(t.copied() ? 20 : 10)
                            .flag(t.user())
                            .text(t.mode().name())
                            .u32(t.frames());
            case CountType _ -> out.u8(11);
            case SumType t -> out.u8(12).flag(t.signed());
            case ExtremeType t -> out.u8(13).flag(t.max()).flag(t.signed());
            case AverageType t -> out.u8(14).flag(t.full()).flag(t.signed());
            case HistType t -> out.u8(15).u8(t.bits());
            case LhistType t -> out.u8(16).u64(t.min()).u64(t.max()).u64(t.step());
            case SeriesType t ->
                    out.u8(17)
                            .u64(t.intervalNanos())
                            .u32(t.buckets())
                            .flag(t.signed())
                            .text(t.kind().name());
            case TupleType t -> {
                out.u8(18).flag(t.named()).u32(t.sizeBytes()).u8(t.align());
                fields(out, t.fields());
            }
            case StructType t -> {
                out.u8(19).text(t.name()).flag(t.isUnion()).u32(t.sizeBytes()).u8(t.align());
                fields(out, t.fields());
            }
        }
    }

    private static void fields(AotOutput out, List<TypeField> fields) {
        out.list(
                fields,
                (o, field) -> {
                    o.text(field.name()).u64(field.bitOffset()).u8(field.bits());
                    o.text(field.place().name());
                    write(o, field.type());
                });
    }

    static ValueType read(AotInput in) throws MalformedInputException {
        return read(in, 0);
    }

    private static ValueType read(AotInput in, int depth) throws MalformedInputException {
        if (depth > MOST_DEPTH) {
            throw in.malformed("type", "nested too deeply");
        }
        int form = in.u8("type");
        return switch (form) {
            case 0 -> new VoidType();
            case 1 ->
                    new IntType(size(in), in.flag("sign"), in.flag("character"), in.flag("either"));
            case 2 -> new BoolType();
            case 3 -> new FloatType(size(in));
            case 4 -> new TextType(bytes(in));
            case 5 -> new BytesType(bytes(in));
            case 6 -> new PointerType(new VoidType(), in.constant(PointerSpace.class, "space"));
            case 7 -> array(in, depth);
            case 8 -> enumeration(in);
            case 9 -> new SpecialType(in.constant(SpecialValue.class, "kind"));
            case 10, 20 ->
                    new StackType(
                            in.flag("user"),
                            in.constant(ValueType.StackMode.class, "mode"),
                            in.number("frames", 0, 1024),
                            form == 20);
            case 18 -> {
                boolean named = in.flag("names");
                int size = bytes(in);
                int align = align(in);
                yield new TupleType(fields(in, size, depth), named, size, align);
            }
            case 19 -> structure(in, depth);
            default -> aggregate(in, form);
        };
    }

    private static ValueType aggregate(AotInput in, int form) throws MalformedInputException {
        return switch (form) {
            case 11 -> new CountType();
            case 12 -> new SumType(in.flag("sign"));
            case 13 -> new ExtremeType(in.flag("max"), in.flag("sign"));
            case 14 -> new AverageType(in.flag("full"), in.flag("sign"));
            case 15 -> {
                int bits = in.u8("bits");
                if (bits > 5) {
                    throw in.malformed("bits", bits + " of a histogram");
                }
                yield new HistType(bits);
            }
            case 16 -> linear(in);
            case 17 -> {
                long interval = in.u64("interval");
                if (interval <= 0) {
                    throw in.malformed("interval", interval + " ns");
                }
                yield new SeriesType(
                        interval,
                        in.number("buckets", 1, MOST_BUCKETS),
                        in.flag("sign"),
                        in.constant(ValueType.SeriesKind.class, "kind"));
            }
            default -> throw in.malformed("type", form + " is none");
        };
    }

    private static ValueType linear(AotInput in) throws MalformedInputException {
        long min = in.u64("min");
        long max = in.u64("max");
        long step = in.u64("step");
        if (min < 0 || max < min || step <= 0 || (max - min) / step > MOST_BUCKETS) {
            throw in.malformed("buckets", "from " + min + " to " + max + " by " + step);
        }
        return new LhistType(min, max, step);
    }

    private static ValueType array(AotInput in, int depth) throws MalformedInputException {
        int count = in.number("elements", 0, MOST_BYTES);
        ValueType element = read(in, depth + 1);
        if ((long) count * element.sizeBytes() > MOST_BYTES) {
            throw in.malformed("elements", count + " of " + element.sizeBytes() + " bytes");
        }
        return new ArrayType(element, count);
    }

    private static ValueType enumeration(AotInput in) throws MalformedInputException {
        String name = in.text("name");
        int size = size(in);
        boolean signed = in.flag("sign");
        Map<Long, String> names = new HashMap<>();
        for (Map.Entry<Long, String> one :
                in.list("names", i -> Map.entry(i.u64("value"), i.text("name")))) {
            names.putIfAbsent(one.getKey(), one.getValue());
        }
        return new EnumType(name, size, signed, Map.copyOf(names));
    }

    private static ValueType structure(AotInput in, int depth) throws MalformedInputException {
        String name = in.text("name");
        boolean union = in.flag("union");
        int size = bytes(in);
        int align = align(in);
        List<TypeField> fields = fields(in, size, depth);
        return new StructType(name, union, size, align, () -> fields);
    }

    private static List<TypeField> fields(AotInput in, int size, int depth)
            throws MalformedInputException {
        return in.list(
                "members",
                i -> {
                    String name = i.text("name");
                    long offset = i.u64("offset");
                    int bits = i.u8("bits");
                    FieldPlace place = i.constant(FieldPlace.class, "place");
                    ValueType type = read(i, depth + 1);
                    boolean fits =
                            offset >= 0
                                    && bits <= 64
                                    && offset / 8 + (bits > 0 ? (bits + 7) / 8 : type.sizeBytes())
                                            <= size;
                    if (!fits) {
                        throw i.malformed("offset", offset + " in " + size + " bytes");
                    }
                    return new TypeField(name, type, offset, bits, place);
                });
    }

    private static int size(AotInput in) throws MalformedInputException {
        int size = in.u8("size");
        if (size > 16 || Integer.bitCount(size) != 1) {
            throw in.malformed("size", size + " bytes of a number");
        }
        return size;
    }

    private static int align(AotInput in) throws MalformedInputException {
        int align = in.u8("alignment");
        if (align > 8 || Integer.bitCount(align) != 1) {
            throw in.malformed("alignment", Integer.toString(align));
        }
        return align;
    }

    private static int bytes(AotInput in) throws MalformedInputException {
        return in.number("size", 0, MOST_BYTES);
    }
}
