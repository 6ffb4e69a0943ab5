package io.penstock.tier.slice;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.BlockScope;
import io.penstock.block.BlockView;
import io.penstock.block.GranuleRange;
import io.penstock.block.IncompleteBlockException;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.block.Plane;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.block.UnexpectedSliceException;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.ReshardedModel;
import io.penstock.testkit.ReshardedModel.Rank;
import io.penstock.tier.spi.ViewLanding;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/// Views gathered in one layout and scattered into another equal the element-wise reference.
final class ViewLandingTest {
  private static final ReshardedModel MODEL = new ReshardedModel(4, 4, List.of(
      new Plane(Plane.Kind.KEY, Plane.ElementType.BF16, 1, 3),
      new Plane(Plane.Kind.VALUE, Plane.ElementType.BF16, 1, 3)));

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private SlabArena arena(Rank rank) {
    return leaks.watch(new SlabArena("rank", rank.layout(), 64, 64));
  }

  /// One move of one source block towards one destination block.
  private record Move(Rank from, Block block, int position, BlockView view, BlockDraft.Part part) {
    void run(Random random) {
      ViewLanding landing = new ViewLanding(from.layout(), view).to(position, view.firstToken(), part);
      int tokenBytes = from.model().planes().size() * view.tokenBytes(from.layout(), 0)
          * Math.max(1, view.tokenBytes(from.layout(), view.granules().end() - 1));
      SliceShape shape = SliceShape.defaults().withSliceBytes(tokenBytes + random.nextInt(2_000))
          .withOrder(random.nextBoolean() ? SliceShape.Order.LAYER_FIRST : SliceShape.Order.BLOCK_FIRST);
      ViewPlan plan = new ViewPlan(1, view, from.layout(), shape);
      for (int i = 0; i < plan.size(); i++) {
        land(plan, i, landing);
      }
      landing.requireComplete(position, block.key());
    }

    private void land(ViewPlan plan, int i, ViewLanding landing) {
      try (LayerSlice slice = plan.slice(i, 0, new SlicePlan.Spans() {
        @Override
        public int position(int index) {
          return position;
        }

        @Override
        public LayerSpan span(int index, GranuleRange range) {
          return block.span(range);
        }
      })) {
        MemorySegment packed = MemorySegment.ofArray(new byte[slice.bytes()]);
        int[] checksums = slice.pack(0, packed, "test");
        landing.land(position, block.key(), slice.requireView(), checksums, packed, "test");
      }
    }
  }

