package io.penstock.examples.conversations;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.budget.Permits;
import io.penstock.device.Device;
import io.penstock.device.DeviceStore;
import io.penstock.device.sim.SimulatedDevice;
import io.penstock.device.sim.SimulatedDeviceOptions;
import io.penstock.examples.source.Reading;
import io.penstock.examples.source.SeededBytes;
import io.penstock.examples.source.SliceReader;
import io.penstock.flow.LoadOrCompute;
import io.penstock.flow.LoadPrefix;
import io.penstock.flow.LoadPrefix.Choice;
import io.penstock.flow.OffloadPrefix;
import io.penstock.flow.ProducingSource;
import io.penstock.node.tiers.BuiltTiers;
import io.penstock.node.tiers.TierRecording;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.storage.JournalOptions;
import io.penstock.storage.JournalStore;
import io.penstock.storage.disk.HealthOptions;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.Lease;
import io.penstock.tier.Receipt;
import io.penstock.tier.TierListener;
import io.penstock.tier.TierStat;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.RemoteTier;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpListener;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.netty.resources.LoopResources;

/// A node with device memory, host memory and perhaps a disk, and an engine that reaches it over loopback TCP. Written
/// against the public API only: copy from here.
final class ConversationNode implements AutoCloseable {
  static final String HBM = "hbm";
  static final String DRAM = "dram";
  static final String SSD = "ssd";
  static final int BLOCK_TOKENS = 16;

  /// A block: 8 layers of keys and values for 16 tokens, 2 heads × 64 elements of BF16: 64 KiB.
  static final CacheSpace SPACE =
      CacheSpace.of("my-model", BlockLayout.attention(8, BLOCK_TOKENS, 2, 64, ElementType.BF16));
  static final int BLOCK_BYTES = SPACE.layout().blockBytes();

  /// Conversations that begin at the same time.
  static final int STARTS_AT_ONCE = 8;

  private static final Duration STALL = Duration.ofMinutes(1);
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final int WINDOW_BLOCKS = 16;
  private static final long BUDGET_BYTES = 16 << 20;
  private static final long SEGMENT_BYTES = 32 << 20;
  private static final SliceShape SLICES = SliceShape.defaults().withWindowBlocks(WINDOW_BLOCKS);

  private final Scheduler timers;
  private final Device device;
  private final BuiltTiers built;
  private final KvServer server;
  private final RemoteTier tier;
  private final ByteBudget budget = new ByteBudget("engine", BUDGET_BYTES, 64);
  /// Memory of blocks that come from the node, that a prefill computes, and that a decode generates.
  private final SlabArena loaded = new SlabArena("loaded", SPACE.layout(), 2 * STARTS_AT_ONCE * WINDOW_BLOCKS, 64);
  private final SlabArena computed = new SlabArena("computed", SPACE.layout(), 8 * WINDOW_BLOCKS, 64);
  private final SlabArena generated = new SlabArena("generated", SPACE.layout(), 8 * WINDOW_BLOCKS, 64);
  private final ProducingSource prefill = new ProducingSource(computed, SliceShape.Order.LAYER_FIRST,
      (key, range, memory) -> SeededBytes.fill(key.hash().low(), range.offset(SPACE.layout()), memory));

  /// Waits for the disk and for the connection, so never on an event loop.
  ///
  /// @param withSsd whether blocks that leave host memory go to a disk, or are gone
  /// @param loops the caller's to dispose, as `timers` is
  /// @param recording of the node's tiers; null for none
  ConversationNode(ConversationsOptions options, boolean withSsd, LoopResources loops, Scheduler timers,
      @Nullable TierRecording recording) {
    this.timers = timers;
    this.device = SimulatedDevice
        .open(SimulatedDeviceOptions.defaults(ConversationsOptions.blocks(options.memory().hbmBytes()) * BLOCK_BYTES));
    this.built = await(stack(options, withSsd, recording));
    this.server = await(KvServer.bind(TcpTransport.server(TcpServerOptions.on("127.0.0.1", 0), loops), built.tier(),
        KvServerOptions.defaults(), new ByteBudget("node", BUDGET_BYTES, 64), timers));
    this.tier = new RemoteTier(await(KvClient.connect(
        TcpTransport.client(TcpClientOptions.to(((TcpListener) server.listening()).address()), loops),
        KvClientOptions.builder().windowBlocks(WINDOW_BLOCKS).build(), SPACE, loaded, budget)), SPACE);
  }

  private Mono<BuiltTiers> stack(ConversationsOptions options, boolean withSsd, @Nullable TierRecording recording) {
    long hbmBlocks = ConversationsOptions.blocks(options.memory().hbmBytes());
    return DeviceStore.open(device, HBM, SPACE, Math.toIntExact(hbmBlocks)).map(hbm -> {
      List<StackLevel> levels = new ArrayList<>(List.of(new StackLevel.Stored(hbm, hbmBlocks),
          new StackLevel.Host(DRAM, ConversationsOptions.blocks(options.memory().dramBytes()))));
      if (withSsd) {
        levels.add(new StackLevel.Stored(
            JournalStore.open(SPACE, journal(options)),
            ConversationsOptions.blocks(options.memory().ssdBytes())));
      }
      return BuiltTiers.open(SPACE, levels, stackOptions(options), TierListener.noop(), recording);
    });
  }

