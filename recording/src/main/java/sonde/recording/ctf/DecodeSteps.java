package sonde.recording.ctf;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import sonde.recording.ctf.schema.FieldClass;
import sonde.recording.ctf.schema.FieldClass.BitField;
import sonde.recording.ctf.schema.FieldClass.BitMeaning;
import sonde.recording.ctf.schema.FieldClass.StructureClass;
import sonde.recording.ctf.schema.FieldClass.TextClass;
import sonde.recording.ctf.schema.FieldClass.VariantClass;
import sonde.recording.ctf.schema.FieldLength;
import sonde.recording.ctf.schema.FieldRole;

/** Turns a field in its place to steps of reading. */
final class DecodeSteps {
    private static final boolean NATIVE_BIG_ENDIAN =
            ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN;

    private static final long MOST_BITS = 1 << 20;

    /** Whether the reader is told what the fields with a role say. */
    private final boolean told;

    private final List<ReadOp> ops = new ArrayList<>();

    private DecodeSteps(boolean told) {
        this.told = told;
    }

    /**
     * Steps for a root structure that tells the reader about the packet or event. They keep no
     * field: where they would put it the row before still lies.
     */
    static ReadOp[] telling(FieldNode root) {
        DecodeSteps steps = new DecodeSteps(true);
        steps.add(root);
        return steps.joined();
    }

    /** Steps for a root structure that was told before, or tells nothing. */
    static ReadOp[] keeping(FieldNode root) {
        DecodeSteps steps = new DecodeSteps(false);
        steps.add(root);
        return steps.joined();
    }

    private void add(FieldNode node) {
        switch (node.type) {
            case BitField bits -> ops.add(integer(node, bits));
            case FieldClass.VariableInteger variable -> {
                ReadOp op = new ReadOp(ReadOp.VARIABLE, 8);
                op.signed = variable.signed();
                op.storedBytes = 8;
                value(op, node, variable.roles());
            }
            case FieldClass.WideInteger wide -> {
                ReadOp op = new ReadOp(ReadOp.WIDE, wide.alignment());
                op.bits = wide.bits();
                value(op, node, Set.of());
            }
            case FieldClass.Real real -> {
                ReadOp op = new ReadOp(ReadOp.REAL, real.alignment());
                op.bits = real.bits();
                op.bigEndian = real.bigEndian();
                op.reversed = real.reversed();
                value(op, node, Set.of());
            }
            case TextClass text when PayloadLayout.inPlace(text) > 0 -> {
                ReadOp op = new ReadOp(ReadOp.COPY, 8);
                op.bits = 8L * PayloadLayout.inPlace(text);
                value(op, node, Set.of());
            }
            case TextClass text -> {
                boolean terminated = text.length() instanceof FieldLength.Terminated;
                ReadOp op = new ReadOp(terminated ? ReadOp.TERMINATED : ReadOp.TEXT, 8);
                counted(op, node, text.length(), Set.of());
            }
            case FieldClass.Blob blob ->
                    counted(new ReadOp(ReadOp.BLOB, 8), node, blob.length(), blob.roles());
            case StructureClass structure -> {
                if (structure.alignment() > 1) {
                    ops.add(new ReadOp(ReadOp.ALIGN, structure.alignment()));
                }
                node.children.forEach(this::add);
            }
            case FieldClass.Array array -> array(node, array);
            case VariantClass variant -> choice(node, variant.options().size());
            case FieldClass.Optional optional -> choice(node, 1);
        }
    }

    /** Fields that lie side by side in trace and payload become one copy. */
    private ReadOp[] joined() {
        List<ReadOp> joined = new ArrayList<>();
        ReadOp run = null;
        for (ReadOp op : ops) {
            if (run != null && follows(run, op)) {
                run.bits += op.bits;
            } else if (isCopy(op)) {
                run = new ReadOp(ReadOp.COPY, op.mask + 1);
                run.bits = op.bits;
                run.at = op.at;
                joined.add(run);
            } else {
                run = null;
                joined.add(op);
            }
        }
        return joined.toArray(ReadOp[]::new);
    }

    private static boolean isCopy(ReadOp op) {
        boolean plain =
                op.code == ReadOp.COPY || op.code >= ReadOp.BYTES_8 && op.code <= ReadOp.BYTES_64;
        return plain && op.slot < 0 && op.roles.length == 0 && op.mask >= 7;
    }

    private static boolean follows(ReadOp run, ReadOp op) {
        boolean inTrace = isCopy(op) && op.mask <= run.mask && (run.bits & op.mask) == 0;
        boolean inPayload =
                run.at < 0 ? op.at < 0 : op.at == run.at + run.bits / 8 && run.bits < MOST_BITS;
        return inTrace && inPayload;
    }

