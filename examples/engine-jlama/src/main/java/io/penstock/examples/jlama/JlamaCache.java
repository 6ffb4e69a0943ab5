package io.penstock.examples.jlama;

import io.penstock.flow.EngineRows;
import io.penstock.wire.PenstockClient;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/// The adapter: keeps the KV rows of Jlama's sessions in a node. A prompt is computed while its prefix is still being
/// loaded, and offloaded while it is still being computed, layer by layer.
///
/// @param sender copies and sends rows that are computed
/// @param patience how long to wait for the node's answer, and for each layer, before all is computed
record JlamaCache(PenstockClient client, Scheduler sender, Duration patience) {
  private static final Logger LOG = LoggerFactory.getLogger(JlamaCache.class);

  /// A prompt whose rows are all in its session.
  ///
  /// @param next the most probable next token
  /// @param loaded tokens that were not computed
  /// @param stored completes when the node has the prompt's blocks, with the number of new ones; never fails. Keep the
  ///     session open until then, or cancel it
  record Prefilled(int next, int loaded, CompletableFuture<@Nullable Long> stored) {}

  /// Loads the longest prefix of `prompt` that the node has, and computes the rest, at least the last token. Blocks the
  /// calling thread; an interrupt ends it with a `CancellationException`.
  Prefilled prefill(JlamaSession session, int[] prompt) {
    try {
      return prefill(session, prompt, Arrays.copyOf(prompt, prompt.length - 1));
    } catch (LoadFailedException e) {
      LOG.warn("computing a prompt of {} tokens, since its prefix could not be loaded", prompt.length, e.getCause());
      return prefill(session, prompt, new int[0]);
    }
  }

  private Prefilled prefill(JlamaSession session, int[] prompt, int[] prefix) {
    Layers layers = new Layers(session);
    CompletableFuture<@Nullable Integer> load = (prefix.length == 0 ? Mono.just(0) : client.load(prefix, layers))
        .doOnSuccess(blocks -> layers.ended(blocks, null)).doOnError(error -> layers.ended(0, error)).toFuture();
    CompletableFuture<@Nullable Long> offload = new CompletableFuture<>();
    try {
      int loaded = layers.waited(layers.found) * JlamaEngine.BLOCK_TOKENS;
      offload = offload(prompt, layers);
      return new Prefilled(session.forward(prompt, loaded, layers), loaded, offload);
    } catch (RuntimeException | Error e) { // rows are computed again, which no load or offload may see
      offload.cancel(true);
      throw e;
    } finally {
      load.cancel(true);
    }
  }

  /// Offloads the whole blocks of `tokens` that the node lacks; their rows are all in the session.
  CompletableFuture<@Nullable Long> offload(JlamaSession session, int[] tokens) {
    return offload(tokens, session::row);
  }

  private CompletableFuture<@Nullable Long> offload(int[] tokens, EngineRows rows) {
    return client.offload(tokens, rows).doOnError(error -> LOG.warn("not offloaded", error)).onErrorReturn(0L)
        .toFuture();
  }

  /// The rows of one session, while some arrive and others are computed.
  private final class Layers implements EngineRows, JlamaSession.Steps {
    private final JlamaSession session;
    private final CompletableFuture<Integer> found = new CompletableFuture<>();
    private final List<CompletableFuture<Boolean>> loaded;
    private final List<Sinks.Many<Integer>> computed;

    Layers(JlamaSession session) {
      this.session = session;
      this.loaded = Stream.generate(CompletableFuture<Boolean>::new).limit(session.layers()).toList();
      this.computed = Stream.generate(() -> Sinks.many().replay().<Integer>latest()).limit(session.layers()).toList();
    }

    @Override
    public MemorySegment row(int layer, int plane, int token) {
      return session.row(layer, plane, token);
    }

    @Override
    public void found(int blocks) {
      found.complete(blocks);
    }

    @Override
    public void loaded(int layer) {
      LOG.debug("layer {} is loaded", layer);
      loaded.get(layer).complete(true);
    }

    void ended(int blocks, @Nullable Throwable error) {
      found.complete(0);
      @Nullable Throwable failure = error != null || found.join() == blocks
          ? error
          : new IllegalStateException("Only " + blocks + " of " + found.join() + " blocks were loaded.");
      loaded.forEach(failure == null ? layer -> layer.complete(true) : layer -> layer.completeExceptionally(failure));
    }

    @Override
    public void before(int layer) {
      waited(loaded.get(layer));
    }

    @Override
    public void written(int layer, int tokens) {
      LOG.debug("layer {} is computed", layer);
      computed.get(layer).tryEmitNext(tokens).orThrow();
    }

    @Override
    public Publisher<?> computed(int layer, int tokens) {
      return computed.get(layer).asFlux().filter(end -> end >= tokens).next().publishOn(sender)
          .doOnNext(end -> LOG.debug("layer {} goes to the node", layer));
    }

    <T> T waited(CompletableFuture<T> coming) {
      try {
        return coming.get(patience.toNanos(), TimeUnit.NANOSECONDS);
      } catch (ExecutionException | TimeoutException e) {
        throw new LoadFailedException(e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new CancellationException("The wait for the tier was interrupted.");
      }
    }
  }

  /// A prefix that was found did not come whole, or in time.
  private static final class LoadFailedException extends RuntimeException {
    LoadFailedException(Throwable cause) {
      super(cause);
    }
  }
}
