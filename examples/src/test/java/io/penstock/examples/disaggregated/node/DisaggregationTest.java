package io.penstock.examples.disaggregated.node;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.LayerSlice;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SliceShape;
import io.penstock.disagg.Incarnation;
import io.penstock.disagg.RankId;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.request.DecodeConnector;
import io.penstock.disagg.request.LifecycleListener;
import io.penstock.disagg.request.LifecycleOptions;
import io.penstock.disagg.request.PeerSignals;
import io.penstock.disagg.request.RequestInputs;
import io.penstock.examples.disaggregated.model.Model;
import io.penstock.examples.disaggregated.model.ModelConfig;
import io.penstock.examples.disaggregated.model.SpeculativeConfig;
import io.penstock.examples.disaggregated.rank.Decode;
import io.penstock.examples.disaggregated.rank.Deployment;
import io.penstock.examples.disaggregated.rank.Generated;
import io.penstock.examples.disaggregated.rank.Instance;
import io.penstock.examples.disaggregated.rank.KvFormat;
import io.penstock.examples.disaggregated.rank.Pace;
import io.penstock.examples.disaggregated.rank.Prefill;
import io.penstock.examples.disaggregated.rank.PrefillSteps;
import io.penstock.examples.disaggregated.rank.Prefilled;
import io.penstock.examples.disaggregated.rank.RandomDeployment;
import io.penstock.examples.disaggregated.rank.Sequence;
import io.penstock.stack.HostTier;
import io.penstock.storage.EngineKind;
import io.penstock.testkit.Eventually;
import io.penstock.tier.BlockTier;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.ViewLanding;
import io.penstock.tier.spi.ViewLanding.Landed;
import io.penstock.tier.spi.ViewSource;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.scheduler.VirtualTimeScheduler;

/// Prefill in one deployment and decode in another: each logit is that of one rank that does both, to the last bit.
final class DisaggregationTest {
  private static final int NEW_TOKENS = 4;
  private static final int PAIRS_A_MODEL = 50;
  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final LifecycleOptions LIFECYCLE = LifecycleOptions.defaults();

  @TempDir
  private Path folder;

  @Test
  void randomPairs_giveTheBitsOfOneRank() {
    pairs(IntStream.range(0, 20));
  }

  @Tag("proof")
  @Test
  void manyRandomPairs_giveTheBitsOfOneRank() {
    pairs(IntStream.range(1_000, 1_200));
  }

  private void pairs(IntStream seeds) {
    seeds.forEach(seed -> {
      RandomGenerator random = new SplittableRandom(seed);
      Model model = RandomDeployment.model(random);
      ElementType type = RandomDeployment.pick(random, ElementType.FP32, ElementType.FP16, ElementType.BF16);
      int[] prompt = RandomDeployment.prompt(random, random.nextInt(5, 30));
      Generated whole = monolithic(model, type, prompt);
      for (int number = 0; number < PAIRS_A_MODEL; number++) {
        Pair pair = pair(random, model, type, prompt.length, folder.resolve(seed + "-" + number));
        String name = "seed %d, pair %d: %s".formatted(seed, number, pair);
        for (Generated parts : pair.run(prompt)) {
          assertThat(parts.firstDifference(whole)).as("%s: first other token", name).isNegative();
          assertThat(parts.tokens()).as(name).isEqualTo(whole.tokens());
          assertThat(parts.accepted()).as("%s: accepted guesses", name).isEqualTo(whole.accepted());
        }
      }
    });
  }

  private static Pair pair(RandomGenerator random, Model model, ElementType type, int promptTokens, Path folder) {
    TierKind kind = random.nextInt(40) > 0 ? TierKind.DRAM : RandomDeployment.pick(random, TierKind.HBM, TierKind.SSD);
    boolean twice = kind != TierKind.DRAM || random.nextInt(20) == 0;
    boolean slowLinks = kind == TierKind.DRAM && random.nextInt(4) == 0; // others have threads and real time
    int cachedTokens = !twice && random.nextInt(4) == 0 ? random.nextInt(promptTokens + 1) : 0;
    return new Pair(RandomDeployment.of(random, model, type), RandomDeployment.of(random, model, type), cachedTokens,
        random.nextInt(1, promptTokens + 1), random.nextInt(256, 4096), random.nextBoolean(), kind, twice, slowLinks,
        random.nextLong(), folder);
  }

