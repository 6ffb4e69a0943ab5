package io.penstock.node.kvevents;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import java.time.Duration;
import java.util.OptionalInt;

/// How KV events are published.
///
/// @param port of the PUB socket; 0 for any free one
/// @param replayPort of the ROUTER socket that replays batches; empty for none
/// @param topic first frame of each message
/// @param steps batches kept for replay
/// @param highWater batches that wait for one slow subscriber; it misses further ones
/// @param between least time between two snapshots that consumers cause
public record KvEventsOptions(String host, int port, OptionalInt replayPort, String topic, KvLayout layout,
    HashForm hashes, int steps, int highWater, Duration between) {
  public KvEventsOptions {
    requireNonNull(host, "host");
    requireNonNull(topic, "topic");
    requireNonNull(layout, "layout");
    requireNonNull(hashes, "hashes");
    Checks.positive("steps", steps);
    Checks.positive("highWater", highWater);
    requireNonNull(between, "between");
  }

  /// On loopback, at any free ports, as vLLM's own defaults.
  public static KvEventsOptions defaults() {
    return new KvEventsOptions("127.0.0.1", 0, OptionalInt.of(0), "kv-events", KvLayout.MAP, HashForm.INT, 10_000,
        100_000, Duration.ofSeconds(10));
  }

  public KvEventsOptions withLayout(KvLayout layout, HashForm hashes) {
    return new KvEventsOptions(host, port, replayPort, topic, layout, hashes, steps, highWater, between);
  }

  public KvEventsOptions withSteps(int steps, Duration between) {
    return new KvEventsOptions(host, port, replayPort, topic, layout, hashes, steps, highWater, between);
  }
}