  /// Patient: while a disk counts as stalled, blocks are evicted instead of demoted to it, and a busy machine would
  /// change the figures.
  private static JournalOptions journal(ConversationsOptions options) {
    return JournalOptions.defaults(options.directory().resolve("journal")).withSegmentBytes(SEGMENT_BYTES)
        .withHealth(HealthOptions.defaults().withStallAfter(STALL));
  }

  /// Slots enough to promote a whole prompt, so that every hit is promoted and decisions are the same in every run.
  private static StackOptions stackOptions(ConversationsOptions options) {
    int promptBlocks = options.systemBlocks()
        + options.turns() * (Conversation.MOST_QUESTION_TOKENS + Conversation.MOST_ANSWER_TOKENS) / BLOCK_TOKENS;
    return StackOptions.defaults("conversations").withPolicy(options.policy()).withPromotionBlocks(2 * promptBlocks)
        .withBounceBlocks(2 * promptBlocks);
  }

  /// Blocks of one conversation when all of them began with equal blocks.
  ///
  /// @param computed blocks that it had to compute
  /// @param reading all blocks, its own included
  record Start(int computed, Reading reading) {}

  /// Reads `keys` for one of several conversations that ask for them at the same time: one of them computes what the
  /// node lacks, and the others get these blocks as they are committed.
  Mono<Start> start(List<BlockKey> keys) {
    return Mono.using(BlockScope::new, scope -> {
      SliceReader reader = new SliceReader(SPACE.layout());
      AtomicInteger admitted = new AtomicInteger();
      return LoadOrCompute.layers(tier, keys, SLICES, lease -> {
        admitted.set(lease.admitted().count());
        return compute(admitted(lease, keys)).then();
      }, scope).doOnNext(reader::take).then(Mono.fromSupplier(() -> new Start(admitted.get(), reader.reading())));
    }, BlockScope::close);
  }

  private static List<BlockKey> admitted(Lease lease, List<BlockKey> keys) {
    return lease.admitted().bits().stream().mapToObj(keys::get).toList();
  }

  /// Loads the longest prefix of a prompt that the node has, or the part of it that `choice` fetches, layer after
  /// layer, and compares every byte.
  Mono<Reading> load(List<BlockKey> prompt, Choice choice) {
    return Mono.using(BlockScope::new, scope -> {
      SliceReader reader = new SliceReader(SPACE.layout());
      return LoadPrefix.layers(tier, prompt, SLICES, choice, scope).doOnNext(reader::take)
          .then(Mono.fromSupplier(reader::reading));
    }, BlockScope::close);
  }

  /// Lets a prefill compute the blocks of `keys` into the node, layer after layer. A block that the node has, behind
  /// one that it lacks, is computed too, for a prefill needs all that is before it, but is not sent.
  Flux<Receipt> compute(List<BlockKey> keys) {
    return keys.isEmpty()
        ? Flux.empty()
        : Flux.just(keys).transform(OffloadPrefix.layers(tier, SLICES, prefill));
  }

  /// Puts the blocks of an answer into the node, as a decode fills one after the other.
  Flux<Receipt> generate(List<BlockKey> keys) {
    return Flux.using(BlockScope::new, scope -> Flux.fromIterable(keys).concatMap(key -> block(key, scope), 0)
        .transform(OffloadPrefix.blocks(tier, OffloadPrefix.Options.defaults().withShape(SLICES), timers)),
        BlockScope::close);
  }

  private Mono<Block> block(BlockKey key, BlockScope scope) {
    return Mono.<BlockDraft>create(sink -> {
      Permits.Ticket claim = generated.claim(List.of(key), drafts -> sink.success(scope.adopt(drafts.getFirst())),
          sink::error);
      sink.onCancel(claim::cancel);
    }).map(draft -> {
      GranuleRange all = GranuleRange.all(SPACE.layout());
      draft.write(all, memory -> SeededBytes.fill(key.hash().low(), 0, memory));
      draft.produced(all);
      return scope.adopt(draft.seal());
    });
  }

  Mono<TierStat> stat() {
    return tier.stat();
  }

  /// Slots and bytes that are still lent; 0 after [#close()].
  long leaked() {
    return built.stack().arena().claimedSlots() + loaded.claimedSlots() + computed.claimedSlots()
        + generated.claimedSlots()
        + budget.inUseBytes();
  }

  @Override
  public void close() {
    tier.close().then(server.close()).then(built.tier().close()).then(device.close()).block(LIMIT);
    loaded.close();
    computed.close();
    generated.close();
  }

  static <T> T await(Mono<T> mono) {
    return mono.blockOptional(LIMIT).orElseThrow();
  }
}
