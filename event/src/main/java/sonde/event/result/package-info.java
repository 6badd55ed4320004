/**
 * What an analysis gives back and every renderer takes: values without format, colour or terminal.
 * Text, JSON and HTML show the same {@link sonde.event.result.Result}.
 */
package sonde.event.result;
