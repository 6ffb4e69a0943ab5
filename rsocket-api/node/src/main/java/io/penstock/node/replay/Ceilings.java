package io.penstock.node.replay;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.GranuleRange;
import io.penstock.block.SpaceId;
import io.penstock.check.Checksum;
import io.penstock.node.content.KvPattern;
import io.penstock.node.shape.BlockShape;
import io.penstock.wire.transport.tcp.LoopbackPath;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.Connection;
import reactor.netty.DisposableServer;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;
import reactor.netty.tcp.TcpClient;
import reactor.netty.tcp.TcpServer;

/// Maximum rates of this machine, measured for a second or two before a replay: the reference for its rates.
///
/// Each measurement runs on one thread, except sockets, which have a sender and a receiver. Blocks its caller.
final class Ceilings {
  private static final int MEMORY_BYTES = 64 << 20;
  private static final int PIECE_BYTES = 64 << 10;
  private static final int FRAME_BYTES = 256 << 10;
  private static final long SOCKET_BYTES = 2L << 30;
  private static final int ROUNDS = 6;
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final BlockLayout LAYOUT = BlockShape.of(PIECE_BYTES, 8).layout();
  private static final GranuleRange ALL = GranuleRange.all(LAYOUT);
  private static final BlockKey KEY = new BlockKey(new SpaceId(1, 2), new BlockHash(3, 4));

  private final LongSupplier nanoClock;

  Ceilings(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  /// Rates in 10⁹ bytes a second, by measurement.
  Map<String, Double> measure() {
    Map<String, Double> rates = new LinkedHashMap<>();
    try (Arena arena = Arena.ofShared()) {
      MemorySegment from = arena.allocate(MEMORY_BYTES, 64);
      MemorySegment to = arena.allocate(MEMORY_BYTES, 64);
      rates.put("memory copy", rate((piece, other) -> other.copyFrom(piece), from, to));
      rates.put("byte generation", rate((piece, other) -> KvPattern.fill(KEY, LAYOUT, ALL, other), from, to));
      rates.put("byte comparison",
          rate((piece, other) -> requireEqual(KvPattern.mismatch(KEY, LAYOUT, ALL, other)), from, to));
      rates.put("CRC32C", rate((piece, other) -> Checksum.of(other), from, to));
    }
    rates.put("raw Netty over loopback", sockets());
    return rates;
  }

  /// Work on one piece of memory, with another beside it.
  private interface Work {
    void on(MemorySegment piece, MemorySegment other);
  }

  /// The best of some rounds: the first ones are not compiled yet.
  private double rate(Work work, MemorySegment from, MemorySegment to) {
    long best = Long.MAX_VALUE;
    for (int round = 0; round < ROUNDS; round++) {
      long start = nanoClock.getAsLong();
      for (long at = 0; at < MEMORY_BYTES; at += PIECE_BYTES) {
        work.on(from.asSlice(at, PIECE_BYTES), to.asSlice(at, PIECE_BYTES));
      }
      best = Math.min(best, nanoClock.getAsLong() - start);
    }
    return gigabytesPerSecond(MEMORY_BYTES, best);
  }

  private double sockets() {
    LoopResources loops = LoopResources.create("penstock-ceiling", 2, true);
    ByteBuf frame = Unpooled.directBuffer(FRAME_BYTES).writeZero(FRAME_BYTES);
    try {
      AtomicLong received = new AtomicLong();
      Sinks.Empty<Void> all = Sinks.empty();
      InetSocketAddress local = new InetSocketAddress("127.0.0.1", 0);
      DisposableServer server =
          LoopbackPath.listening(TcpServer.create().runOn(loops).bindAddress(() -> local), local, loops)
              .handle((in, out) -> in.receive().doOnNext(bytes -> {
                if (received.addAndGet(bytes.readableBytes()) >= SOCKET_BYTES) {
                  all.tryEmitEmpty();
                }
              }).then()).bindNow(LIMIT);
      TcpClient plain =
          TcpClient.create(ConnectionProvider.newConnection()).runOn(loops).remoteAddress(server::address);
      Connection client = LoopbackPath.connecting(plain, server.address(), loops).connectNow(LIMIT);
      long start = nanoClock.getAsLong();
      Mono<Void> sent = client.outbound()
          .send(Flux.range(0, (int) (SOCKET_BYTES / FRAME_BYTES)).map(i -> frame.retainedDuplicate())).then();
      Mono.when(sent, all.asMono()).block(LIMIT);
      long elapsed = nanoClock.getAsLong() - start;
      client.disposeNow(LIMIT);
      server.disposeNow(LIMIT);
      return gigabytesPerSecond(SOCKET_BYTES, elapsed);
    } finally {
      frame.release();
      loops.dispose();
    }
  }

  private static void requireEqual(int mismatch) {
    if (mismatch >= 0) {
      throw new IllegalStateException("bytes must be as generated (differ at " + mismatch + ")");
    }
  }

  private static double gigabytesPerSecond(long bytes, long nanos) {
    return Math.round(bytes * 1e3 / nanos) / 1e3;
  }
}
