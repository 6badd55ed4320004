/**
 * Recordings as SQL tables.
 *
 * {@snippet :
 * try (Store store = Store.open(List.of(input), options);
 *         QueryRows rows = store.query("SELECT name, count(*) FROM events GROUP BY ALL")) {
 *     for (int size = rows.next(); size > 0; size = rows.next()) {
 *         print(rows.value(0, 0));
 *     }
 * }
 * }
 */
@org.jspecify.annotations.NullMarked
package sonde.store;
