package sonde.lang.ir;

import java.util.function.Consumer;
import sonde.lang.ir.IrOperation.IrAddress;
import sonde.lang.ir.IrOperation.IrAtomic;
import sonde.lang.ir.IrOperation.IrLoad;
import sonde.lang.ir.IrOperation.IrStore;

/** Which objects of the frame operations name. */
final class StackObjects {
    private StackObjects() {}

    /** Tells the object that an operation accesses or takes the address of. */
    static void of(IrOperation operation, Consumer<StackObject> seen) {
        AccessAnchor anchor =
                switch (operation) {
                    case IrLoad o -> o.base();
                    case IrStore o -> o.base();
                    case IrAtomic o -> o.base();
                    case IrAddress o -> o.object();
                    default -> null;
                };
        if (anchor instanceof StackObject object) {
            seen.accept(object);
        }
    }
}
