package sonde.lang.ir;

/**
 * Memory in the frame of a function.
 *
 * @param index its number within its function, from 0
 * @param sizeBytes at least 1
 * @param align 1, 2, 4 or 8
 */
public record StackObject(int index, int sizeBytes, int align) implements AccessAnchor {
    @Override
    public String toString() {
        return "s" + index;
    }
}
