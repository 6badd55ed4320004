package sonde.recording.ctf;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import sonde.recording.ctf.schema.FieldClass;
import sonde.recording.ctf.schema.FieldClass.Bits;
import sonde.recording.ctf.schema.FieldClass.Meaning;
import sonde.recording.ctf.schema.Length;
import sonde.recording.ctf.schema.Role;

/** Turns a field in its place to steps of reading. */
final class Steps {
    private static final boolean NATIVE_BIG_ENDIAN =
            ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN;

    private static final long MOST_BITS = 1 << 20;

    /** Whether the reader is told what the fields with a role say. */
    private final boolean told;

    private final List<Op> ops = new ArrayList<>();

    private Steps(boolean told) {
        this.told = told;
    }

    /** Steps for a root structure that tells the reader about the packet or event. */
    static Op[] telling(Node root) {
        Steps steps = new Steps(true);
        steps.add(root);
        return steps.joined();
    }

    /** Steps for a root structure that was told before, or tells nothing. */
    static Op[] keeping(Node root) {
        Steps steps = new Steps(false);
        steps.add(root);
        return steps.joined();
    }

    private void add(Node node) {
        switch (node.type) {
            case Bits bits -> ops.add(integer(node, bits));
            case FieldClass.VariableInteger variable -> {
                Op op = new Op(Op.VARIABLE, 8);
                op.signed = variable.signed();
                op.storedBytes = 8;
                value(op, node, variable.roles());
            }
            case FieldClass.WideInteger wide -> {
                Op op = new Op(Op.WIDE, wide.alignment());
                op.bits = wide.bits();
                value(op, node, Set.of());
            }
            case FieldClass.Real real -> {
                Op op = new Op(Op.REAL, real.alignment());
                op.bits = real.bits();
                op.bigEndian = real.bigEndian();
                op.reversed = real.reversed();
                value(op, node, Set.of());
            }
            case FieldClass.Text text when Layout.inPlace(text) > 0 -> {
                Op op = new Op(Op.COPY, 8);
                op.bits = 8L * Layout.inPlace(text);
                value(op, node, Set.of());
            }
            case FieldClass.Text text -> {
                boolean terminated = text.length() instanceof Length.Terminated;
                Op op = new Op(terminated ? Op.TERMINATED : Op.TEXT, 8);
                counted(op, node, text.length(), Set.of());
            }
            case FieldClass.Blob blob ->
                    counted(new Op(Op.BLOB, 8), node, blob.length(), blob.roles());
            case FieldClass.Structure structure -> {
                if (structure.alignment() > 1) {
                    ops.add(new Op(Op.ALIGN, structure.alignment()));
                }
                node.children.forEach(this::add);
            }
            case FieldClass.Array array -> array(node, array);
            case FieldClass.Variant variant -> choice(node, variant.options().size());
            case FieldClass.Optional optional -> choice(node, 1);
        }
    }

    /** Fields that lie side by side in trace and payload become one copy. */
    private Op[] joined() {
        List<Op> joined = new ArrayList<>();
        Op run = null;
        for (Op op : ops) {
            if (run != null && follows(run, op)) {
                run.bits += op.bits;
            } else if (isCopy(op)) {
                run = new Op(Op.COPY, op.mask + 1);
                run.bits = op.bits;
                run.at = op.at;
                joined.add(run);
            } else {
                run = null;
                joined.add(op);
            }
        }
        return joined.toArray(Op[]::new);
    }

    private static boolean isCopy(Op op) {
        boolean plain = op.code == Op.COPY || op.code >= Op.BYTES_8 && op.code <= Op.BYTES_64;
        return plain && op.slot < 0 && op.roles.length == 0 && op.mask >= 7;
    }

    private static boolean follows(Op run, Op op) {
        boolean inTrace = isCopy(op) && op.mask <= run.mask && (run.bits & op.mask) == 0;
        boolean inPayload =
                run.at < 0 ? op.at < 0 : op.at == run.at + run.bits / 8 && run.bits < MOST_BITS;
        return inTrace && inPayload;
    }

