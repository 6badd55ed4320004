/**
 * Tables kept between runs.
 *
 * {@snippet :
 * ColumnIndex index = ColumnIndex.in(folder);
 * if (index.has("events", Set.of("name"))) {
 *     TableScan scan = index.scan("events", List.of("name"));
 * }
 * }
 */
@org.jspecify.annotations.NullMarked
package sonde.store.index;
