package io.penstock.wire.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.ByteBudget;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.segment.SegmentConnector;
import io.penstock.wire.protocol.Carrier;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.server.space.NodeSpaces;
import io.penstock.wire.simulate.Direction;
import io.penstock.wire.simulate.LinkFault;
import io.penstock.wire.simulate.LinkPlan;
import io.penstock.wire.simulate.SimulatedLink;
import io.penstock.wire.simulate.SimulatedTime;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/// Destinations that are slow or stand still, in virtual time.
@Timeout(60)
final class SlowDestinationTest {
  private static final int SLICE = 64 << 10;
  private static final int ITEM = 256 << 10;
  private static final int ITEMS = 32;
  private static final long FAST = 100_000_000;
  private static final long SLOW = 1_000_000;

  @Test
  void slowDestination_leavesTheOthersTheirRate() {
    for (TransferBatch.Direction direction : TransferBatch.Direction.values()) {
      double alone = rate(direction, FAST);
      double beside = rate(direction, SLOW);

      assertThat(beside).as(direction + ": bytes a second of seven destinations, " + alone + " without the slow one")
          .isGreaterThan(0.9 * alone);
      assertThat(alone).isGreaterThan(0.5 * 7 * FAST);
    }
  }

  /// A write that is stopped while the link stands still ends when its frames are gone, with their connection.
  @Test
  void stoppedWrite_endsWhenNoFrameRefersToItsMemory() {
    SimulatedTime time = new SimulatedTime(6);
    try (LeakLedger leaks = new LeakLedger(); Arena arena = Arena.ofShared(); var _ = time.captureDefaults()) {
      ByteBudget own = leaks.watch(new ByteBudget("engine", 8 << 20, 64));
      SegmentRegistry registry = new SegmentRegistry(1);
      registry.register("kv", arena.allocate(ITEM));
      SimulatedLink link = SimulatedLink.of(time, "node", UnpooledByteBufAllocator.DEFAULT,
          LinkPlan.quiet().withFaults(new LinkFault.Stall(Direction.UP, 5, Duration.ofMinutes(1))));
      KvServer server = now(time, KvServer.bind(link.server(), NodeSpaces.none(), registry,
          KvServerOptions.defaults().withLimits(new Limits(SLICE, 4, 16)),
          leaks.watch(new ByteBudget("node", 8 << 20, 64)), time.scheduler(), Schedulers.immediate()));
      KvClientOptions client = KvClientOptions.builder().maxSliceBytes(SLICE).carriers(Carrier.INLINE).build();
      TransferEngine engine = new TransferEngine(TransferOptions.defaults(),
          new SegmentConnector(name -> link.client(), client, own), time.scheduler(), new SplittableRandom(1));
      Transfer transfer = engine.submit(TransferBatch.builder().write("node", "kv", 0, arena.allocate(ITEM)).build());
      AtomicLong heldAtEnd = new AtomicLong(-1);
      transfer.results().subscribe(result -> heldAtEnd.set(own.inUseBytes()));
      time.advance(Duration.ofMillis(100));
      assertThat(own.inUseBytes()).as("bytes of frames that stand still").isPositive();

      CompletableFuture<Transfer.BatchResult> done = transfer.cancel().toFuture();
      time.advance(Duration.ofSeconds(1));
      assertThat(transfer.state(0)).isEqualTo(TransferState.IN_PROGRESS);

      assertThat(time.runUntil(done::isDone, Duration.ofSeconds(10))).isTrue();
      assertThat(heldAtEnd).hasValue(0);
      assertThat(done.join().count(TransferState.CANCELLED)).isEqualTo(1);
      now(time, engine.close());
      now(time, server.close());
    }
  }

  /// Bytes a second that seven destinations get beside an eighth of `eighth` bytes a second.
  private static double rate(TransferBatch.Direction direction, long eighth) {
    SimulatedTime time = new SimulatedTime(5);
    try (LeakLedger leaks = new LeakLedger(); Arena arena = Arena.ofShared(); var _ = time.captureDefaults()) {
      ByteBudget own = leaks.watch(new ByteBudget("engine", 8 << 20, 64));
      MemorySegment local = arena.allocate(ITEM);
      Map<String, SimulatedLink> links = new HashMap<>();
      List<KvServer> servers = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        SegmentRegistry registry = new SegmentRegistry(1);
        registry.register("kv", arena.allocate(ITEM));
        LinkPlan plan = LinkPlan.quiet().withBytesPerSecond(i == 7 ? eighth : FAST).withWindowBytes(1 << 20);
        SimulatedLink link = SimulatedLink.of(time, "node-" + i, UnpooledByteBufAllocator.DEFAULT, plan);
        links.put("node-" + i, link);
        servers.add(now(time, KvServer.bind(link.server(), NodeSpaces.none(), registry,
            KvServerOptions.defaults().withLimits(new Limits(SLICE, 4, 16)),
            leaks.watch(new ByteBudget("node", 8 << 20, 64)), time.scheduler(), Schedulers.immediate())));
      }
      KvClientOptions client = KvClientOptions.builder().maxSliceBytes(SLICE).sendWindowBytes(1 << 20)
          .carriers(Carrier.INLINE).build();
      TransferEngine engine = new TransferEngine(TransferOptions.defaults(),
          new SegmentConnector(name -> links.get(name).client(), client, own), time.scheduler(),
          new SplittableRandom(1));
      TransferBatch.Builder slow = TransferBatch.builder();
      TransferBatch.Builder fast = TransferBatch.builder();
      IntStream.range(0, ITEMS).forEach(i -> links.keySet().stream().sorted().forEach(name -> (name.equals("node-7")
          ? slow
          : fast).add(new TransferBatch.Item(direction, name, "kv", null, 0, List.of(local)))));
      Transfer eighthToo = engine.submit(slow.build());
      long began = time.nanos();
      CompletableFuture<Transfer.BatchResult> done = engine.submit(fast.build()).done().toFuture();
      assertThat(time.runUntil(done::isDone, Duration.ofMinutes(1))).isTrue();
      long took = time.nanos() - began;
      assertThat(done.join().isWhole()).isTrue();
      assertThat(own.peakBytes()).isLessThanOrEqualTo(own.capacityBytes());
      assertThat(eighthToo.state(ITEMS - 1)).isNotEqualTo(TransferState.FAILED);
      now(time, engine.close());
      servers.forEach(server -> now(time, server.close()));
      return done.join().bytes() * 1e9 / took;
    }
  }

  private static <T> T now(SimulatedTime time, Mono<T> work) {
    CompletableFuture<T> result = work.toFuture();
    assertThat(time.runUntil(result::isDone, Duration.ofMinutes(1))).as("done").isTrue();
    return result.join();
  }
}
