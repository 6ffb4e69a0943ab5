package io.penstock.gateway.http;

import io.penstock.check.Checks;

/// What a tenant may use.
///
/// @param requests a minute
/// @param tokens of prompts and answers a minute; they are charged when an answer ends
/// @param parallel requests at a time
/// @param priority of its requests, from 0 to 7, unless a request names a smaller one
public record Quota(long requests, long tokens, int parallel, int priority) {
  /// The priority of requests that name none.
  static final int MIDDLE = 4;
  private static final int MAX_PRIORITY = 7;
  static final Quota UNLIMITED = new Quota(Long.MAX_VALUE, Long.MAX_VALUE, Integer.MAX_VALUE, MIDDLE);

  /// Whether there is anything that a tenant may not.
  boolean isLimited() {
    return requests < Long.MAX_VALUE || tokens < Long.MAX_VALUE || parallel < Integer.MAX_VALUE;
  }

  public Quota {
    Checks.positive("requests", requests);
    Checks.positive("tokens", tokens);
    Checks.positive("parallel", parallel);
    if (priority < 0 || priority > MAX_PRIORITY) {
      throw new IllegalArgumentException("priority must be from 0 to 7 (was " + priority + ")");
    }
  }
}
