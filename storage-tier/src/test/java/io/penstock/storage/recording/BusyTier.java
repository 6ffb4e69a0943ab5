package io.penstock.storage.recording;

import static java.util.Objects.requireNonNull;

import io.penstock.KvException;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.EvictionPolicy;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSlice;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SliceShape;
import io.penstock.recording.Payloads;
import io.penstock.recording.Player;
import io.penstock.recording.Player.Outcome;
import io.penstock.recording.Player.PlayedStoreSpec;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedTier;
import io.penstock.recording.Script;
import io.penstock.recording.Turns;
import io.penstock.stack.TierStack;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.Eventually;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.Medium;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.TierInputs;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import reactor.core.publisher.Mono;

/// A tier of three levels that is recorded, and what clients do with it. Bytes of a block differ each time it is put.
final class BusyTier implements AutoCloseable {
  /// Blocks of 4 KiB, in granules of 1 KiB.
  static final CacheSpace SPACE = CacheSpace.of("busy", BlockLayout.attention(2, 16, 4, 8, ElementType.BF16));
  /// Blocks of 512 KiB, in granules of 128 KiB.
  static final CacheSpace LONG = CacheSpace.of("long", BlockLayout.attention(2, 256, 16, 16, ElementType.BF16));
  static final Duration SOON = Duration.ofSeconds(20);
  private static final int KEYS = 24;
  private static final int MOST_KEYS = 3;

  final RecordedTier tier;
  private final MemoryStore disk;
  private final CacheSpace space;

  /// The tier, opened again to be played.
  record World(CacheSpace space) implements Player.World {
    @Override
    public List<PlayedStoreSpec> stores(RecordedEvent opened) {
      return List.of(new PlayedStoreSpec("ssd", Medium.DISK, space, Durability.WRITTEN, Long.MAX_VALUE));
    }

    @Override
    public BlockTier open(RecordedEvent opened, TierInputs inputs, List<BlockStore> stores) {
      return new TierStack(space,
          List.of(new StackLevel.Host("dram", 6), new StackLevel.Stored(stores.getLast(), 12)),
          StackOptions.defaults("stack").withIngressBlocks(4).withTransferBlocks(3).withPromotionBlocks(2)
              .withBounceBlocks(1).withBatchBlocks(2).withExact(true).withPolicy(EvictionPolicy.LRU),
          TierListener.noop(), inputs, StackOptions.Sampling.none());
    }

    @Override
    public void expire(BlockTier tier) {
      ((TierStack) tier).expire();
    }
  }

  BusyTier(Script script) {
    this(script, SPACE);
  }

  BusyTier(Script script, CacheSpace space) {
    this(new Turns(System::nanoTime, script),
        new MemoryStore("ssd", Medium.DISK, space, Long.MAX_VALUE, Runnable::run));
  }

  BusyTier(Turns turns, MemoryStore disk) {
    this.disk = disk;
    this.space = disk.space();
    this.tier = RecordedTier.open(turns, 0, "", TierInputs.ofSystem(), List.of(disk),
        (inputs, stores) -> new World(space).open(RecordedEvent.gap(0), inputs, stores));
  }

  MemoryStore disk() {
    return disk;
  }

  /// Plays a recording.
  static Outcome play(Path folder) {
    return play(folder, SPACE);
  }

  static Outcome play(Iterator<RecordedEvent> events, CacheSpace space, Payloads payloads) {
    try (Player player = new Player(events, new World(space), payloads)) {
      return player.play();
    }
  }

  static Outcome play(Path folder, CacheSpace space) {
    try (RecordingReader reader = RecordingReader.open(folder)) {
      return play(reader, space, reader.payloads());
    }
  }

  void work(long seed, int rounds) {
    Random random = new Random(seed);
    for (int round = 0; round < rounds; round++) {
      step(random);
    }
  }

  void step(Random random) {
    List<BlockKey> keys = keys(random);
    try {
      switch (random.nextInt(6)) {
        case 0, 1 -> put(keys, random.nextLong());
        case 2 -> requireNonNull(tier.remove(keys).block(SOON));
        default -> read(keys, random.nextBoolean()).block(SOON);
      }
    } catch (KvException e) {
      // Full or busy: recorded like everything else
    }
  }

  private List<BlockKey> keys(Random random) {
    int from = random.nextInt(KEYS);
    return Blocks.keys(space, from, from + 1 + random.nextInt(MOST_KEYS));
  }

  void put(List<BlockKey> keys, long word) {
    try (BlockScope scope = new BlockScope()) {
      Reservation reservation = tier.reserve(keys, scope).block(SOON);
      if (reservation == null) {
        return;
      }
      reservation.drafts().forEach(draft -> produce(draft, word));
      reservation.commit(reservation.drafts()).block(SOON);
      reservation.close();
    }
  }

  private static void produce(BlockDraft draft, long word) {
    GranuleRange all = GranuleRange.all(draft.layout());
    draft.write(all, memory -> {
      for (long at = 0; at < memory.byteSize(); at += Long.BYTES) {
        memory.set(ValueLayout.JAVA_LONG_UNALIGNED, at, word * (at + 1) + draft.key().hash().low());
      }
    });
    draft.produced(all);
  }

  /// Reads blocks, whole or slice by slice, with demand for two slices at a time.
  Mono<Void> read(List<BlockKey> keys, boolean slices) {
    return Mono.using(BlockScope::new, scope -> tier.lease(keys, OnMiss.SKIP, scope).flatMap(lease -> slices
        ? lease.slices(SliceShape.defaults().withWindowBlocks(2).withSliceBytes(2048), scope).limitRate(2)
            .doOnNext(LayerSlice::close).then(closed(lease))
        : lease.windows(2, scope).limitRate(1).doOnNext(window -> window.forEach(each -> each.block().close()))
            .then(closed(lease))),
        BlockScope::close);
  }

  private static Mono<Void> closed(Lease lease) {
    return Mono.fromRunnable(lease::close);
  }

  @Override
  public void close() {
    tier.close().block(SOON);
  }

  /// Records a tier until the process is killed: some rounds for each byte that comes in.
  static final class Recording {
    private static final int ROUNDS = 64;

    private Recording() {}

    /// @param arguments folder, seed
    static void main(String... arguments) throws IOException {
      Path folder = Path.of(arguments[0]);
      RecordingWriter writer = RecordingWriter.begin(folder, RecordingWriter.Options.defaults()
          .withSegmentBytes(1 << 20).withPayloads(true).withWhenFull(RecordingWriter.WhenFull.WAIT), "{}");
      Eventually.holds("its first page is on disk", () -> isReadable(folder));
      BusyTier busy = new BusyTier(writer);
      Random random = new Random(Long.parseLong(arguments[1]));
      while (System.in.read() >= 0) {
        System.out.write('+');
        System.out.flush();
        for (int round = 0; round < ROUNDS; round++) {
          busy.step(random);
        }
      }
    }

    private static boolean isReadable(Path folder) {
      try (RecordingReader reader = RecordingReader.open(folder)) {
        return reader.hasNext();
      }
    }
  }
}
