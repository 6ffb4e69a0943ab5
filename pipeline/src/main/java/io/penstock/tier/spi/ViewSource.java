package io.penstock.tier.spi;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.LayerSlice;
import io.penstock.block.SliceShape;
import io.penstock.tier.BlockTier;
import io.penstock.tier.OnMiss;
import io.penstock.tier.spi.ViewLanding.Landed;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.UnaryOperator;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Source of views of blocks: a node, or a tier of this process.
public interface ViewSource {
  /// Space of the blocks there.
  CacheSpace space();

  /// Number of this start of the source; 0 if it does not report it.
  default long generation() {
    return 0;
  }

  /// The acknowledgement that a cancel lacks.
  ///
  /// @return cold; completes when no fetch that was cancelled before holds anything at the source, or writes here; a
  ///     source that is gone holds nothing
  default Mono<Void> drained() {
    return Mono.empty();
  }

  /// Fetches the view of `landing` of each block of `keys`, and lands it.
  ///
  /// | | |
  /// |---|---|
  /// | order | layer by layer in each window of blocks, unless the source cuts otherwise |
  /// | backpressure | slices; landed slices wait for a reader |
  /// | ends | when every block that the source has, or awaits, has landed; a miss ends it with an error |
  /// | cancel | nothing lands any more; drafts stay as they are |
  /// | signals | [io.penstock.block.BlockCorruptException], [io.penstock.block.IncompleteBlockException] of the first |
  /// | | missing block, [io.penstock.block.UnexpectedSliceException], and those of the source |
  ///
  /// @param keys distinct, of [#space()]; none asks nothing and completes
  /// @param onMiss `SKIP`, or `AWAIT` for blocks that are being produced
  /// @return a cold stream; each subscription asks once
  Flux<Landed> fetch(List<BlockKey> keys, OnMiss onMiss, ViewLanding landing);

  /// The blocks of a tier of this process.
  static ViewSource of(BlockTier tier, SliceShape shape) {
    return of(tier, shape, slices -> slices);
  }

  /// A source behind a link.
  ///
  /// @param link passes slices on, for instance after some time; it drops none
  static ViewSource of(BlockTier tier, SliceShape shape, UnaryOperator<Flux<LayerSlice>> link) {
    return new ViewSource() {
      @Override
      public CacheSpace space() {
        return tier.info().space();
      }

      @Override
      public Flux<Landed> fetch(List<BlockKey> keys, OnMiss onMiss, ViewLanding landing) {
        return keys.isEmpty()
            ? Flux.empty()
            : Flux.using(BlockScope::new, scope -> tier.lease(keys, onMiss, scope)
                .flatMapMany(lease -> landed(lease.views(landing.view(), shape, scope).transform(link), keys, landing)),
                BlockScope::close);
      }
    };
  }

  private static Flux<Landed> landed(Flux<LayerSlice> slices, List<BlockKey> keys, ViewLanding landing) {
    return slices.map(slice -> {
      try (slice) {
        return land(slice, keys, landing);
      }
    }).doOnComplete(() -> {
      for (int i = 0; i < keys.size(); i++) {
        landing.requireComplete(i, keys.get(i));
      }
    });
  }

  private static Landed land(LayerSlice slice, List<BlockKey> keys, ViewLanding landing) {
    int blocks = slice.spans().size();
    int each = slice.bytes() / blocks;
    try (Arena memory = Arena.ofConfined()) {
      MemorySegment packed = memory.allocate(each);
      for (int i = 0; i < blocks; i++) {
        int[] checksums = slice.pack(i, packed, "tier");
        int position = slice.position(i);
        landing.land(position, keys.get(position), slice.requireView(), checksums, packed, "tier");
      }
    }
    return new Landed(slice.requireView(), blocks, slice.bytes());
  }
}
