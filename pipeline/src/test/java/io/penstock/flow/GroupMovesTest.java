package io.penstock.flow;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.BlockScope;
import io.penstock.block.BlockView;
import io.penstock.block.GranuleRange;
import io.penstock.block.Plane;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.Plane.Kind;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.disagg.plan.HeadShards;
import io.penstock.disagg.plan.KvRequest;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Manifest.Group;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.plan.Planner;
import io.penstock.disagg.plan.Rank;
import io.penstock.disagg.plan.TokenPiece;
import io.penstock.disagg.plan.Transfer;
import io.penstock.disagg.plan.TransferPlan;
import io.penstock.testkit.ReshardedModel;
import io.penstock.tier.HostTier;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.ViewLanding.Landed;
import io.penstock.tier.spi.ViewSource;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;

/// Requests of models with several KV groups: all tokens, a sliding window, latents, a recurrent state. What the plan
/// says is pulled, and pushed, and every element lands where its rank keeps it; context parallelism on both sides.
final class GroupMovesTest {
  /// One group of the model: the layers, heads and bytes that it really has.
  private record Kept(ReshardedModel model, List<Integer> layers, int windowTokens, boolean isState) {
    Group on(Random random) {
      List<Plane> planes = model.planes().stream()
          .map(plane -> new Plane(plane.kind(), plane.type(), model.heads(), plane.width())).toList();
      int tokens = isState ? 1 : 1 << random.nextInt(4);
      TokenOrder order = random.nextBoolean() ? TokenOrder.NHD : TokenOrder.HND;
      return new Group(new BlockLayout(model.layers(), tokens, order, planes), layers, windowTokens, isState);
    }
  }

  /// Layers of the model go to the groups in turn.
  private static List<Kept> model(Random random) {
    int layers = 4 + random.nextInt(5);
    int heads = 1 << random.nextInt(3);
    List<Integer> full = IntStream.range(0, layers).filter(layer -> layer % 4 == 0).boxed().toList();
    List<Integer> window = IntStream.range(0, layers).filter(layer -> layer % 4 == 1).boxed().toList();
    List<Integer> state = IntStream.range(0, layers).filter(layer -> layer % 4 == 2).boxed().toList();
    List<Integer> latent = IntStream.range(0, layers).filter(layer -> layer % 4 == 3).boxed().toList();
    return List.of(
        new Kept(new ReshardedModel(full.size(), heads, attention()), full, 0, false),
        new Kept(new ReshardedModel(window.size(), heads, attention()), window, 5 + random.nextInt(20), false),
        new Kept(new ReshardedModel(state.size(), 8, List.of( // the convolution in three parts, and the scan
            new Plane(Kind.KEY, ElementType.BF16, 1, 3), new Plane(Kind.KEY, ElementType.BF16, 1, 3),
            new Plane(Kind.VALUE, ElementType.BF16, 1, 6), new Plane(Kind.VALUE, ElementType.FP32, 1, 5))), state, 0,
            true),
        new Kept(new ReshardedModel(latent.size(), 1,
            List.of(new Plane(Kind.LATENT, ElementType.BF16, 1, 7), new Plane(Kind.ROPE, ElementType.BF16, 1, 2))),
            latent, 0, false));
  }

  private static List<Plane> attention() {
    return List.of(new Plane(Kind.KEY, ElementType.BF16, 1, 4), new Plane(Kind.VALUE, ElementType.BF16, 1, 4));
  }

  /// A rank of one side, in one group.
  private record Place(Rank rank, int group) {}

  private record Side(List<Kept> groups, Manifest manifest) {
    static Side random(Random random, List<Kept> groups) {
      int dcp = 1 << random.nextInt(2);
      int heads = groups.getFirst().model().heads();
      Parallelism parallelism = Parallelism.ofTp(dcp > 1 ? heads * dcp : 1 << random.nextInt(4))
          .withPp(1 + random.nextInt(3)).withContext(1 + random.nextInt(2), dcp);
      return new Side(groups, Manifest.of("groups", groups.stream().map(kept -> kept.on(random)).toList(),
          parallelism, 0));
    }

    ReshardedModel.Rank rank(Place place) {
      BlockLayout layout = manifest.rankLayout(place.group(), place.rank()).orElseThrow();
      HeadShards heads = manifest.heads(place.group());
      return groups.get(place.group()).model().rank(manifest.firstLayer(place.group(), place.rank().stage()),
          layout.layers(), heads.first(place.rank().tp()), heads.count(place.rank().tp()), layout.tokens(),
          layout.order());
    }

