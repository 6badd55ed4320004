package sonde.binary.btf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import sonde.binary.FieldCursor;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;

/**
 * The types of one BTF blob, and of the blob it is split from. Ids count from 1; those of a split
 * blob (a kernel module's) go on where its base's end, and so do string offsets.
 *
 * <p>Opening notes the offset of each type (4 bytes a type) and checks that every type lies in the
 * blob; names are hashed when one is first looked for (8 bytes a type). Types are made anew at each
 * call. Immutable to its users and safe for several threads.
 */
public final class Btf implements TypesById {
    private static final int MAGIC = 0xeb9f;
    private static final int LEAST_HEADER_BYTES = 24;
    private static final int TYPE_BYTES = 12;

    /** Bytes behind struct btf_type for each of vlen, and once, by kind. */
    private static final int[] TAIL_BYTES = {
        0, 0, 0, 0, 12, 12, 8, 0, 0, 0, 0, 0, 0, 8, 0, 12, 0, 0, 0, 12
    };

    private static final int[] TAIL_BYTES_ONCE = {
        0, 4, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 4, 0, 0
    };

    /** btf.rst: most ids there can be, BTF_MAX_TYPE of include/uapi/linux/btf.h. */
    private static final int MOST_TYPES = 0xf_ffff;

    /** Types a type leads through at most before the format is taken to go round in circles. */
    private static final int MOST_STEPS = 64;

    private static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED;

    private final @Nullable Btf base;
    private final MemorySegment types;
    private final MemorySegment strings;
    private final ByteOrder order;
    private final int firstId;
    private final int firstString;
    private final int[] offsets;
    private volatile @Nullable BtfNameIndex names;
    private volatile @Nullable EnumeratorIndex enumerators;

    private Btf(@Nullable Btf base, MemorySegment blob) throws MalformedInputException {
        this.base = base;
        if (blob.byteSize() < LEAST_HEADER_BYTES) {
            throw new MalformedInputException("BTF", "header", 0, blob.byteSize() + " bytes");
        }
        int magic = new FieldCursor("BTF", blob, ByteOrder.LITTLE_ENDIAN).u16("magic");
        order = magic == MAGIC ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN;
        FieldCursor header = new FieldCursor("BTF", blob, order);
        if (header.u16("magic") != MAGIC) {
            throw new MalformedInputException("BTF", "magic", 0, "0x" + Integer.toHexString(magic));
        }
        int version = header.u8("version");
        if (version != 1) {
            throw new MalformedInputException("BTF", "version", 2, "" + version + ", not 1");
        }
        header.u8("flags");
        long headerBytes = header.u32("hdr_len");
        types = section(header, headerBytes, "type_off");
        strings = section(header, headerBytes, "str_off");
        if (strings.byteSize() == 0 && base == null
                || strings.byteSize() > 0
                        && strings.get(ValueLayout.JAVA_BYTE, strings.byteSize() - 1) != 0) {
            throw new MalformedInputException("BTF", "strings", 0, "not ended by NUL");
        }
        firstId = base == null ? 1 : base.firstId + base.offsets.length;
        firstString = base == null ? 0 : base.firstString + (int) base.strings.byteSize();
        offsets = offsets();
    }

    private static MemorySegment section(FieldCursor header, long headerBytes, String field)
            throws MalformedInputException {
        long offset = header.u32(field);
        long size = header.u32(field.replace("off", "len"));
        long at = header.position();
        header.seek(field, headerBytes + offset);
        MemorySegment section = header.slice(field, size);
        header.seek("hdr_len", at);
        return section;
    }

    /** Types that stand by themselves: vmlinux, the {@code .BTF} of an object. */
    public static Btf read(Input input) throws MalformedInputException {
        return new Btf(null, input.segment());
    }

    /** Types that refer to those of another blob: a kernel module's. */
    public static Btf readSplit(Input input, Btf base) throws MalformedInputException {
        return new Btf(base, input.segment());
    }

    /** Where each type begins. */
    private int[] offsets() throws MalformedInputException {
        int[] words = words();
        long size = types.byteSize();
        int[] found = new int[(int) Math.min(size / TYPE_BYTES, MOST_TYPES) + 1];
        int count = 0;
        long at = 0;
        while (at < size) {
            if (size - at < TYPE_BYTES || firstId + count > MOST_TYPES) {
                return checkedOffsets();
            }
            found[count++] = (int) at;
            int info = words[(int) (at >> 2) + 1];
            int kind = info >>> 24 & 0x1f;
            if (kind == 0 || kind >= TAIL_BYTES.length) {
                return checkedOffsets();
            }
            at += TYPE_BYTES + TAIL_BYTES[kind] * (info & 0xffffL) + TAIL_BYTES_ONCE[kind];
            if (at > size) {
                return checkedOffsets();
            }
        }
        return Arrays.copyOf(found, count);
    }

