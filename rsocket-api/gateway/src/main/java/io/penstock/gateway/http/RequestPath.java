package io.penstock.gateway.http;

import io.netty.handler.codec.http.QueryStringDecoder;
import io.penstock.gateway.api.ApiException;
import io.penstock.gateway.api.Shown;

/// The path of a request.
final class RequestPath {
  private static final int BAD_REQUEST = 400;

  private RequestPath() {}

  /// The path of a target, without its query, as it was sent.
  static String of(String uri) {
    int query = uri.indexOf('?');
    return query < 0 ? uri : uri.substring(0, query);
  }

  /// What stands behind `prefix` and a slash, decoded; empty for nothing. A plus is a plus in a path.
  ///
  /// @throws ApiException with status 400 if it is not in the encoding of URLs
  static String behind(String prefix, String path) {
    try {
      return new QueryStringDecoder(path.substring(Math.min(path.length(), prefix.length() + 1))).path();
    } catch (IllegalArgumentException e) {
      throw new ApiException(BAD_REQUEST, "path must be in the encoding of URLs (was %s)".formatted(Shown.of(path)));
    }
  }
}
