package io.penstock.examples.disaggregated;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.SliceShape;
import io.penstock.flow.PushLayers;
import io.penstock.tier.BlockTier;
import io.penstock.tier.PutSource;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.IntStream;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// An instance that computes prompts, and gives their cache to decodes: pushed layer by layer while it is computed, or
/// from the tiers of its ranks afterwards.
final class PrefillSide implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private final Instance instance;
  private final Map<Integer, PushLayers> outlets = new HashMap<>();
  private final Map<String, AutoCloseable> pushed = new ConcurrentHashMap<>();

  /// @param tiers makes the tier of a rank's finished blocks, which this closes
  /// @param sending packs what is pushed
  PrefillSide(Instance instance, Function<Shard, BlockTier> tiers, Scheduler sending) {
    this.instance = instance;
    List<Shard> shards = instance.deployment().shards();
    for (int rank = 0; rank < shards.size(); rank++) {
      outlets.put(rank, new PushLayers(tiers.apply(shards.get(rank)), List.of(sending)));
    }
  }

  Deployment deployment() {
    return instance.deployment();
  }

  /// Where the readers of a rank ask.
  PushLayers outlet(int rank) {
    return requireNonNull(outlets.get(rank), "outlet");
  }

  /// Computes a prompt whose readers may have asked already. What they have not read stays until [#release].
  ///
  /// @param steps told before readers may have what a step gives them
  Prefilled push(String request, int[] prompt, Pace pace, PrefillSteps steps) {
    Sequence sequence = instance.open(request);
    Pushing pushing = new Pushing(sequence, outlets, request, prompt.length);
    pushed.put(request, () -> {
      pushing.close();
      sequence.close();
    });
    Prefilled prefilled = new Prefill(sequence, pace, pushing.after(steps)).run(prompt);
    pushing.end();
    return prefilled;
  }

  /// Ends a pushed request: its memory is free when the last reader has ended.
  void release(String request) {
    AutoCloseable ended = pushed.remove(request);
    if (ended != null) {
      close(ended);
    }
  }

  private static void close(AutoCloseable ended) {
    try {
      ended.close();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /// Computes a prompt, and puts its blocks into the tiers of the ranks.
  Prefilled compute(String request, int[] prompt, Pace pace, PrefillSteps steps) {
    try (Sequence sequence = instance.open(request)) {
      Prefilled prefilled = new Prefill(sequence, pace, steps).run(prompt);
      for (int rank = 0; rank < outlets.size(); rank++) {
        store(sequence.workers().get(rank).cache(), prompt, outlet(rank));
      }
      return prefilled;
    }
  }

  private static void store(RankCache cache, int[] prompt, BlockTier tier) {
    List<Block> blocks = IntStream.range(0, cache.shard().blocks(prompt.length))
        .mapToObj(number -> cache.block(number).seal()).toList();
    if (!blocks.isEmpty()) {
      tier.put(cache.shard().keys(prompt), SliceShape.defaults(),
          PutSource.of(blocks, SliceShape.Order.LAYER_FIRST)).blockLast(PATIENCE);
    }
  }

  @Override
  public void close() {
    pushed.values().forEach(PrefillSide::close);
    Mono.when(outlets.values().stream().map(BlockTier::close).toList()).block(PATIENCE);
    instance.close();
  }
}
