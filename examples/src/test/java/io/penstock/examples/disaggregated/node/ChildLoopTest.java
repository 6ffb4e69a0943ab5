package io.penstock.examples.disaggregated.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.node.text.Json;
import java.util.List;
import org.junit.jupiter.api.Test;

/// What a node in another process answers.
final class ChildLoopTest {
  /// Fails each request with this name.
  private static final Peer PEER = new Peer() {
    @Override
    public Reply ask(Ask ask) {
      if (ask.request().equals("lost")) {
        throw new IllegalStateException("decode must receive all layers (was FAILED)");
      }
      return Reply.DONE;
    }

    @Override
    public void close() {}
  };

  private static Reply answer(String request) {
    Reply reply = ChildLoop.answer(PEER, new Ask(Ask.Kind.DECODE, request, List.of(1), "prefill 0"));
    return Json.MAPPER.readValue(Json.of(reply), Reply.class);
  }

  @Test
  void aRequestThatFails_isAnsweredWithItsFailure_andTheNextOneIsServed() {
    Reply failed = answer("lost");
    assertThat(failed.failure()).isEqualTo(
        new Reply.Failure("lost", "IllegalStateException", "decode must receive all layers (was FAILED)"));
    assertThatThrownBy(failed::requireDone).isInstanceOf(RequestFailedException.class).hasMessage(
        "request lost must be served (failed with IllegalStateException: decode must receive all layers "
            + "(was FAILED))");
    assertThat(answer("next").requireDone().failure()).isNull();
  }
}
