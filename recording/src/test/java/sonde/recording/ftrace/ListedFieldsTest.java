package sonde.recording.ftrace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import sonde.recording.ftrace.ListedFields.Kind;
import sonde.recording.ftrace.ListedFields.ListedField;

class ListedFieldsTest {
    private static final Set<ListedField> USUAL =
            EnumSet.of(ListedField.COMM, ListedField.CPU, ListedField.IP);

    @Test
    void aListReplacesTheUsualFields() {
        ListedFields fields = ListedFields.parse(List.of("tid, ip"));
        assertThat(fields.of(Kind.SW, USUAL)).containsExactly(ListedField.TID, ListedField.IP);
    }

    @Test
    void signsChangeTheUsualFields() {
        ListedFields fields = ListedFields.parse(List.of("+addr,-cpu"));
        assertThat(fields.of(Kind.HW, USUAL))
                .containsExactly(ListedField.COMM, ListedField.ADDR, ListedField.IP);
        assertThat(fields.asked(Kind.HW)).containsExactly(ListedField.ADDR);
    }

    @Test
    void aKindLeavesTheOthersAlone() {
        ListedFields fields = ListedFields.parse(List.of("trace:comm", "sw:"));
        assertThat(fields.of(Kind.TRACE, USUAL)).containsExactly(ListedField.COMM);
        assertThat(fields.of(Kind.SW, USUAL)).isEmpty();
        assertThat(fields.of(Kind.HW, USUAL)).isEqualTo(USUAL);
    }

    @Test
    void wordsThatAreNoFieldsAreNamed() {
        assertThatThrownBy(() -> ListedFields.parse(List.of("comm,tidd")))
                .isInstanceOf(ListedFields.UnknownFieldException.class)
                .hasMessageContaining("tidd");
        assertThatThrownBy(() -> ListedFields.parse(List.of("gpu:comm")))
                .hasMessageContaining("hw, sw");
        assertThatThrownBy(() -> ListedFields.parse(List.of("comm,+tid")))
                .hasMessageContaining("mixes");
    }
}
