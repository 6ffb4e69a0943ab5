package io.penstock.node.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.node.trace.TraceOptions.TurnForm;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Lines of sessions, as AIPerf's generator of agent traces and other tools write them.
final class SessionsTest {
  @Test
  void newBlocks_growThePrompt_andArriveInOrder() {
    List<TraceRequest> requests = all(null,
        "'session_id': 'a', 'input_length': 1000, 'output_length': 600, 'hash_ids': [0, 1], 'timestamp': 0.0",
        "'session_id': 'a', 'input_length': 300, 'output_length': 20, 'hash_ids': [7], 'delay': 2450.3",
        "'session_id': 'a', 'input_length': 100, 'hash_ids': [8], 'delay': 10.4",
        "'session_id': 'b', 'input_length': 1000, 'output_length': 1, 'hash_ids': [0, 1], 'timestamp': 3.5");

    assertThat(requests.stream().map(TraceRequest::timestampMillis)).containsExactly(0L, 4L, 2450L, 2461L);
    assertThat(requests.stream().map(TraceRequest::inputTokens)).containsExactly(1000L, 1000L, 1900L, 2020L);
    List<Long> last = requests.getLast().hashIds();
    assertThat(requests.get(2).hashIds()).isEqualTo(last.subList(0, 5)).startsWith(0L, 1L).endsWith(7L);
    assertThat(last).hasSize(7).endsWith(8L).as("blocks of answers are the session's own").doesNotHaveDuplicates();
    assertThat(requests.get(1).hashIds()).containsExactly(0L, 1L);
  }

  @Test
  void wholePrompts_stayAsTheyAre() {
    List<TraceRequest> requests = all(null,
        "'session_id': 1, 'input_length': 1000, 'output_length': 600, 'hash_ids': [5, 6], 'timestamp': 9",
        "'session_id': 1, 'input_length': 2000, 'output_length': 20, 'hash_ids': [5, 6, 7, 8], 'delay': 5",
        "'session_id': 1, 'input_length': 700, 'output_length': 20, 'hash_ids': [5, 9], 'timestamp': 20",
        "'session_id': 2, 'input_length': 700, 'output_length': 20, 'hash_ids': [5, 9], 'timestamp': 2");

    assertThat(requests).containsExactly(new TraceRequest(2, 700, 20, List.of(5L, 9L)),
        new TraceRequest(9, 1000, 600, List.of(5L, 6L)), new TraceRequest(14, 2000, 20, List.of(5L, 6L, 7L, 8L)),
        new TraceRequest(20, 700, 20, List.of(5L, 9L)));
  }

  @Test
  void answerThatNoSessionCanHold_isRefused_beforeItsBlocksAreMade() {
    assertThatThrownBy(() -> all(null,
        "'session_id': 'a', 'input_length': 1, 'output_length': 9000000000000000, 'hash_ids': [1], 'timestamp': 0",
        "'session_id': 'a', 'input_length': 1, 'output_length': 1, 'hash_ids': [2], 'delay': 1"))
        .hasMessageStartingWith("t.jsonl, line 2: output_length of the line before must be <= ");
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', quoteCharacter = '\0', value = {
    "'hash_ids': [7] | timestamp or delay must be present (was absent)",
    "'hash_ids': [7], 'timestamp': 5 | hash_ids must be a whole prompt from block 5 on, or new blocks behind a delay; "
        + "--turns states which (was [7])",
    "'hash_ids': [6, 7], 'delay': 5 | hash_ids must be a whole prompt from block 5 on, or new blocks behind a delay; "
        + "--turns states which (was [6, 7])",
  })
  void laterLine_thatCannotBeGuessed_isRefused(String fields, String complaint) {
    assertThatThrownBy(() -> all(null,
        "'session_id': 'a', 'input_length': 1000, 'output_length': 600, 'hash_ids': [5, 6], 'timestamp': 0",
        "'session_id': 'a', 'input_length': 300, " + fields)).hasMessage("t.jsonl, line 2: " + complaint);
  }

  @Test
  void statedForm_isObeyed() {
    String first = "'session_id': 'a', 'input_length': 1000, 'output_length': 0, 'hash_ids': [5, 6], 'timestamp': 0";
    String later = "'session_id': 'a', 'input_length': 300, 'hash_ids': [7], 'timestamp': 5";

    assertThat(all(TurnForm.NEW, first, later).getLast()).isEqualTo(new TraceRequest(5, 1300, 0, List.of(5L, 6L, 7L)));
    assertThat(all(TurnForm.WHOLE, first, later).getLast()).isEqualTo(new TraceRequest(5, 300, 0, List.of(7L)));
    assertThatThrownBy(() -> all(TurnForm.NEW, first, later.replace("[7]", "[6, 7]")))
        .hasMessageContaining("line 2: hash_ids must be new to the session");
  }

  private static List<TraceRequest> all(@Nullable TurnForm form, String... lines) {
    String text = Stream.of(lines).map(line -> "{" + line.replace('\'', '"') + "}\n").collect(Collectors.joining());
    return TraceReaderTest.all(new TraceReader("t.jsonl",
        new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)), TraceOptions.defaults().withTurns(form)));
  }
}
