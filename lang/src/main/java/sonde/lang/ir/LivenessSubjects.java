package sonde.lang.ir;

import java.util.Map;
import java.util.function.IntConsumer;
import sonde.lang.ir.IrOperation.IrLoad;
import sonde.lang.ir.IrOperation.IrStore;

/** What lives are asked for: things with numbers that operations read and overwrite. */
interface LivenessSubjects {
    /** How many there are. */
    int count();

    /** Tells what an operation reads. */
    void reads(IrOperation operation, IntConsumer reader);

    /** What an operation overwrites; -1 for nothing. */
    int written(IrOperation operation);

    /** The registers of a function by index. */
    static LivenessSubjects registers(WorkingFunction body) {
        return new LivenessSubjects() {
            @Override
            public int count() {
                return body.registers().size();
            }

            @Override
            public void reads(IrOperation operation, IntConsumer reader) {
                OperationEffects.reads(operation, register -> reader.accept(register.index()));
            }

            @Override
            public int written(IrOperation operation) {
                VirtualRegister to = OperationEffects.written(operation);
                return to == null ? -1 : to.index();
            }
        };
    }

    /** Objects that only whole stores and loads touch, by index. */
    static LivenessSubjects slots(
            WorkingFunction body, Map<StackObject, VirtualRegister.Kind> slots) {
        return new LivenessSubjects() {
            @Override
            public int count() {
                return body.objects().size();
            }

            @Override
            public void reads(IrOperation operation, IntConsumer reader) {
                if (operation instanceof IrLoad load
                        && load.base() instanceof StackObject object
                        && slots.containsKey(object)) {
                    reader.accept(object.index());
                }
            }

            @Override
            public int written(IrOperation operation) {
                return operation instanceof IrStore store
                                && store.base() instanceof StackObject object
                                && slots.containsKey(object)
                        ? object.index()
                        : -1;
            }
        };
    }
}