    private void value(Op op, Node node, Set<Role> roles) {
        op.at = node.at;
        op.slot = node.slot;
        op.node = node;
        if (told && !roles.isEmpty()) {
            op.roles(roles);
        }
        ops.add(op);
    }

    private Op integer(Node node, Bits bits) {
        boolean whole = bits.alignment() >= 8 && bits.meaning() != Meaning.BOOLEAN;
        boolean plain = whole && !bits.reversed() && (bits.bigEndian() == NATIVE_BIG_ENDIAN);
        int code =
                !plain
                        ? Op.BITS
                        : switch (bits.bits()) {
                            case 8 -> Op.BYTES_8;
                            case 16 -> Op.BYTES_16;
                            case 32 -> Op.BYTES_32;
                            case 64 -> Op.BYTES_64;
                            default -> Op.BITS;
                        };
        Op op = new Op(code, bits.alignment());
        op.bits = bits.bits();
        op.bigEndian = bits.bigEndian();
        op.reversed = bits.reversed();
        op.signed = bits.signed();
        op.bool = bits.meaning() == Meaning.BOOLEAN;
        op.storedBytes = Layout.storedBytes(bits);
        op.at = node.at;
        op.slot = node.slot;
        op.node = node;
        boolean counts = bits.clock() != null && bits.roles().isEmpty();
        Set<Role> roles = counts ? Set.of(Role.DEFAULT_CLOCK_TIMESTAMP) : bits.roles();
        if ((told || counts) && !roles.isEmpty()) {
            op.roles(roles);
        }
        return op;
    }

    private void counted(Op op, Node node, Length length, Set<Role> roles) {
        op.selector = node.selector;
        op.count = length instanceof Length.Fixed fixed ? fixed.count() : -1;
        value(op, node, roles);
    }

    private void array(Node node, FieldClass.Array array) {
        if (array.element() instanceof Bits bits) {
            Op op = new Op(Op.INTEGERS, array.alignment());
            op.bits = bits.bits();
            op.bigEndian = bits.bigEndian();
            op.reversed = bits.reversed();
            op.signed = bits.signed();
            op.bool = bits.meaning() == Meaning.BOOLEAN;
            op.storedBytes = Layout.storedBytes(bits);
            op.options = new Op[][] {{integer(node.children.get(0), bits)}};
            counted(op, node, array.length(), Set.of());
        } else {
            Op op = new Op(Op.VALUES, array.alignment());
            node.children.forEach(Steps::prepare);
            counted(op, node, array.length(), Set.of());
        }
    }

    /** Steps for fields that are read one by one, by their class. */
    private static void prepare(Node node) {
        Steps steps = new Steps(false);
        switch (node.type) {
            case Bits bits -> node.single = steps.integer(node, bits);
            case FieldClass.Variant variant -> {
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
            case FieldClass.Text text -> {}
            case FieldClass.Blob blob -> {}
            case FieldClass.Structure structure -> {}
            case FieldClass.Array array -> {}
        }
        node.children.forEach(Steps::prepare);
    }

    static Op single(Node node) {
        Op single = node.single;
        if (single == null) {
            throw new IllegalStateException(node.name + " is in no array");
        }
        return single;
    }

    private void choice(Node node, int options) {
        Op op = new Op(Op.VARIANT, 1);
        op.selector = node.selector;
        op.signed = node.signedSelector;
        op.choices(node.choices);
        op.options = new Op[options][];
        // An optional that is off is no error, a variant without choice is.
        op.count = node.type instanceof FieldClass.Optional ? 0 : -1;
        for (int i = 0; i < options; i++) {
            Steps steps = new Steps(told);
            steps.add(node.children.get(i));
            op.options[i] = steps.joined();
        }
        op.at = node.at;
        op.node = node;
        ops.add(op);
    }
}
