package io.penstock.node.trace;

import io.penstock.check.Checks;

/// Number of requests, and seed: equal options make equal traces, byte for byte, on every machine.
///
/// @param requests number of requests
/// @param seed of everything random in the trace
public record GeneratorOptions(int requests, long seed) {
  public GeneratorOptions {
    Checks.positive("requests", requests);
  }

  /// 1,000 requests of seed 1.
  public static GeneratorOptions defaults() {
    return new GeneratorOptions(1_000, 1);
  }

  public GeneratorOptions withRequests(int newRequests) {
    return new GeneratorOptions(newRequests, seed);
  }

  public GeneratorOptions withSeed(long newSeed) {
    return new GeneratorOptions(requests, newSeed);
  }
}
