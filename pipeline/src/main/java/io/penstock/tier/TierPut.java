package io.penstock.tier;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.block.SliceShape;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.tier.slice.PutRoom;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// A put into a tier of this process. For each window it reserves room, lands the slices, and commits the blocks.
///
/// @param keys distinct, of the tier's space
record TierPut(BlockTier tier, List<BlockKey> keys, PutTerms terms, SliceShape shape, PutSource source) {
  /// Named in errors.
  private static final String BOUNDARY = "store";

  Flux<Receipt> receipts() {
    int blocks = Math.clamp(keys.size(), 1, shape.windowBlocks());
    return Flux.using(BlockScope::new,
        scope -> source.begin(blocks, scope).then(Mono.just(Math.ceilDiv(keys.size(), blocks)))
            .flatMapMany(windows -> Flux.range(0, windows)).concatMap(number -> window(number, blocks), 0),
        BlockScope::close);
  }

  private Flux<Receipt> window(int number, int blocks) {
    int first = number * blocks;
    List<BlockKey> run = keys.subList(first, Math.min(first + blocks, keys.size()));
    return Flux.using(BlockScope::new,
        scope -> tier.reserve(run, terms, scope)
            .flatMapMany(room -> fill(new PutRoom(number, first, run, room))),
        BlockScope::close, false);
  }

  private Flux<Receipt> fill(PutRoom room) {
    if (room.isEmpty()) {
      return Flux.empty();
    }
    // A cancel closes the drafts, so landing or committing may fail; flatMapIterable ignores errors after a cancel
    return source.window(PutSource.Window.of(room.drafts(), shape.sliceBytes())).doOnNext(slice -> land(room, slice))
        .takeUntil(slice -> room.drafts().isOver()).then(Mono.defer(room::commit))
        .flatMapIterable(receipts -> receipts);
  }

  private void land(PutRoom room, LayerSlice slice) {
    try (slice) {
      room.drafts().land(slice, BOUNDARY);
    } catch (IllegalStateException e) {
      throw room.causeOf(e, tier.info().name());
    }
  }
}
