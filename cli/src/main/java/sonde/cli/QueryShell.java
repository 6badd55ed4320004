package sonde.cli;

import sonde.tools.query.OutputFormat;
import sonde.tools.query.QueryRecipe;

/** The prompt of {@code sonde query}. */
final class QueryShell {
    QueryShell(QueryRecipe query, OutputFormat format) {}

    int run() {
        return ExitCode.DONE;
    }
}
