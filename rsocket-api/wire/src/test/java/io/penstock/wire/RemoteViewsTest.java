package io.penstock.wire;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.BlockView;
import io.penstock.block.CacheSpace;
import io.penstock.block.CacheSpace.Shard;
import io.penstock.block.GranuleRange;
import io.penstock.block.IncompleteBlockException;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.block.Plane;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.flow.Production;
import io.penstock.flow.PushLayers;
import io.penstock.stack.HostTier;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.ReshardedModel;
import io.penstock.testkit.ReshardedModel.Rank;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.PutSource;
import io.penstock.tier.TierListener;
import io.penstock.tier.slice.SlicePlan;
import io.penstock.tier.slice.ViewPlan;
import io.penstock.tier.spi.ViewLanding;
import io.penstock.tier.spi.ViewLanding.Landed;
import io.penstock.wire.protocol.ControlCodec;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.Handshake;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.rank.RemoteViews;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.slice.SliceHeader;
import io.rsocket.Payload;
import io.rsocket.RSocket;
import io.rsocket.SocketAcceptor;
import io.rsocket.core.RSocketServer;
import io.rsocket.transport.netty.client.TcpClientTransport;
import io.rsocket.transport.netty.server.CloseableChannel;
import io.rsocket.transport.netty.server.TcpServerTransport;
import io.rsocket.util.ByteBufPayload;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// Views of the blocks of a node, over sockets: the bytes of one layout land in another.
@Timeout(60)
final class RemoteViewsTest {
  private static final int WINDOW = 4;
  private static final int SOURCE_TOKENS = 8;
  private static final int BLOCKS = 5;
  private static final ReshardedModel MODEL = new ReshardedModel(4, 4, List.of(
      new Plane(Plane.Kind.KEY, Plane.ElementType.BF16, 1, 16),
      new Plane(Plane.Kind.VALUE, Plane.ElementType.BF16, 1, 16)));
  private static final Rank FROM = MODEL.rank(0, 4, 0, 4, SOURCE_TOKENS, TokenOrder.HND);
  /// Two of the layers, the upper heads, half as many tokens a block, the other order.
  private static final Rank TO = MODEL.rank(1, 2, 2, 2, SOURCE_TOKENS / 2, TokenOrder.NHD);
  private static final BlockView VIEW = BlockView.of(FROM.layout(), 1, 2, 2, 2, 0, SOURCE_TOKENS);

  private static List<BlockKey> keys() {
    return IntStream.range(0, BLOCKS).mapToObj(FROM::key).toList();
  }

  private static WireNode node(Link link) {
    WireNode node = WireNode.of(link, FROM.space(), WINDOW);
    try (SlabArena arena = new SlabArena("blocks", FROM.layout(), BLOCKS, 1, link.chunks())) {
      List<Block> blocks = IntStream.range(0, BLOCKS).mapToObj(i -> FROM.block(arena, i)).toList();
      node.tier.put(keys(), SliceShape.defaults().withWindowBlocks(WINDOW),
          PutSource.of(blocks, SliceShape.Order.LAYER_FIRST)).blockLast(WireNode.PATIENCE);
      blocks.forEach(Block::close);
    }
    return node;
  }

  private static RemoteViews connect(WireNode node, CacheSpace space) {
    return requireNonNull(RemoteViews.connect(node.transport(), WireNode.clientOptions(WINDOW), space, node.budget(8))
        .block(WireNode.PATIENCE));
  }

  /// Drafts for all tokens of the source's blocks, and the landing of `view` of each.
  private record Drafts(List<BlockDraft> drafts, ViewLanding landing) {
    static Drafts in(SlabArena arena) {
      List<BlockDraft> drafts = new ArrayList<>();
      ViewLanding landing = new ViewLanding(FROM.layout(), VIEW);
      for (int block = 0; block < 2 * BLOCKS; block++) {
        BlockDraft draft = Blocks.draft(arena, TO.key(block));
        landing.to(block / 2, block % 2 * TO.tokens(), draft.part(BlockView.all(TO.layout())));
        drafts.add(draft);
      }
      return new Drafts(drafts, landing);
    }

