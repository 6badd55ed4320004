/**
 * {@code sonde query}: SQL over recordings.
 *
 * {@snippet :
 * try (QueryRecipe query = QueryRecipe.open(List.of(Path.of("make.sonde")), null, true)) {
 *     query.run("SELECT name, count(*) FROM events GROUP BY ALL", OutputFormat.TABLE, out);
 * }
 * }
 */
@org.jspecify.annotations.NullMarked
package sonde.tools.query;
