package io.penstock.node.link;

import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.penstock.wire.security.ClientTls;
import java.io.IOException;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import reactor.core.Exceptions;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.LoopResources;

/// Asks the admin endpoints of a node, with the TLS and the credentials of a command.
public final class AdminClient implements AutoCloseable {
  private static final Duration GOODBYE = Duration.ofSeconds(2);

  private final LoopResources loops = LoopResources.create("penstock-admin-client", 1, true);
  private final HttpClient http;
  private final Duration patience;

  /// @param patience longest wait for an answer
  public AdminClient(HostPort admin, NodePass pass, Duration patience) {
    this.patience = patience;
    String authorization = pass.credentials().authorization();
    HttpClient plain = HttpClient.newConnection().runOn(loops).host(admin.host()).port(admin.port())
        .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, Math.toIntExact(patience.toMillis()))
        .headers(headers -> {
          if (!authorization.isEmpty()) {
            headers.set(HttpHeaderNames.AUTHORIZATION, authorization);
          }
        });
    ClientTls tls = pass.tls();
    this.http = tls == null
        ? plain
        : plain.doOnChannelInit((observer, channel, remote) -> channel.pipeline().addFirst("penstock.tls",
            tls.handler(channel.alloc(), admin.host(), admin.port(), patience)));
  }

  /// One answer.
  ///
  /// @param status of HTTP
  public record Answer(int status, String body) {}

  /// @param path begins with a slash
  /// @throws IOException if the node does not answer
  public Answer get(String path) throws IOException {
    try {
      Answer answer = http.get().uri(path).responseSingle((response, bytes) -> bytes.asString().defaultIfEmpty("")
          .map(body -> new Answer(response.status().code(), body))).timeout(patience).block();
      if (answer == null) {
        throw new IOException("the admin endpoints must answer (did not)");
      }
      return answer;
    } catch (RuntimeException e) {
      Throwable cause = Exceptions.unwrap(e);
      if (cause instanceof IOException failure) {
        throw failure;
      } else if (cause instanceof TimeoutException) {
        throw new HttpTimeoutException("no answer within " + patience);
      }
      throw new IOException("no answer of HTTP: " + cause.getMessage(), cause);
    }
  }

  @Override
  public void close() {
    loops.disposeLater(Duration.ZERO, GOODBYE).block();
  }
}
