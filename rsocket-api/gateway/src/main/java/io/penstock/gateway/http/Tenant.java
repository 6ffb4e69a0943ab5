package io.penstock.gateway.http;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.gateway.api.ApiException;
import io.penstock.wire.cluster.GatewayUse;
import java.time.Duration;

/// What a tenant uses. A minute's quota flows back evenly; tokens that were used beyond it are paid for by waiting.
/// What it uses at other gateways counts as used here, as soon as they tell it.
final class Tenant {
  private static final int TOO_MANY = 429;
  private static final double MINUTE = 60e9;
  private static final long MAX_WAIT = 3600;

  private final String name;
  @GuardedBy("this") private double requests;
  @GuardedBy("this") private double tokens;
  @GuardedBy("this") private int running;
  /// Requests that run at other gateways.
  @GuardedBy("this") private long elsewhere;
  @GuardedBy("this") private long usedRequests;
  @GuardedBy("this") private long usedTokens;
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
    if (running + elsewhere >= quota.parallel()) {
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
    usedRequests++;
    running++;
  }

  synchronized void end(long used) {
    running--;
    tokens -= used;
    usedTokens += used;
  }

  /// What was used here, and what is left.
  synchronized GatewayUse.OfTenant use(Quota quota, long now) {
    refill(quota, now);
    return new GatewayUse.OfTenant(name, usedRequests, usedTokens, running, requests, tokens);
  }

  /// Whether there is nothing to tell: all of the quota is left.
  synchronized boolean isIdle(Quota quota, long now) {
    refill(quota, now);
    return running == 0 && requests >= quota.requests() && tokens >= quota.tokens();
  }

  /// Other gateways have let so much through.
  synchronized void charge(Quota quota, long now, long moreRequests, long moreTokens) {
    refill(quota, now);
    requests -= moreRequests;
    tokens -= moreTokens;
  }

  /// Another gateway, which was not heard before, knows of so much that is left.
  synchronized void atMost(Quota quota, long now, double requestsLeft, double tokensLeft) {
    refill(quota, now);
    requests = Math.min(requests, requestsLeft);
    tokens = Math.min(tokens, tokensLeft);
  }

  /// So many requests run at other gateways.
  synchronized void elsewhere(long requests) {
    elsewhere = requests;
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
