package io.penstock.gateway.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBufAllocator;
import io.penstock.gateway.engines.Answers;
import io.penstock.gateway.engines.EngineServer;
import io.penstock.gateway.engines.ScriptedEngine;
import io.penstock.gateway.engines.Tree;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.netty.ByteBufFlux;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Each dialect answers each form of request as the model itself does, over sockets, and its engines refuse nothing.
class DialectAnswerTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final String CHAT = "/v1/chat/completions";
  private static final String TEXT = "/v1/completions";
  private static LoopResources loops;
  private static ConnectionProvider pool;
  private static HttpClient http;

  private record Form(String path, String body) {}

  private static final List<Form> FORMS = List.of(
      new Form(TEXT, "{'prompt':'the quick brown fox','max_tokens':4}"),
      new Form(TEXT, "{'prompt':'one two','stop':['w1'],'min_tokens':2,'max_tokens':9,'seed':5}"),
      new Form(TEXT, "{'prompt':['one','two three','four five six'],'max_tokens':3}"),
      new Form(TEXT, "{'prompt':[11,12,13],'max_tokens':3}"),
      new Form(TEXT, "{'prompt':[[11,12],[13]],'n':2,'seed':40,'max_tokens':3}"),
      new Form(TEXT, "{'prompt':'many answers','n':3,'max_tokens':2}"),
      new Form(CHAT, "{'messages':[{'role':'user','content':'hello there'}],'max_completion_tokens':5}"),
      new Form(CHAT, "{'messages':[{'role':'system','content':'be brief'},{'role':'user','content':[{'type':'text',"
          + "'text':'first part '},{'type':'text','text':'second'}]}],'max_tokens':4,'tools':[]}"),
      new Form(CHAT, "{'messages':[{'role':'user','content':'choose'}],'n':2,'seed':7,'max_tokens':2}"));

  @BeforeAll
  static void open() {
    loops = LoopResources.create("dialects", 1, true);
    pool = ConnectionProvider.create("dialects", 64);
    http = HttpClient.create(pool).runOn(loops);
  }

  @AfterAll
  static void close() {
    pool.disposeLater().block(LIMIT);
    loops.disposeLater(Duration.ZERO, LIMIT).block(LIMIT);
  }

  @ParameterizedTest
  @EnumSource(DialectName.class)
  void answersEachFormAsTheModelDoes(DialectName name) {
    AtomicReference<Rig> rig = new AtomicReference<>();
    DisposableServer gateway = metaserver(rig);
    try (Sockets rigged = Sockets.start(name, http, rig)) {
      EnginePair pair = rigged.pair();
      Dialects dialects = rig.get().dialects(new HttpEngineClient(() -> http),
          URI.create("http://127.0.0.1:" + gateway.port() + Metaserver.PATH), new Random(1), Schedulers.parallel());
      for (Form form : FORMS) {
        for (boolean stream : List.of(false, true)) {
          answersAsTheModelDoes(dialects, pair, form, stream);
        }
      }
      assertThat(rig.get().prefill.refusals()).isEmpty();
      assertThat(rig.get().decode.refusals()).isEmpty();
      assertThat(rig.get().network.held()).isZero();
      assertThat(rig.get().metaserver.children()).isZero();
      bothLegsHaveOneRequestId(rig.get());
    } finally {
      gateway.disposeNow();
    }
  }

  /// A client that goes while prefill computes: both engines are told, whether or not decode has its leg yet.
  @ParameterizedTest
  @EnumSource(DialectName.class)
  void aClientThatGoesFreesBothEngines(DialectName name) {
    AtomicReference<Rig> rig = new AtomicReference<>();
    DisposableServer gateway = metaserver(rig);
    try (Sockets sockets = Sockets.start(name, http, rig)) {
      ScriptedEngine prefill = rig.get().prefill.paced(Mono.never());
      ScriptedEngine decode = rig.get().decode;
      Disposable client = rig.get()
          .dialects(new HttpEngineClient(() -> http),
              URI.create("http://127.0.0.1:" + gateway.port() + Metaserver.PATH),
              new Random(1), Schedulers.parallel())
          .answer(Rig.request(TEXT, "{\"prompt\":\"a b\",\"stream\":true}"), sockets.pair()).subscribe();
      prefill.running(1).block(LIMIT);
      if (name != DialectName.NIXL_PULL && name != DialectName.NIXL_PUSH) {
        decode.running(1).block(LIMIT);
      }
      client.dispose();
      Mono.when(prefill.running(0), decode.running() == 0 ? Mono.empty() : decode.running(0)).block(LIMIT);
      assertThat(rig.get().network.waiting()).isZero();
      assertThat(rig.get().network.held()).isZero();
      assertThat(rig.get().metaserver.children()).isZero();
    } finally {
      gateway.disposeNow();
    }
  }

  private static void answersAsTheModelDoes(Dialects dialects, EnginePair pair, Form form, boolean stream) {
    ObjectNode body = (ObjectNode) Tree.read(form.body().replace('\'', '"'));
    boolean chat = form.path().equals(CHAT);
    List<String> expected = Answers.expected(body, chat);
    JsonNode usage = Answers.expectedUsage(body, chat);
    if (stream) {
      body.put("stream", true).putObject("stream_options").put("include_usage", true);
    }
    String before = body.toString();
    EngineRequest request = new EngineRequest(form.path(), body, "client-1", Map.of("traceparent", "00-ab-cd-01"));
    Collected answer = Collected.of(dialects.answer(request, pair).collectList().block(LIMIT));
    assertThat(answer.choices()).as(form.body()).isEqualTo(expected);
    assertThat(String.valueOf(answer.usage())).as(form.body()).isEqualTo(usage.toString());
    assertThat(answer.ids()).as(form.body()).hasSize(1);
    assertThat(body.toString()).isEqualTo(before);
  }

  private static void bothLegsHaveOneRequestId(Rig rig) {
    List<String> decoded = rig.decode.calls().stream().map(call -> call.header("X-Request-Id")).toList();
    List<String> computed = rig.prefill.calls().stream().map(call -> call.header("X-Request-Id")).toList();
    assertThat(decoded).doesNotHaveDuplicates().allMatch(id -> id.startsWith("client-1-"));
    assertThat(computed).containsExactlyInAnyOrderElementsOf(decoded);
    assertThat(rig.decode.calls()).extracting(call -> call.header("traceparent")).containsOnly("00-ab-cd-01");
  }

  private static DisposableServer metaserver(AtomicReference<Rig> rig) {
    return HttpServer.create().host("127.0.0.1").port(0).runOn(loops)
        .handle((request, response) -> request.receive().aggregate().asString()
            .flatMap(body -> rig.get().metaserver.report(Tree.read(body)))
            .flatMap(reply -> response.status(reply.status())
                .sendString(Mono.just(Tree.text(reply.body()))).then()))
        .bindNow();
  }

  /// The engines of a dialect behind sockets.
  private record Sockets(EngineServer prefill, EngineServer decode, EnginePair pair) implements AutoCloseable {
    static Sockets start(DialectName name, HttpClient http, AtomicReference<Rig> rig) {
      // Engines must know the bootstrap port, and a port is known when its server runs.
      EngineServer first = EngineServer.start(() -> rig.get().prefill, loops);
      rig.set(new Rig(name, URI.create(first.url()), (uri, report) -> post(http, uri, report)));
      EngineServer second = EngineServer.start(() -> rig.get().decode, loops);
      EngineAddress decode = EngineAddress.parse(second.url());
      EnginePair pair = name == DialectName.SINGLE
          ? EnginePair.single(decode)
          : EnginePair.of(EngineAddress.parse(first.url() + "#bootstrap-port=" + first.port()), decode);
      return new Sockets(first, second, pair);
    }

    private static Mono<Integer> post(HttpClient http, URI uri, ObjectNode report) {
      return http.post().uri(uri)
          .send(ByteBufFlux.fromString(Mono.just(Tree.text(report)), StandardCharsets.UTF_8, ByteBufAllocator.DEFAULT))
          .response().map(response -> response.status().code());
    }

    @Override
    public void close() {
      prefill.close();
      decode.close();
    }
  }
}
