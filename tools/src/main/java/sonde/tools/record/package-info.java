/**
 * Recording from start to end: {@code sonde record}.
 *
 * {@snippet :
 * RecordRecipe recipe = new RecordRecipe(request, observer);
 * RecordOutcome outcome = recipe.run();
 * }
 */
package sonde.tools.record;
