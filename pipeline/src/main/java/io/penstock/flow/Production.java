package io.penstock.flow;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.BlockView;
import io.penstock.block.GranuleRange;
import io.penstock.block.IncompleteBlockException;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.block.Owned;
import io.penstock.block.SliceShape;
import io.penstock.check.Checks;
import io.penstock.tier.slice.SlicePlan;
import io.penstock.tier.slice.ViewPlan;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/// A request that is being computed on one prefill rank: chunk after chunk of its blocks, layer after layer of a chunk.
///
/// Closing it forgets the request: readers that have not read all of it fail with [IncompleteBlockException]. Safe from
/// any thread; signals of its readers run on the thread that says that a layer is ready, slices on their shard.
public final class Production extends Owned {
  /// Lends the bytes of the blocks of a request.
  @FunctionalInterface
  public interface Spans {
    /// A share of `granules` of block `block`. Called only when their layers are ready.
    LayerSpan span(int block, GranuleRange granules);
  }

  private final List<BlockKey> keys;
  private final Spans spans;
  private final BlockLayout layout;
  private final Scheduler shard;
  private final Runnable forgotten;
  @GuardedBy("this") private final List<Chunk> chunks = new ArrayList<>();
  /// Completes when another chunk was added, or no more will be.
  @GuardedBy("this") private Sinks.Empty<Void> changed = Sinks.empty();
  @GuardedBy("this") private boolean ended;
  @GuardedBy("this") private @Nullable Throwable failure;

  Production(List<BlockKey> keys, Spans spans, BlockLayout layout, Scheduler shard, Runnable forgotten) {
    this.keys = keys;
    this.spans = requireNonNull(spans, "spans");
    this.layout = layout;
    this.shard = shard;
    this.forgotten = forgotten;
  }

  /// A run of blocks whose layers become ready together: those that a step of the prefill has completed.
  public final class Chunk {
    private final int first;
    private final int end;
    private final List<Sinks.Empty<Void>> layers;

    private Chunk(int first, int end) {
      this.first = first;
      this.end = end;
      this.layers = IntStream.range(0, layout.layers()).mapToObj(layer -> Sinks.<Void>empty()).toList();
    }

    /// The bytes of `layer` of the blocks of this chunk are written and final. A second call changes nothing.
    public void ready(int layer) {
      layers.get(layer).tryEmitEmpty();
    }

    private Mono<Void> whenReady(int layer) {
      return layers.get(layer).asMono();
    }
  }

  /// Adds the next `blocks` blocks of the request.
  ///
  /// @throws IllegalStateException if the request has ended, or has fewer blocks
  public Chunk chunk(int blocks) {
    Checks.positive("blocks", blocks);
    Sinks.Empty<Void> before;
    Chunk chunk;
    synchronized (this) {
      int first = chunks.isEmpty() ? 0 : chunks.getLast().end;
      if (ended || first + blocks > keys.size()) {
        throw new IllegalStateException("chunks must have %d blocks together, and come before the end (was %d + %d%s)"
            .formatted(keys.size(), first, blocks, ended ? ", ended" : ""));
      }
      chunk = new Chunk(first, first + blocks);
      chunks.add(chunk);
      before = renewed();
    }
    before.tryEmitEmpty();
    return chunk;
  }

  /// No more chunks come: the streams of readers end when they have sent the ready layers of all chunks.
  public void end() {
    end(null);
  }

  /// Ends the streams of all readers with `cause`.
  public void fail(Throwable cause) {
    end(requireNonNull(cause, "cause"));
  }

  private void end(@Nullable Throwable cause) {
    Sinks.Empty<Void> before;
    List<Chunk> all;
    synchronized (this) {
      if (cause != null && failure == null) {
        failure = cause;
      }
      ended = true;
      before = renewed();
      all = List.copyOf(chunks);
    }
    before.tryEmitEmpty();
    if (cause != null) {
      all.forEach(chunk -> chunk.layers.forEach(layer -> layer.tryEmitError(cause)));
    }
  }

  @GuardedBy("this") private Sinks.Empty<Void> renewed() {
    Sinks.Empty<Void> before = changed;
    changed = Sinks.empty();
    return before;
  }

  /// The slices of a view of some blocks, each when its layer is ready.
  Flux<LayerSlice> views(List<BlockKey> asked, BlockView view, SliceShape shape, BlockScope scope) {
    Map<Integer, Integer> positions = positions(asked);
    int last = Collections.max(positions.keySet());
    int[] windows = {0};
    return Flux.range(0, keys.size() + 1).concatMap(this::chunkOrEnd, 0).takeWhile(Optional::isPresent)
        .takeUntil(chunk -> chunk.orElseThrow().end > last) // a reader of early blocks need not wait for the others
        .concatMap(chunk -> slices(chunk.orElseThrow(), positions, view, shape, windows, scope), 0)
        .publishOn(shard, 1);
  }

  /// For each block of this request that is wanted, its position in the question.
  private Map<Integer, Integer> positions(List<BlockKey> asked) {
    Map<BlockKey, Integer> numbers = new HashMap<>();
    for (int i = 0; i < keys.size(); i++) {
      numbers.put(keys.get(i), i);
    }
    Map<Integer, Integer> positions = new HashMap<>();
    for (int i = 0; i < asked.size(); i++) {
      Integer number = numbers.get(asked.get(i));
      if (number == null) {
        throw new IncompleteBlockException(asked.get(i), 0, layout.granules());
      }
      positions.put(number, i);
    }
    return positions;
  }

  /// Chunk `number` when it has arrived; empty when no more chunks come.
  private Mono<Optional<Chunk>> chunkOrEnd(int number) {
    return Mono.defer(() -> {
      synchronized (this) {
        if (failure != null) {
          return Mono.error(failure);
        } else if (number < chunks.size()) {
          return Mono.just(Optional.of(chunks.get(number)));
        }
        return ended
            ? Mono.just(Optional.empty())
            : changed.asMono().then(Mono.defer(() -> chunkOrEnd(number)));
      }
    });
  }

  private Flux<LayerSlice> slices(Chunk chunk, Map<Integer, Integer> positions, BlockView view, SliceShape shape,
      int[] windows, BlockScope scope) {
    int[] blocks = IntStream.range(chunk.first, chunk.end).filter(positions::containsKey).toArray();
    if (blocks.length == 0) {
      return Flux.empty();
    }
    int window = windows[0]++;
    ViewPlan plan = ViewPlan.byLayer(blocks.length, view, layout, shape);
    SlicePlan.Spans named = new SlicePlan.Spans() {
      @Override
      public int position(int i) {
        return requireNonNull(positions.get(blocks[i]));
      }

      @Override
      public LayerSpan span(int i, GranuleRange range) {
        try (LayerSpan lent = spans.span(blocks[i], range)) {
          return lent.share(keys.get(blocks[i]));
        }
      }
    };
    return Flux.range(0, plan.size()).concatMap(i -> chunk.whenReady(plan.view(i).firstLayer(layout))
        .then(Mono.defer(this::failed)).then(Mono.fromSupplier(() -> scope.adopt(plan.slice(i, window, named)))), 0);
  }

  /// Fails if this has failed or was closed: layers that were ready may be gone.
  private synchronized Mono<Void> failed() {
    return failure == null ? Mono.empty() : Mono.error(failure);
  }

  @Override
  protected void free() {
    forgotten.run();
    end(new IncompleteBlockException(keys.getFirst(), 0, layout.granules()));
  }
}