    /** The types as an array: a walk through a segment takes a JVM that starts 20 times as long. */
    private int[] words() {
        return types.asSlice(0, types.byteSize() & -4).toArray(U32.withOrder(order));
    }

    /** As {@link #offsets}, saying what is wrong. */
    private int[] checkedOffsets() throws MalformedInputException {
        int[] found = new int[(int) Math.min(types.byteSize() / TYPE_BYTES, MOST_TYPES) + 1];
        int count = 0;
        FieldCursor cursor = new FieldCursor("BTF", types, order);
        while (cursor.remaining() > 0) {
            if (firstId + count > MOST_TYPES) {
                throw cursor.malformed("types", "more than " + MOST_TYPES);
            }
            found[count++] = (int) cursor.position();
            cursor.u32("name_off");
            long word = cursor.u32("info");
            cursor.u32("size");
            cursor.slice("type " + (firstId + count - 1), tailBytes(cursor, word));
        }
        return Arrays.copyOf(found, count);
    }

    /** Bytes behind struct btf_type. */
    private static long tailBytes(FieldCursor cursor, long info) throws MalformedInputException {
        long count = info & 0xffff;
        int kind = (int) (info >>> 24) & 0x1f;
        return switch (kind) {
            case BtfDecoder.INT, BtfDecoder.VAR, BtfDecoder.DECL_TAG -> 4;
            case BtfDecoder.ARRAY -> 12;
            case BtfDecoder.STRUCT, BtfDecoder.UNION, BtfDecoder.DATASEC, BtfDecoder.ENUM64 ->
                    12 * count;
            case BtfDecoder.ENUM, BtfDecoder.FUNC_PROTO -> 8 * count;
            case BtfDecoder.PTR,
                    BtfDecoder.FWD,
                    BtfDecoder.TYPEDEF,
                    BtfDecoder.VOLATILE,
                    BtfDecoder.CONST,
                    BtfDecoder.RESTRICT,
                    BtfDecoder.FUNC,
                    BtfDecoder.FLOAT,
                    BtfDecoder.TYPE_TAG ->
                    0;
            default -> throw cursor.malformed("kind", String.valueOf(kind));
        };
    }

    /** Byte order of its numbers. */
    public ByteOrder order() {
        return order;
    }

    /** The id behind the last: ids are 0 (void) to this, exclusive. */
    public int end() {
        return firstId + offsets.length;
    }

    /** The first id of this blob itself: 1, or where the base's ids end. */
    public int firstId() {
        return firstId;
    }

    /**
     * The type of an id.
     *
     * @throws MalformedInputException when there is none of that id, or its parts are out of bounds
     */
    @Override
    public BtfType type(int id) throws MalformedInputException {
        if (id == 0) {
            return new BtfType.Void();
        }
        if (id > 0 && id < firstId && base != null) {
            return base.type(id);
        }
        if (id < 0 || id >= end()) {
            throw new MalformedInputException(
                    "BTF", "type id", -1, Integer.toUnsignedString(id) + " of " + end());
        }
        FieldCursor cursor = new FieldCursor("BTF", types, order);
        cursor.seek("type", offsets[id - firstId]);
        return new BtfDecoder(this, cursor).type();
    }

    /**
     * The text at an offset of the strings.
     *
     * @throws MalformedInputException when it lies outside of them
     */
    public String string(long offset) throws MalformedInputException {
        if (offset < firstString && base != null) {
            return base.string(offset);
        }
        long start = offset - firstString;
        if (start < 0 || start >= strings.byteSize()) {
            if (offset == 0) {
                return "";
            }
            throw new MalformedInputException("BTF", "name_off", offset, "outside the strings");
        }
        return strings.getString(start, StandardCharsets.UTF_8);
    }

    /** As {@link BtfNameIndex#hash} of the text there, without making it. */
    int hash(long offset) throws MalformedInputException {
        if (offset < firstString && base != null) {
            return base.hash(offset);
        }
        long at = offset - firstString;
        if (at < 0 || at >= strings.byteSize()) {
            throw new MalformedInputException("BTF", "name_off", offset, "outside the strings");
        }
        NameFlavour.Hash hash = new NameFlavour.Hash();
        for (byte b = strings.get(ValueLayout.JAVA_BYTE, at);
                b != 0;
                b = strings.get(ValueLayout.JAVA_BYTE, ++at)) {
            hash.add(b);
        }
        return hash.value();
    }

    private int word(int id, int offset) {
        int value = types.get(U32, offsets[id - firstId] + (long) offset);
        return order == ByteOrder.nativeOrder() ? value : Integer.reverseBytes(value);
    }

    /** The kind number of a type of this very blob, without decoding it. */
    int kind(int id) {
        return word(id, 4) >>> 24 & 0x1f;
    }

    /** Offset of the name of a type of this very blob. */
    long nameOffset(int id) {
        return word(id, 0) & 0xffff_ffffL;
    }

