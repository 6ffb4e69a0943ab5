package io.penstock.wire.cluster.tier;

import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.block.SliceShape;
import io.penstock.tier.LeasedBlock;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Flux;

/// What came of the slices of one run, so that another member can give the rest: no row comes twice, and none is left
/// out. Signals of one stream call it, one after another.
final class SliceProgress {
  private final BlockLayout layout;
  private final SliceShape shape;
  private final KeyRun run;
  private final int firstWindow;
  private final BitSet missing;
  /// Rows that came of each granule, for blocks of the window that has begun.
  private final Map<Integer, int[]> begun = new HashMap<>();
  private int window;

  /// @param run whose positions are those of its slices
  /// @param found positions in the request that are to come
  /// @param firstWindow number of its first window
  SliceProgress(BlockLayout layout, SliceShape shape, KeyRun run, BitSet found, int firstWindow) {
    this.layout = layout;
    this.shape = shape;
    this.run = run;
    this.firstWindow = firstWindow;
    this.window = firstWindow;
    this.missing = (BitSet) found.clone();
  }

  /// A slice that came, as one of the whole request.
  LayerSlice take(LayerSlice slice, BlockScope scope) {
    int[] positions = new int[slice.spans().size()];
    for (int i = 0; i < positions.length; i++) {
      positions[i] = run.positions()[slice.position(i)];
      count(positions[i], slice.range());
    }
    window = firstWindow + slice.place().window();
    if (slice.place().remaining() == 0) {
      end();
    }
    return run.isPrefix() && firstWindow == 0
        ? slice
        : scope.adopt(slice.renamed(new LayerSlice.Position(window, slice.place().remaining()), positions));
  }

  private void count(int position, GranuleRange range) {
    int[] rows = begun.computeIfAbsent(position, none -> new int[layout.granules()]);
    for (int granule = range.first(); granule < range.end(); granule++) {
      rows[granule] = range.isWhole() ? layout.rows(granule) : range.firstRow() + range.rows();
    }
  }

  /// The window that had begun is whole.
  private void end() {
    begun.keySet().forEach(missing::clear);
    begun.clear();
    window++;
  }

  /// Number of the window behind those that have begun.
  int nextWindow() {
    return begun.isEmpty() ? window : window + 1;
  }

  /// Blocks of a window that has begun and is not whole.
  BitSet begun() {
    BitSet positions = new BitSet();
    begun.keySet().forEach(positions::set);
    return positions;
  }

  /// Blocks of which nothing came.
  BitSet untouched() {
    BitSet positions = (BitSet) missing.clone();
    positions.andNot(begun());
    return positions;
  }

  /// The slices that the begun window lacks, each made when it is requested.
  ///
  /// @param blocks all of [#begun()]; they stay the caller's
  Flux<LayerSlice> rest(List<LeasedBlock> blocks, BlockScope scope) {
    List<Piece> pieces = new ArrayList<>();
    for (LeasedBlock block : blocks) {
      addPieces(pieces, block);
    }
    int number = window;
    return Flux.range(0, pieces.size()).map(i -> {
      Piece piece = pieces.get(i);
      LayerSpan span = piece.block.block().span(piece.range);
      return scope.adopt(new LayerSlice(new LayerSlice.Position(number, pieces.size() - 1 - i), piece.range,
          new int[] {piece.block.position()}, List.of(span)));
    }).doOnComplete(this::end);
  }

  private record Piece(LeasedBlock block, GranuleRange range) {}

  /// Granules of which nothing came, as many together as a slice holds; of others the rows that did not come.
  private void addPieces(List<Piece> pieces, LeasedBlock block) {
    int[] rows = begun.getOrDefault(block.position(), new int[layout.granules()]);
    int first = GranuleRange.layers(layout, shape.startLayer(), layout.layers()).first();
    int from = first;
    for (int granule = first; granule < layout.granules(); granule++) {
      boolean joins = rows[granule] == 0
          && (granule == from || GranuleRange.whole(from, granule + 1 - from).bytes(layout) <= shape.sliceBytes());
      if (joins) {
        continue;
      }
      if (granule > from) {
        pieces.add(new Piece(block, GranuleRange.whole(from, granule - from)));
      }
      from = granule;
      if (rows[granule] > 0) {
        if (rows[granule] < layout.rows(granule)) {
          pieces.add(new Piece(block,
              GranuleRange.rows(granule, rows[granule], layout.rows(granule) - rows[granule])));
        }
        from = granule + 1;
      }
    }
    if (from < layout.granules()) {
      pieces.add(new Piece(block, GranuleRange.whole(from, layout.granules() - from)));
    }
  }
}
