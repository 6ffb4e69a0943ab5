package io.penstock.lab.attack;

import io.netty.buffer.ByteBuf;
import io.penstock.wire.protocol.Routes;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;

/// Requests of strangers to a registry of ranks: claims and registrations of ranks of others in generations far ahead,
/// forged leavings, and instances without end, with names that command a terminal.
final class RankThefts {
  private static final int SECRET_BYTES = 32;
  private static final int VICTIMS = 8;
  private static final String ODD = "\u001b]0;owned\u0007\u202e";

  private final RandomGenerator random;

  RankThefts(RandomGenerator random) {
    this.random = random;
  }

  ByteBuf frame(int stream) {
    byte[] secret = new byte[SECRET_BYTES];
    random.nextBytes(secret);
    return switch (random.nextInt(4)) {
      case 0 -> Frames.ask(stream, Routes.CLAIM,
          Map.of("instance", instance(), "rank", 0, "least", generation(), "secret", secret));
      case 1 -> Frames.ask(stream, Routes.HEARTBEAT, Map.of("who", who(), "leaving", true, "secret", secret));
      case 2 -> Frames.ask(stream, Routes.REPLICA, Map.of("request", instance(), "replica", random.nextInt(4)));
      default -> Frames.ask(stream, Routes.REGISTER, Map.of("side", "PREFILL", "who", who(), "version", 1, "manifest",
          manifest(), "host", random.nextInt(4) == 0 ? ODD : "10.6.6.6", "port", 666, "secret", secret));
    };
  }

  private Map<String, ?> who() {
    return Map.of("instance", instance(), "rank", 0, "generation", generation());
  }

  private String instance() {
    return switch (random.nextInt(3)) {
      case 0 -> "penstock"; // the name that a node has without a setting
      case 1 -> "p" + random.nextInt(VICTIMS);
      default -> (random.nextInt(4) == 0 ? ODD : "flood-") + random.nextInt();
    };
  }

  private long generation() {
    return random.nextLong() >>> random.nextInt(1, Long.SIZE);
  }

  private Map<String, ?> manifest() {
    return Map.of("model", "m" + random.nextInt(VICTIMS), "groups",
        List.of(Map.of("tokens", 16, "order", "NHD", "planes",
            List.of(Map.of("kind", "KEY", "type", "BF16", "heads", 1, "width", 16)), "layers", List.of(0),
            "windowTokens",
            random.nextInt(VICTIMS))),
        "tp", 1, "pp", 1, "dp", 1, "pcp", 1, "dcp", 1, "stageLayers", List.of(1),
        "draftLayers", 0);
  }
}
