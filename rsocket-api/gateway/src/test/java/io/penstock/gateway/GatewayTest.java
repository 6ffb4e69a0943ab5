package io.penstock.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.EvictionPolicy;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionState;
import io.penstock.block.session.SessionUse;
import io.penstock.tier.TierEvent;
import io.penstock.wire.PenstockNode;
import io.penstock.wire.security.UserFile;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Sinks;

/// Tenants, sessions, instances and the end of a gateway, over sockets.
final class GatewayTest extends TwoEngines {
  @BeforeEach
  void start(@TempDir Path files) throws Exception {
    open(files);
  }

  @AfterEach
  void stop() {
    shut();
  }

  @Test
  void clientThatGoes_freesItsEngine() throws Exception {
    one.gate = Sinks.<Void>empty().asMono();
    two.gate = one.gate;
    for (int i = 0; i < 20; i++) {
      HttpResponse<InputStream> answer = HTTP.send(request(gateway.url() + "/v1/completions")
          .POST(HttpRequest.BodyPublishers.ofString(COMPLETION.formatted(STREAM)))
          .header("Content-Type", "application/json").build(), HttpResponse.BodyHandlers.ofInputStream());
      assertThat(answer.body().read()).isEqualTo('d');
      answer.body().close();
    }
    one.awaitRunning(0);
    two.awaitRunning(0);

    assertThat(gateway.drain()).isTrue();
    access.await(all -> all.stream().filter(line -> line.startsWith("POST /v1/completions 499 ")).count() == 20);
  }

  @Test
  void removal_waitsForTheRequestsOfThatInstanceAlone() throws Exception {
    Sinks.Empty<Void> gate = Sinks.empty();
    one.gate = gate.asMono();
    two.gate = gate.asMono();
    List<CompletableFuture<HttpResponse<String>>> running = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      running.add(HTTP.sendAsync(request(gateway.url() + "/v1/completions").header("Content-Type", "application/json")
          .POST(HttpRequest.BodyPublishers.ofString(COMPLETION.formatted(STREAM))).build(),
          HttpResponse.BodyHandlers.ofString()));
    }
    one.awaitRunning(1);
    two.awaitRunning(1);
    String name = URI.create(one.url()).getAuthority();

