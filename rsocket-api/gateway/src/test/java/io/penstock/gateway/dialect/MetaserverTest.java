package io.penstock.gateway.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

class MetaserverTest {
  private final Metaserver metaserver = new Metaserver();
  private final List<Integer> statuses = new ArrayList<>();

  @Test
  void anUnknownChildIsNotFound() {
    assertThat(metaserver.report(report("cmpl-x-0")).blockOptional()).get()
        .extracting(Metaserver.Reply::status).isEqualTo(404);
    assertThat(metaserver.report(Json.object()).blockOptional()).get()
        .extracting(Metaserver.Reply::status).isEqualTo(400);
    assertThat(metaserver.report(Json.tree("[1]")).blockOptional()).get()
        .extracting(Metaserver.Reply::status).isEqualTo(400);
  }

  @Test
  void thePrefillIsSentOnceWhenAllChildrenHaveReported() {
    List<ObjectNode> sent = new ArrayList<>();
    try (Metaserver.Expected expected = metaserver.expect(List.of("cmpl-x-0", "cmpl-x-1"))) {
      expected.transfer().subscribe(sent::add);
      metaserver.report(report("cmpl-x-1")).subscribe(reply -> statuses.add(reply.status()));
      assertThat(sent).isEmpty();
      metaserver.report(report("cmpl-x-0")).subscribe(reply -> statuses.add(reply.status()));
      metaserver.report(report("cmpl-x-0")).subscribe(reply -> statuses.add(reply.status()));
      assertThat(sent).hasSize(1);
      assertThat(sent.getFirst().path("request_id").asString()).isEqualTo("cmpl-x-0");
      assertThat(sent.getFirst().path("batch_kv_transfer_params").propertyNames())
          .containsExactly("cmpl-x-0", "cmpl-x-1");
      assertThat(statuses).isEmpty();
      expected.ended(null);
    }
    assertThat(statuses).containsExactly(200, 200, 200);
    assertThat(metaserver.children()).isZero();
  }

  @Test
  void aReportThatHangsUpChangesNothing() {
    List<ObjectNode> sent = new ArrayList<>();
    try (Metaserver.Expected expected = metaserver.expect(List.of("chatcmpl-x"))) {
      expected.transfer().subscribe(sent::add);
      metaserver.report(report("chatcmpl-x")).subscribe().dispose();
      assertThat(sent).hasSize(1);
      assertThat(sent.getFirst().has("batch_kv_transfer_params")).isFalse();
      metaserver.report(report("chatcmpl-x")).subscribe(reply -> statuses.add(reply.status()));
      expected.ended(null);
      assertThat(statuses).containsExactly(200);
    }
  }

  @Test
  void aReportIsToldThatThePrefillFailed() {
    try (Metaserver.Expected expected = metaserver.expect(List.of("chatcmpl-x"))) {
      metaserver.report(report("chatcmpl-x")).subscribe(reply -> statuses.add(reply.status()));
      expected.ended(new IllegalStateException("out of memory"));
    }
    assertThat(statuses).containsExactly(502);
  }

  @Test
  void aReportIsAnsweredWhenItsRequestEnds() {
    try (Metaserver.Expected expected = metaserver.expect(List.of("cmpl-x-0", "cmpl-x-1"))) {
      assertThat(expected.transfer()).isNotNull();
      metaserver.report(report("cmpl-x-1")).subscribe(reply -> statuses.add(reply.status()));
    }
    assertThat(statuses).containsExactly(502);
    metaserver.report(report("cmpl-x-1")).subscribe(reply -> statuses.add(reply.status()));
    assertThat(statuses).containsExactly(502, 404);
  }

  private static ObjectNode report(String child) {
    return Json.object().put("request_id", child).put("do_remote_decode", true);
  }
}
