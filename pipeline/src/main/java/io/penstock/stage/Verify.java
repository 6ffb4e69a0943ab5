package io.penstock.stage;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.block.Owned;
import java.util.function.Consumer;
import reactor.core.publisher.Flux;

/// Reads every byte and compares it with the checksums it was produced with; only what is equal goes on.
///
/// | | |
/// |---|---|
/// | order, backpressure | those of the source; nothing is held |
/// | ownership | passes handles on; closes the one that differs |
/// | cancel | passed on |
/// | threads | the source's, for about 1 ms for 30 MB |
/// | signals | [io.penstock.block.BlockCorruptException] naming the boundary, at the first difference |
public final class Verify {
  private Verify() {}

  /// @param boundary where the bytes are checked, named in the error: `wire`, `tier host`
  public static Stage<Block, Block> blocks(String boundary) {
    requireNonNull(boundary, "boundary");
    return blocks -> each(blocks, block -> block.verify(boundary));
  }

  /// @param boundary where the bytes are checked, named in the error
  public static Stage<LayerSlice, LayerSlice> slices(String boundary) {
    requireNonNull(boundary, "boundary");
    return slices -> each(slices, slice -> {
      for (LayerSpan span : slice.spans()) {
        span.verify(boundary);
      }
    });
  }

  private static <T extends Owned> Flux<T> each(Flux<T> source, Consumer<T> check) {
    return Quiet.afterCancel(source.map(owned -> {
      try {
        check.accept(owned);
        return owned;
      } catch (RuntimeException e) {
        owned.close();
        throw e;
      }
    }));
  }
}