    assertThat(admin("DELETE", "/instances/" + name + "?wait=0", "").statusCode()).isEqualTo(202);
    assertThat(admin("GET", "/instances", "").body())
        .contains("{\"name\":\"" + name + "\",\"role\":\"both\",\"url\":\"" + one.url() + "\",\"state\":\"removing\"");
    assertThat(admin("DELETE", "/instances/" + name + "?wait=0", "").body()).contains("\"state\":\"removing\"");
    one.gate = gate.asMono();
    gate.tryEmitEmpty();
    for (CompletableFuture<HttpResponse<String>> each : running) {
      assertThat(each.get().body()).endsWith("data: [DONE]\n\n");
    }
    assertThat(admin("POST", "/instances", "{\"role\":\"both\",\"url\":\"" + one.url() + "\"}").statusCode())
        .isEqualTo(201);
    assertThat(admin("POST", "/instances", "{\"role\":\"both\",\"url\":\"" + one.url() + "\"}").statusCode())
        .as("it is there").isEqualTo(409);
    assertThat(admin("POST", "/instances/" + name + "/drain", "").body()).contains("\"state\":\"draining\"");
    assertThat(admin("DELETE", "/instances/" + name, "").statusCode()).isEqualTo(200);
    assertThat(admin("DELETE", "/instances/" + name, "").statusCode()).isEqualTo(404);
  }

  @Test
  void sessionOfARequest_reachesTheEngine_behindItsTenant() throws Exception {
    char[] token = UserFile.newToken(new SecureRandom());
    gateway.close();
    Path keys = Files.writeString(folder.resolve("keys"), UserFile.lineOf("team-a", token) + "\n");
    gateway = started(Map.of(GatewaySettings.KEYS, keys.toString(), GatewaySettings.BOTH, one.url() + "," + one.url()
        .replace("127.0.0.1", "localhost")));
    String key = "Bearer " + new String(token);
    String body = COMPLETION.formatted("");

    post("/v1/completions", body, "Authorization", key, "X-Session-Id", "chat-1", "X-Priority", "2", "X-Session-Keep",
        "90");
    assertThat(one.headers).containsEntry("x-session-id", "team-a/chat-1").containsEntry("x-priority", "2")
        .containsEntry("x-session-keep", "90");
    one.headers.clear();
    post("/v1/completions", COMPLETION.formatted(",\"prompt_cache_key\":\"a\\r\\nX-Evil: 1\""), "Authorization", key);
    assertThat(one.headers.get("x-session-id")).matches("~[0-9a-f]{32}");
    assertThat(one.headers).doesNotContainKey("x-evil").doesNotContainKey("x-session-keep")
        .containsEntry("x-priority", "4");
    one.headers.clear();
    post("/v1/completions", body, "Authorization", key);
    assertThat(one.headers).doesNotContainKey("x-session-id").doesNotContainKey("x-priority");
    assertThat(post("/v1/completions", body, "Authorization", key, "X-Session-Id", "a", "X-Session-Keep", "4000")
        .statusCode()).isEqualTo(400);
    assertThat(post("/v1/sessions/chat-1", "{\"state\":\"ENDED\"}").statusCode()).isEqualTo(401);
    assertThat(post("/v1/sessions/chat-1", "{\"state\":\"ENDED\"}", "Authorization", key).statusCode())
        .as("without a pool").isEqualTo(501);
  }

  @Test
  void stateOfASession_reachesThePool() throws Exception {
    CacheSpace space = CacheSpace.of("m", BlockLayout.attention(1, 16, 1, 8, ElementType.BF16));
    PenstockNode pool =
        PenstockNode.start(PenstockNode.Options.of(space, 16).withPolicy(EvictionPolicy.SESSIONS)).block(SOON);
    gateway.close();
    gateway = started(Map.of(GatewaySettings.POOL, pool.address()));
    SessionUse chat = SessionUse.of(SessionId.of("chat 1"));
    pool.tier().session(SessionUse.of(SessionId.of("chat-1")), SessionState.ACTIVE).block(SOON);
    List<TierEvent> events = new CopyOnWriteArrayList<>();
    pool.tier().events(0).subscribe(events::add);

    assertThat(tree(post("/v1/sessions/chat-1", "{\"state\":\"PAUSED\",\"keep\":60}")).toString()).isEqualTo(
        "{\"id\":\"chat-1\",\"object\":\"session\",\"state\":\"PAUSED\",\"known\":true,\"pool_session\":\"chat-1\"}");
    assertThat(tree(post("/v1/sessions/chat-1", "{\"state\":\"ended\"}")).path("known").asBoolean()).isTrue();
    assertThat(events).containsExactly(new TierEvent.SessionEnded(0, SessionId.of("chat-1")));
    assertThat(tree(post("/v1/sessions/chat%201", "{\"state\":\"ENDED\"}")).path("id").asString()).isEqualTo("chat 1");
    assertThat(pool.tier().session(chat, SessionState.PAUSED).block(SOON)).isFalse();
    for (String wrong : List.of("{}", "{\"state\":\"ASLEEP\"}", "{\"state\":\"PAUSED\",\"priority\":8}",
        "{\"state\":\"PAUSED\",\"keep\":\"x\"}")) {
      HttpResponse<String> refused = post("/v1/sessions/chat-1", wrong);
      assertThat(refused.statusCode()).as(wrong).isEqualTo(400);
      assertThat(refused.body()).contains(" must be ");
    }
    assertThat(tree(post("/v1/sessions/a+b", "{\"state\":\"ENDED\"}")).path("id").asString()).isEqualTo("a+b");
    assertThat(post("/v1/sessions/", "{}").statusCode()).isEqualTo(404);
    assertThat(post("/v1/sessions/a/b", "{}").statusCode()).isEqualTo(404);
    pool.close().block(SOON);
    assertThat(post("/v1/sessions/chat-1", "{\"state\":\"PAUSED\"}").statusCode()).isEqualTo(503);
  }

  @Test
  void keys_nameTenants_andQuotasRefuseWithATime() throws Exception {
    char[] token = UserFile.newToken(new SecureRandom());
    String key = new String(token);
    String line = UserFile.lineOf("team-a", token);
    gateway.close();
    Path keys = Files.writeString(folder.resolve("keys"), line + "\n");
    Path quotas = Files.writeString(folder.resolve("quotas"), "team-a requests=2 parallel=4\n");
    gateway = started(Map.of(GatewaySettings.KEYS, keys.toString(), GatewaySettings.QUOTAS, quotas.toString()));

    String body = COMPLETION.formatted("");
    assertThat(post("/v1/completions", body).statusCode()).isEqualTo(401);
    assertThat(post("/v1/completions", body, "Authorization", "Bearer wrong").statusCode()).isEqualTo(401);
    assertThat(post("/v1/completions", body, "Authorization", "Bearer " + key).statusCode()).isEqualTo(200);
    assertThat(post("/v1/messages", CHAT.formatted(""), "x-api-key", key).statusCode()).isEqualTo(200);
    HttpResponse<String> refused = post("/v1/messages", CHAT.formatted(""), "x-api-key", key);
    assertThat(
        send(request(gateway.url() + "/v1/models").header("Authorization", "Bearer " + key).build()).statusCode())
        .as("generates nothing").isEqualTo(200);
    assertThat(post("/v1/sessions/a", "{\"state\":\"ENDED\"}", "x-api-key", key).statusCode()).isEqualTo(501);
    access.await(all -> all.stream().anyMatch(each -> each.contains("/v1/sessions 501")));
    assertThat(lines).anyMatch(each -> each.contains("/v1/messages 429") && each.contains("first - ms")
        && each.contains("cached -,") && each.contains("tenant team-a,"));
    assertThat(refused.statusCode()).isEqualTo(429);
    assertThat(tree(refused).path("error").path("type").asString()).isEqualTo("rate_limit_error");
    assertThat(Integer.parseInt(refused.headers().firstValue("Retry-After").orElseThrow())).isBetween(1, 60);
  }

  @Test
  @Timeout(20)
  void drain_isSaidAtBothPorts_untilTheLastAnswerEnds() throws Exception {
    Sinks.Empty<Void> gate = Sinks.empty();
    one.gate = gate.asMono();
    two.gate = gate.asMono();
    HttpResponse<InputStream> answer = HTTP.send(request(gateway.url() + "/v1/completions")
        .POST(HttpRequest.BodyPublishers.ofString(COMPLETION.formatted(STREAM)))
        .header("Content-Type", "application/json").build(), HttpResponse.BodyHandlers.ofInputStream());
    CompletableFuture<Boolean> drained = CompletableFuture.supplyAsync(gateway::drain);
    HttpRequest health = request("http://" + gateway.ready().admin() + "/health").build();
    HttpResponse<String> state = send(health);
    while (state.statusCode() == 200) { // the drain begins on another thread
      state = send(health);
    }

    assertThat(state.statusCode()).isEqualTo(503);
    assertThat(tree(state).path("state").asString()).isEqualTo("draining");
    gate.tryEmitEmpty();
    assertThat(new String(answer.body().readAllBytes(), StandardCharsets.UTF_8)).endsWith("data: [DONE]\n\n");
    assertThat(drained.get()).isTrue();
  }

  @Test
  void allInstancesDrained_isTheReason() throws Exception {
    for (TokenEngine engine : List.of(one, two)) {
      admin("POST", "/instances/" + URI.create(engine.url()).getAuthority() + "/drain", "");
    }

    assertThat(send(request(gateway.url() + "/health").build()).body()).contains("\"all 2 decode instances drain\"");
    HttpResponse<String> refused = post("/v1/completions", COMPLETION.formatted(""));
    assertThat(refused.statusCode()).isEqualTo(503);
    assertThat(refused.body()).contains("all 2 decode instances drain");
  }

  @Test
  @Timeout(20)
  void administration_needsItsToken_andMetricsDoNot() throws Exception {
    String url = "http://" + gateway.ready().admin();
    assertThat(send(request(url + "/instances").build()).statusCode()).isEqualTo(401);
    send(request(gateway.url() + "/v1/models").build());
    post("/v1/completions", COMPLETION.formatted(""));
    String metrics = "";
    while (!metrics.contains("penstock_gateway_tokens_total{kind=\"cached\"} 3.0")) { // counted after the last byte
      metrics = send(request(url + "/metrics").build()).body();
    }
    assertThat(metrics).contains("{form=\"models\",status=\"200\"}", "penstock_gateway_instances{role=\"both\"} 2.0");
  }
}