  @Test
  void anyLayouts_equalTheReference() {
    for (int seed = 0; seed < 300; seed++) {
      try (BlockScope scope = new BlockScope()) {
        reshard(new Random(seed), scope);
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }

  /// All source ranks fill the blocks of one destination rank, in any order.
  private static void reshard(Random random, BlockScope scope) {
    ReshardedModel model = ReshardedModel.random(random);
    int sourceHeads = 1 << random.nextInt(Integer.numberOfTrailingZeros(model.heads()) + 1);
    int heads = 1 << random.nextInt(Integer.numberOfTrailingZeros(model.heads()) + 1);
    int firstLayer = random.nextInt(model.layers());
    Rank to = model.rank(firstLayer, 1 + random.nextInt(model.layers() - firstLayer),
        heads * random.nextInt(model.heads() / heads), heads, 1 << random.nextInt(4), order(random));
    int tokens = 1 + random.nextInt(20);
    try (SlabArena arena = new SlabArena("to", to.layout(), 32, 1)) {
      int blocks = Math.ceilDiv(tokens, to.tokens());
      List<BlockDraft> drafts = new ArrayList<>();
      for (int block = 0; block < blocks; block++) {
        drafts.add(scope.adopt(requireNonNull(arena.tryClaim(List.of(to.key(block)))).getFirst()));
      }
      List<SlabArena> arenas = new ArrayList<>();
      List<Move> moves = new ArrayList<>();
      int split = random.nextInt(model.layers());
      int sourceTokens = 1 << random.nextInt(5);
      TokenOrder order = order(random);
      for (int head = 0; head < model.heads(); head += sourceHeads) {
        for (int[] layers : new int[][] {{0, split}, {split, model.layers()}}) {
          if (layers[0] < layers[1]) {
            Rank from = model.rank(layers[0], layers[1] - layers[0], head, sourceHeads, sourceTokens, order);
            SlabArena source = new SlabArena("from", from.layout(), 32, 1);
            arenas.add(source);
            addMoves(moves, from, to, tokens, drafts, source, scope);
          }
        }
      }
      Collections.shuffle(moves, random);
      moves.forEach(move -> move.run(random));
      for (int block = 0; block < blocks; block++) {
        padded(drafts.get(block), tokens - block * to.tokens());
        Block sealed = scope.adopt(drafts.get(block).seal().verify("test"));
        int number = block;
        sealed.read(memory -> {
          to.requireBytes(number, 0, tokens, memory);
          return memory;
        });
      }
      scope.close();
      arenas.forEach(SlabArena::close);
    }
  }

  private static void padded(BlockDraft draft, int tokens) {
    BlockLayout layout = draft.layout();
    if (tokens < layout.tokens()) {
      draft.part(BlockView.of(layout, 0, layout.layers(), 0, layout.heads(), tokens, layout.tokens() - tokens))
          .landZeros();
    }
  }

  /// The moves of what both ranks hold of the first `tokens` tokens.
  private static void addMoves(List<Move> moves, Rank from, Rank to, int tokens, List<BlockDraft> drafts,
      SlabArena arena, BlockScope scope) {
    int layer = Math.max(from.firstLayer(), to.firstLayer());
    int layers = Math.min(from.firstLayer() + from.layers(), to.firstLayer() + to.layers()) - layer;
    int head = Math.max(from.firstHead(), to.firstHead());
    int heads = Math.min(from.firstHead() + from.heads(), to.firstHead() + to.heads()) - head;
    if (layers <= 0 || heads <= 0) {
      return;
    }
    for (int block = 0; block * from.tokens() < tokens; block++) {
      Block made = scope.adopt(from.block(arena, block));
      int end = Math.min(tokens, (block + 1) * from.tokens());
      for (int token = block * from.tokens(); token < end;) {
        int target = token / to.tokens();
        int count = Math.min(end, (target + 1) * to.tokens()) - token;
        BlockView view = BlockView.of(from.layout(), layer - from.firstLayer(), layers, head - from.firstHead(), heads,
            token - block * from.tokens(), count);
        BlockView into = BlockView.of(to.layout(), layer - to.firstLayer(), layers, head - to.firstHead(), heads,
            token - target * to.tokens(), count);
        moves.add(new Move(from, made, block, view, drafts.get(target).part(into)));
        token += count;
      }
    }
  }

  private static TokenOrder order(Random random) {
    return random.nextBoolean() ? TokenOrder.NHD : TokenOrder.HND;
  }

  @Test
  void aPartThatOverlaps_isRefused() {
    Rank rank = MODEL.rank(0, 2, 0, 4, 4, TokenOrder.NHD);
    try (BlockDraft draft = Blocks.draft(arena(rank), rank.key(0))) {
      draft.part(BlockView.of(rank.layout(), 0, 2, 0, 2, 0, 4));
      draft.part(BlockView.of(rank.layout(), 0, 2, 2, 2, 0, 3));
      assertThatThrownBy(() -> draft.part(BlockView.of(rank.layout(), 1, 1, 2, 1, 2, 2)))
          .isInstanceOf(UnexpectedSliceException.class).hasMessageContaining("view must be apart from");
      assertThatThrownBy(() -> draft.write(GranuleRange.whole(0, 1), memory -> memory.fill((byte) 1)))
          .isInstanceOf(IllegalStateException.class).hasMessageContaining("must not belong to a part");
    }
  }

  @Test
  void aGap_isNamed() {
    Rank rank = MODEL.rank(0, 2, 0, 4, 4, TokenOrder.HND);
    try (BlockDraft draft = Blocks.draft(arena(rank), rank.key(0))) {
      draft.part(BlockView.of(rank.layout(), 0, 2, 0, 2, 0, 4)).landZeros();
      draft.part(BlockView.of(rank.layout(), 1, 1, 2, 2, 0, 4)).landZeros();
      assertThatThrownBy(draft::seal).isInstanceOfSatisfying(IncompleteBlockException.class, e -> {
        assertThat(e.firstMissing()).isZero();
        assertThat(e.missing()).isEqualTo(2);
      });
    }
  }

  @Test
  void bytesTwice_areRefused_andDamagedOnesDoNotLand() {
    Rank rank = MODEL.rank(0, 1, 0, 4, 4, TokenOrder.NHD);
    BlockView view = BlockView.of(rank.layout(), 0, 1, 1, 2, 0, 4);
    BlockKey key = rank.key(0);
    try (BlockDraft draft = Blocks.draft(arena(rank), key)) {
      BlockDraft.Part part = draft.part(view);
      ViewLanding landing = new ViewLanding(rank.layout(), view).to(0, 0, part);
      MemorySegment packed = MemorySegment.ofArray(new byte[view.bytes(rank.layout())]);
      int[] checksums = view.checksums(rank.layout(), packed);
      int[] wrong = {checksums[0], ~checksums[1]};
      assertThatThrownBy(() -> landing.land(0, key, view, wrong, packed, "test"))
          .isInstanceOf(BlockCorruptException.class);
      assertThat(part.firstMissing()).isZero();
      landing.land(0, key, view, checksums, packed, "test");
      assertThat(part.isComplete()).isTrue();
      assertThatThrownBy(() -> landing.land(0, key, view, checksums, packed, "test"))
          .isInstanceOf(UnexpectedSliceException.class);
    }
  }

  @Test
  void viewsOutsideTheBlock_areRefused() {
    BlockLayout layout = MODEL.rank(0, 2, 0, 4, 4, TokenOrder.NHD).layout();
    assertThatThrownBy(() -> BlockView.of(layout, 1, 2, 0, 4, 0, 4)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> BlockView.of(layout, 0, 2, 3, 2, 0, 4)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> BlockView.of(layout, 0, 2, 0, 4, 4, 1)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> BlockView.of(layout, 0, Integer.MAX_VALUE, 0, 4, 0, 4))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> BlockView.of(layout, Integer.MAX_VALUE, 1, 0, 4, 0, 4))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> BlockView.of(layout, 0, 2, 0, Integer.MAX_VALUE, 0, 4))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> BlockView.of(layout, 0, 2, 0, 4, Integer.MAX_VALUE, 4))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
