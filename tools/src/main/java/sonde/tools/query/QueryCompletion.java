package sonde.tools.query;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Words that the prompt of {@code sonde query} offers: tables, columns and keywords. */
public final class QueryCompletion {
    private static final int MOST_COLUMNS = 1000;
    private static final List<String> KEYWORDS =
            List.of(
                    ("SELECT,FROM,WHERE,GROUP BY,ORDER BY,LIMIT,JOIN,USING,COUNT(*),"
                                    + "DISTINCT,HAVING,DESCRIBE,SUMMARIZE,WITH")
                            .split(","));

    private final QueryRecipe query;
    private final List<String> tables;
    private final List<String> columns = new ArrayList<>();

    /** Offers tables and keywords. */
    public QueryCompletion(QueryRecipe query) {
        this.query = query;
        tables = query.tables();
    }

    /** The names of all tables. */
    public List<String> tables() {
        return tables;
    }

    /** Columns of the tables that a statement named are offered from then on. */
    public void remember(String sql) {
        for (String name : tables) {
            if (sql.contains(name) && columns.size() < MOST_COLUMNS) {
                try {
                    query.columns(name).stream()
                            .filter(column -> !columns.contains(column))
                            .forEach(columns::add);
                } catch (IOException e) {
                    columns.remove(name);
                }
            }
        }
    }

    /** Words for a part of a word: tables that contain it, all columns and keywords. */
    public List<String> of(String part) {
        String wanted = part.replace("\"", "").toLowerCase(Locale.ROOT);
        List<String> words = new ArrayList<>();
        for (String name : tables) {
            if (name.toLowerCase(Locale.ROOT).contains(wanted)) {
                words.add(name.contains(".") ? '"' + name + '"' : name);
            }
        }
        words.addAll(columns);
        words.addAll(KEYWORDS);
        return words;
    }
}
