package io.penstock.lab.attack;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.Arrays;
import java.util.Map;

/// The control messages that attackers send.
final class Messages {
  private static final byte TAG = (byte) 0xC1;
  private static final byte NULL = (byte) 0xF6;

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

  /// Tags within tags of CBOR, around nothing.
  static ByteBuf nestedTags(int count) {
    byte[] tags = new byte[count + 1];
    Arrays.fill(tags, TAG);
    tags[count] = NULL;
    return Unpooled.wrappedBuffer(tags);
  }

  private static Map<String, ?> keySet(Target target, byte[] hashes) {
    return Map.of("space", target.space(), "hashes", hashes);
  }
}