    /// Numbers, over the whole sequence, of the blocks that a rank keeps; the state has number 0.
    List<Integer> blocks(Place place, int tokens) {
      int count = manifest.rankBlocks(place.group(), place.rank(), tokens);
      int ranks = manifest.parallelism().contextRanks();
      int own = manifest.parallelism().contextRank(place.rank());
      return groups.get(place.group()).isState()
          ? List.of(0)
          : IntStream.range(0, count).mapToObj(i -> i * ranks + own).toList();
    }
  }

  /// Where the transfers to one decode rank land, group by group.
  private static final class Destination implements PullBlocks.Places, AutoCloseable {
    private final Side prefill;
    private final Side decode;
    private final Rank rank;
    private final KvRequest request;
    private final Map<Place, PullBlocks.Lane> lanes;
    private final boolean isPush;
    private final BlockScope scope = new BlockScope();
    private final Map<Integer, Map<Integer, BlockDraft>> drafts = new TreeMap<>();

    Destination(Side prefill, Side decode, Rank rank, KvRequest request, Map<Place, PullBlocks.Lane> lanes,
        boolean isPush) {
      this.prefill = prefill;
      this.decode = decode;
      this.rank = rank;
      this.request = request;
      this.lanes = lanes;
      this.isPush = isPush;
    }

    @Override
    public PullBlocks.Lane lane(Transfer transfer) {
      return requireNonNull(lanes.get(new Place(transfer.source(), transfer.group())));
    }

    @Override
    public List<BlockKey> keys(Transfer transfer) {
      Place place = new Place(transfer.source(), transfer.group());
      ReshardedModel.Rank from = prefill.rank(place);
      List<Integer> blocks = prefill.blocks(place, request.promptTokens());
      return isPush
          ? PushLayers.keys(from.space(), request.id(), blocks.size())
          : blocks.stream().map(from::key).toList();
    }

    @Override
    public BlockDraft draft(Transfer transfer, int destinationBlock) {
      return drafts.computeIfAbsent(transfer.group(), group -> new TreeMap<>()).computeIfAbsent(destinationBlock,
          block -> {
            ReshardedModel.Rank to = decode.rank(new Place(rank, transfer.group()));
            SlabArena arena = new SlabArena("to", to.layout(), 1, 1);
            return scope.adopt(requireNonNull(arena.tryClaim(List.of(to.key(block)))).getFirst());
          });
    }

    /// All tokens of the plan have landed in their places, and nothing else.
    void requireBytes(List<Transfer> transfers) {
      Map<Integer, Map<Integer, BitSet>> moved = new HashMap<>();
      transfers.forEach(transfer -> transfer.pieces().forEach(piece -> tokens(moved, transfer, piece)));
      drafts.forEach((group, blocks) -> blocks.forEach((number, draft) -> {
        ReshardedModel.Rank to = decode.rank(new Place(rank, group));
        int block = decode.blocks(new Place(rank, group), request.promptTokens()).get(number);
        BitSet tokens = requireNonNull(requireNonNull(moved.get(group)).get(number));
        int from = tokens.nextSetBit(0);
        int end = tokens.nextClearBit(from);
        pad(draft, 0, from);
        pad(draft, end, to.tokens());
        try (Block sealed = draft.seal().verify("test")) {
          sealed.read(memory -> {
            to.requireBytes(block, block * to.tokens() + from, block * to.tokens() + end, memory);
            return memory;
          });
        }
      }));
    }

    private static void tokens(Map<Integer, Map<Integer, BitSet>> moved, Transfer transfer, TokenPiece piece) {
      moved.computeIfAbsent(transfer.group(), group -> new HashMap<>())
          .computeIfAbsent(piece.destinationBlock(), block -> new BitSet())
          .set(piece.destinationToken(), piece.destinationToken() + piece.tokens());
    }

    private static void pad(BlockDraft draft, int from, int end) {
      BlockLayout layout = draft.layout();
      if (from < end) {
        draft.part(BlockView.of(layout, 0, layout.layers(), 0, layout.heads(), from, end - from)).landZeros();
      }
    }

    @Override
    public void close() {
      scope.close();
    }
  }

  /// The places of a side that have layers, and blocks of the request.
  private static List<Place> places(Side side, int tokens) {
    List<Place> places = new ArrayList<>();
    for (Rank rank : side.manifest().parallelism().allRanks()) {
      for (int group = 0; group < side.groups().size(); group++) {
        if (side.manifest().rankLayout(group, rank).isPresent()
            && side.manifest().rankBlocks(group, rank, tokens) > 0) {
          places.add(new Place(rank, group));
        }
      }
    }
    return places;
  }

  private record Case(Side prefill, Side decode, TransferPlan plan) {
    static Case random(Random random, String id) {
      List<Kept> groups = model(random);
      Side prefill = Side.random(random, groups);
      Side decode = Side.random(random, groups);
      int prompt = 1 + random.nextInt(60);
      int cached = random.nextInt(3) == 0 ? random.nextInt(prompt + 1) : 0;
      return new Case(prefill, decode,
          new Planner(prefill.manifest(), decode.manifest()).plan(new KvRequest(id, prompt, cached)));
    }

