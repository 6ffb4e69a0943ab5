package io.penstock.flow;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockArena;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.block.SliceShape;
import io.penstock.budget.Permits;
import io.penstock.operator.Failures;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.PutSource;
import io.penstock.tier.slice.SlicePlan;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// A prefill: claims drafts for a whole window, then computes layer after layer. Emits each layer as soon as it is
/// computed, with checksums made in the same pass.
///
/// Puts of requests that need different writers share a source, too: [#forRequest] gives each put its own.
///
/// Puts of one source may run at the same time, over any number of connections. As many puts begin as the arena holds
/// windows; the other puts wait in a fair queue. The source does not count other claims on its arena. So share one
/// source, not one arena: a claim that waits for one of these puts could keep its memory from it, until the node ends
/// the put as silent.
public final class ProducingSource implements PutSource {
  /// Maximum length of the queue of puts; a further put fails with [io.penstock.budget.BudgetExhaustedException].
  private static final int MAX_WAITING_PUTS = 1024;

  private final BlockArena arena;
  private final SliceShape.Order order;
  private final Writer writer;
  private final Ready ready;
  /// Counts blocks, not bytes: one window of blocks for each put under way.
  private final ByteBudget turns;

  /// @param arena lends the memory of the computed blocks; at least one window
  /// @param order layer-first or block-first
  /// @param writer computes the bytes, on the thread that sends
  public ProducingSource(BlockArena arena, SliceShape.Order order, Writer writer) {
    this(arena, order, writer, Ready.NOW);
  }

  /// A source of bytes that another party, such as a device, writes at the same time.
  ///
  /// @param writer copies bytes that are ready, on the thread that sends or on the one that said that they are
  /// @param ready reports when the bytes of a layer are final; the writer is asked for no byte before
  public ProducingSource(BlockArena arena, SliceShape.Order order, Writer writer, Ready ready) {
    this.arena = requireNonNull(arena, "arena");
    this.order = requireNonNull(order, "order");
    this.writer = requireNonNull(writer, "writer");
    this.ready = requireNonNull(ready, "ready");
    this.turns = new ByteBudget("blocks of puts under way", arena.capacitySlots(), MAX_WAITING_PUTS);
  }

  /// A source for puts whose writers come with their requests, see [#forRequest].
  public static ProducingSource shared(BlockArena arena, SliceShape.Order order) {
    return new ProducingSource(arena, order, (key, range, to) -> {
      throw new IllegalStateException("A shared source has no writer of its own: each request brings one.");
    });
  }

  /// This source for one request, with a writer of its own: memory and turns are shared with the other puts of this
  /// source.
  ///
  /// @param request all keys of the request; a put may be of a part of them
  public PutSource forRequest(List<BlockKey> request, RequestWriter requestWriter) {
    Map<BlockKey, Integer> positions = new HashMap<>();
    for (int i = 0; i < request.size(); i++) {
      positions.putIfAbsent(request.get(i), i);
    }
    Writer placed = (key, range, to) -> requestWriter.write(position(positions, key), range, to);
    Ready placedReady = (keys, layer) -> requestWriter
        .ready(keys.stream().mapToInt(key -> position(positions, key)).max().orElseThrow(), layer);
    return new PutSource() {
      @Override
      public Mono<Void> begin(int blocks, BlockScope scope) {
        return ProducingSource.this.begin(blocks, scope);
      }

      @Override
      public Flux<LayerSlice> window(PutSource.Window window) {
        return ProducingSource.this.window(window, placed, placedReady);
      }
    };
  }

  private static int position(Map<BlockKey, Integer> positions, BlockKey key) {
    Integer position = positions.get(key);
    if (position == null) {
      throw new IllegalArgumentException("key must be one of the request (was " + key + ")");
    }
    return position;
  }

  /// Waits until the arena can hold a window of this put beside a window of each put under way.
  @Override
  public Mono<Void> begin(int blocks, BlockScope scope) {
    return turns.acquire(Math.min(blocks, turns.capacityBytes()), scope).then();
  }

