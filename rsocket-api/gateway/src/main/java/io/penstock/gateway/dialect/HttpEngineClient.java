package io.penstock.gateway.dialect;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ConnectTimeoutException;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.penstock.operator.InTurn;
import io.penstock.operator.Quiet;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.ByteBufFlux;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.client.HttpClientResponse;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Legs over HTTP. Requests are never repeated here: only the relay knows whether a second attempt is right.
public final class HttpEngineClient implements EngineClient {
  private static final int OK = 200;
  private static final int FIRST_ERROR = 400;
  private static final int LAST_STATUS = 599;
  /// The longest error that is passed on.
  private static final int MAX_ERROR = 64 << 10;
  /// The longest page, such as a list of thousands of models.
  private static final int MAX_PAGE = 4 << 20;
  private static final int MAX_LINE = 8 << 20;
  private static final int MAX_ANSWER = 64 << 20;

  private final Supplier<HttpClient> clients;

  /// @param clients give the client for the current thread, with its pool, its time limits and TLS
  public HttpEngineClient(Supplier<HttpClient> clients) {
    this.clients = clients;
  }

  private HttpClient http() {
    return clients.get().disableRetry(true);
  }

  @Override
  public Flux<String> events(Leg leg) {
    return Flux.defer(() -> {
      SseData data = new SseData(MAX_LINE);
      return send(leg).<String>response((response, body) -> response.status().code() == OK
          ? ended(leg, body.map(data::take).concatMapIterable(lines -> lines, 1)) // bytes are free when map returns
          : HttpEngineClient.<String>refusal(leg, response, body).flux())
          .onErrorMap(failure -> !(failure instanceof LegFailure), failure -> beforeAnswer(leg, failure));
    });
  }

  @Override
  public Mono<ObjectNode> answer(Leg leg) {
    return one(send(leg).<ObjectNode>response((response, body) -> (response.status().code() == OK
        ? bounded(body, MAX_ANSWER).map(bytes -> tree(leg, bytes))
            .onErrorMap(failure -> !(failure instanceof LegFailure),
                failure -> cutOff(leg, "broke off its answer", failure))
        : HttpEngineClient.<ObjectNode>refusal(leg, response, body)).flux()))
        .onErrorMap(failure -> !(failure instanceof LegFailure), failure -> beforeAnswer(leg, failure));
  }

  @Override
  public Mono<JsonNode> get(URI uri) {
    return one(http().get().uri(uri)
        .response((response, body) -> bounded(body, MAX_PAGE).<JsonNode>handle((bytes, sink) -> {
          if (response.status().code() == OK) {
            sink.next(Json.tree(bytes));
          } else {
            sink.error(new IOException("it answered " + response.status().code()));
          }
        }).flux()));
  }

  /// The only element of an answer. A cancel closes the connection, which ends the answer without one: that is no error
  /// then, and has no one to go to.
  private static <T> Mono<T> one(Flux<T> answer) {
    return Quiet.afterCancel(answer.single().flux()).next();
  }

  @Override
  public Mono<Void> post(URI uri, ObjectNode message) {
    return http().headers(headers -> headers.set(HttpHeaderNames.CONTENT_TYPE, "application/json")).post().uri(uri)
        .send(Mono.fromSupplier(() -> Unpooled.wrappedBuffer(Json.bytes(message))))
        .response((response, body) -> response.status().code() < FIRST_ERROR
            ? body.then().flux()
            : Flux.error(new IOException("it answered " + response.status().code())))
        .then();
  }

  private HttpClient.ResponseReceiver<?> send(Leg leg) {
    byte[] body = Json.bytes(leg.body());
    return http().headers(headers -> {
      for (Map.Entry<String, String> header : leg.headers().entrySet()) {
        headers.set(header.getKey(), header.getValue());
      }
      headers.set(HttpHeaderNames.CONTENT_TYPE, "application/json");
      headers.set(HttpHeaderNames.CONTENT_LENGTH, body.length);
    }).request(HttpMethod.POST).uri(leg.uri()).send(Mono.fromSupplier(() -> Unpooled.wrappedBuffer(body)));
  }

  /// Reads to the end of the body, so that the connection can be used again.
  private static Flux<String> ended(Leg leg, Flux<String> data) {
    StreamEnd end = StreamEnd.of(leg.path());
    AtomicBoolean done = new AtomicBoolean();
    Flux<String> events = data.handle((json, sink) -> {
      switch (end.mark(json)) {
        case EVENT -> sink.next(json);
        case LAST -> {
          done.set(true);
          sink.next(json);
        }
        case DONE -> done.set(true);
        case FAILED -> sink.error(LegFailure.errorEvent(leg, statusOf(json), json));
        case NOTHING -> {
        }
      }
    });
    return InTurn.of(events.onErrorResume(failure -> done.get(), failure -> Flux.empty()) // all of the answer is there
        .onErrorMap(failure -> !(failure instanceof LegFailure),
            failure -> cutOff(leg, "broke off its stream", failure)),
        Flux.defer(() -> done.get()
            ? Flux.empty()
            : Flux.error(LegFailure.broken(leg, "ended its stream without " + end.missing(), null))));
  }

  private static int statusOf(String error) {
    try {
      JsonNode tree = Json.tree(error);
      int code = tree.path("error").path("code").asInt(tree.path("code").asInt(0));
      return code >= FIRST_ERROR && code <= LAST_STATUS ? code : 0;
    } catch (JacksonException e) {
      return 0;
    }
  }

  private static <T> Mono<T> refusal(Leg leg, HttpClientResponse response, ByteBufFlux body) {
    return bounded(body, MAX_ERROR).onErrorReturn(new byte[0]).flatMap(bytes -> Mono
        .error(LegFailure.refused(leg, response.status().code(), new String(bytes, StandardCharsets.UTF_8))));
  }

  private static ObjectNode tree(Leg leg, byte[] bytes) {
    try {
      if (Json.tree(bytes) instanceof ObjectNode object) {
        return object;
      }
    } catch (JacksonException e) {
      throw LegFailure.broken(leg, "answered what is no JSON", e);
    }
    throw LegFailure.broken(leg, "answered JSON that is no object", null);
  }

  private static Mono<byte[]> bounded(ByteBufFlux body, int limit) {
    return body.reduceWith(ByteArrayOutputStream::new, (all, bytes) -> add(all, bytes, limit))
        .map(ByteArrayOutputStream::toByteArray);
  }

  private static ByteArrayOutputStream add(ByteArrayOutputStream all, ByteBuf bytes, int limit) {
    if (all.size() + bytes.readableBytes() > limit) {
      throw new LegFailure.AnswerLimit("answer", limit);
    }
    byte[] part = new byte[bytes.readableBytes()];
    bytes.readBytes(part);
    all.writeBytes(part);
    return all;
  }

  private static LegFailure cutOff(Leg leg, String what, Throwable failure) {
    return failure instanceof LegFailure.AnswerLimit limit
        ? LegFailure.tooLarge(leg, limit)
        : LegFailure.broken(leg, what, failure);
  }

  private static LegFailure beforeAnswer(Leg leg, Throwable failure) {
    boolean unreached = failure instanceof ConnectException || failure instanceof UnknownHostException
        || failure instanceof ConnectTimeoutException;
    return unreached ? LegFailure.unreachable(leg, failure) : LegFailure.gone(leg, failure);
  }
}
