/**
 * How results are shown. Three renderers take the same {@link sonde.event.result.Result}:
 *
 * <pre>{@code
 * Table calls = new Table("System calls",
 *         List.of(Column.text("call"), Column.count("count"), Column.nanos("total")),
 *         List.of(List.of("read", 1234L, 5_600_000L)));
 * new TextRenderer().render(calls, out, TerminalStyle.PLAIN);
 *     SystemAction calls
 *       call  count  total
 *       read  1,234  5.60 ms
 * new JsonRenderer().render(calls, out);
 *     {"title":"System calls","kind":"table","columns":[{"key":"call","name":"call","unit":"text"},
 *      …],"rows":[{"call":"read","count":1234,"total":5600000}]}
 * new HtmlRenderer().write(report, timeline, out);
 * }</pre>
 *
 * <p>Text scales numbers by their {@link sonde.event.result.Unit}; JSON states the unit once and
 * leaves numbers raw (its whole shape: {@code docs/json.md}); the page does both, because its
 * numbers are computed again for every selected range.
 */
package sonde.view;
