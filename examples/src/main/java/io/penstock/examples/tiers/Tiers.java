package io.penstock.examples.tiers;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSlice;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.PrefixHasher;
import io.penstock.block.SliceShape;
import io.penstock.device.Device;
import io.penstock.device.DeviceStore;
import io.penstock.examples.source.Reading;
import io.penstock.examples.source.SeededBytes;
import io.penstock.examples.source.SliceReader;
import io.penstock.node.tiers.BuiltTiers;
import io.penstock.node.tiers.TierRecording;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.storage.JournalOptions;
import io.penstock.storage.JournalStore;
import io.penstock.tier.BlockTier;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Receipt;
import io.penstock.tier.TierListener;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Opens a stack of three levels, puts blocks into it and reads them layer by layer. Written against the public API
/// only: copy from here.
final class Tiers {
  static final int HBM_BLOCKS = 16;
  static final int DRAM_BLOCKS = 24;
  static final int SSD_BLOCKS = 96;

  /// Blocks that are put together, and read together.
  static final int WINDOW_BLOCKS = 16;

  /// A block: 32 layers of keys and values for 16 tokens, 8 heads × 64 elements of BF16: 1 MiB.
  static final CacheSpace SPACE = CacheSpace.of("my-model", BlockLayout.attention(32, 16, 8, 64, ElementType.BF16));

  /// Slices of 512 KiB, layer after layer: each is one layer of 16 blocks.
  private static final SliceShape SLICES =
      SliceShape.defaults().withWindowBlocks(WINDOW_BLOCKS).withSliceBytes(512 << 10);

  private Tiers() {}

  /// Fastest level first. The stack closes the stores with itself; the device stays the caller's. Waits for the disk
  /// while it is subscribed to, so never on an event loop.
  ///
  /// @param recording of the stack; null for none
  static Mono<BuiltTiers> open(Device device, JournalOptions journal, StackOptions.Mode mode,
      @Nullable TierRecording recording) {
    return Mono.defer(() -> {
      JournalStore ssd = JournalStore.open(SPACE, journal);
      return DeviceStore.open(device, "hbm", SPACE, HBM_BLOCKS)
          .map(hbm -> BuiltTiers.open(SPACE,
              List.of(new StackLevel.Stored(hbm, HBM_BLOCKS), new StackLevel.Host("dram", DRAM_BLOCKS),
                  new StackLevel.Stored(ssd, SSD_BLOCKS)),
              options(mode), TierListener.noop(), recording))
          .onErrorResume(failure -> ssd.close().then(Mono.error(failure)));
    });
  }

  /// Host memory in addition to that of the level: a window on its way in, two on their way to readers, and blocks that
  /// are promoted or demoted.
  private static StackOptions options(StackOptions.Mode mode) {
    return StackOptions.defaults("tiers").withMode(mode).withIngressBlocks(WINDOW_BLOCKS)
        .withTransferBlocks(2 * WINDOW_BLOCKS)
        .withPromotionBlocks(WINDOW_BLOCKS).withBounceBlocks(WINDOW_BLOCKS);
  }

  /// The keys of the first `blocks` blocks of a prompt.
  static List<BlockKey> keys(long seed, int blocks) {
    PrefixHasher hasher = new PrefixHasher(List.of());
    List<BlockKey> keys = new ArrayList<>(blocks);
    BlockHash hash = BlockHash.ROOT;
    for (int i = 0; i < blocks; i++) {
      hash = hasher.next(hash, IntStream.range(0, 16).map(token -> Long.hashCode(seed) + token).toArray());
      keys.add(SPACE.key(hash));
    }
    return keys;
  }

  /// Puts the blocks of `keys`, window after window: reserve, write, commit. Waits for room, so memory stays bounded.
  static Flux<Receipt> put(BlockTier tier, List<BlockKey> keys) {
    return Flux.fromIterable(keys).buffer(WINDOW_BLOCKS).concatMap(window -> putWindow(tier, window), 1);
  }

  private static Flux<Receipt> putWindow(BlockTier tier, List<BlockKey> keys) {
    return Flux.using(BlockScope::new, scope -> tier.reserve(keys, scope).flatMap(reservation -> {
      reservation.drafts().forEach(Tiers::write);
      return reservation.commit(reservation.drafts());
    }).flatMapIterable(receipts -> receipts), BlockScope::close);
  }

  /// Does the work of a model: fills the block, and states the bytes that it wrote.
  private static void write(BlockDraft draft) {
    GranuleRange all = GranuleRange.all(draft.layout());
    draft.write(all, memory -> SeededBytes.fill(draft.key().hash().low(), 0, memory));
    draft.produced(all);
  }

  /// Reads the blocks of `keys` that are there, layer 0 of a window first, each slice as soon as its bytes are up, and
  /// compares them.
  ///
  /// @param recorded what the slices pass through, such as a recorder
  static Mono<Reading> read(BlockTier tier, List<BlockKey> keys,
      Function<Publisher<LayerSlice>, Publisher<LayerSlice>> recorded) {
    return Mono.using(BlockScope::new, scope -> {
      SliceReader reader = new SliceReader(SPACE.layout());
      return tier.lease(keys, OnMiss.SKIP, scope)
          .flatMapMany(lease -> lease.slicedWindows(SLICES, scope))
          .index()
          .concatMap(window -> window.getT2().slices(window.getT1().intValue()), 1)
          .transform(recorded)
          .doOnNext(reader::take)
          .then(Mono.fromSupplier(reader::reading));
    }, BlockScope::close);
  }
}