  private static Generated monolithic(Model model, ElementType type, int[] prompt) {
    Deployment deployment = Deployment.monolithic(model, KvFormat.defaults().withType(type));
    try (Instance instance = new Instance(deployment, 1, prompt.length + NEW_TOKENS + 2);
        Sequence sequence = instance.open("whole")) {
      return decode(sequence, prompt, Prefill.of(sequence, prompt));
    }
  }

  private static Generated decode(Sequence sequence, int[] prompt, Prefilled prefilled) {
    int drafts = sequence.model().config().draftLayers() * 2;
    return Decode.of(sequence, new SpeculativeConfig(drafts / 2, drafts), prompt.length, prefilled, NEW_TOKENS);
  }

  /// A lost transfer is seen: so the comparison can fail.
  @Test
  void missingTransfer_changesTheBits() {
    Model model = Model.seeded(ModelConfig.tiny(), 3);
    int[] prompt = RandomDeployment.prompt(new SplittableRandom(3), 40);
    Deployment two = Deployment.of(model, Parallelism.ofTp(2), KvFormat.defaults());
    VirtualTimeScheduler time = VirtualTimeScheduler.create();
    try (PrefillSide prefills = new PrefillSide(new Instance(two, 1, 40), 1,
        shard -> new HostTier(shard.space(), 8, TierListener.noop()), Schedulers.immediate(), LIFECYCLE, time,
        shard -> RequestInputs.direct());
        Instance decodes = new Instance(two, 1, 48);
        AuxBlocks aux = new AuxBlocks(model, 1);
        Sequence all = decodes.open("a")) {
      Links links = new Links(SliceShape.defaults(), false, time, 3);
      DecodeSide side = new DecodeSide(all, aux, two, new Sources(prefills, links) {
        @Override
        public Mono<ViewSource> cache(int number) {
          return number == 0 ? super.cache(number) : Mono.just(new NoSource(prefills.outlet(number)));
        }
      }, "a", prompt, 0);
      prefills.compute("a", prompt, Pace.whole(), PrefillSteps.NONE);
      Prefilled prefilled = requireNonNull(side.receive(false, requests(two, prefills, time), PATIENCE).block());
      all.finish(prompt.length);

      assertThat(decode(all, prompt, prefilled).firstDifference(monolithic(model, ElementType.FP32, prompt)))
          .as("the first token comes from the prefill").isEqualTo(1);
    }
  }

  /// The requests of each decode rank, whose signals reach the prefill at once.
  private static List<DecodeConnector> requests(Deployment decode, PrefillSide prefills, Scheduler timers) {
    PeerSignals signals = (to, signal) -> prefills.kept(to.rank().rank()).accept(signal);
    return IntStream.range(0, decode.shards().size())
        .mapToObj(rank -> new DecodeConnector(new RankId("decode", rank).since(1), LIFECYCLE, signals,
            LifecycleListener.noop(), timers, new Random(rank)))
        .toList();
  }

  /// The ranks of a prefill in this process.
  private static class Sources implements DecodeSide.Sources {
    private final PrefillSide prefills;
    private final Links links;

    Sources(PrefillSide prefills, Links links) {
      this.prefills = prefills;
      this.links = links;
    }

    @Override
    public Incarnation rank(int number) {
      return new RankId("prefill", number).since(0);
    }

    @Override
    public Mono<ViewSource> cache(int number) {
      return Mono.just(links.to(prefills.outlet(number)));
    }

    @Override
    public Mono<ViewSource> aux() {
      return Mono.just(links.to(prefills.auxOutlet()));
    }
  }

  /// Gives nothing, and says that it is done.
  private record NoSource(BlockTier tier) implements ViewSource {
    @Override
    public CacheSpace space() {
      return tier.info().space();
    }

    @Override
    public Flux<Landed> fetch(List<BlockKey> keys, OnMiss onMiss, ViewLanding landing) {
      return Flux.empty();
    }
  }

