package io.penstock.tier;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.block.SliceShape;
import io.penstock.tier.slice.DraftWindow;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Gives the slices of a window when a tier has room for them, so that no block is computed in vain.
@FunctionalInterface
public interface PutSource {
  /// The slices of `window`: every granule of every wanted key once, cut as [io.penstock.tier.slice.SlicePlan] cuts,
  /// with [io.penstock.block.LayerSlice.Position#window()] equal to `window.index()` and falling `remaining`.
  ///
  /// Subscribed once, after the slices of the window before were taken. The tier requests slices as it can take them,
  /// and closes each.
  Flux<LayerSlice> window(Window window);

  /// Lets a put begin, perhaps after a wait. Subscribed once, before the tier hears of the put.
  ///
  /// A source lets no more puts begin than it can serve at one time. Waiting later, in [#window], could deadlock: the
  /// waiting put has the tier's credit, and the put that has the memory waits for credit.
  ///
  /// @param blocks most blocks of a window of this put
  /// @param scope owns what the put holds, and closes when the put ends
  default Mono<Void> begin(int blocks, BlockScope scope) {
    return Mono.empty();
  }

  /// Gives finished blocks, without a copy. The blocks stay the caller's.
  ///
  /// @param blocks one for each key of the put, in the order of the keys
  static PutSource of(List<Block> blocks, SliceShape.Order order) {
    return window -> {
      List<LeasedBlock> leased = new ArrayList<>(window.positions().size());
      try {
        for (int position : window.positions()) {
          leased.add(new LeasedBlock(position, blocks.get(position).share()));
        }
      } catch (RuntimeException | Error e) { // closed meanwhile: the put was cancelled
        leased.forEach(one -> one.block().close());
        throw e;
      }
      return LeasedWindow.of(leased, new SliceShape(leased.size(), window.maxSliceBytes(), order, 0))
          .slices(window.index());
    };
  }

  /// A window for which a tier has room now.
  ///
  /// @param index number of the window, from 0
  /// @param positions for each wanted key its index in the request
  /// @param keys the wanted keys, in order
  /// @param maxSliceBytes most payload bytes a slice
  public record Window(int index, List<Integer> positions, List<BlockKey> keys, int maxSliceBytes) {
    public Window {
      positions = List.copyOf(positions);
      keys = List.copyOf(keys);
      if (positions.size() != keys.size()) {
        throw new IllegalArgumentException(
            "positions must be as many as keys (was " + positions.size() + ", " + keys.size() + ")");
      }
    }

    /// The window whose wanted keys are those of `drafts`.
    static Window of(DraftWindow drafts, int maxSliceBytes) {
      return new Window(drafts.number(), List.copyOf(drafts.byPosition().keySet()),
          drafts.drafts().stream().map(BlockDraft::key).toList(), maxSliceBytes);
    }
  }
}