    void requireBytes() {
      for (int i = 0; i < drafts.size(); i++) {
        int block = i;
        try (Block sealed = drafts.get(i).seal().verify("test")) {
          sealed.read(memory -> {
            TO.requireBytes(block, 0, Integer.MAX_VALUE, memory);
            return memory;
          });
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void views_landInAnotherLayout(Link link) {
    try (WireNode node = node(link); LeakLedger leaks = new LeakLedger()) {
      RemoteViews views = connect(node, TO.space());
      assertThat(views.space()).isEqualTo(FROM.space());
      Drafts drafts = Drafts.in(leaks.watch(new SlabArena("to", TO.layout(), 2 * BLOCKS, 1)));
      long bytes = requireNonNull(views.fetch(keys(), OnMiss.SKIP, drafts.landing()).map(Landed::bytes)
          .reduce(0L, Long::sum).block(WireNode.PATIENCE));
      assertThat(bytes).isEqualTo((long) BLOCKS * VIEW.bytes(FROM.layout()));
      drafts.requireBytes();
      views.close().block(WireNode.PATIENCE);
    }
  }

  /// The node pushes layers of a request while it is computed; the reader came first.
  @ParameterizedTest
  @EnumSource(names = {"PENSTOCK", "SHARED_MEMORY"})
  void layersArePushed_asTheyBecomeReady(Link link) {
    Scheduler shard = Schedulers.newSingle("shard", true);
    HostTier tier = new HostTier(FROM.space(), 16, StackOptions.defaults("dram"), TierListener.noop(), link.chunks());
    PushLayers push = new PushLayers(tier, List.of(shard));
    try (LeakLedger leaks = new LeakLedger()) {
      KvServer server = requireNonNull(KvServer.bind(link.server(), push, WireNode.options(WINDOW),
          leaks.watch(new ByteBudget("node", 1 << 20, 64)), Schedulers.parallel()).block(WireNode.PATIENCE));
      ByteBudget budget = leaks.watch(new ByteBudget("decode", 3 * WireNode.SLICE_BYTES, 16));
      RemoteViews views = requireNonNull(RemoteViews.connect(link.client(link.port(server)),
          WireNode.clientOptions(WINDOW), TO.space(), budget).block(WireNode.PATIENCE));
      Drafts drafts = Drafts.in(leaks.watch(new SlabArena("to", TO.layout(), 2 * BLOCKS, 1)));
      BlockingQueue<Landed> landed = new LinkedBlockingQueue<>();
      Mono<Void> all = views.fetch(PushLayers.keys(FROM.space(), "pushed", BLOCKS), OnMiss.AWAIT, drafts.landing())
          .doOnNext(landed::add).then().cache();
      all.subscribe();

      SlabArena arena = leaks.watch(new SlabArena("from", FROM.layout(), BLOCKS, 1, link.chunks()));
      List<BlockDraft> computed = IntStream.range(0, BLOCKS).mapToObj(i -> Blocks.draft(arena, FROM.key(i))).toList();
      try (Production production =
          push.begin("pushed", BLOCKS, (block, granules) -> computed.get(block).span(granules))) {
        Production.Chunk chunk = production.chunk(BLOCKS);
        production.end();
        for (int layer = 0; layer < FROM.layers(); layer++) {
          assertThat(landed).as("before layer %d is ready", layer).isEmpty();
          for (int block = 0; block < BLOCKS; block++) {
            FROM.produce(computed.get(block), block, GranuleRange.layers(FROM.layout(), layer, layer + 1));
          }
          chunk.ready(layer);
          if (layer == 1 || layer == 2) { // those that are asked for
            requireLayer(layer, landed);
          }
        }
        all.block(WireNode.PATIENCE);
        drafts.requireBytes();
      }
      computed.forEach(BlockDraft::close);
      views.close().block(WireNode.PATIENCE);
      server.close().block(WireNode.PATIENCE);
      tier.close().block(WireNode.PATIENCE);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    } finally {
      shard.dispose();
    }
  }

  /// The next parts that land are of `layer`, for all blocks.
  private static void requireLayer(int layer, BlockingQueue<Landed> landed) throws InterruptedException {
    for (int bytes = 0; bytes < BLOCKS * VIEW.bytes(FROM.layout()) / 2;) {
      Landed part = requireNonNull(landed.poll(20, TimeUnit.SECONDS), "a layer that is ready comes");
      assertThat(part.part().firstLayer(FROM.layout())).isEqualTo(layer);
      bytes += part.bytes();
    }
  }

  @Test
  void aBlockThatTheNodeLacks_isNamed() {
    try (WireNode node = node(Link.PENSTOCK); LeakLedger leaks = new LeakLedger()) {
      RemoteViews views = connect(node, TO.space());
      SlabArena arena = leaks.watch(new SlabArena("to", TO.layout(), 4, 1));
      ViewLanding landing = new ViewLanding(FROM.layout(), VIEW);
      try (BlockDraft there = Blocks.draft(arena, TO.key(0)); BlockDraft missing = Blocks.draft(arena, TO.key(1))) {
        landing.to(0, 0, there.part(BlockView.all(TO.layout()))).to(1, 0, missing.part(BlockView.all(TO.layout())));
        BlockKey absent = FROM.key(99);
        assertThatThrownBy(() -> views.fetch(List.of(FROM.key(0), absent), OnMiss.SKIP, landing)
            .blockLast(WireNode.PATIENCE)).isInstanceOfSatisfying(IncompleteBlockException.class,
                e -> assertThat(e.key()).isEqualTo(absent));
        assertThat(there.isComplete()).isTrue();
      }
      views.close().block(WireNode.PATIENCE);
    }
  }

  @Test
  void spacesThatCannotGiveViews_areRefused_namingTheField() {
    try (WireNode node = node(Link.PENSTOCK)) {
      refused(node, TO.space().withShard(new Shard(4, 1, 8, 2)), "space.shard.heads");
      refused(node, TO.space().withShard(new Shard(5, 1, 4, 2)), "space.shard.layers");
      refused(node, CacheSpace.of("another", TO.layout()), "space.model");
      ReshardedModel wider = new ReshardedModel(4, 4, List.of(new Plane(Plane.Kind.KEY, Plane.ElementType.BF16, 1, 8),
          new Plane(Plane.Kind.VALUE, Plane.ElementType.BF16, 1, 8)));
      refused(node, wider.rank(1, 2, 2, 2, 4, TokenOrder.NHD).space(), "space.planes");
      refused(node, new CacheSpace("resharded", TO.layout(), 1, "").withShard(TO.space().shard()), "space.group");
      refused(node, new CacheSpace("resharded", TO.layout(), new CacheSpace.Group(0, 64, 0, List.of()), "").withShard(
          TO.space().shard()), "space.group.windowTokens");
      refused(node, new CacheSpace("resharded", TO.layout(), 0, "salt").withShard(TO.space().shard()),
          "space.tenantSalt");
    }
  }

  private static void refused(WireNode node, CacheSpace space, String field) {
    assertThatThrownBy(() -> connect(node, space)).isInstanceOfSatisfying(RemotePermanentException.class,
        e -> assertThat(e.code()).isEqualTo(ErrorCode.SPACE_MISMATCH.code())).hasMessageContaining(field);
  }

  @Test
  void viewsOutsideABlock_orWithAStartLayer_areRefusedByTheNode() {
    try (WireNode node = node(Link.PENSTOCK)) {
      RSocket raw = node.raw(ControlCodec.CBOR.mimeType());
      for (Messages.View bad : List.of(new Messages.View(0, 5, 0, 4, 0, 8), new Messages.View(0, 4, 3, 2, 0, 8),
          new Messages.View(0, 4, 0, 4, 8, 1), new Messages.View(-1, 1, 0, 4, 0, 8),
          new Messages.View(0, Integer.MAX_VALUE, 0, 4, 0, 8), new Messages.View(0, 4, 1, Integer.MAX_VALUE, 0, 8),
          new Messages.View(0, 4, 0, 0, 0, 8), new Messages.View(0, 4, 0, 4, Integer.MIN_VALUE, 8))) {
        assertThatThrownBy(() -> raw.requestStream(WireNode.request(ControlCodec.CBOR, Routes.GET,
            new Messages.GetRequest(Messages.Keys.of(keys()), "SKIP", "LAYER_FIRST", 0, 4096, WINDOW, 1, null, null,
                null,
                bad, null)))
            .blockLast(WireNode.PATIENCE)).as("%s", bad)
            .hasMessageContaining("view must be inside a block");
      }
    }
  }

  @Test
  void aFetchThatIsCancelled_isDrained() {
    Scheduler shard = Schedulers.newSingle("shard", true);
    HostTier tier = new HostTier(FROM.space(), 16, StackOptions.defaults("dram"), TierListener.noop());
    PushLayers push = new PushLayers(tier, List.of(shard));
    try (LeakLedger leaks = new LeakLedger()) {
      KvServer server = requireNonNull(KvServer.bind(Link.PENSTOCK.server(), push, WireNode.options(WINDOW),
          leaks.watch(new ByteBudget("node", 1 << 20, 64)), Schedulers.parallel()).block(WireNode.PATIENCE));
      RemoteViews views = requireNonNull(RemoteViews.connect(Link.PENSTOCK.client(Link.PENSTOCK.port(server)),
          WireNode.clientOptions(WINDOW), TO.space(), leaks.watch(new ByteBudget("decode", 8192, 16)))
          .block(WireNode.PATIENCE));
      Drafts drafts = Drafts.in(leaks.watch(new SlabArena("to", TO.layout(), 2 * BLOCKS, 1)));
      Disposable waiting =
          views.fetch(PushLayers.keys(FROM.space(), "never", BLOCKS), OnMiss.AWAIT, drafts.landing()).subscribe();
      waiting.dispose();
      views.drained().block(WireNode.PATIENCE);
      assertThat(server.runningStreams()).isZero();
      assertThat(push.waiting()).isZero();
      views.close().block(WireNode.PATIENCE);
      views.drained().block(WireNode.PATIENCE);
      drafts.drafts().forEach(BlockDraft::close);
      server.close().block(WireNode.PATIENCE);
      tier.close().block(WireNode.PATIENCE);
    } finally {
      shard.dispose();
    }
  }

  private static Handshake.Welcome welcome(@Nullable List<String> features) {
    return new Handshake.Welcome(1, "1", "node", "tier", Handshake.Space.of(FROM.space()), 4096, WINDOW, 100, 64L,
        null, null, null, null, features, null);
  }

  /// A server that says `welcome`, and streams what it likes.
  private static CloseableChannel liar(Handshake.Welcome welcome, List<ByteBuf> stream) {
    return requireNonNull(RSocketServer.create(SocketAcceptor.with(new RSocket() {
      @Override
      public Mono<Payload> requestResponse(Payload payload) {
        payload.release();
        return Mono.fromSupplier(
            () -> ByteBufPayload.create(ControlCodec.CBOR.encode(welcome, UnpooledByteBufAllocator.DEFAULT)));
      }

      @Override
      public Flux<Payload> requestStream(Payload payload) {
        payload.release();
        return Flux.fromIterable(stream).map(ByteBufPayload::create);
      }
    })).bind(TcpServerTransport.create("127.0.0.1", 0)).block(WireNode.PATIENCE));
  }

  /// Slices of the view of block 0, as an honest node packs them.
  private static List<ByteBuf> slices(int position) {
    try (SlabArena arena = new SlabArena("a", FROM.layout(), 1, 1); Block block = FROM.block(arena, 0)) {
      ViewPlan plan = ViewPlan.byLayer(1, VIEW, FROM.layout(), SliceShape.defaults());
      SlicePlan.Spans spans = new SlicePlan.Spans() {
        @Override
        public int position(int i) {
          return position;
        }

        @Override
        public LayerSpan span(int i, GranuleRange range) {
          return block.span(range);
        }
      };
      return IntStream.range(0, plan.size()).mapToObj(i -> {
        try (LayerSlice slice = plan.slice(i, 0, spans)) {
          return SliceHeader.pack(slice, FROM.space().id(), FROM.layout(), UnpooledByteBufAllocator.DEFAULT);
        }
      }).toList();
    }
  }

  private static ByteBuf found(int... positions) {
    BitSet found = new BitSet();
    IntStream.of(positions).forEach(found::set);
    Messages.Bits bits = Messages.Bits.of(Presence.of(2, found));
    Messages.Bits none = Messages.Bits.of(Presence.of(2, new BitSet()));
    return ControlCodec.CBOR.encode(new Messages.Found(bits, bits, none, none), UnpooledByteBufAllocator.DEFAULT);
  }

  /// What the node streams, and what the reader hears.
  @Test
  void aNodeThatLies_isATypedError_andNothingWrongLands() {
    ByteBuf damaged = slices(0).get(0);
    damaged.setByte(damaged.writerIndex() - 1, ~damaged.getByte(damaged.writerIndex() - 1));
    requireRefused(WireFormatException.class, "bytes of the first slice again", found(0), slices(0).get(0),
        slices(0).get(0));
    requireRefused(WireFormatException.class, "a block that was not found", found(1), slices(0).get(0));
    requireRefused(WireFormatException.class, "a slice before the decision", slices(0).get(0));
    requireRefused(WireFormatException.class, "a key that does not fit", found(0, 1), slices(1).get(0));
    requireRefused(BlockCorruptException.class, "a damaged byte", found(0), damaged);
    requireRefused(IncompleteBlockException.class, "no slice", found(0));
    requireRefused(IncompleteBlockException.class, "a slice too few", found(0), slices(0).get(0));
  }

  private static void requireRefused(Class<? extends Throwable> type, String lie, ByteBuf... stream) {
    CloseableChannel server = liar(welcome(List.of("views")), List.of(stream));
    try (LeakLedger leaks = new LeakLedger()) {
      RemoteViews views = requireNonNull(RemoteViews.connect(TcpClientTransport.create(server.address()),
          WireNode.clientOptions(WINDOW), TO.space(), leaks.watch(new ByteBudget("client", 16_384, 1)))
          .block(WireNode.PATIENCE));
      SlabArena arena = leaks.watch(new SlabArena("to", TO.layout(), 2, 1));
      try (BlockDraft draft = Blocks.draft(arena, TO.key(0))) {
        ViewLanding landing = new ViewLanding(FROM.layout(), VIEW).to(0, 0, draft.part(BlockView.all(TO.layout())));
        assertThatThrownBy(() -> views.fetch(List.of(FROM.key(0), FROM.key(1)), OnMiss.SKIP, landing)
            .blockLast(WireNode.PATIENCE)).as(lie).isInstanceOf(type);
        assertThat(draft.isComplete()).as(lie).isFalse();
      }
      views.close().block(WireNode.PATIENCE);
    } finally {
      server.dispose();
    }
  }

  @Test
  void aNodeOfVersionOneZero_isRefusedHere() {
    CloseableChannel server = liar(welcome(null), List.of());
    try (LeakLedger leaks = new LeakLedger()) {
      assertThatThrownBy(() -> RemoteViews.connect(TcpClientTransport.create(server.address()),
          WireNode.clientOptions(WINDOW), TO.space(), leaks.watch(new ByteBudget("client", 8192, 1)))
          .block(WireNode.PATIENCE))
          .isInstanceOfSatisfying(WireFormatException.class, e -> {
            assertThat(e.code()).isEqualTo(ErrorCode.VERSION_MISMATCH);
            assertThat(e.field()).isEqualTo("welcome.features");
          });
    } finally {
      server.dispose();
    }
  }
}
