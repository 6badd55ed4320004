/**
 * DuckDB through its C API, as far as sonde needs it: an engine in this process, table functions
 * that are Java, and results in chunks.
 *
 * {@snippet :
 * try (SqlDatabase database = SqlDatabase.open(Map.of("threads", "2"));
 *         SqlConnection connection = database.connect()) {
 *     connection.register("squares", function);
 *     QueryRows rows = connection.query("SELECT sum(n) FROM squares('10')");
 * }
 * }
 */
@org.jspecify.annotations.NullMarked
package sonde.store.duckdb;
