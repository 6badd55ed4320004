package sonde.lang.ir;

import java.util.Map;
import java.util.function.IntConsumer;
import sonde.lang.ir.Operation.Load;
import sonde.lang.ir.Operation.Store;

/** What lives are asked for: things with numbers that operations read and overwrite. */
interface Subjects {
    /** How many there are. */
    int count();

    /** Tells what an operation reads. */
    void reads(Operation operation, IntConsumer reader);

    /** What an operation overwrites; -1 for nothing. */
    int written(Operation operation);

    /** The registers of a function by index. */
    static Subjects registers(Body body) {
        return new Subjects() {
            @Override
            public int count() {
                return body.registers().size();
            }

            @Override
            public void reads(Operation operation, IntConsumer reader) {
                Effects.reads(operation, register -> reader.accept(register.index()));
            }

            @Override
            public int written(Operation operation) {
                Vreg to = Effects.written(operation);
                return to == null ? -1 : to.index();
            }
        };
    }

    /** Objects that only whole stores and loads touch, by index. */
    static Subjects slots(Body body, Map<StackObject, Vreg.Kind> slots) {
        return new Subjects() {
            @Override
            public int count() {
                return body.objects().size();
            }

            @Override
            public void reads(Operation operation, IntConsumer reader) {
                if (operation instanceof Load load
                        && load.base() instanceof StackObject object
                        && slots.containsKey(object)) {
                    reader.accept(object.index());
                }
            }

            @Override
            public int written(Operation operation) {
                return operation instanceof Store store
                                && store.base() instanceof StackObject object
                                && slots.containsKey(object)
                        ? object.index()
                        : -1;
            }
        };
    }
}