    /**
     * The id of the first type of that name that fits; of a split blob its own types first.
     *
     * @return 0 for none
     */
    public int find(String name, Predicate<BtfType> fits) throws MalformedInputException {
        BtfNameIndex index = index();
        for (int id = index.first(name); id != 0; id = index.next(id)) {
            BtfType type = type(id);
            if (type.name().equals(name) && fits.test(type)) {
                return id;
            }
        }
        return base == null ? 0 : base.find(name, fits);
    }

    private BtfNameIndex index() throws MalformedInputException {
        BtfNameIndex index = names;
        if (index == null) {
            index = BtfNameIndex.of(this);
            names = index;
        }
        return index;
    }

    /**
     * The id of the first enumeration that has a constant of that name; of a split blob its own
     * first.
     *
     * @return 0 for none
     */
    public int findEnumerator(String name) throws MalformedInputException {
        EnumeratorIndex index = enumerators;
        if (index == null) {
            index = EnumeratorIndex.of(this);
            enumerators = index;
        }
        int found = index.find(name);
        return found != 0 || base == null ? found : base.findEnumerator(name);
    }

    /** Offset of the name of a constant of an enumeration of this very blob. */
    long enumeratorNameOffset(int id, int index) {
        int step = kind(id) == BtfDecoder.ENUM64 ? 12 : 8;
        return word(id, TYPE_BYTES + index * step) & 0xffff_ffffL;
    }

    /** How many parts a type of this very blob has. */
    int partCount(int id) {
        return word(id, 4) & 0xffff;
    }

    /**
     * The ids of this blob's own types whose name is that one, flavours aside, in rising order.
     *
     * @param name without a flavour
     */
    public List<Integer> findEach(String name) throws MalformedInputException {
        List<Integer> found = new ArrayList<>();
        BtfNameIndex index = index();
        for (int id = index.first(name); id != 0; id = index.next(id)) {
            if (NameFlavour.without(string(nameOffset(id))).equals(name)) {
                found.add(id);
            }
        }
        return found;
    }

    /** The structure or union of that name. */
    public Optional<BtfType.Struct> struct(String name) throws MalformedInputException {
        int id = find(name, BtfType.Struct.class::isInstance);
        return id == 0 ? Optional.empty() : Optional.of((BtfType.Struct) type(id));
    }

    /** The prototype of the function of that name. */
    public Optional<BtfType.FuncProto> function(String name) throws MalformedInputException {
        int id = find(name, BtfType.Func.class::isInstance);
        if (id == 0 || !(type(((BtfType.Func) type(id)).type()) instanceof BtfType.FuncProto p)) {
            return Optional.empty();
        }
        return Optional.of(p);
    }

    /**
     * A member by name, those of unnamed structures and unions inside included; its offset counts
     * from the outermost one.
     */
    public Optional<BtfType.Member> member(BtfType.Struct struct, String name)
            throws MalformedInputException {
        return Optional.ofNullable(member(struct, name, 0, new HashSet<>(), 0));
    }

    private BtfType.@Nullable Member member(
            BtfType.Struct struct, String name, int bits, Set<Integer> seen, int depth)
            throws MalformedInputException {
        if (depth > MOST_STEPS) {
            throw new MalformedInputException("BTF", "member", -1, "too deep in each other");
        }
        for (BtfType.Member member : struct.members()) {
            int offset = bits + member.bitOffset();
            if (member.name().equals(name)) {
                return new BtfType.Member(name, member.type(), offset, member.bits());
            }
            if (member.name().isEmpty()
                    && seen.add(member.type())
                    && type(skipModifiers(member.type())) instanceof BtfType.Struct inner) {
                BtfType.Member found = member(inner, name, offset, seen, depth + 1);
                if (found != null) {
                    return found;
                }
            }
        }
        return null;
    }

    /**
     * As {@link #find}, without an index of all names: for a process that looks once.
     *
     * @return 0 for none
     */
    public int search(String name, Predicate<BtfType> fits) throws MalformedInputException {
        byte[] wanted = (name + "\0").getBytes(StandardCharsets.UTF_8);
        byte[] all = strings.toArray(ValueLayout.JAVA_BYTE);
        int[] words = words();
        for (int at = indexOf(all, wanted, 0); at >= 0; at = indexOf(all, wanted, at + 1)) {
            int offset = firstString + at;
            for (int i = 0; i < offsets.length; i++) {
                if (words[offsets[i] >> 2] == offset && fits.test(type(firstId + i))) {
                    return firstId + i;
                }
            }
        }
        return base == null ? 0 : base.search(name, fits);
    }

    /** Where a text begins that is whole: behind a NUL or where another's end is shared. */
    private static int indexOf(byte[] all, byte[] wanted, int from) {
        byte first = wanted[0];
        for (int at = from; at + wanted.length <= all.length; at++) {
            if (all[at] == first
                    && Arrays.equals(all, at, at + wanted.length, wanted, 0, wanted.length)) {
                return at;
            }
        }
        return -1;
    }
}
