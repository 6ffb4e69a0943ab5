package io.penstock.lab.bench.side;

import io.penstock.check.Checks;
import io.penstock.tier.ByteBudget;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.segment.SegmentConnector;
import io.penstock.wire.protocol.Carrier;
import io.penstock.wire.transfer.RemoteSegment;
import io.penstock.wire.transfer.Transfer;
import io.penstock.wire.transfer.TransferBatch;
import io.penstock.wire.transfer.TransferEngine;
import io.penstock.wire.transfer.TransferListener;
import io.penstock.wire.transfer.TransferOptions;
import io.rsocket.transport.ClientTransport;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// Batches of a transfer engine against [BenchSegments], a fixed number of them under way; its units are bytes.
///
/// Each batch under way has a region of the segments and of local memory to itself. If verified, a read is compared
/// with the content of the segment, and a written region is read back and compared.
public final class TransferLoad implements Load {
  private static final String PEER = "far";
  private static final int WAITERS = 1 << 16;
  private static final long VERIFIED_REGIONS = 4;

  /// @param kind of the memory at either side
  public record Shape(int blockBytes, int batch, TransferDirection direction, MemoryKind kind) {
    public Shape {
      Checks.positive("--blocks", blockBytes);
      Checks.positive("--batch", batch);
    }

    long regionBytes() {
      return (long) blockBytes * batch;
    }

    /// @throws IllegalArgumentException if the memory has no region for each batch that is under way
    public int regions(SideSetting setting) {
      long regions = setting.sourceBytes() / regionBytes();
      if (regions < setting.threads()) {
        throw new IllegalArgumentException("--source must be >= --threads × --batch × --blocks, %d bytes (was %d)"
            .formatted(setting.threads() * regionBytes(), setting.sourceBytes()));
      }
      // Verified batches have memory of their own to compare with
      return Math.toIntExact(setting.verify() ? Math.min(regions, VERIFIED_REGIONS * setting.threads()) : regions);
    }
  }

  private final Shape shape;
  private final boolean verify;
  private final Arena arena = Arena.ofShared();
  private final Scheduler timers = Schedulers.newSingle("penstock-near-timers", true);
  private final List<TransferEngine> engines = new ArrayList<>();
  private final Queue<Region> free = new ConcurrentLinkedQueue<>();
  private final AtomicLong turns = new AtomicLong();
  private final Carriers carried = new Carriers();
  private final RequestLoad requests;
  private final BenchMemory local;
  private final MemorySegment expected;

  TransferLoad(SideSetting setting, Shape shape, Supplier<ClientTransport> transports) {
    this.shape = shape;
    this.verify = setting.verify();
    this.local = BenchMemory.of(shape.kind(), setting.sourceBytes(), setting.transport().chunks());
    this.expected = verify ? arena.allocate(setting.sourceBytes(), 64) : MemorySegment.NULL;
    if (verify) {
      BenchSegments.fill(expected);
    }
    ByteBudget budget = new ByteBudget("bench", WireShape.BUDGET_BYTES, WAITERS);
    KvClientOptions options =
        KvClientOptions.builder().name("bench").maxSliceBytes(WireShape.SLICE_BYTES)
            .carriers(setting.transport().carrier()).build();
    for (int i = 0; i < setting.connections(); i++) {
      engines.add(new TransferEngine(TransferOptions.defaults().withName("bench"),
          new SegmentConnector(peer -> transports.get(), options, budget), timers, new SplittableRandom(i), carried));
    }
    List<RemoteSegment> segments = BenchWait.of(engines.getFirst().segments(PEER));
    for (int i = 0; i < shape.regions(setting); i++) {
      free.add(new Region(i * shape.regionBytes(), named(segments, BenchSegments.READ),
          named(segments, BenchSegments.WRITE)));
    }
    this.requests = new RequestLoad(setting.threads(), this::next, () -> {});
  }

  private static RemoteSegment named(List<RemoteSegment> segments, String name) {
    return segments.stream().filter(segment -> segment.segment().name().equals(name)).findFirst().orElseThrow();
  }

