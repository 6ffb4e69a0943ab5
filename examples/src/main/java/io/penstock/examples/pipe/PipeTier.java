package io.penstock.examples.pipe;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.GranuleRange;
import io.penstock.block.SlabArena;
import io.penstock.operator.CutOff;
import io.penstock.tier.Medium;
import io.penstock.tier.Presence;
import io.penstock.tier.TierInfo;
import io.penstock.tier.spi.OnDemandTier;
import io.penstock.tier.spi.ReadOnlyTierException;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// The sending end as a tier: chunk *n* is made when it is asked for, once, after chunk *n - 1*. Also knows how the
/// pipe ended.
final class PipeTier extends OnDemandTier {
  private final PipeKeys keys;
  private final Sinks.One<ChunkSource> source = Sinks.one();
  private final Sinks.Empty<Void> outcome = Sinks.empty();
  private final Sinks.Empty<Void> over = Sinks.empty();
  private final AtomicBoolean filling = new AtomicBoolean();
  private volatile @Nullable Throwable failure;
  private volatile boolean attached;
  private volatile boolean lastMade;

  PipeTier(PipeOptions options, SlabArena arena) {
    super(new TierInfo("pipe", Medium.HOST, options.space(), Long.MAX_VALUE), arena, 1);
    this.keys = new PipeKeys(options.space().id());
  }

  /// Makes chunks from `chunks` from now on.
  void start(ChunkSource chunks) {
    source.tryEmitValue(chunks).orThrow();
  }

  /// The source of the tensors failed; the last chunk reports it to the receiving end.
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
  protected Mono<Presence> find(List<BlockKey> asked) {
    return Mono.fromSupplier(() -> where(asked, PipeKeys::isChunk));
  }

  /// A chunk is there until the last one was made. There is one receiver, which takes one chunk at a time.
  @Override
  protected Mono<Boolean> fill(BlockDraft draft) {
    return Mono.defer(() -> {
      if (!filling.compareAndSet(false, true)) {
        return Mono.error(new IllegalStateException("pipe already has its one receiver"));
      }
      attached = true;
      Mono<Boolean> filled = lastMade
          ? Mono.just(false)
          : source.asMono().flatMap(ChunkSource::next).map(chunk -> write(chunk, draft));
      return CutOff.at(filled.flux(), over.asMono()).next().doOnError(this::settle)
          .doOnTerminate(() -> filling.set(false)).doOnCancel(() -> filling.set(false)); // before the next fill
    });
  }

  private boolean write(PipeChunk chunk, BlockDraft draft) {
    GranuleRange all = GranuleRange.all(draft.layout());
    draft.write(all, chunk::write);
    draft.produced(all);
    lastMade = chunk instanceof PipeChunk.Last;
    return true;
  }

  /// The receiving end reports that it is done.
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
