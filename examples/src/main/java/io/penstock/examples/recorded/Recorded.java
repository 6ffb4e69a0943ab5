package io.penstock.examples.recorded;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSlice;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.block.SliceShape;
import io.penstock.examples.source.SeededBytes;
import io.penstock.flow.LoadPrefix;
import io.penstock.node.setting.Capacity;
import io.penstock.node.tiers.HostTiers;
import io.penstock.node.tiers.TierPlan;
import io.penstock.recording.MemoryRecording;
import io.penstock.recording.check.RecordingVerifier;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Receipt;
import io.penstock.tier.spi.TierInputs;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import reactor.core.publisher.Flux;

/// Records what a pipeline asks for and gets, and what the tier below it decides; then states what it must be like.
/// Copy from here into a test of your own.
final class Recorded {
  /// A block: 4 layers of keys and values for 16 tokens, 2 heads × 64 elements of BF16: 32 KiB.
  static final CacheSpace SPACE = CacheSpace.of("my-model", BlockLayout.attention(4, 16, 2, 64, ElementType.BF16));

  /// Slices that a reader wants at a time.
  static final int AT_ONCE = 4;

  private static final SliceShape SLICES = SliceShape.defaults().withWindowBlocks(8).withSliceBytes(16 << 10);

  private Recorded() {}

  /// Three prompts through a tier that has room for two of them. The second reader leaves in the middle.
  ///
  /// @return all that happened; equal for each run, as the clock is a count
  static MemoryRecording run() {
    AtomicLong clock = new AtomicLong();
    MemoryRecording recording = MemoryRecording.begin(clock::incrementAndGet, 10_000);
    TierPlan plan = TierPlan.dram(SPACE, Capacity.ofBlocks(40)).withReserveBlocks(16).withWindowBlocks(16);
    BlockTier tier = HostTiers
        .record(plan, true, TierInputs.of(clock::get, ChunkSource.ofSystem()), recording.turns(), 0).tier();
    for (int prompt = 0; prompt < 3; prompt++) {
      List<BlockKey> keys = SPACE.keys(tokens(prompt));
      store(tier, keys).transform(recording.recorder().named("store")).blockLast();
      Flux<LayerSlice> load = load(tier, keys, recording);
      (prompt == 1 ? load.take(5) : load).blockLast();
    }
    tier.close().block();
    return recording;
  }

  /// Layers as a slow reader wants them: the recorder sees the demand that reaches the tier.
  private static Flux<LayerSlice> load(BlockTier tier, List<BlockKey> keys, MemoryRecording recording) {
    return Flux.using(BlockScope::new, scope -> LoadPrefix.layers(tier, keys, SLICES, scope)
        .<LayerSlice>transform(recording.recorder().named("load"))
        .limitRate(AT_ONCE)
        .doOnNext(LayerSlice::close), BlockScope::close);
  }

  private static Flux<Receipt> store(BlockTier tier, List<BlockKey> keys) {
    return Flux.using(BlockScope::new, scope -> tier.reserve(keys, scope).flatMapMany(reservation -> {
      reservation.drafts().forEach(Recorded::write);
      return reservation.commit(reservation.drafts());
    }).flatMapIterable(receipts -> receipts), BlockScope::close);
  }

  private static void write(BlockDraft draft) {
    GranuleRange all = GranuleRange.all(draft.layout());
    draft.write(all, memory -> SeededBytes.fill(draft.key().hash().low(), 0, memory));
    draft.produced(all);
  }

  private static int[] tokens(int prompt) {
    return IntStream.range(0, 16 * 16).map(token -> 1000 * prompt + token).toArray();
  }

  /// What must be true of the recording.
  ///
  /// @throws AssertionError that names the first event that is wrong
  static void verify(MemoryRecording recording) {
    RecordingVerifier.of(recording.events())
        .requestsAtMost("load", AT_ONCE)
        .noElementAfterCancel("load")
        .hasElements("store", 48)
        .layersInOrder()
        .everyStreamEnds()
        .everyHandleCloses()
        .keepsAll()
        .verify();
  }
}
