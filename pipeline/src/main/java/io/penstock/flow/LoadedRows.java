package io.penstock.flow;

import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.operator.Failures;
import io.penstock.tier.BlockTier;
import java.util.Arrays;
import java.util.function.Consumer;

/// Writes the slices of one load into the rows of an engine, and counts what has come. Signals of one stream call it.
final class LoadedRows {
  private final BlockLayout layout;
  private final LentRows rows;
  private final int[] landedBytes;
  /// Of each layer, over the blocks found.
  private final long[] missingBytes;

  /// @param blocks of the load
  LoadedRows(BlockLayout layout, int blocks, LentRows rows) {
    this.layout = layout;
    this.rows = rows;
    this.landedBytes = new int[blocks];
    this.missingBytes = new long[layout.layers()];
  }

  /// The tier has `blocks` blocks, and sends them now.
  void found(int blocks) {
    Arrays.fill(missingBytes, (long) blocks * layout.layerBytes());
    tell(engine -> engine.found(blocks));
  }

  /// @throws IllegalArgumentException if the rows of the tier's blocks are no tokens
  static void requireTokenRows(BlockTier tier) {
    CacheSpace space = tier.info().space();
    if (space.group().stateTokens() > 0) {
      throw new IllegalArgumentException("blocks of the tier must be of tokens (were states)");
    }
    TokenOrder order = space.layout().order();
    if (order != TokenOrder.NHD) {
      throw new IllegalArgumentException("order of the tier's blocks must be NHD (was " + order + ")");
    }
  }

  /// Takes `slice` over.
  void take(LayerSlice slice) {
    try (slice) {
      for (int i = 0; i < slice.spans().size(); i++) {
        take(slice.position(i), slice.spans().get(i));
      }
    } catch (IllegalStateException e) {
      if (!rows.isTakenBack()) { // else the load was cancelled, and its scope has closed the slice
        throw e;
      }
    } catch (Error e) { // of the engine: it fails the load
      throw Failures.unchecked(e);
    }
  }

  private void tell(Consumer<EngineRows> news) {
    try {
      rows.use(news);
    } catch (Error e) { // of the engine: it fails the load
      throw Failures.unchecked(e);
    }
  }

  private void take(int block, LayerSpan span) {
    int firstToken = block * layout.tokens();
    span.verify("engine");
    if (rows.use(engine -> span.read(memory -> {
      layout.forEachRow(span.range(), memory,
          (layer, plane, token, bytes) -> LentRows.row(engine, layer, plane, firstToken + token, bytes)
              .copyFrom(bytes));
      return memory;
    }))) {
      landedBytes[block] += span.bytes();
      count(span.range());
    }
  }

  private void count(GranuleRange range) {
    for (int granule = range.first(); granule < range.end(); granule++) {
      int layer = layout.layerOf(granule);
      missingBytes[layer] -= range.isWhole() ? layout.granuleBytes(granule) : range.bytes(layout);
      if (missingBytes[layer] == 0) {
        tell(engine -> engine.loaded(layer));
      }
    }
  }

  /// Number of blocks, from the first one on, of which all bytes have come.
  int completeBlocks() {
    int complete = 0;
    while (complete < landedBytes.length && landedBytes[complete] == layout.blockBytes()) {
      complete++;
    }
    return complete;
  }
}
