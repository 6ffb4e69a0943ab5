package io.penstock.gateway.http;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.penstock.gateway.api.ApiException;
import io.penstock.gateway.api.Shown;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.Locale;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.netty.http.server.HttpServerRequest;

/// Reads the body of a request within its limits.
final class Reading {
  private static final int TIMEOUT = 408;
  private static final int TOO_LARGE = 413;
  private static final int UNSUPPORTED = 415;

  private Reading() {}

  static Mono<byte[]> json(HttpServerRequest request, int limit, Duration time, Scheduler timer) {
    return Mono.defer(() -> {
      String type = request.requestHeaders().get(HttpHeaderNames.CONTENT_TYPE, "application/json");
      if (!type.toLowerCase(Locale.ROOT).replace(" ", "").matches("application/json(;.*)?")) {
        throw new ApiException(UNSUPPORTED, "content-type must be application/json (was %s)".formatted(Shown.of(type)));
      }
      String encoding = request.requestHeaders().get(HttpHeaderNames.CONTENT_ENCODING, "identity");
      if (!encoding.equals("identity")) {
        throw new ApiException(UNSUPPORTED, "content-encoding must be identity (was %s)".formatted(Shown.of(encoding)));
      }
      String length = request.requestHeaders().get(HttpHeaderNames.CONTENT_LENGTH, "0");
      if (length.length() > 18 || (length.matches("[0-9]+") && Long.parseLong(length) > limit)) {
        throw tooLarge(limit);
      }
      return request.receive().reduceWith(ByteArrayOutputStream::new, (all, bytes) -> add(all, bytes, limit))
          .map(ByteArrayOutputStream::toByteArray)
          .timeout(time, Mono.error(() -> new ApiException(TIMEOUT,
              "time of a body must be at most " + time.toMillis() + " ms (was longer)")), timer);
    });
  }

  private static ByteArrayOutputStream add(ByteArrayOutputStream all, ByteBuf bytes, int limit) {
    if (all.size() + bytes.readableBytes() > limit) {
      throw tooLarge(limit);
    }
    byte[] part = new byte[bytes.readableBytes()];
    bytes.readBytes(part);
    all.writeBytes(part);
    return all;
  }

  private static ApiException tooLarge(int limit) {
    return new ApiException(TOO_LARGE, "body must be at most " + limit + " bytes (was longer)");
  }
}