    KvRequest request() {
      return plan.request();
    }

    void requireStates() {
      boolean hasAll = request().cachedTokens() == request().promptTokens();
      for (Place place : places(decode, request().promptTokens())) {
        if (decode.groups().get(place.group()).isState()) {
          long heads = plan.to(place.rank()).stream().filter(transfer -> transfer.group() == place.group())
              .mapToLong(transfer -> (long) transfer.heads().count() * transfer.layers().count()).sum();
          assertThat(heads).as("heads × layers of state at %s", place.rank()).isEqualTo(hasAll
              ? 0
              : (long) decode.rank(place).heads() * decode.rank(place).layers());
        }
      }
    }
  }

  private interface Sources {
    Map<Place, PullBlocks.Lane> of(Case one, BlockScope scope);
  }

  private static void each(String name, int seeds, boolean isPush, Sources sources) {
    for (int seed = 0; seed < seeds; seed++) {
      try (BlockScope scope = new BlockScope()) {
        Case one = Case.random(new Random(seed), name + "-" + seed);
        one.requireStates();
        Map<Place, PullBlocks.Lane> lanes = sources.of(one, scope);
        for (Rank rank : one.decode().manifest().parallelism().allRanks()) {
          List<Transfer> transfers = one.plan().to(rank);
          try (Destination destination =
              new Destination(one.prefill(), one.decode(), rank, one.request(), lanes, isPush)) {
            Flux<Landed> moves = isPush
                ? PullBlocks.receive(transfers, destination)
                : PullBlocks.pull(transfers, destination);
            long landed = requireNonNull(moves.map(Landed::bytes).reduce(0L, (sum, bytes) -> sum + bytes).block());
            assertThat(landed).as("bytes asked for").isBetween(bytes(one, transfers), bytes(one, transfers) * 3 / 2);
            destination.requireBytes(transfers);
          }
        }
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }

  /// What is placed.
  private static long bytes(Case one, List<Transfer> transfers) {
    return transfers.stream().mapToLong(transfer -> (long) transfer.tokens() * transfer.heads().count()
        * transfer.layers().count() * one.prefill().groups().get(transfer.group()).model().planes().stream()
            .mapToInt(Plane::tokenBytes).sum())
        .sum();
  }

  @Test
  void pull_movesEveryGroup() {
    each("pull", 60, false, (one, scope) -> {
      Map<Place, PullBlocks.Lane> lanes = new HashMap<>();
      for (Place place : places(one.prefill(), one.request().promptTokens())) {
        ReshardedModel.Rank from = one.prefill().rank(place);
        lanes.put(place, new PullBlocks.Lane(ViewSource.of(
            new PullBlocksTest.RankTier(from, new SlabArena("from", from.layout(), 4, 64)),
            SliceShape.defaults().withSliceBytes(4_096)), 64));
      }
      return lanes;
    });
  }

  @Test
  void push_movesEveryGroup() {
    each("push", 40, true, (one, scope) -> {
      Map<Place, PullBlocks.Lane> lanes = new HashMap<>();
      for (Place place : places(one.prefill(), one.request().promptTokens())) {
        lanes.put(place, pushed(one, place, scope));
      }
      return lanes;
    });
  }

  /// All blocks of a place are computed, layer by layer; its readers take them as they come.
  private static PullBlocks.Lane pushed(Case one, Place place, BlockScope scope) {
    ReshardedModel.Rank from = one.prefill().rank(place);
    List<Integer> blocks = one.prefill().blocks(place, one.request().promptTokens());
    SlabArena arena = new SlabArena("computed", from.layout(), blocks.size(), 1);
    List<BlockDraft> drafts = blocks.stream()
        .map(block -> scope.adopt(requireNonNull(arena.tryClaim(List.of(from.key(block)))).getFirst())).toList();
    PushLayers push = new PushLayers(new HostTier(from.space(), 1, TierListener.noop()),
        List.of(Schedulers.immediate()));
    Production production = push.begin(one.request().id(), blocks.size(),
        (block, granules) -> drafts.get(block).span(granules));
    Production.Chunk chunk = production.chunk(blocks.size());
    production.end();
    for (int layer = 0; layer < from.layers(); layer++) {
      GranuleRange granules = GranuleRange.layers(from.layout(), layer, layer + 1);
      for (int i = 0; i < blocks.size(); i++) {
        from.produce(drafts.get(i), blocks.get(i), granules);
      }
      chunk.ready(layer);
    }
    return new PullBlocks.Lane(ViewSource.of(push, SliceShape.defaults().withSliceBytes(4_096)), 64);
  }
}
