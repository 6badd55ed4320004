package sonde.lang.ir;

import java.util.ArrayList;
import java.util.List;

/** Which objects of a frame may lie in the same bytes. */
final class Sharing {
    /** Objects that take the room of the largest. */
    record Group(List<StackObject> objects, int sizeBytes, int align) {}

    private Sharing() {}

    /** Groups, in the order of their first objects. */
    static List<Group> of(Body body, List<StackObject> objects) {
        List<Group> groups = new ArrayList<>();
        for (StackObject object : objects) {
            groups.add(new Group(List.of(object), object.sizeBytes(), object.align()));
        }
        return groups;
    }
}