  /// @param cachedTokens of the prompt that decode has computed itself before
  /// @param chunkTokens of the prefill
  /// @param push whether each layer moves when it is computed, or all when decode asks
  /// @param tier of finished blocks
  /// @param slowLinks whether each slice takes a random time, in virtual time, to its decode rank
  /// @param twice whether the prompt comes a second time: then its beginning is in the tiers of both sides
  private record Pair(Deployment prefill, Deployment decode, int cachedTokens, int chunkTokens, int sliceBytes,
      boolean push, TierKind tier, boolean twice, boolean slowLinks, long linkSeed, Path folder) {
    List<Generated> run(int[] prompt) {
      try (TierMaker prefillMaker = new TierMaker(tier, EngineKind.PLAIN, folder.resolve("prefill"), null);
          TierMaker decodeMaker = new TierMaker(tier, EngineKind.PLAIN, folder.resolve("decode"), null);
          PrefillSide prefills = new PrefillSide(new Instance(prefill, 1, prompt.length), 1,
              shard -> prefillMaker.make(shard, Math.max(1, shard.blocks(prompt.length))), Schedulers.immediate(),
              LIFECYCLE, VirtualTimeScheduler.create(), shard -> RequestInputs.direct());
          Instance decodes = new Instance(decode, 1, prompt.length + NEW_TOKENS + 2)) {
        if (!twice) {
          return List.of(once("request", prompt, prefills, decodes, to -> compute(to, prompt), to -> {}));
        }
        try (RankTiers tiers =
            new RankTiers(decode, shard -> decodeMaker.make(shard, Math.max(1, shard.blocks(prompt.length))))) {
          int whole = prompt.length / decode.format().blockTokens() * decode.format().blockTokens();
          return Stream.of("first", "second").map(request -> once(request, prompt, prefills, decodes,
              to -> tiers.load(to, prompt), to -> tiers.store(to, prompt, whole))).toList();
        }
      }
    }

    private int compute(Sequence to, int[] prompt) {
      if (cachedTokens > 0) {
        Prefill.of(to, Arrays.copyOf(prompt, cachedTokens));
      }
      return cachedTokens;
    }

    private Generated once(String request, int[] prompt, PrefillSide prefills, Instance decodes,
        ToIntFunction<Sequence> before, Consumer<Sequence> after) {
      VirtualTimeScheduler time = VirtualTimeScheduler.create();
      Links links = new Links(SliceShape.defaults().withSliceBytes(sliceBytes), slowLinks, time, linkSeed);
      try (AuxBlocks aux = new AuxBlocks(decode.model(), 1); Sequence to = decodes.open(request)) {
        int cached = before.applyAsInt(to);
        DecodeSide side = new DecodeSide(to, aux, prefill, new Sources(prefills, links), request, prompt, cached);
        Prefilled prefilled = move(request, prompt, prefills, side, time);
        to.finish(prompt.length);
        Generated generated = DisaggregationTest.decode(to, prompt, prefilled);
        after.accept(to);
        return generated;
      } finally {
        time.dispose();
      }
    }

    /// A push is asked for before the prefill begins, a pull after it.
    private Prefilled move(String request, int[] prompt, PrefillSide prefills, DecodeSide side,
        VirtualTimeScheduler time) {
      Pace pace = Pace.chunks(chunkTokens);
      Mono<Prefilled> receive = side.receive(push, requests(decode, prefills, time), PATIENCE);
      CompletableFuture<@Nullable Prefilled> received = push ? receive.toFuture() : new CompletableFuture<>();
      if (push) {
        prefills.push(request, prompt, pace, PrefillSteps.NONE);
      } else {
        prefills.compute(request, prompt, pace, PrefillSteps.NONE);
        received = receive.toFuture();
      }
      for (int second = 1; slowLinks && second < PATIENCE.toSeconds() && !received.isDone(); second++) {
        time.advanceTimeBy(Duration.ofSeconds(1));
      }
      Prefilled prefilled = requireNonNull(received.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join());
      // a thread of a tier may still release blocks that have arrived
      Eventually.holds("the prefill keeps no request", () -> prefills.held() == 0);
      Eventually.holds("the prefill keeps no block", () -> prefills.claimedBlocks() == 0);
      return prefilled;
    }
  }

  /// Ways to prefill ranks: at once, or with a random delay of each slice.
  private record Links(SliceShape shape, boolean slow, Scheduler time, Random random) {
    private static final int MOST_MILLIS = 50;

    Links(SliceShape shape, boolean slow, Scheduler time, long seed) {
      this(shape, slow, time, new Random(seed));
    }

    ViewSource to(BlockTier outlet) {
      return slow ? ViewSource.of(outlet, shape, this::delayed) : ViewSource.of(outlet, shape);
    }

    private Flux<LayerSlice> delayed(Flux<LayerSlice> slices) {
      return slices.concatMap(
          slice -> Mono.just(slice).delayElement(Duration.ofMillis(random.nextInt(MOST_MILLIS)), time), 0);
    }
  }
}
