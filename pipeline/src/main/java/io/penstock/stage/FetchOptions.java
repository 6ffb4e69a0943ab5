package io.penstock.stage;

import io.penstock.block.Checks;

/// How [Fetch] asks its tier.
///
/// @param windowKeys most keys a request
/// @param concurrency most requests at a time
public record FetchOptions(int windowKeys, int concurrency) {
  public FetchOptions {
    Checks.positive("windowKeys", windowKeys);
    Checks.positive("concurrency", concurrency);
  }

  /// Requests of 16 keys, 2 at a time.
  public static FetchOptions defaults() {
    return new FetchOptions(16, 2);
  }

  public FetchOptions withWindowKeys(int windowKeys) {
    return new FetchOptions(windowKeys, concurrency);
  }

  public FetchOptions withConcurrency(int concurrency) {
    return new FetchOptions(windowKeys, concurrency);
  }
}
