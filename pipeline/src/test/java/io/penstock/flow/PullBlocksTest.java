package io.penstock.flow;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.BlockScope;
import io.penstock.block.BlockView;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSlice;
import io.penstock.block.Plane;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.block.UnexpectedSliceException;
import io.penstock.disagg.Incarnation;
import io.penstock.disagg.RankId;
import io.penstock.disagg.plan.HeadShards;
import io.penstock.disagg.plan.KvRequest;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Manifest.Group;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.plan.Planner;
import io.penstock.disagg.plan.Rank;
import io.penstock.disagg.plan.Transfer;
import io.penstock.disagg.plan.TransferPlan;
import io.penstock.disagg.request.AuxData;
import io.penstock.disagg.request.BlockOutcome;
import io.penstock.disagg.request.GroupBlocks;
import io.penstock.disagg.request.MoveTicket;
import io.penstock.disagg.request.ShardMover;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.ReshardedModel;
import io.penstock.tier.Medium;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.TierInfo;
import io.penstock.tier.spi.OnDemandTier;
import io.penstock.tier.spi.ViewLanding;
import io.penstock.tier.spi.ViewLanding.Landed;
import io.penstock.tier.spi.ViewSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// What a plan says is what lands, and lanes keep their order.
final class PullBlocksTest {
  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  /// The ranks of one side, and the bytes that they hold.
  record Side(ReshardedModel model, Manifest manifest) {
    static Side random(Random random, ReshardedModel model) {
      List<Plane> planes = model.planes().stream()
          .map(plane -> new Plane(plane.kind(), plane.type(), model.heads(), plane.width())).toList();
      BlockLayout layout = new BlockLayout(model.layers(), 1 << random.nextInt(5),
          random.nextBoolean() ? TokenOrder.NHD : TokenOrder.HND, planes);
      Parallelism parallelism = Parallelism.ofTp(1 << random.nextInt(4)).withPp(1 + random.nextInt(model.layers()))
          .withContext(1 + random.nextInt(2), 1);
      return new Side(model, Manifest.of("resharded", List.of(Group.full(layout)), parallelism, 0));
    }

    ReshardedModel.Rank rank(Rank rank) {
      BlockLayout layout = manifest.rankLayout(0, rank).orElseThrow();
      HeadShards heads = manifest.heads(0);
      return model.rank(manifest.firstLayer(0, rank.stage()), layout.layers(), heads.first(rank.tp()),
          heads.count(rank.tp()), layout.tokens(), layout.order());
    }

    /// Numbers over all context ranks of the blocks that a rank keeps.
    List<Integer> blocks(Rank rank, int tokens) {
      int ranks = manifest.parallelism().contextRanks();
      int own = manifest.parallelism().contextRank(rank);
      return IntStream.range(0, manifest.rankBlocks(0, rank, tokens)).mapToObj(i -> i * ranks + own).toList();
    }
  }

  /// Makes any block of a rank when it is asked for.
  static final class RankTier extends OnDemandTier {
    private final ReshardedModel.Rank rank;

    RankTier(ReshardedModel.Rank rank, SlabArena arena) {
      super(new TierInfo("rank", Medium.REMOTE, rank.space(), Long.MAX_VALUE), arena, 4);
      this.rank = rank;
    }

    @Override
    protected Mono<Presence> find(List<BlockKey> keys) {
      return Mono.fromSupplier(() -> where(keys, key -> true));
    }

    @Override
    protected Mono<Boolean> fill(BlockDraft draft) {
      rank.produce(draft, (int) draft.key().hash().low(), GranuleRange.all(draft.layout()));
      return Mono.just(true);
    }
  }

