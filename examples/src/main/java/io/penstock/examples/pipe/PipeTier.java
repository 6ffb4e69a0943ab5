package io.penstock.examples.pipe;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.GranuleRange;
import io.penstock.block.SlabArena;
import io.penstock.examples.source.DemandTier;
import io.penstock.examples.source.ReadOnlyTierException;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.Presence;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// The sending end as a tier: chunk *n* is made when it is asked for, once, after chunk *n - 1*. Also knows how the
/// pipe ended.
final class PipeTier extends DemandTier {
  private final PipeKeys keys;
  private final Sinks.One<ChunkSource> source = Sinks.one();
  private final Sinks.Empty<Void> outcome = Sinks.empty();
  private final Sinks.Empty<Void> over = Sinks.empty();
  private final AtomicBoolean reading = new AtomicBoolean();
  private volatile @Nullable Throwable failure;
  private volatile boolean attached;
  private volatile boolean lastMade;

  PipeTier(PipeOptions options, SlabArena arena) {
    super("pipe", options.space(), arena);
    this.keys = new PipeKeys(options.space().id());
  }

  /// Lets chunks be made from `chunks`.
  void start(ChunkSource chunks) {
    source.tryEmitValue(chunks).orThrow();
  }

  /// The source of the tensors failed; the receiving end is told with the last chunk.
  void failed(Throwable error) {
    failure = error;
  }

  /// The receiving end's connection is gone.
  void disconnected(@Nullable Throwable cause) {
    if (attached) {
      settle(new PipeLostException("receiving", cause));
    }
  }

  /// The sending end gives up.
  void abandon() {
    settle(new PipeFailedException("cancelled there"));
  }

  /// Completes when the receiving end has everything; signals why it has not.
  Mono<Void> outcome() {
    return outcome.asMono();
  }

  @Override
  protected boolean knows(BlockKey key) {
    return PipeKeys.isChunk(key);
  }

  @Override
  protected Flux<List<LeasedBlock>> make(List<BlockKey> asked, int maxBlocks, BlockScope scope) {
    return Flux.defer(() -> {
      if (!reading.compareAndSet(false, true)) {
        return Flux.error(new IllegalStateException("pipe must have one receiver (was a second)"));
      }
      attached = true;
      return source.asMono().flatMapMany(chunks -> make(asked, chunks, scope)).takeUntilOther(over.asMono())
          .doFinally(end -> reading.set(false));
    });
  }

  private Flux<List<LeasedBlock>> make(List<BlockKey> asked, ChunkSource chunks, BlockScope scope) {
    return Flux.range(0, asked.size()).concatMap(i -> make(i, asked.get(i), chunks, scope), 0)
        .takeUntil(window -> lastMade).doOnError(this::settle);
  }

  private Mono<List<LeasedBlock>> make(int position, BlockKey key, ChunkSource chunks, BlockScope scope) {
    return claim(List.of(key), scope).flatMap(drafts -> chunks.next().map(chunk -> {
      BlockDraft draft = drafts.getFirst();
      GranuleRange all = GranuleRange.all(draft.layout());
      draft.write(all, chunk::write);
      draft.produced(all);
      made(1);
      lastMade = chunk instanceof PipeChunk.Last;
      return List.of(new LeasedBlock(position, scope.adopt(draft.seal())));
    }));
  }

  /// How the receiving end says that it is done.
  @Override
  public Mono<Presence> remove(List<BlockKey> words) {
    return Mono.defer(() -> {
      if (words.contains(keys.cancelled())) {
        settle(new PipeCancelledException());
      } else if (words.contains(keys.received())) {
        settle(failure);
      } else {
        return Mono.error(new ReadOnlyTierException(info().name()));
      }
      BitSet heard = new BitSet();
      heard.set(0, words.size());
      return Mono.just(Presence.of(words.size(), heard));
    });
  }

  /// The first reason counts.
  private void settle(@Nullable Throwable reason) {
    if (reason == null) {
      outcome.tryEmitEmpty();
    } else {
      outcome.tryEmitError(reason);
    }
    over.tryEmitError(reason == null ? new PipeFailedException("pipe is over") : reason);
  }
}
