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
import io.penstock.block.SlicePosition;
import io.penstock.block.SlicePlan;
import io.penstock.tier.ByteBudget;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// A prefill: claims drafts for a whole window, then computes layer after layer and sends each as soon as it is
/// computed, checksummed in the same pass.
///
/// Puts of one source may run at the same time, over any number of connections: as many as the arena holds windows of
/// begin, the others wait in line, first come, first served. Whatever else claims memory of the arena is not counted:
/// it must give it back without waiting for one of these puts, or a put could wait for memory until the node ends it as
/// silent. So share one source, not one arena.
public final class ProducingSource implements PutSource {
  /// Longest line of puts that wait for their turn; one more fails with [io.penstock.block.BudgetExhaustedException].
  private static final int MAX_WAITING_PUTS = 1024;

  private final BlockArena arena;
  private final SliceOrder order;
  private final GranuleWriter writer;
  /// Counts blocks, not bytes: one window for each put under way.
  private final ByteBudget turns;

  /// @param arena lends the memory that is computed into; at least one window
  /// @param order layer-first, or block by block
  /// @param writer computes the bytes, on the thread that sends
  public ProducingSource(BlockArena arena, SliceOrder order, GranuleWriter writer) {
    this.arena = requireNonNull(arena, "arena");
    this.order = requireNonNull(order, "order");
    this.writer = requireNonNull(writer, "writer");
    this.turns = new ByteBudget("blocks of puts under way", arena.capacitySlots(), MAX_WAITING_PUTS);
  }

  /// Waits until the arena can hold a window of this put beside one of each that began before.
  @Override
  public Mono<Void> begin(int blocks, BlockScope scope) {
    return turns.acquire(Math.min(blocks, turns.capacityBytes()), scope).then();
  }

  @Override
  public Flux<LayerSlice> window(PutWindow window) {
    return Flux.using(BlockScope::new,
        scope -> drafts(window.keys(), scope).flatMapMany(drafts -> produce(window, drafts)),
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
        .map(i -> slice(window, drafts, cuts.get(i), new SlicePosition(window.index(), cuts.size() - 1 - i)));
  }

  /// Computes what was not computed yet: a granule is whole, and its checksum known, before the first of its rows is
  /// sent.
  private void produce(BlockDraft draft, GranuleRange range) {
    for (GranuleRange missing : draft.unstated(range)) {
      draft.write(missing, memory -> writer.write(draft.key(), missing, memory));
      draft.produced(missing);
    }
  }

  private LayerSlice slice(PutWindow window, List<BlockDraft> drafts, SlicePlan.Cut cut, SlicePosition place) {
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