  /// A part of the segments, and of local memory.
  private final class Region {
    private final long offset;
    private final TransferBatch read;
    private final TransferBatch write;
    private final TransferBatch readBack;
    /// Bytes to write, and bytes read; for verified loads.
    private final MemorySegment sent;
    private final MemorySegment came;

    Region(long offset, RemoteSegment from, RemoteSegment to) {
      this.offset = offset;
      this.read = batch(TransferBatch.Direction.READ, from);
      this.write = batch(TransferBatch.Direction.WRITE, to);
      this.readBack = verify ? batch(TransferBatch.Direction.READ, to) : write;
      this.sent = verify ? arena.allocate(shape.regionBytes(), 64) : MemorySegment.NULL;
      this.came = verify ? arena.allocate(shape.regionBytes(), 64) : MemorySegment.NULL;
    }

    private TransferBatch batch(TransferBatch.Direction direction, RemoteSegment remote) {
      TransferBatch.Builder batch = TransferBatch.builder();
      for (int i = 0; i < shape.batch(); i++) {
        batch.add(local.item(direction, remote, offset + (long) i * shape.blockBytes(), shape.blockBytes()));
      }
      return batch.build();
    }

    Mono<Long> read(TransferEngine engine) {
      return verify
          ? readAnew(engine, read, expected.asSlice(offset, shape.regionBytes()))
          : moved(engine, read);
    }

    Mono<Long> write(TransferEngine engine, long turn) {
      if (!verify) {
        return moved(engine, write);
      }
      sent.fill((byte) turn).set(ValueLayout.JAVA_LONG, 0, turn);
      return local.put(offset, sent).then(moved(engine, write))
          .flatMap(bytes -> readAnew(engine, readBack, sent).thenReturn(bytes));
    }

    /// Clears the memory first, so that bytes of an earlier turn are not mistaken for new ones.
    private Mono<Long> readAnew(TransferEngine engine, TransferBatch batch, MemorySegment right) {
      return Mono.defer(() -> local.put(offset, came.fill((byte) 0x5A))).then(moved(engine, batch))
          .flatMap(bytes -> local.get(offset, came).thenReturn(bytes)).doOnNext(bytes -> {
            long wrong = came.mismatch(right);
            if (wrong >= 0) {
              throw new WrongBytesException("byte " + (offset + wrong) + " of a segment");
            }
          });
    }
  }

  private Mono<Long> next() {
    long turn = turns.getAndIncrement();
    TransferEngine engine = engines.get((int) (turn % engines.size()));
    Region region = free.remove();
    Mono<Long> bytes =
        shape.direction().reads(turn / engines.size()) ? region.read(engine) : region.write(engine, turn);
    return bytes.doOnNext(done -> free.add(region));
  }

  private static Mono<Long> moved(TransferEngine engine, TransferBatch batch) {
    return Mono.defer(() -> engine.submit(batch).done()).map(TransferLoad::whole);
  }

  private static long whole(Transfer.BatchResult result) {
    if (!result.isWhole()) {
      throw new IllegalStateException("all items must complete (was " + result.counts() + ")", result.firstError());
    }
    return result.bytes();
  }

  @Override
  public Done run(long nanos) {
    return requests.run(nanos);
  }

  @Override
  public List<String> carriedBy() {
    return carried.words();
  }

  /// Carriers of the bytes, each with the transport of its frames.
  private static final class Carriers implements TransferListener {
    private final Set<String> words = new ConcurrentSkipListSet<>();

    @Override
    public boolean hearsItems() {
      return false;
    }

    @Override
    public void carried(String peer, String transport, TransferBatch.Direction direction, long bytes,
        long sharedBytes) {
      if (sharedBytes > 0) {
        words.add(Carrier.SHARED_MEMORY.label() + " over " + transport);
      }
      if (sharedBytes < bytes) {
        words.add(Carrier.INLINE.label() + " over " + transport);
      }
    }

    List<String> words() {
      return List.copyOf(words);
    }
  }

  @Override
  public void close() {
    engines.forEach(engine -> BenchWait.end(engine.close()));
    timers.dispose();
    local.close();
    arena.close();
  }
}
