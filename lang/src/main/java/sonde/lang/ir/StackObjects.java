package sonde.lang.ir;

import java.util.function.Consumer;
import sonde.lang.ir.Operation.Address;
import sonde.lang.ir.Operation.Atomic;
import sonde.lang.ir.Operation.Load;
import sonde.lang.ir.Operation.Store;

/** Which objects of the frame operations name. */
final class StackObjects {
    private StackObjects() {}

    /** Tells the object that an operation accesses or takes the address of. */
    static void of(Operation operation, Consumer<StackObject> seen) {
        Anchor anchor =
                switch (operation) {
                    case Load o -> o.base();
                    case Store o -> o.base();
                    case Atomic o -> o.base();
                    case Address o -> o.object();
                    default -> null;
                };
        if (anchor instanceof StackObject object) {
            seen.accept(object);
        }
    }
}