  @Override
  public Flux<LayerSlice> window(PutSource.Window window) {
    return window(window, writer, ready);
  }

  private Flux<LayerSlice> window(PutSource.Window window, Writer by, Ready when) {
    return Flux.using(BlockScope::new,
        scope -> drafts(window.keys(), scope).flatMapMany(drafts -> new Production(window, drafts, by, when).slices()),
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

  /// The computation of one window.
  private final class Production implements SlicePlan.Spans {
    private final PutSource.Window window;
    private final List<BlockDraft> drafts;
    private final Writer by;
    private final Ready when;
    private final BitSet readyLayers = new BitSet();

    Production(PutSource.Window window, List<BlockDraft> drafts, Writer by, Ready when) {
      this.window = window;
      this.drafts = drafts;
      this.by = by;
      this.when = when;
    }

    Flux<LayerSlice> slices() {
      List<SlicePlan.Cut> cuts = SlicePlan.of(arena.layout(), drafts.size(), 0, window.maxSliceBytes(), order);
      Flux<Integer> turns = Flux.range(0, cuts.size());
      return (when.equals(Ready.NOW) ? turns : turns.concatMap(i -> whenReady(cuts.get(i).range()).thenReturn(i), 0))
          .map(i -> SlicePlan.slice(cuts, i, window.index(), this));
    }

    /// Waits for the layers of `range` for which this window did not wait before.
    private Mono<Void> whenReady(GranuleRange range) {
      int planes = arena.layout().planes().size();
      int first = range.first() / planes;
      return Flux.range(first, Math.ceilDiv(range.end(), planes) - first).filter(layer -> !readyLayers.get(layer))
          .concatMap(layer -> Mono.when(when.layer(window.keys(), layer)).doOnSuccess(done -> readyLayers.set(layer)),
              0)
          .then();
    }

    @Override
    public int position(int i) {
      return window.positions().get(i);
    }

    @Override
    public LayerSpan span(int i, GranuleRange range) {
      BlockDraft draft = drafts.get(i);
      compute(draft, GranuleRange.whole(range.first(), range.count()));
      return draft.span(range);
    }

    /// Computes the granules of `range` that are missing, each whole, so that its checksum is known before its first
    /// row is sent.
    private void compute(BlockDraft draft, GranuleRange range) {
      for (GranuleRange missing : draft.unverified(range)) {
        try {
          draft.write(missing, memory -> by.write(draft.key(), missing, memory));
        } catch (Error e) { // of the writer: it fails the put
          throw Failures.unchecked(e);
        }
        draft.produced(missing);
      }
    }
  }

  /// Says when bytes may be read: a cache that is copied while its producer still writes is wrong without a sign.
  @FunctionalInterface
  public interface Ready {
    /// All bytes are ready when a window is requested.
    Ready NOW = (keys, layer) -> Mono.empty();

    /// Completes when `layer` of all blocks of `keys` is written; an error fails the put. Subscribed once for each
    /// window, in any order of layers, so it must repeat an end that was signalled before.
    Publisher<?> layer(List<BlockKey> keys, int layer);

    /// Ready with all layers at once.
    static Ready of(Publisher<?> written) {
      return (keys, layer) -> written;
    }
  }

  /// Computes the bytes of a part of a block of one request.
  @FunctionalInterface
  public interface RequestWriter {
    /// Fills `to`, whose length is that of `range`, with the bytes of `range`.
    ///
    /// @param position of the block in the request
    void write(int position, GranuleRange range, MemorySegment to);

    /// Completes when `layer` of the request's blocks up to `position` is final, as [Ready#layer]: by default at once.
    default Publisher<?> ready(int position, int layer) {
      return Mono.empty();
    }
  }

  /// Computes the bytes of a part of a block.
  @FunctionalInterface
  public interface Writer {
    /// Fills `to`, whose length is that of `range`, with the bytes of `range` of the block `key`.
    void write(BlockKey key, GranuleRange range, MemorySegment to);
  }
}
