package io.penstock.node.admin;

import io.netty.handler.codec.http.HttpResponseStatus;

/// One answer of the admin endpoints.
record Page(HttpResponseStatus status, String type, String text) {
  private static final String PLAIN = "text/plain; charset=utf-8";
  private static final String JSON = "application/json";

  private static final String HTML = "text/html; charset=utf-8";

  static Page of(String type, String text) {
    return new Page(HttpResponseStatus.OK, type, text);
  }

  static Page plain(String text) {
    return of(PLAIN, text);
  }

  static Page html(String text) {
    return of(HTML, text);
  }

  static Page json(String text) {
    return of(JSON, text + "\n");
  }

  /// A refusal, as a sentence.
  static Page refused(HttpResponseStatus status, String why) {
    return new Page(status, PLAIN, why + "\n");
  }

  Page with(HttpResponseStatus other) {
    return new Page(other, type, text);
  }
}
