/**
 * Ready scripts in bpftrace's language: one resource {@code NAME.bt} each, and its alternatives.
 * What several ask or do alike is a macro of {@code macros/shared.bt}, put behind those that call
 * it.
 *
 * <pre>{@code
 * ScriptTool tool = ScriptTool.find("opensnoop").orElseThrow();
 * for (ScriptTool.ToolVariant variant : tool.variants()) {
 *     System.out.println(variant.name() + ": " + variant.text().length());
 * }
 * }</pre>
 */
@org.jspecify.annotations.NullMarked
package sonde.tools.script;
