/**
 * Contains the files of the browser page. No build step changes them.
 *
 * <pre>{@code
 * String css = Assets.text("style.css");
 * String js = Assets.script();
 * }</pre>
 */
package sonde.assets;