  @Test
  void anyTopologies_giveEachDecodeRankItsBytes() {
    for (int seed = 0; seed < 60; seed++) {
      try {
        pullAll(new Random(seed), "request-" + seed);
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }

  private static void pullAll(Random random, String id) {
    ReshardedModel model = ReshardedModel.random(random);
    Side prefill = Side.random(random, model);
    Side decode = Side.random(random, model);
    int prompt = 1 + random.nextInt(40);
    KvRequest request = new KvRequest(id, prompt, random.nextInt(3) == 0 ? random.nextInt(prompt) : 0);
    TransferPlan plan = new Planner(prefill.manifest(), decode.manifest()).plan(request);
    SliceShape shape = SliceShape.defaults().withSliceBytes(2_000 + random.nextInt(20_000));
    try (BlockScope scope = new BlockScope()) {
      Map<Rank, PullBlocks.Lane> lanes = new HashMap<>();
      for (Rank rank : prefill.manifest().parallelism().allRanks()) {
        ReshardedModel.Rank from = prefill.rank(rank);
        SlabArena arena = new SlabArena("from", from.layout(), 4, 64);
        lanes.put(rank, new PullBlocks.Lane(ViewSource.of(new RankTier(from, arena), shape), 64));
      }
      for (Rank rank : decode.manifest().parallelism().allRanks()) {
        Destination destination = Destination.of(decode, rank, request, scope);
        PullBlocks.pull(plan.to(rank), destination.from(prefill, lanes)).blockLast();
        destination.requireBytes(scope);
      }
    }
  }

  /// The drafts of one decode rank.
  record Destination(Side side, Rank rank, KvRequest request, List<Integer> blocks, List<BlockDraft> drafts) {
    static Destination of(Side side, Rank rank, KvRequest request, BlockScope scope) {
      ReshardedModel.Rank to = side.rank(rank);
      List<Integer> blocks = side.blocks(rank, request.promptTokens());
      SlabArena arena = new SlabArena("to", to.layout(), Math.max(1, blocks.size()), 1);
      List<BlockDraft> drafts = blocks.stream()
          .map(block -> scope.adopt(requireNonNull(arena.tryClaim(List.of(to.key(block)))).getFirst())).toList();
      return new Destination(side, rank, request, blocks, drafts);
    }

    PullBlocks.Places from(Side prefill, Map<Rank, PullBlocks.Lane> lanes) {
      return new PullBlocks.Places() {
        @Override
        public PullBlocks.Lane lane(Transfer transfer) {
          return requireNonNull(lanes.get(transfer.source()));
        }

        @Override
        public List<BlockKey> keys(Transfer transfer) {
          return prefill.blocks(transfer.source(), request.promptTokens()).stream()
              .map(prefill.rank(transfer.source())::key).toList();
        }

        @Override
        public BlockDraft draft(Transfer transfer, int destinationBlock) {
          return drafts.get(destinationBlock);
        }
      };
    }

    /// Pads what was not to come, and compares all bytes.
    void requireBytes(BlockScope scope) {
      ReshardedModel.Rank to = side.rank(rank);
      for (int i = 0; i < drafts.size(); i++) {
        int block = blocks.get(i);
        int from = Math.clamp(request.cachedTokens() - block * to.tokens(), 0, to.tokens());
        int end = Math.clamp(request.promptTokens() - block * to.tokens(), from, to.tokens());
        pad(drafts.get(i), 0, from);
        pad(drafts.get(i), end, to.tokens());
        Block sealed = scope.adopt(drafts.get(i).seal().verify("test"));
        sealed.read(memory -> {
          to.requireBytes(block, request.cachedTokens(), request.promptTokens(), memory);
          return memory;
        });
      }
    }

    private static void pad(BlockDraft draft, int from, int end) {
      BlockLayout layout = draft.layout();
      if (from < end) {
        draft.part(BlockView.of(layout, 0, layout.layers(), 0, layout.heads(), from, end - from)).landZeros();
      }
    }
  }

  /// A source whose fetches end when the test says so.
  private static final class Manual implements ViewSource {
    private final CacheSpace space;
    private final List<Sinks.Many<Landed>> running = new ArrayList<>();

    Manual(CacheSpace space) {
      this.space = space;
    }

    @Override
    public CacheSpace space() {
      return space;
    }

    @Override
    public Flux<Landed> fetch(List<BlockKey> keys, OnMiss onMiss, ViewLanding landing) {
      return Flux.defer(() -> {
        Sinks.Many<Landed> fetch = Sinks.many().unicast().onBackpressureBuffer();
        running.add(fetch);
        return fetch.asFlux();
      });
    }
  }

  private static final ReshardedModel MODEL =
      new ReshardedModel(2, 2, List.of(new Plane(Plane.Kind.KEY, Plane.ElementType.INT8, 1, 4)));

  /// One transfer of two layers of one head from the rank of that head.
  private record Two(TransferPlan plan, List<Manual> sources, Map<Rank, PullBlocks.Lane> lanes, Side prefill,
      Side decode) {
    static Two begin() {
      BlockLayout layout = new BlockLayout(2, 4, TokenOrder.NHD,
          List.of(new Plane(Plane.Kind.KEY, Plane.ElementType.INT8, 2, 4)));
      Side prefill = new Side(MODEL, Manifest.of("resharded", layout, Parallelism.ofTp(2)));
      Side decode = new Side(MODEL, Manifest.of("resharded", layout, Parallelism.ofTp(1)));
      TransferPlan plan =
          new Planner(prefill.manifest(), decode.manifest()).plan(new KvRequest("two", 4, 0));
      List<Manual> sources = new ArrayList<>();
      Map<Rank, PullBlocks.Lane> lanes = new HashMap<>();
      for (Rank rank : prefill.manifest().parallelism().allRanks()) {
        Manual source = new Manual(prefill.rank(rank).space());
        sources.add(source);
        lanes.put(rank, new PullBlocks.Lane(source, 8));
      }
      return new Two(plan, sources, lanes, prefill, decode);
    }

    Flux<Landed> pull(Destination destination) {
      return PullBlocks.pull(plan.transfers(), destination.from(prefill, lanes));
    }

    Destination destination(BlockScope scope) {
      return Destination.of(decode, new Rank(0, 0, 0), plan.request(), scope);
    }
  }

  @Test
  void requestsOfOnePeer_areInOrder_andAPeerThatStalls_holdsUpNoOther() {
    Two two = Two.begin();
    try (BlockScope scope = new BlockScope()) {
      List<String> ends = new ArrayList<>();
      two.pull(two.destination(scope)).subscribe(landed -> {}, error -> {}, () -> ends.add("first"));
      two.pull(two.destination(scope)).subscribe(landed -> {}, error -> {}, () -> ends.add("second"));
      assertThat(two.sources()).allSatisfy(source -> assertThat(source.running).hasSize(1));

      two.sources().getFirst().running.getFirst().tryEmitComplete();
      assertThat(two.sources().get(0).running).hasSize(2);
      assertThat(two.sources().get(1).running).as("the peer that stalls").hasSize(1);
      two.sources().get(0).running.get(1).tryEmitComplete();
      assertThat(ends).isEmpty();
      two.sources().get(1).running.get(0).tryEmitComplete();
      two.sources().get(1).running.get(1).tryEmitComplete();
      assertThat(ends).containsExactly("first", "second");
    }
  }

  @Test
  void aRequestThatIsCancelled_leavesTheQueue_andAnErrorEndsTheOtherTransfers() {
    Two two = Two.begin();
    try (BlockScope scope = new BlockScope()) {
      two.pull(two.destination(scope)).subscribe();
      two.pull(two.destination(scope)).subscribe().dispose();
      List<Throwable> errors = new ArrayList<>();
      two.pull(two.destination(scope)).subscribe(landed -> {}, errors::add);
      two.sources().forEach(source -> source.running.getFirst().tryEmitComplete());
      assertThat(two.sources()).allSatisfy(source -> assertThat(source.running).hasSize(2));

      two.sources().getFirst().running.get(1).tryEmitError(new IllegalStateException("lost"));
      assertThat(errors).hasSize(1);
      assertThat(two.sources().get(1).running.get(1).currentSubscriberCount()).isZero();
    }
  }

  /// A ticket that admits one generation, until it is closed.
  private static final class Ticket implements MoveTicket {
    private final int attempt;
    private final long generation;
    private long bytes;
    private boolean closed;

    Ticket(int attempt, long generation) {
      this.attempt = attempt;
      this.generation = generation;
    }

    @Override
    public String request() {
      return "ticket";
    }

    @Override
    public Incarnation source() {
      return new Incarnation(new RankId("p", 0), generation);
    }

    @Override
    public GroupBlocks blocks() {
      return GroupBlocks.none();
    }

    @Override
    public int attempt() {
      return attempt;
    }

    @Override
    public boolean admits(long other) {
      return !closed && other == generation;
    }

    @Override
    public void accepted() {}

    @Override
    public void landed(long more) {
      bytes += more;
    }

    @Override
    public void failed(int group, int position, BlockOutcome outcome) {}

    @Override
    public void aux(AuxData data) {}
  }

  @Test
  void aMoveThatFailed_isRepeated_andWritesNothingTwice() {
    BlockLayout layout = MODEL.rank(0, 2, 0, 2, 4, TokenOrder.NHD).layout();
    Side prefill = new Side(MODEL, Manifest.of("resharded", layout, Parallelism.ofTp(1)));
    Side decode = new Side(MODEL, Manifest.of("resharded", layout.withOrder(TokenOrder.HND), Parallelism.ofTp(1)));
    TransferPlan plan = new Planner(prefill.manifest(), decode.manifest()).plan(new KvRequest("again", 20, 0));
    Rank only = new Rank(0, 0, 0);
    AtomicInteger slices = new AtomicInteger();
    UnaryOperator<Flux<LayerSlice>> link = all -> all.doOnNext(slice -> {
      if (slices.incrementAndGet() == 3) {
        throw new IllegalStateException("link lost");
      }
    });
    SlabArena arena = leaks.watch(new SlabArena("from", layout, 8, 8));
    PullBlocks.Lane lane = new PullBlocks.Lane(
        ViewSource.of(new RankTier(prefill.rank(only), arena), SliceShape.defaults().withSliceBytes(20), link), 8);
    try (BlockScope scope = new BlockScope()) {
      Destination destination = Destination.of(decode, only, plan.request(), scope);
      ShardMover mover =
          PullBlocks.mover(plan.to(only), destination.from(prefill, Map.of(only, lane)), false);
      Ticket stale = new Ticket(1, 7);
      assertThatThrownBy(() -> mover.move(stale).block()).isInstanceOf(UnexpectedSliceException.class)
          .hasMessageContaining("generation");
      assertThat(stale.bytes).isZero();
      Ticket first = new Ticket(1, 0);
      assertThatThrownBy(() -> mover.move(first).block()).hasMessage("link lost");
      assertThat(first.bytes).isPositive();
      mover.move(new Ticket(2, 0)).block();
      mover.drained(first).block();
      destination.requireBytes(scope);
    }
  }

  /// A source of one start of a peer.
  private static final class Started implements ViewSource {
    private final ViewSource source;
    private final long generation;
    private int drains;

    Started(ViewSource source, long generation) {
      this.source = source;
      this.generation = generation;
    }

    @Override
    public CacheSpace space() {
      return source.space();
    }

    @Override
    public long generation() {
      return generation;
    }

    @Override
    public Flux<Landed> fetch(List<BlockKey> keys, OnMiss onMiss, ViewLanding landing) {
      return source.fetch(keys, onMiss, landing);
    }

    @Override
    public Mono<Void> drained() {
      return Mono.fromRunnable(() -> drains++);
    }
  }

  @Test
  void aPeerThatRestartsDuringAMove_landsNothingOfItsEarlierStart() {
    BlockLayout layout = MODEL.rank(0, 2, 0, 2, 4, TokenOrder.NHD).layout();
    Side side = new Side(MODEL, Manifest.of("resharded", layout, Parallelism.ofTp(1)));
    TransferPlan plan = new Planner(side.manifest(), side.manifest()).plan(new KvRequest("restart", 20, 0));
    Rank only = new Rank(0, 0, 0);
    SlabArena arena = leaks.watch(new SlabArena("from", layout, 8, 8));
    RankTier tier = new RankTier(side.rank(only), arena);
    Map<Rank, PullBlocks.Lane> lanes = new HashMap<>();
    Started later = new Started(ViewSource.of(tier, SliceShape.defaults()), 2);
    Started earlier = new Started(ViewSource.of(tier, SliceShape.defaults(),
        slices -> slices.doOnNext(slice -> lanes.put(only, new PullBlocks.Lane(later, 8)))), 1);
    lanes.put(only, new PullBlocks.Lane(earlier, 8));
    try (BlockScope scope = new BlockScope()) {
      Destination destination = Destination.of(side, only, plan.request(), scope);
      ShardMover mover = PullBlocks.mover(plan.to(only), destination.from(side, lanes), false);
      Ticket ofLater = new Ticket(1, 2);
      assertThatThrownBy(() -> mover.move(ofLater).block()).isInstanceOf(UnexpectedSliceException.class)
          .hasMessageContaining("generation");
      mover.drained(ofLater).block();
      assertThat(earlier.drains).as("questions to the start that was asked for bytes").isOne();
      mover.move(new Ticket(2, 2)).block();
      destination.requireBytes(scope);
    }
  }

  @Test
  void transfersThatClaimTheSameBytes_areRefused_beforeAnythingIsAsked() {
    Two two = Two.begin();
    try (BlockScope scope = new BlockScope()) {
      Destination destination = two.destination(scope);
      List<Transfer> twice = List.of(two.plan().transfers().getFirst(), two.plan().transfers().getFirst());
      assertThatThrownBy(
          () -> PullBlocks.pull(twice, destination.from(two.prefill(), two.lanes())).blockLast())
          .isInstanceOf(UnexpectedSliceException.class);
      assertThat(two.sources()).allSatisfy(source -> assertThat(source.running).isEmpty());
    }
  }
}
