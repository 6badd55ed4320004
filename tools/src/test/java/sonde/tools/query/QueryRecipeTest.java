package sonde.tools.query;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tables of files whose content is known. */
class QueryRecipeTest {
    @TempDir Path folder;

    private String query(String content, String sql) throws IOException {
        Path file = Files.writeString(folder.resolve("file"), content);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (QueryRecipe recipe = QueryRecipe.open(List.of(file), null, false)) {
            recipe.run(sql, OutputFormat.CSV, out);
        }
        return out.toString(StandardCharsets.UTF_8);
    }

    /** The first name of a folded line is the thread's. */
    @Test
    void framesHaveTheNamesOfTheFile() throws IOException {
        String folded = "main;work;leaf_[k] 10\nmain;rest 5\n";
        assertThat(query(folded, "SELECT name, module, kind FROM frame ORDER BY name"))
                .isEqualToNormalizingNewlines(
                        """
                        name,module,kind
                        leaf,[kernel],kernel
                        rest,,user
                        work,,user
                        """);
        assertThat(
                        query(
                                folded,
                                "SELECT callstack_text(callsite_id), weight FROM sample ORDER BY 2"))
                .contains("rest,5")
                .contains("work;leaf,10");
    }

    @Test
    void completeEventsNestByTime() throws IOException {
        String event = "{\"ph\":\"X\",\"name\":\"%s\",\"ts\":%d,\"dur\":%d,\"pid\":1,\"tid\":2}";
        String all =
                "["
                        + String.join(
                                ",",
                                String.format(event, "inner", 10, 5),
                                String.format(event, "outer", 10, 20),
                                String.format(event, "second", 15, 15),
                                String.format(event, "leaf", 20, 1),
                                String.format(event, "next", 30, 1))
                        + "]";
        assertThat(query(all, "SELECT name, depth FROM slice ORDER BY ts, depth"))
                .isEqualToNormalizingNewlines(
                        """
                        name,depth
                        outer,0
                        inner,1
                        second,1
                        leaf,2
                        next,0
                        """);
        String parents =
                "SELECT c.name, p.name AS parent FROM slice c JOIN slice p ON c.parent_id = p.id"
                        + " ORDER BY c.ts, c.depth";
        assertThat(query(all, parents))
                .isEqualToNormalizingNewlines(
                        "name,parent\ninner,outer\nsecond,outer\nleaf,second\n");
    }

    @Test
    void callsOfTheFunctionGraphAreSlices() throws IOException {
        String graph =
                """
                # tracer: function_graph
                #
                #     TIME        CPU  TASK/PID         DURATION                  FUNCTION CALLS
                 1.000010 |   0)   sh-12   |               |  read() {
                 1.000011 |   0)   sh-12   |   2.000 us    |    leaf();
                 1.000020 |   0)   sh-12   | + 10.000 us   |  }
                 1.000030 |   0)   sh-12   |   7.000 us    |  } /* unseen */
                """;
        assertThat(query(graph, "SELECT name, ts, dur, depth, category FROM slice ORDER BY ts"))
                .isEqualToNormalizingNewlines(
                        """
                        name,ts,dur,depth,category
                        read,1000010000,10000,0,function
                        leaf,1000011000,2000,1,function
                        unseen,1000023000,7000,0,function
                        """);
    }
}
