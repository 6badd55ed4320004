/**
 * {@code sonde bpf}: recipes that give a {@link sonde.event.result.Result}; its JSON has bpftool's
 * keys, its text is a table or lines in bpftool's layout.
 *
 * {@snippet :
 * new TextRenderer().render(InventoryRecipe.programs(), out, TerminalStyle.PLAIN);
 * new JsonRenderer().render(InventoryRecipe.programs(), out);
 * }
 */
@org.jspecify.annotations.NullMarked
package sonde.tools.bpf;