    private void value(ReadOp op, FieldNode node, Set<FieldRole> roles) {
        op.at = told ? -1 : node.at;
        op.slot = node.slot;
        op.node = node;
        if (told && !roles.isEmpty()) {
            op.roles(roles);
        }
        ops.add(op);
    }

    private ReadOp integer(FieldNode node, BitField bits) {
        boolean whole = bits.alignment() >= 8 && bits.meaning() != BitMeaning.BOOLEAN;
        boolean plain = whole && !bits.reversed() && (bits.bigEndian() == NATIVE_BIG_ENDIAN);
        int code =
                !plain
                        ? ReadOp.BITS
                        : switch (bits.bits()) {
                            case 8 -> ReadOp.BYTES_8;
                            case 16 -> ReadOp.BYTES_16;
                            case 32 -> ReadOp.BYTES_32;
                            case 64 -> ReadOp.BYTES_64;
                            default -> ReadOp.BITS;
                        };
        ReadOp op = new ReadOp(code, bits.alignment());
        op.bits = bits.bits();
        op.bigEndian = bits.bigEndian();
        op.reversed = bits.reversed();
        op.signed = bits.signed();
        op.bool = bits.meaning() == BitMeaning.BOOLEAN;
        op.storedBytes = PayloadLayout.storedBytes(bits);
        op.at = told ? -1 : node.at;
        op.slot = node.slot;
        op.node = node;
        boolean counts = bits.clock() != null && bits.roles().isEmpty();
        Set<FieldRole> roles = counts ? Set.of(FieldRole.DEFAULT_CLOCK_TIMESTAMP) : bits.roles();
        if ((told || counts) && !roles.isEmpty()) {
            op.roles(roles);
        }
        return op;
    }

    private void counted(ReadOp op, FieldNode node, FieldLength length, Set<FieldRole> roles) {
        op.selector = node.selector;
        op.count = length instanceof FieldLength.Fixed fixed ? fixed.count() : -1;
        value(op, node, roles);
    }

    private void array(FieldNode node, FieldClass.Array array) {
        if (array.element() instanceof BitField bits) {
            ReadOp op = new ReadOp(ReadOp.INTEGERS, array.alignment());
            op.bits = bits.bits();
            op.bigEndian = bits.bigEndian();
            op.reversed = bits.reversed();
            op.signed = bits.signed();
            op.bool = bits.meaning() == BitMeaning.BOOLEAN;
            op.storedBytes = PayloadLayout.storedBytes(bits);
            op.options = new ReadOp[][] {{integer(node.children.get(0), bits)}};
            counted(op, node, array.length(), Set.of());
        } else {
            ReadOp op = new ReadOp(ReadOp.VALUES, array.alignment());
            node.children.forEach(DecodeSteps::prepare);
            counted(op, node, array.length(), Set.of());
        }
    }

    /** Steps for fields that are read one by one, by their class. */
    private static void prepare(FieldNode node) {
        DecodeSteps steps = new DecodeSteps(false);
        switch (node.type) {
            case BitField bits -> node.single = steps.integer(node, bits);
            case VariantClass variant -> {
                steps.choice(node, variant.options().size());
                node.single = steps.ops.get(0);
            }
            case FieldClass.Optional optional -> {
                steps.choice(node, 1);
                node.single = steps.ops.get(0);
            }
            case FieldClass.Real real -> {
                steps.add(node);
                node.single = steps.ops.get(0);
            }
            case FieldClass.VariableInteger variable -> {}
            case FieldClass.WideInteger wide -> {}
            case TextClass text -> {}
            case FieldClass.Blob blob -> {}
            case StructureClass structure -> {}
            case FieldClass.Array array -> {}
        }
        node.children.forEach(DecodeSteps::prepare);
    }

    static ReadOp single(FieldNode node) {
        ReadOp single = node.single;
        if (single == null) {
            throw new IllegalStateException(node.name + " is in no array");
        }
        return single;
    }

    private void choice(FieldNode node, int options) {
        ReadOp op = new ReadOp(ReadOp.VARIANT, 1);
        op.selector = node.selector;
        op.signed = node.signedSelector;
        op.choices(node.choices);
        op.options = new ReadOp[options][];
        // An optional that is off is no error, a variant without choice is.
        op.count = node.type instanceof FieldClass.Optional ? 0 : -1;
        for (int i = 0; i < options; i++) {
            DecodeSteps steps = new DecodeSteps(told);
            steps.add(node.children.get(i));
            op.options[i] = steps.joined();
        }
        op.at = told ? -1 : node.at;
        op.node = node;
        ops.add(op);
    }
}
