package sonde.bpf.core;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.btf.BtfType;
import sonde.binary.btf.NameFlavour;
import sonde.binary.btf.TypesById;

/**
 * A way into a type: {@code task->children[2].pid} from its root to the last member. The first step
 * is an index, as if the root were an element of an array.
 *
 * @param root type id
 * @param steps named members and indexes; members without a name are not steps of their own
 * @param bitOffset from the root's start
 * @param text for messages
 */
record AccessPath(int root, List<AccessStep> steps, long bitOffset, String text) {
    private static final int MOST_STEPS = 64;

    /**
     * A step.
     *
     * @param container the structure that the member is in; of an index the element's type
     * @param index of the member or element
     * @param member null for an index
     */
    record AccessStep(int container, int index, BtfType.@Nullable Member member) {}

    AccessStep last() {
        return steps.getLast();
    }

    private static MalformedInputException malformed(String access, String why) {
        return new MalformedInputException("CO-RE", "access \"" + access + "\"", -1, why);
    }

    private static int[] indexes(String access) throws MalformedInputException {
        String[] words = access.split(":", -1);
        if (words.length > MOST_STEPS) {
            throw malformed(access, "more than " + MOST_STEPS + " steps");
        }
        int[] indexes = new int[words.length];
        for (int i = 0; i < indexes.length; i++) {
            try {
                indexes[i] = Integer.parseUnsignedInt(words[i]);
            } catch (NumberFormatException e) {
                throw malformed(access, "'" + words[i] + "' is not a number");
            }
            if (indexes[i] < 0) {
                throw malformed(access, words[i] + " is too large");
            }
        }
        return indexes;
    }

    /** Reads what the compiler wrote: {@code "0:1:2"}. */
    static AccessPath parse(TypesById types, int root, String access)
            throws MalformedInputException {
        int[] indexes = indexes(access);
        int at = types.skipModifiers(root);
        List<AccessStep> steps = new ArrayList<>();
        steps.add(new AccessStep(at, indexes[0], null));
        long bits = 8 * scaled(types, at, indexes[0], access);
        StringBuilder text = new StringBuilder(types.type(at).name());
        if (indexes[0] != 0) {
            text.append('[').append(indexes[0]).append(']');
        }
        for (int i = 1; i < indexes.length; i++) {
            int index = indexes[i];
            switch (types.type(at)) {
                case BtfType.Struct struct -> {
                    if (index >= struct.members().size()) {
                        throw malformed(access, "there is no member " + index);
                    }
                    BtfType.Member member = struct.members().get(index);
                    bits += Integer.toUnsignedLong(member.bitOffset());
                    if (!member.name().isEmpty()) {
                        steps.add(new AccessStep(at, index, member));
                        text.append('.').append(member.name());
                    }
                    at = types.skipModifiers(member.type());
                }
                case BtfType.Array array -> {
                    boolean open = array.count() == 0;
                    if (!open && index >= array.count()) {
                        throw malformed(access, "there is no element " + index);
                    }
                    at = types.skipModifiers(array.type());
                    steps.add(new AccessStep(at, index, null));
                    bits += 8 * scaled(types, at, index, access);
                    text.append('[').append(index).append(']');
                }
                case BtfType other -> throw malformed(access, "a step into '" + other.name() + "'");
            }
        }
        return new AccessPath(root, List.copyOf(steps), bits, text.toString());
    }

    private static long scaled(TypesById types, int id, int index, String access)
            throws MalformedInputException {
        if (index == 0) {
            return 0;
        }
        long size = types.sizeBytes(id).orElse(-1);
        if (size < 0 || size > 1L << 32) {
            throw malformed(access, "an index into a type without size");
        }
        return size * index;
    }

    /** The same way in the target; null when it is not there. */
    @Nullable AccessPath in(TypesById local, TypesById target, int targetRoot)
            throws MalformedInputException {
        TypeCompatibility compatibility = new TypeCompatibility(local, target);
        int at = target.skipModifiers(targetRoot);
        List<AccessStep> found = new ArrayList<>();
        long bits = 0;
        for (int i = 0; i < steps.size(); i++) {
            AccessStep step = steps.get(i);
            if (step.member() != null) {
                MemberMatch match =
                        new MemberFinder(compatibility, target).find(step.member(), at, 0, 0);
                if (match == null) {
                    return null;
                }
                bits += match.bits();
                found.add(new AccessStep(match.container(), match.index(), match.member()));
                at = target.skipModifiers(match.member().type());
                continue;
            }
            if (i > 0) {
                if (!(target.type(at) instanceof BtfType.Array array)
                        || array.count() != 0
                                && Integer.compareUnsigned(step.index(), array.count()) >= 0) {
                    return null;
                }
                at = target.skipModifiers(array.type());
            }
            found.add(new AccessStep(at, step.index(), null));
            bits += 8 * scaled(target, at, step.index(), text);
        }
        return new AccessPath(targetRoot, List.copyOf(found), bits, text);
    }

    private record MemberMatch(int container, int index, BtfType.Member member, long bits) {}

    /** Looks for a member by name, in unnamed structures and unions too. */
    private record MemberFinder(
            TypeCompatibility compatibility, TypesById target, Set<Integer> seen) {
        MemberFinder(TypeCompatibility compatibility, TypesById target) {
            this(compatibility, target, new HashSet<>());
        }

        @Nullable MemberMatch find(BtfType.Member wanted, int container, long bits, int depth)
                throws MalformedInputException {
            if (depth > MOST_STEPS || !(target.type(container) instanceof BtfType.Struct struct)) {
                return null;
            }
            String name = wanted.name();
            for (int i = 0; i < struct.members().size(); i++) {
                BtfType.Member member = struct.members().get(i);
                long offset = bits + Integer.toUnsignedLong(member.bitOffset());
                if (member.name().isEmpty()) {
                    int inner = target.skipModifiers(member.type());
                    MemberMatch match =
                            seen.add(inner) ? find(wanted, inner, offset, depth + 1) : null;
                    if (match != null) {
                        return match;
                    }
                } else if (NameFlavour.without(member.name()).equals(NameFlavour.without(name))) {
                    return compatibility.fields(wanted.type(), member.type())
                            ? new MemberMatch(container, i, member, offset)
                            : null;
                }
            }
            return null;
        }
    }
}
