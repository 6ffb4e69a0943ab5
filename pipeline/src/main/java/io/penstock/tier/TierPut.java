package io.penstock.tier;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.block.SliceShape;
import io.penstock.tier.slice.PutRoom;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// A put into a tier of this process: window by window, room is made, the slices land in it, and what is whole is
/// committed.
///
/// @param keys distinct, of the tier's space
record TierPut(BlockTier tier, List<BlockKey> keys, SliceShape shape, PutSource source) {
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
        scope -> tier.reserve(run, scope)
            .flatMapMany(room -> fill(new PutRoom(number, first, run, room), scope)),
        BlockScope::close, false);
  }

  /// What fails because a subscriber left, and its scope closed the drafts, is no failure.
  private Flux<Receipt> fill(PutRoom room, BlockScope scope) {
    if (room.isEmpty()) {
      return Flux.empty();
    }
    return source.window(PutSource.Window.of(room.drafts(), shape.sliceBytes())).doOnNext(slice -> land(room, slice))
        .onErrorComplete(e -> scope.isClosed()).takeUntil(slice -> room.drafts().isOver())
        .then(Mono.defer(room::commit).onErrorComplete(e -> scope.isClosed()))
        .flatMapIterable(receipts -> receipts);
  }

  private void land(PutRoom room, LayerSlice slice) {
    try (slice) {
      room.drafts().land(slice, BOUNDARY);
    } catch (IllegalStateException e) {
      throw room.isRevoked() ? new TierClosedException(tier.info().name()) : e;
    }
  }
}
