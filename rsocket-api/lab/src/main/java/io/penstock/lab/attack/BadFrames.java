package io.penstock.lab.attack;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.penstock.wire.protocol.Routes;
import io.rsocket.frame.FrameHeaderCodec;
import io.rsocket.frame.FrameType;
import io.rsocket.frame.PayloadFrameCodec;
import java.util.List;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/// Connections that send frames which no client sends: random bytes, damaged frames, frames of unknown streams, wrong
/// lengths, slices without a request. A few new ones a tick, each for half a second.
final class BadFrames implements Attack {
  private static final int CONNECTIONS = 32;
  private static final int LIFE_TICKS = 5;
  private static final int KEYS = 64;
  private static final int MOST_NOISE = 4000;
  private static final int SLICES = 192;
  private static final int SLICE_BYTES = 4096;
  private static final int MOST_FLIPS = 8;
  private static final Peer.Limits SOME = new Peer.Limits(SLICE_BYTES, KEYS, KEYS);

  private final Target target;
  private final RandomGenerator random;
  private final List<Consumer<Peer>> faults = List.of(this::noise, this::damaged, this::wrongStreams, this::wrongTypes,
      this::wrongLengths, this::longMetadata, this::cutSetup, this::uncreditedSlices);
  private final Crowd crowd;
  private int ticks;

  BadFrames(Attackers attackers, Target target, RandomGenerator random) {
    this.target = target;
    this.random = random;
    this.crowd = new Crowd(attackers, CONNECTIONS, () -> new Peer(faults.get(random.nextInt(faults.size()))));
  }

  @Override
  public void tick() {
    if (++ticks % LIFE_TICKS == 0) {
      crowd.disperse();
    }
    crowd.gathered();
  }

  private void greet(Peer peer) {
    peer.send(Frames.setup(Frames.KEEP_ALIVE, Frames.LIFETIME));
    peer.send(Frames.hello(1));
  }

  private ByteBuf randomBytes(int count) {
    byte[] bytes = new byte[count];
    random.nextBytes(bytes);
    return Unpooled.wrappedBuffer(bytes);
  }

  private void noise(Peer peer) {
    if (random.nextBoolean()) {
      greet(peer);
    }
    peer.raw(randomBytes(random.nextInt(1, MOST_NOISE)));
  }

  /// Requests with some bits turned over, the set-up among them.
  private void damaged(Peer peer) {
    byte[] hashes = Target.unknown(KEYS, random);
    int whole = random.nextInt(4);
    peer.send(flipped(Frames.setup(Frames.KEEP_ALIVE, Frames.LIFETIME), whole == 0));
    peer.send(flipped(Frames.hello(1), whole == 1));
    peer.send(flipped(Frames.ask(3, Routes.EXISTS, Messages.keys(target, hashes)), true));
    peer.send(flipped(Frames.stream(5, Routes.GET, Messages.get(target, hashes, "ADMIT", SOME), 2), true));
    peer.send(flipped(Frames.channel(7, Routes.PUT, Messages.put(target, hashes, SOME), 2), true));
  }

  private ByteBuf flipped(ByteBuf frame, boolean flips) {
    ByteBuf copy = Unpooled.copiedBuffer(frame);
    frame.release();
    for (int i = flips ? random.nextInt(1, MOST_FLIPS) : 0; i > 0; i--) {
      int at = random.nextInt(copy.readableBytes());
      copy.setByte(at, copy.getByte(at) ^ (1 << random.nextInt(8)));
    }
    return copy;
  }

  private void wrongStreams(Peer peer) {
    greet(peer);
    for (int stream : new int[] {0, 2, 1, 1, 3, 3, Integer.MAX_VALUE}) {
      peer.send(Frames.ask(stream, Routes.STAT, Messages.keys(target, Target.unknown(1, random))));
    }
  }

  /// Frames of every type for streams that are none.
  private void wrongTypes(Peer peer) {
    greet(peer);
    for (int i = 0; i < KEYS; i++) {
      FrameType[] types = FrameType.values();
      ByteBuf head = FrameHeaderCodec.encode(ByteBufAllocator.DEFAULT, random.nextInt(100),
          types[random.nextInt(types.length)], random.nextInt(1 << 10));
      peer.send(Unpooled.wrappedBuffer(head, randomBytes(random.nextInt(KEYS))));
    }
  }

  /// A whole frame with the beginning of a SETUP.
  private void cutSetup(Peer peer) {
    ByteBuf setup = Frames.setup(Frames.KEEP_ALIVE, Frames.LIFETIME);
    peer.send(setup.slice(0, random.nextInt(FrameHeaderCodec.size(), setup.readableBytes())));
  }

  private void wrongLengths(Peer peer) {
    greet(peer);
    peer.raw(Frames.length(random.nextInt(FrameHeaderCodec.size())));
    peer.raw(randomBytes(KEYS));
  }

  /// Metadata that is longer than its frame.
  private void longMetadata(Peer peer) {
    greet(peer);
    ByteBuf head =
        FrameHeaderCodec.encode(ByteBufAllocator.DEFAULT, 3, FrameType.REQUEST_RESPONSE, FrameHeaderCodec.FLAGS_M);
    peer.send(Unpooled.wrappedBuffer(head, Unpooled.buffer().writeMedium(0xFF_FFFF), randomBytes(KEYS)));
  }

  private void uncreditedSlices(Peer peer) {
    greet(peer);
    peer.send(Frames.channel(3, Routes.PUT, Messages.put(target, Target.unknown(KEYS, random), SOME), 1));
    for (int i = 0; i < SLICES; i++) {
      peer.send(PayloadFrameCodec.encode(ByteBufAllocator.DEFAULT, 3, false, false, true, null,
          randomBytes(SLICE_BYTES)));
    }
  }
}
