package io.penstock.wire;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockArena;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.block.Permits;
import io.penstock.block.SliceOrder;
import io.penstock.block.SlicePlace;
import io.penstock.block.SlicePlan;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// A prefill: claims drafts for a whole window, then computes layer after layer and sends each as soon as it is computed, checksummed in
/// the same pass.
///
/// A put that has credit of the node may wait here for memory. So puts that run at the same time must not share an arena that cannot
/// hold a window of each: one could hold the memory and wait for the credit that another, waiting for that memory, was given.
public final class ProducingSource implements PutSource {
  private final BlockArena arena;
  private final SliceOrder order;
  private final GranuleWriter writer;

  /// @param arena lends the memory that is computed into; at least one window for each put that runs at the same time
  /// @param order layer-first, or block by block
  /// @param writer computes the bytes, on the thread that sends
  public ProducingSource(BlockArena arena, SliceOrder order, GranuleWriter writer) {
    this.arena = requireNonNull(arena, "arena");
    this.order = requireNonNull(order, "order");
    this.writer = requireNonNull(writer, "writer");
  }

  @Override
  public Flux<LayerSlice> window(PutWindow window) {
    return Flux.using(BlockScope::new, scope -> drafts(window.keys(), scope).flatMapMany(drafts -> produce(window, drafts)),
        BlockScope::close);
  }

  private Mono<List<BlockDraft>> drafts(List<BlockKey> keys, BlockScope scope) {
    return Mono.create(sink -> {
      Permits.Ticket ticket = arena.claim(keys, drafts -> {
        drafts.forEach(scope::adopt);
        sink.success(drafts);
      }, sink::error);
      sink.onCancel(ticket::cancel);
    });
  }

  private Flux<LayerSlice> produce(PutWindow window, List<BlockDraft> drafts) {
    List<SlicePlan.Cut> cuts = SlicePlan.of(arena.layout(), drafts.size(), 0, window.maxSliceBytes(), order);
    return Flux.range(0, cuts.size())
        .map(i -> slice(window, drafts, cuts.get(i), new SlicePlace(window.index(), cuts.size() - 1 - i)));
  }

  /// Computes what was not computed yet: a granule is whole, and its checksum known, before the first of its rows is sent.
  private void produce(BlockDraft draft, GranuleRange range) {
    for (GranuleRange missing : draft.unstated(range)) {
      draft.write(missing, memory -> writer.write(draft.key(), missing, memory));
      draft.produced(missing);
    }
  }

  private LayerSlice slice(PutWindow window, List<BlockDraft> drafts, SlicePlan.Cut cut, SlicePlace place) {
    int[] positions = new int[cut.blocks()];
    List<LayerSpan> spans = new ArrayList<>(cut.blocks());
    try {
      for (int i = 0; i < cut.blocks(); i++) {
        positions[i] = window.positions().get(cut.firstBlock() + i);
        BlockDraft draft = drafts.get(cut.firstBlock() + i);
        produce(draft, GranuleRange.whole(cut.range().first(), cut.range().count()));
        spans.add(draft.span(cut.range()));
      }
      return new LayerSlice(place, cut.range(), positions, spans);
    } catch (RuntimeException e) {
      spans.forEach(LayerSpan::close);
      throw e;
    }
  }
}
