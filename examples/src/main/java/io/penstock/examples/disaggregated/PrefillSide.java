package io.penstock.examples.disaggregated;

import static java.util.Objects.requireNonNull;

import io.penstock.flow.PushLayers;
import io.penstock.tier.BlockTier;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import reactor.core.scheduler.Scheduler;

/// An instance that computes prompts, and gives their cache to decodes: pushed layer by layer while it is computed, or
/// from the tiers of its ranks afterwards.
final class PrefillSide implements AutoCloseable {
  private final Instance instance;
  private final RankTiers tiers;
  private final Map<Integer, PushLayers> outlets = new HashMap<>();
  private final Map<String, AutoCloseable> pushed = new ConcurrentHashMap<>();

  /// @param tiers makes the tier of a rank's finished blocks, which this closes
  /// @param sending packs what is pushed
  PrefillSide(Instance instance, Function<Shard, BlockTier> tiers, Scheduler sending) {
    this.instance = instance;
    this.tiers = new RankTiers(instance.deployment(), tiers);
    for (BlockTier tier : this.tiers.tiers()) {
      outlets.put(outlets.size(), new PushLayers(tier, List.of(sending)));
    }
  }

  Deployment deployment() {
    return instance.deployment();
  }

  /// Where the readers of a rank ask.
  PushLayers outlet(int rank) {
    return requireNonNull(outlets.get(rank), "outlet");
  }

  /// Computes what the tiers of the ranks lack of a prompt, whose readers may have asked already. What they have not
  /// read stays until [#release].
  ///
  /// @param steps told before readers may have what a step gives them
  Prefilled push(String request, int[] prompt, Pace pace, PrefillSteps steps) {
    Sequence sequence = instance.open(request);
    tiers.load(sequence, prompt);
    Pushing pushing = new Pushing(sequence, outlets, request, prompt.length);
    pushed.put(request, () -> {
      pushing.close();
      sequence.close();
    });
    Prefilled prefilled = new Prefill(sequence, pace, pushing.after(steps)).run(prompt);
    pushing.end();
    tiers.store(sequence, prompt, prompt.length);
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

  /// Computes what the tiers of the ranks lack of a prompt, and puts its blocks there.
  Prefilled compute(String request, int[] prompt, Pace pace, PrefillSteps steps) {
    try (Sequence sequence = instance.open(request)) {
      tiers.load(sequence, prompt);
      Prefilled prefilled = new Prefill(sequence, pace, steps).run(prompt);
      tiers.store(sequence, prompt, prompt.length);
      return prefilled;
    }
  }

  @Override
  public void close() {
    pushed.values().forEach(PrefillSide::close);
    tiers.close();
    instance.close();
  }
}
