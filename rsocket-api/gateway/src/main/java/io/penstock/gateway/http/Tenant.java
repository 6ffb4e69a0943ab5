package io.penstock.gateway.http;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.gateway.api.ApiException;
import java.time.Duration;

/// What a tenant uses. A minute's quota flows back evenly; tokens that were used beyond it are paid for by waiting.
final class Tenant {
  private static final int TOO_MANY = 429;
  private static final double MINUTE = 60e9;
  private static final long MAX_WAIT = 3600;

  private final String name;
  @GuardedBy("this") private double requests;
  @GuardedBy("this") private double tokens;
  @GuardedBy("this") private int running;
  @GuardedBy("this") private long at;
  @GuardedBy("this") private boolean begun;

  Tenant(String name) {
    this.name = name;
  }

  String name() {
    return name;
  }

  /// Counts a request. [#end] must follow.
  ///
  /// @throws ApiException with status 429 if the quota is used up
  synchronized void begin(Quota quota, long now) {
    refill(quota, now);
    if (running >= quota.parallel()) {
      throw new ApiException(TOO_MANY,
          "requests of tenant %s at a time must be at most %d (were as many)".formatted(name, quota.parallel()),
          Duration.ofSeconds(1));
    }
    if (requests < 1) {
      throw refused("requests", quota.requests(), 1 - requests);
    }
    if (tokens <= 0) {
      throw refused("tokens", quota.tokens(), 1 - tokens);
    }
    requests--;
    running++;
  }

  synchronized void end(long used) {
    running--;
    tokens -= used;
  }

  @GuardedBy("this") private void refill(Quota quota, long now) {
    double minutes = begun ? (now - at) / MINUTE : 1;
    requests = Math.min(quota.requests(), requests + minutes * quota.requests());
    tokens = Math.min(quota.tokens(), tokens + minutes * quota.tokens());
    at = now;
    begun = true;
  }

  private ApiException refused(String what, long quota, double lacking) {
    long seconds = Math.clamp((long) Math.ceil(lacking / quota * 60), 1, MAX_WAIT);
    return new ApiException(TOO_MANY, "%s of tenant %s a minute must be at most %d (were more)"
        .formatted(what, name, quota), Duration.ofSeconds(seconds));
  }
}
