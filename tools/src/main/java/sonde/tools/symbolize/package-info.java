/**
 * From addresses to functions, files and lines: {@code sonde symbolize}. Answers are a listing;
 * logs are copied byte for byte.
 *
 * {@snippet :
 * try (SymbolizeRecipe recipe = SymbolizeRecipe.open(Path.of("a.out"), SourceOptions.USUAL)) {
 *     Listing answers = recipe.of(List.of("main+0x1f"), null, look, complaints);
 * }
 * }
 */
package sonde.tools.symbolize;
