package io.penstock.gateway.dialect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.penstock.gateway.engines.EngineServer;
import io.penstock.gateway.engines.SingleEngine;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;
import tools.jackson.databind.node.ObjectNode;

/// Each way in which an engine may fail is told as what it was, over sockets.
class HttpEngineClientTest {
  private static final Duration LIMIT = Duration.ofSeconds(10);
  private static LoopResources loops;
  private static ConnectionProvider pool;
  private static EngineClient client;
  private static DisposableServer server;

  @BeforeAll
  static void open() {
    loops = LoopResources.create("legs", 1, true);
    pool = ConnectionProvider.create("legs", 8);
    client = new HttpEngineClient(() -> HttpClient.create(pool).runOn(loops));
    server = HttpServer.create().host("127.0.0.1").port(0).runOn(loops).route(routes -> routes
        .post("/whole", (request, response) -> response.sendString(Mono.just("{\"id\":\"a\"}")))
        .post("/list", (request, response) -> response.sendString(Mono.just("[1]")))
        .post("/text", (request, response) -> response.sendString(Mono.just("no JSON")))
        .post("/refused", (request, response) -> response.status(422).sendString(Mono.just("{\"error\":1}")))
        .post("/events", (request, response) -> response.sendString(
            Flux.just(": hello\n\nda", "ta: {\"a\":\"ä", "\"}\r\n\r\ndata:{\"b\":2}\n", "\ndata: [DONE]\n\n")))
        .post("/many", (request, response) -> response.sendString(Flux.range(0, 100)
            .map(number -> "data: {\"n\":" + number + "}\n\n").concatWithValues("data: [DONE]\n\n")))
        .post("/short", (request, response) -> response.sendString(Mono.just("data: {\"a\":1}\n\n")))
        .post("/error", (request, response) -> response
            .sendString(Mono.just("data: {\"a\":1}\n\ndata: {\"error\":{\"code\":400,\"message\":\"m\"}}\n\n")))
        .post("/old-error", (request, response) -> response
            .sendString(Mono.just("data: {\"object\": \"error\", \"message\": \"m\", \"code\": 404}\n\n")))
        .post("/object", (request, response) -> response
            .sendString(Mono.just("data: {\"object\":\"text_completion\",\"a\":\"error\"}\n\ndata: [DONE]\n\n")))
        .post("/reset", (request, response) -> response
            .sendString(Flux.just("data: {\"a\":1}\n\n").concatWith(Flux.error(new IllegalStateException("reset")))))
        .post("/gone", (request, response) -> {
          response.withConnection(connection -> connection.dispose());
          return Mono.never();
        })
        .post("/long", (request, response) -> response.sendString(Flux.just("data: ")
            .concatWith(Flux.just("x".repeat(1 << 20)).repeat(9)))))
        .bindNow();
  }

  @AfterAll
  static void close() {
    server.disposeNow();
    pool.disposeLater().block(LIMIT);
    loops.disposeLater(Duration.ZERO, LIMIT).block(LIMIT);
  }

  @Test
  void eventsAreWholeHoweverTheirBytesAreCut() {
    assertThat(client.events(leg("/events")).collectList().block(LIMIT)).containsExactly("{\"a\":\"ä\"}", "{\"b\":2}");
  }

  /// Bytes are free again as soon as they were received, and the reader asks later.
  @Test
  void aSlowReaderGetsEachEvent() {
    assertThat(client.events(leg("/many")).concatMap(event -> Mono.delay(Duration.ofMillis(1)).thenReturn(event), 1)
        .collectList().block(LIMIT)).hasSize(100).startsWith("{\"n\":0}").endsWith("{\"n\":99}")
        .doesNotHaveDuplicates();
  }

  @Test
  void aStreamThatEndsWithoutItsEndIsAFailure() {
    LegFailure failure = failureOf(client.events(leg("/short")));
    assertThat(failure).hasMessageContaining("ended its stream without [DONE]");
    assertThat(failure.stage()).isEqualTo(LegFailure.Stage.STREAM);
    assertThat(failure.isTransient()).isTrue();
    assertThat(failureOf(client.events(leg("/reset"))).stage()).isEqualTo(LegFailure.Stage.STREAM);
  }

