package sonde.store.duckdb;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * A type of a column that is written.
 *
 * @param code of {@code enum DUCKDB_TYPE} in duckdb.h
 * @param widthBytes of a value in a vector
 * @param labels of an enumeration, whose values are their numbers in it; else empty
 */
public record ColumnType(int code, int widthBytes, List<String> labels) {
    public static final ColumnType BOOLEAN = new ColumnType(1, 1, List.of());
    public static final ColumnType SMALLINT = new ColumnType(3, 2, List.of());
    public static final ColumnType INTEGER = new ColumnType(4, 4, List.of());
    public static final ColumnType BIGINT = new ColumnType(5, 8, List.of());
    public static final ColumnType UBIGINT = new ColumnType(9, 8, List.of());
    public static final ColumnType DOUBLE = new ColumnType(11, 8, List.of());
    public static final ColumnType VARCHAR = new ColumnType(17, 16, List.of());

    private static final int ENUM = 23;
    private static final int LIST = 24;

    /** A list of 64-bit integers. */
    public static final ColumnType BIGINT_LIST = new ColumnType(LIST, 16, List.of());

    public ColumnType {
        labels = List.copyOf(labels);
    }

    /** A column of few texts that are known before: values are their numbers. */
    public static ColumnType enumeration(List<String> labels) {
        int width = labels.size() <= 1 << 8 ? 1 : labels.size() <= 1 << 16 ? 2 : 4;
        return new ColumnType(ENUM, width, labels);
    }

    private static final class ColumnTypeCalls {
        static final MemorySegment CREATE = DuckDbApi.function("create_logical_type");
        static final MemorySegment CREATE_ENUM = DuckDbApi.function("create_enum_type");
        static final MemorySegment CREATE_LIST = DuckDbApi.function("create_list_type");
        static final MemorySegment DESTROY = DuckDbApi.function("destroy_logical_type");
    }

    /** A {@code duckdb_logical_type}, to be {@link #destroy destroyed}. */
    long create() {
        if (code == LIST) {
            long element = BIGINT.create();
            long list = DuckDbApi.call(ColumnTypeCalls.CREATE_LIST, element);
            destroy(element);
            return list;
        }
        if (code != ENUM) {
            return DuckDbApi.call(ColumnTypeCalls.CREATE, code);
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment names = arena.allocate(ValueLayout.JAVA_LONG, Math.max(1, labels.size()));
            for (int i = 0; i < labels.size(); i++) {
                names.setAtIndex(ValueLayout.JAVA_LONG, i, DuckDbApi.text(arena, labels.get(i)));
            }
            return DuckDbApi.call(ColumnTypeCalls.CREATE_ENUM, names.address(), labels.size());
        }
    }

    static void destroy(long logicalType) {
        DuckDbApi.destroy(ColumnTypeCalls.DESTROY, logicalType);
    }

    /** How it is written in SQL; an enumeration as the text that its values show. */
    public String sql() {
        return switch (code) {
            case 1 -> "BOOLEAN";
            case 3 -> "SMALLINT";
            case 4 -> "INTEGER";
            case 5 -> "BIGINT";
            case 9 -> "UBIGINT";
            case 11 -> "DOUBLE";
            case LIST -> "BIGINT[]";
            default -> "VARCHAR";
        };
    }
}
