package io.penstock.examples.disaggregated.node;

import static java.util.Objects.requireNonNull;

import io.penstock.block.CacheSpace;
import io.penstock.disagg.request.KvConnector;
import io.penstock.disagg.request.LifecycleListener;
import io.penstock.disagg.request.LifecycleOptions;
import io.penstock.disagg.request.PrefillConnector;
import io.penstock.disagg.request.RequestInputs;
import io.penstock.examples.disaggregated.rank.Deployment;
import io.penstock.examples.disaggregated.rank.Instance;
import io.penstock.examples.disaggregated.rank.KvBlock;
import io.penstock.examples.disaggregated.rank.Pace;
import io.penstock.examples.disaggregated.rank.Prefill;
import io.penstock.examples.disaggregated.rank.PrefillSteps;
import io.penstock.examples.disaggregated.rank.Prefilled;
import io.penstock.examples.disaggregated.rank.Sequence;
import io.penstock.examples.disaggregated.rank.Shard;
import io.penstock.flow.Production;
import io.penstock.flow.PushLayers;
import io.penstock.stack.HostTier;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierListener;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// An instance that computes prompts, and gives their cache to decodes: pushed layer by layer while it is computed, or
/// from the tiers of its ranks afterwards. Each rank keeps the blocks of a computed prompt until all decode ranks that
/// read from it are done, or their lease expires.
final class PrefillSide implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private final Instance instance;
  private final RankTiers tiers;
  private final AuxBlocks aux;
  private final PushLayers auxOutlet;
  private final Map<Integer, PushLayers> outlets = new HashMap<>();
  private final List<PrefillConnector> kept;

  /// @param requests maximum number that is kept at one time
  /// @param tiers makes the tier of a rank's finished blocks, which this closes
  /// @param sending packs pushed layers
  /// @param timers of leases
  /// @param inputs of the requests that a rank keeps, such as recorded ones
  PrefillSide(Instance instance, int requests, Function<Shard, BlockTier> tiers, Scheduler sending,
      LifecycleOptions lifecycle, Scheduler timers, Function<Shard, RequestInputs> inputs) {
    this.instance = instance;
    this.tiers = new RankTiers(instance.deployment(), tiers);
    this.aux = new AuxBlocks(instance.deployment().model(), requests);
    this.auxOutlet = new PushLayers(new HostTier(aux.space(), 1, TierListener.noop()), List.of(sending));
    for (BlockTier tier : this.tiers.tiers()) {
      outlets.put(outlets.size(), new PushLayers(tier, List.of(sending)));
    }
    this.kept = instance.deployment().shards().stream()
        .map(shard -> new PrefillConnector(lifecycle, LifecycleListener.noop(), timers, inputs.apply(shard))).toList();
  }

  Deployment deployment() {
    return instance.deployment();
  }

  /// Tier for the readers of a rank.
  PushLayers outlet(int rank) {
    return requireNonNull(outlets.get(rank), "outlet");
  }

  /// Space of aux data.
  CacheSpace auxSpace() {
    return aux.space();
  }

  /// Tier for the readers of aux data, at the first rank.
  PushLayers auxOutlet() {
    return auxOutlet;
  }

  /// Requests that a rank keeps for decodes.
  PrefillConnector kept(int rank) {
    return kept.get(rank);
  }

  /// Requests that ranks keep, those of aux data among them.
  long held() {
    return kept.stream().mapToLong(rank -> rank.figures().held()).sum();
  }

  /// Bytes of the weights of each rank.
  List<Long> rankBytes() {
    return instance.weightBytes();
  }

  /// Blocks of computed prompts that are in memory.
  long claimedBlocks() {
    return instance.claimedBlocks();
  }

  /// Gets more of a prompt from elsewhere.
  @FunctionalInterface
  interface More {
    /// Gets nothing.
    More NONE = (sequence, cachedTokens) -> cachedTokens;

    /// @param cachedTokens tokens from the first on that are in the cache of `sequence`
    /// @return as many, or more, that are there now
    int get(Sequence sequence, int cachedTokens);
  }

  Prefilled push(String request, int[] prompt, Pace pace, PrefillSteps steps) {
    return push(request, prompt, More.NONE, pace, steps);
  }

  private int loaded(Sequence sequence, int[] prompt, More more) {
    int tokens = more.get(sequence, tiers.load(sequence, prompt));
    sequence.finish(tokens);
    return tokens;
  }

  /// Computes the part of a prompt that the tiers of the ranks lack. Readers may have asked for it already.
  ///
  /// @param steps called before readers may have the layers of a step
  Prefilled push(String request, int[] prompt, More more, Pace pace, PrefillSteps steps) {
    Sequence sequence = instance.open(request);
    int cachedTokens;
    try {
      cachedTokens = loaded(sequence, prompt, more);
    } catch (RuntimeException e) {
      sequence.close();
      throw e;
    }
    Pushing pushing = new Pushing(sequence, outlets, request, prompt.length);
    Prefilled prefilled;
    try {
      prefilled = new Prefill(sequence, pace, pushing.after(steps)).run(prompt);
      pushing.end();
      tiers.store(sequence, prompt, prompt.length);
    } catch (RuntimeException e) {
      pushing.close();
      sequence.close();
      throw e;
    }
    keepAux(request, prefilled, cachedTokens);
    for (int rank = 0; rank < kept.size(); rank++) {
      kept.get(rank).open(request, pushing.held(sequence.workers().get(rank).cache()));
    }
    return prefilled;
  }

  Prefilled compute(String request, int[] prompt, Pace pace, PrefillSteps steps) {
    return compute(request, prompt, More.NONE, pace, steps);
  }

  /// Computes the part of a prompt that the tiers of the ranks lack, and puts its blocks there.
  Prefilled compute(String request, int[] prompt, More more, Pace pace, PrefillSteps steps) {
    try (Sequence sequence = instance.open(request)) {
      int cachedTokens = loaded(sequence, prompt, more);
      Prefilled prefilled = new Prefill(sequence, pace, steps).run(prompt);
      tiers.store(sequence, prompt, prompt.length);
      keepAux(request, prefilled, cachedTokens);
      for (int rank = 0; rank < kept.size(); rank++) {
        kept.get(rank).open(request, tiers.leased(rank, prompt));
      }
      return prefilled;
    }
  }

  private void keepAux(String request, Prefilled prefilled, int cachedTokens) {
    String name = AuxBlocks.name(request);
    KvBlock block = aux.write(name, prefilled, cachedTokens);
    Production production = auxOutlet.begin(name, 1, (number, granules) -> block.span(granules));
    production.chunk(1).ready(0);
    production.end();
    kept.getFirst().open(name, () -> Mono.fromRunnable(() -> {
      production.close();
      block.close();
    }));
  }

  @Override
  public void close() {
    Flux.fromIterable(kept).concatMap(KvConnector::close).then(auxOutlet.close()).block(PATIENCE);
    aux.close();
    tiers.close();
    instance.close();
  }
}
