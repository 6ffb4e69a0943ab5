package io.penstock.node.kvevents;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import java.time.Duration;
import java.util.OptionalInt;

/// Options of the publication of KV events.
///
/// @param port of the PUB socket; 0 for any free one
/// @param replayPort of the ROUTER socket that replays batches; empty for none
/// @param topic first frame of each message
/// @param steps batches kept for replay
/// @param highWater batches that wait for one slow subscriber; it misses further ones
/// @param between minimum time between two snapshots that consumers cause
/// @param tokens maximum number of blocks whose token ids are kept and published; 0 for none
public record KvEventsOptions(String host, int port, OptionalInt replayPort, String topic, KvLayout layout,
    HashForm hashes, int steps, int highWater, Duration between, int tokens) {
  /// Distance between the ports of two spaces: events and replay have neighbouring ports by convention.
  private static final int PORTS = 2;

  public KvEventsOptions {
    requireNonNull(host, "host");
    requireNonNull(topic, "topic");
    requireNonNull(layout, "layout");
    requireNonNull(hashes, "hashes");
    Checks.positive("steps", steps);
    Checks.positive("highWater", highWater);
    requireNonNull(between, "between");
    Checks.notNegative("tokens", tokens);
  }

  /// Defaults: loopback, any free ports, and vLLM's own defaults.
  public static KvEventsOptions defaults() {
    return new KvEventsOptions("127.0.0.1", 0, OptionalInt.of(0), "kv-events", KvLayout.MAP, HashForm.INT, 10_000,
        100_000, Duration.ofSeconds(10), 0);
  }

  /// Options for one of several spaces, which publishes at ports of its own: `2 × number` above these, unless any free
  /// ones are taken.
  ///
  /// @param number of the space, from 0
  public KvEventsOptions ofSpace(int number, String topic) {
    return new KvEventsOptions(host, above(port, number),
        replayPort.isEmpty() ? replayPort : OptionalInt.of(above(replayPort.getAsInt(), number)), topic, layout, hashes,
        steps, highWater, between, tokens);
  }

  private static int above(int port, int number) {
    return port == 0 ? 0 : port + PORTS * number;
  }

  public KvEventsOptions withLayout(KvLayout layout, HashForm hashes) {
    return new KvEventsOptions(host, port, replayPort, topic, layout, hashes, steps, highWater, between, tokens);
  }

  public KvEventsOptions withSteps(int steps, Duration between) {
    return new KvEventsOptions(host, port, replayPort, topic, layout, hashes, steps, highWater, between, tokens);
  }

  public KvEventsOptions withTokens(int tokens) {
    return new KvEventsOptions(host, port, replayPort, topic, layout, hashes, steps, highWater, between, tokens);
  }
}
