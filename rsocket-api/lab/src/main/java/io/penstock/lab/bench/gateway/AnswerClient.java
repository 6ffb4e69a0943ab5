package io.penstock.lab.bench.gateway;

import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpHeaderNames;
import java.nio.charset.StandardCharsets;
import java.util.function.LongConsumer;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;

/// Asks for streamed answers and reads them to their end.
final class AnswerClient implements AutoCloseable {
  private static final int OK = 200;
  private static final int MOST_CONNECTIONS = 4096;

  private final ConnectionProvider pool = ConnectionProvider.builder("bench").maxConnections(MOST_CONNECTIONS)
      .pendingAcquireMaxCount(MOST_CONNECTIONS).build();
  private final HttpClient http;

  /// One answer.
  ///
  /// @param whole whether it ended as a whole answer does, with all of its tokens
  /// @param firstNanos from the request to the first token; 0 if none came
  /// @param nanos from the request to the end
  /// @param retryAfter seconds after which the gateway says that another attempt may succeed; 0 if it does not say
  record Answer(int status, int tokens, boolean whole, long firstNanos, long nanos, int retryAfter) {}

  AnswerClient(LoopResources loops) {
    this.http = HttpClient.create(pool).runOn(loops).disableRetry(true);
  }

  /// Asks once.
  ///
  /// @param delays receives the time of each token from the engine's write to this client
  Mono<Answer> ask(String url, AnswerForm form, String prompt, int tokens, LongConsumer delays) {
    byte[] body = form.request(prompt, tokens).getBytes(StandardCharsets.UTF_8);
    return Mono.defer(() -> {
      long began = System.nanoTime();
      AnswerScan scan = form.scan();
      long[] first = {0};
      return http.headers(headers -> headers.set(HttpHeaderNames.CONTENT_TYPE, "application/json")
          .set(HttpHeaderNames.CONTENT_LENGTH, body.length)).post().uri(url + form.path())
          .send(Mono.fromSupplier(() -> Unpooled.wrappedBuffer(body)))
          .response((response, content) -> {
            int status = response.status().code();
            int retryAfter = response.responseHeaders().getInt(HttpHeaderNames.RETRY_AFTER, 0);
            return content.doOnNext(bytes -> scan.take(bytes, time -> {
              long now = System.nanoTime();
              first[0] = first[0] == 0 ? now - began : first[0];
              delays.accept(now - time);
            })).then(Mono.fromSupplier(() -> new Answer(status, scan.tokens(),
                status == OK && scan.ended() && scan.tokens() == tokens, first[0], System.nanoTime() - began,
                retryAfter))).flux();
          }).single();
    });
  }

  /// The text at an address.
  Mono<String> text(String url) {
    return http.get().uri(url).responseContent().aggregate().asString();
  }

  @Override
  public void close() {
    pool.dispose();
  }
}
