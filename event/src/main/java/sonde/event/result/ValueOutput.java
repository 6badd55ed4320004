package sonde.event.result;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Takes values one after the other; objects and arrays may be nested. */
public interface ValueOutput {
    /** Begins an object; each of its values follows its {@link #name}. */
    void beginObject() throws IOException;

    /** Ends the innermost object. */
    void endObject() throws IOException;

    /** Begins an array. */
    void beginArray() throws IOException;

    /** Ends the innermost array. */
    void endArray() throws IOException;

    /** The key of the next value. */
    void name(String name) throws IOException;

    /** A number. */
    void value(long number) throws IOException;

    /**
     * A value: a Map is an object, an Iterable an array; numbers, booleans and null stay such,
     * everything else is its text.
     */
    void value(@Nullable Object value) throws IOException;

    /** Begins an object under a key. */
    default void beginObject(String name) throws IOException {
        name(name);
        beginObject();
    }

    /** Begins an array under a key. */
    default void beginArray(String name) throws IOException {
        name(name);
        beginArray();
    }

    /** A number under a key. */
    default void field(String name, long number) throws IOException {
        name(name);
        value(number);
    }

    /** A value under a key. */
    default void field(String name, @Nullable Object value) throws IOException {
        name(name);
        value(value);
    }
}
