package io.penstock.examples.openai;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;

/// Settings of an [EngineServer].
///
/// @param port 0 for any that is free
/// @param slots requests that are computed side by side
/// @param queue requests that may wait for a slot; further ones are refused with 503
/// @param maxBodyBytes longest body of a request
public record EngineServerOptions(String host, int port, int slots, int queue, int maxBodyBytes) {
  public EngineServerOptions {
    requireNonNull(host, "host");
    Checks.notNegative("port", port);
    Checks.positive("slots", slots);
    Checks.notNegative("queue", queue);
    Checks.positive("maxBodyBytes", maxBodyBytes);
  }

  /// 4 slots, a queue of 256, bodies of up to 4 MiB.
  public static EngineServerOptions of(String host, int port) {
    return new EngineServerOptions(host, port, 4, 256, 4 << 20);
  }

  public EngineServerOptions withSlots(int slots) {
    return new EngineServerOptions(host, port, slots, queue, maxBodyBytes);
  }

  public EngineServerOptions withQueue(int queue) {
    return new EngineServerOptions(host, port, slots, queue, maxBodyBytes);
  }
}