  @Test
  void anErrorEventEndsTheStreamWithItsStatus() {
    LegFailure failure = failureOf(client.events(leg("/error")));
    assertThat(failure.status()).isEqualTo(400);
    assertThat(failure.clientStatus()).isEqualTo(400);
    assertThat(failure.body()).contains("\"message\":\"m\"");
    assertThat(failureOf(client.events(leg("/old-error"))).status()).isEqualTo(404);
    assertThat(client.events(leg("/object")).collectList().block(LIMIT)).hasSize(1);
  }

  @Test
  void aRefusalCarriesStatusAndBody() {
    for (LegFailure failure : List.of(failureOf(client.events(leg("/refused"))),
        failureOf(client.answer(leg("/refused")).flux()))) {
      assertThat(failure.clientStatus()).isEqualTo(422);
      assertThat(failure.body()).isEqualTo("{\"error\":1}");
      assertThat(failure.isTransient()).isFalse();
      assertThat(failure.stage()).isEqualTo(LegFailure.Stage.ANSWER);
    }
  }

  @Test
  void anAnswerMustBeAnObject() {
    assertThat(client.answer(leg("/whole")).block(LIMIT)).isEqualTo(Json.object().put("id", "a"));
    assertThat(failureOf(client.answer(leg("/list")).flux())).hasMessageContaining("JSON that is no object");
    assertThat(failureOf(client.answer(leg("/text")).flux())).hasMessageContaining("no JSON");
  }

  @Test
  void anEngineThatWasNotReachedHasNotSeenTheLeg() {
    LegFailure refused = failureOf(client.answer(legAt("http://127.0.0.1:1", "/whole")).flux());
    assertThat(refused.stage()).isEqualTo(LegFailure.Stage.CONNECT);
    assertThat(refused.clientStatus()).isEqualTo(502);
    LegFailure gone = failureOf(client.answer(leg("/gone")).flux());
    assertThat(gone.stage()).isEqualTo(LegFailure.Stage.ANSWER);
  }

  @Test
  void aLineIsBounded() {
    LegFailure tooLarge = failureOf(client.events(leg("/long")));
    assertThat(tooLarge).hasMessageContaining("at most 8388608 bytes");
    assertThat(tooLarge.isTransient()).as("another engine would make the same").isFalse();
  }

  @Test
  void aCancelClosesTheConnectionAndAbortsTheRequest() {
    Sinks.Many<Integer> tokens = Sinks.many().unicast().onBackpressureBuffer();
    SingleEngine engine = new SingleEngine();
    Sinks.Empty<Void> aborted = Sinks.empty();
    engine.paced(Mono.<Void>never().doOnCancel(aborted::tryEmitEmpty).doOnSubscribe(s -> tokens.tryEmitNext(1)));
    try (EngineServer running = EngineServer.start(() -> engine, loops)) {
      ObjectNode body = Json.object().put("prompt", "a").put("stream", true);
      Disposable leg = client.events(new Leg(Leg.Role.DECODE, EngineAddress.parse(running.url()), "/v1/completions",
          Map.of(Legs.REQUEST_ID, "x"), body)).subscribe();
      tokens.asFlux().blockFirst(LIMIT);
      leg.dispose();
      aborted.asMono().block(LIMIT);
    }
  }

  @Test
  void aPageWithAnotherStatusIsAnError() {
    Throwable failure =
        catchThrowableOfType(Exception.class, () -> client.get(URI.create(base() + "/nothing")).block(LIMIT));
    assertThat(failure).hasMessageContaining("it answered 404");
  }

  private static LegFailure failureOf(Flux<?> answer) {
    return catchThrowableOfType(LegFailure.class, () -> answer.blockLast(LIMIT));
  }

  private static Leg leg(String path) {
    return legAt(base(), path);
  }

  private static Leg legAt(String url, String path) {
    return new Leg(Leg.Role.DECODE, EngineAddress.parse(url), path, Map.of(Legs.REQUEST_ID, "x"), Json.object());
  }

  private static String base() {
    return "http://127.0.0.1:" + server.port();
  }
}
