package sonde.bpf.core;

import org.jspecify.annotations.Nullable;

/** What an instruction wants to know of the target's types: enum bpf_core_relo_kind, in order. */
public enum CoreKind {
    FIELD_BYTE_OFFSET,
    FIELD_BYTE_SIZE,
    FIELD_EXISTS,
    FIELD_SIGNED,
    FIELD_LSHIFT_U64,
    FIELD_RSHIFT_U64,
    TYPE_ID_LOCAL,
    TYPE_ID_TARGET,
    TYPE_EXISTS,
    TYPE_SIZE,
    ENUM_VALUE_EXISTS,
    ENUM_VALUE,
    TYPE_MATCHES;

    private static final CoreKind[] ALL = values();

    /** The kind of a number; null for one this enum does not have. */
    public static @Nullable CoreKind of(int code) {
        return code >= 0 && code < ALL.length ? ALL[code] : null;
    }

    boolean isField() {
        return ordinal() <= FIELD_RSHIFT_U64.ordinal();
    }

    boolean isEnum() {
        return this == ENUM_VALUE || this == ENUM_VALUE_EXISTS;
    }

    /** Whether it can be answered although nothing in the target fits. */
    boolean mayBeMissing() {
        return switch (this) {
            case FIELD_EXISTS,
                    TYPE_ID_TARGET,
                    TYPE_EXISTS,
                    TYPE_SIZE,
                    TYPE_MATCHES,
                    ENUM_VALUE_EXISTS ->
                    true;
            default -> false;
        };
    }
}
