package sonde.event.result;

/** What a number counts, so that every renderer scales and labels it alike. */
public enum Unit {
    /** A plain number of things. */
    COUNT,
    /** Nanoseconds. */
    NANOS,
    /** Bytes. */
    BYTES,
    /** A share as a fraction: 0.25 is shown as 25 %. */
    SHARE,
    /** Times of the recording's clock in nanoseconds, shown as seconds. */
    TIMESTAMP,
    /** An address, shown in hexadecimal. */
    ADDRESS,
    /** A name that is a number (pid, tid, CPU, syscall number): no scaling, no separators. */
    ID,
    /** Text. */
    TEXT,
}
