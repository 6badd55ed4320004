/**
 * Contains the results that analyses return and renderers accept: values without format, colour or
 * terminal. Text, JSON and HTML show the same {@link sonde.event.result.Result}.
 */
package sonde.event.result;
