package sonde.lang.source;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import sonde.lang.source.SourceDiagnostic.Front;
import sonde.lang.source.SourceDiagnostic.Severity;

final class SourceDiagnosticTest {
    private static String render(Front front) {
        SourceSpan span = new SourceSpan(new SourceText("stdin", "begin { x }"), 8, 9);
        return new SourceDiagnostic(Severity.ERROR, span, "what is x", "", front).render();
    }

    @Test
    void thePlaceStandsInFront() {
        assertThat(render(Front.PLACE))
                .isEqualTo("stdin:1:9-10: ERROR: what is x\nbegin { x }\n        ~");
    }

    @Test
    void orBelowAMessageThatIsALine() {
        assertThat(render(Front.SEVERITY))
                .isEqualTo("ERROR: what is x\nstdin:1:9-10\nbegin { x }\n        ~");
        assertThat(render(Front.NOTHING))
                .isEqualTo("what is x\nstdin:1:9-10\nbegin { x }\n        ~");
    }
}
