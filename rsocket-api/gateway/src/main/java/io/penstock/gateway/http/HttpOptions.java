package io.penstock.gateway.http;

import io.penstock.check.Checks;
import io.penstock.wire.security.ServerTls;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Limits of a client's connection.
///
/// @param bodyBytes of a request at most
/// @param headerBytes of a request at most
/// @param bodyTime longest time in which the head of a request must arrive, and then its body
/// @param sendTime longest time in which a client takes nothing of its answer
/// @param connections at most
/// @param tls null for none
public record HttpOptions(int bodyBytes, int headerBytes, Duration bodyTime, Duration sendTime,
    int connections, @Nullable ServerTls tls) {
  public HttpOptions {
    Checks.positive("bodyBytes", bodyBytes);
    Checks.positive("headerBytes", headerBytes);
    Checks.positive("bodyTime", bodyTime);
    Checks.positive("sendTime", sendTime);
    Checks.positive("connections", connections);
  }

  /// 32 MiB, 16 KiB, 30 s each way, 4096 connections, no TLS.
  public static HttpOptions defaults() {
    return new HttpOptions(32 << 20, 16 << 10, Duration.ofSeconds(30), Duration.ofSeconds(30), 4096, null);
  }
}
