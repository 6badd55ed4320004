/**
 * The files of the browser page, as they are written: nothing builds them.
 *
 * <pre>{@code
 * String css = Assets.text("style.css");
 * String js = Assets.script();
 * }</pre>
 */
package sonde.assets;
