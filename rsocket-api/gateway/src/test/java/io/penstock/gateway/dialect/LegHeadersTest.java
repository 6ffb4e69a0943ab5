package io.penstock.gateway.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.gateway.engines.Call;
import io.penstock.gateway.engines.ScriptedEngine;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.scheduler.Schedulers;
import tools.jackson.databind.node.ObjectNode;

/// Headers of a request, which each dialect sends with each of its legs.
final class LegHeadersTest {
  private static final Duration LIMIT = Duration.ofSeconds(10);
  private static final Map<String, String> HEADERS = Map.of("traceparent", "00-1-2-01", "tracestate", "a=1",
      "x-penstock-source", "p2;blocks=7;url=http://p2:8100");

  @ParameterizedTest
  @EnumSource(DialectName.class)
  void bothLegsHaveTheTrace_theSource_andOneRequestId(DialectName name) {
    DirectClient client = new DirectClient();
    Rig rig = Rig.direct(name, client);
    Dialects dialects = rig.dialects(client, Rig.METASERVER, new Random(1), Schedulers.parallel());
    for (String stream : List.of("true", "false")) {
      EngineRequest request = new EngineRequest(EngineRequest.COMPLETIONS,
          (ObjectNode) Json.tree("{\"prompt\":\"a b c\",\"max_tokens\":2,\"stream\":" + stream + "}"), "r1", HEADERS);
      dialects.answer(request, rig.pair()).blockLast(LIMIT);
    }
    for (ScriptedEngine engine : List.of(rig.prefill, rig.decode)) {
      assertThat(engine.calls()).hasSize(2).allSatisfy(call -> assertThat(call.headers()).containsAllEntriesOf(HEADERS)
          .hasEntrySatisfying("x-request-id", id -> assertThat(id).startsWith("r1-")));
    }
    assertThat(ids(rig.prefill)).isEqualTo(ids(rig.decode)).doesNotHaveDuplicates();
  }

  private static List<String> ids(ScriptedEngine engine) {
    return engine.calls().stream().map(Call::headers).map(headers -> headers.get("x-request-id")).toList();
  }
}
