/**
 * Tables kept between runs.
 *
 * {@snippet :
 * Index index = Index.in(folder);
 * if (index.has("events", Set.of("name"))) {
 *     Scan scan = index.scan("events", List.of("name"));
 * }
 * }
 */
@org.jspecify.annotations.NullMarked
package sonde.store.index;
