package sonde.tools.query;

/** How rows are written. */
public enum OutputFormat {
    /** For reading, in columns. */
    TABLE,
    /** RFC 4180, with a line of names. */
    CSV,
    /** An object a line. */
    JSON,
    /** Apache Parquet, into a file only. */
    PARQUET
}
