package io.penstock.wire;

import static java.util.Objects.requireNonNull;

import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.tier.ByteBudget;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.segment.SegmentConnector;
import io.penstock.wire.protocol.Carrier;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.server.space.NodeSpaces;
import io.penstock.wire.transfer.SegmentRegistry;
import io.penstock.wire.transfer.Transfer;
import io.penstock.wire.transfer.TransferBatch;
import io.penstock.wire.transfer.TransferEngine;
import io.penstock.wire.transfer.TransferOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/// A node with a segment, and an engine that reads and writes it without end, whose bytes go through shared memory.
final class SharedSegmentsPeer {
  static final int BYTES = 1 << 20;
  static final byte WRITTEN = 5;
  static final byte READABLE = 7;
  private static final int ITEMS = 8;

  private SharedSegmentsPeer() {}

  /// A node whose segment has [#BYTES] to read, then as many to write.
  static KvServer serve(SegmentRegistry registry, String memory) {
    MemorySegment segment = ChunkSource.shared(memory).chunk(2L * BYTES); // until the process ends
    segment.asSlice(0, BYTES).fill(READABLE);
    registry.register("kv", segment);
    return requireNonNull(KvServer
        .bind(Link.SHARED_MEMORY.server(), NodeSpaces.none(), registry, KvServerOptions.defaults(),
            new ByteBudget("node", 64 << 20, 64), Schedulers.single(), Schedulers.immediate())
        .block(WireNode.PATIENCE));
  }

  static TransferEngine engine(ByteBudget budget) {
    return new TransferEngine(TransferOptions.defaults(),
        new SegmentConnector(port -> Link.SHARED_MEMORY.client(Integer.parseInt(port)),
            KvClientOptions.builder().carriers(Carrier.SHARED_MEMORY).build(), budget),
        Schedulers.single(), new SplittableRandom(1));
  }

  /// Reads and writes of the node at `port`, from memory that is shared and from memory that is not.
  static TransferBatch batch(int port, Arena arena, MemorySegment shared) {
    TransferBatch.Builder batch = TransferBatch.builder();
    for (int i = 0; i < ITEMS; i++) {
      MemorySegment from = i % 4 == 0 ? shared : arena.allocate(BYTES, 64);
      if (i % 2 == 0) {
        batch.write("" + port, "kv", BYTES, from.fill(WRITTEN));
      } else {
        batch.read("" + port, "kv", 0, from);
      }
    }
    return batch.build();
  }

  static Flux<Transfer.BatchResult> endless(TransferEngine engine, TransferBatch batch) {
    return Mono.defer(() -> engine.submit(batch).done()).repeat();
  }

  static void serveForever() {
    System.out.println(Link.SHARED_MEMORY.port(serve(new SegmentRegistry(1), "killed-segments")));
  }

  static void moveForever(int port) {
    TransferEngine engine = engine(new ByteBudget("engine", 64 << 20, 64));
    TransferBatch batch = batch(port, Arena.global(), ChunkSource.shared("killed-batches").chunk(BYTES));
    endless(engine, batch).skip(2).take(1).blockLast(WireNode.PATIENCE);
    System.out.println("running");
    endless(engine, batch).subscribe();
  }
}
