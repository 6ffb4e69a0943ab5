package io.penstock.lab.attack;

import java.util.Map;

/// The control messages that attackers send.
final class Messages {
  private Messages() {}

  static Map<String, ?> keys(Target target, byte[] hashes) {
    return Map.of("keys", keySet(target, hashes));
  }

  /// @param onMiss `SKIP`, `AWAIT` or `ADMIT`
  static Map<String, ?> get(Target target, byte[] hashes, String onMiss, Peer.Limits limits) {
    return Map.of("keys", keySet(target, hashes), "onMiss", onMiss, "order", "LAYER_FIRST", "startLayer", 0,
        "maxSliceBytes", limits.maxSliceBytes(), "windowBlocks", limits.windowBlocks(), "ticket", 0);
  }

  static Map<String, ?> put(Target target, byte[] hashes, Peer.Limits limits) {
    return Map.of("keys", keySet(target, hashes), "maxSliceBytes", limits.maxSliceBytes(), "windowBlocks",
        limits.windowBlocks(), "ticket", 0);
  }

  private static Map<String, ?> keySet(Target target, byte[] hashes) {
    return Map.of("space", target.space(), "hashes", hashes);
  }
}
