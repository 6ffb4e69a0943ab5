package io.penstock.node.serve;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.BlockScope;
import io.penstock.block.BlockView;
import io.penstock.block.Plane;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.disagg.Incarnation;
import io.penstock.disagg.RankId;
import io.penstock.disagg.plan.KvRequest;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.plan.Planner;
import io.penstock.disagg.plan.Rank;
import io.penstock.disagg.plan.Transfer;
import io.penstock.disagg.plan.TransferPlan;
import io.penstock.disagg.registry.InstanceView;
import io.penstock.disagg.registry.InstanceView.Registered;
import io.penstock.disagg.registry.RankTakenException;
import io.penstock.disagg.registry.Registration.Side;
import io.penstock.disagg.request.DecodeConnector;
import io.penstock.disagg.request.Ending;
import io.penstock.disagg.request.FailurePolicy;
import io.penstock.disagg.request.GroupBlocks;
import io.penstock.disagg.request.HeldBlocks;
import io.penstock.disagg.request.LifecycleListener;
import io.penstock.disagg.request.LifecycleOptions;
import io.penstock.disagg.request.MoveFailure.PeerRestartedException;
import io.penstock.disagg.request.PlannedOrder;
import io.penstock.disagg.request.ReceiveOrder;
import io.penstock.disagg.request.Received;
import io.penstock.disagg.request.Release;
import io.penstock.disagg.request.RequestAnswer;
import io.penstock.disagg.request.RequestAnswer.Outcome;
import io.penstock.disagg.request.Signal;
import io.penstock.flow.PullBlocks;
import io.penstock.node.AdminRequest;
import io.penstock.node.CommandLineRun;
import io.penstock.node.admin.NodeState;
import io.penstock.node.config.AdminSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.config.RankSettings;
import io.penstock.node.setting.Setting;
import io.penstock.node.shape.LayoutSettings;
import io.penstock.testkit.Eventually;
import io.penstock.testkit.ReshardedModel;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.tier.PutSource;
import io.penstock.tier.spi.ViewLanding;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.KvPeerOptions;
import io.penstock.wire.protocol.WireFailure.DrainingException;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import io.penstock.wire.rank.RankSecret;
import io.penstock.wire.rank.RankViews;
import io.penstock.wire.rank.RegistryClient;
import io.penstock.wire.rank.RemoteRequests;
import io.penstock.wire.rank.RemoteViews;
import io.penstock.wire.rank.WireSignals;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import io.rsocket.transport.ClientTransport;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// The whole life of a request between nodes as `penstock serve` runs them and a decode rank, over sockets: two prefill
/// ranks that split the heads, one decode rank with blocks of another shape.
@Timeout(60)
final class ServePrefillTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final int LAYERS = 4;
  private static final int HEADS = 4;
  private static final int PROMPT = 30;
  private static final ReshardedModel MODEL = new ReshardedModel(LAYERS, HEADS, List.of(
      new Plane(Plane.Kind.KEY, Plane.ElementType.BF16, 1, 16),
      new Plane(Plane.Kind.VALUE, Plane.ElementType.BF16, 1, 16)));
  private static final List<ReshardedModel.Rank> FROM =
      IntStream.range(0, 2).mapToObj(rank -> MODEL.rank(0, LAYERS, 2 * rank, 2, 8, TokenOrder.NHD)).toList();
  private static final ReshardedModel.Rank TO = MODEL.rank(0, LAYERS, 0, HEADS, 4, TokenOrder.HND);
  private static final Manifest DECODE = Manifest.of("resharded", TO.layout(), Parallelism.ofTp(1));
  private static final Incarnation SELF = new RankId("decode", 0).since(1);

  @TempDir
  Path folder;

  private final LoopResources loops = LoopResources.create("decode", 1, true);
  private final Scheduler timers = Schedulers.newSingle("decode-timers", true);
  private final List<Node> nodes = new ArrayList<>();
  private final Map<Incarnation, Integer> ports = new HashMap<>();
  private RegistryClient registry;
  private WireSignals signals;
  private DecodeConnector requests;
  private RankViews views;
  private InstanceView prefill;

  private Node start(Map<Setting<?>, String> flags) {
    Map<Setting<?>, String> all = new HashMap<>(Map.of(NodeSettings.LISTEN_PORT, "0", AdminSettings.PORT, "0",
        NodeSettings.DRAM, "64 blocks", LayoutSettings.MODEL, "resharded", LayoutSettings.LAYERS, "" + LAYERS,
        LayoutSettings.KV_HEADS, "" + HEADS, LayoutSettings.HEAD_DIM, "16", LayoutSettings.BLOCK_TOKENS, "8"));
    all.putAll(flags);
    Node node = requireNonNull(Node.start(NodeConfig.resolve(null, Map.of(), all)).block(SOON));
    nodes.add(node);
    return node;
  }

  private Node rank(Side side, int number, String lease) {
    return start(Map.of(RankSettings.SIDE, side.name(), RankSettings.INSTANCE, side.name().toLowerCase(Locale.ROOT),
        RankSettings.NUMBER, "" + number, RankSettings.TP, "2", RankSettings.LEASE, lease,
        RankSettings.REGISTRY, "127.0.0.1:" + nodes.getFirst().port(),
        RankSettings.SECRET, folder.resolve("secret-" + number).toString()));
  }

  @BeforeEach
  void startAll(TestInfo test) {
    start(Map.of(NodeSettings.REGISTRY, "true"));
    rank(Side.PREFILL, 0, "30s");
    rank(Side.PREFILL, 1, test.getDisplayName().startsWith("aDecodeRankThatVanishes") ? "300ms" : "30s");
    registry = RegistryClient.of(client(nodes.getFirst().port()), KvClientOptions.defaults(),
        KvPeerOptions.defaults(), timers, new Random(1));
    prefill = requireNonNull(registry.ready("prefill", SOON).block(SOON));
    prefill.ranks().forEach(place -> ports.put(place.who(), place.endpoint().port()));
    signals = new WireSignals(this::place, KvClientOptions.defaults(), KvPeerOptions.defaults(), timers,
        new Random(2));
    requests = new DecodeConnector(SELF, LifecycleOptions.defaults()
        .withSignals(new LifecycleOptions.Signals(2, Duration.ofSeconds(1))), signals,
        LifecycleListener.noop(), timers, new Random(3));
    views = new RankViews(this::place, KvClientOptions.defaults(),
        KvPeerOptions.defaults().withPatience(Duration.ofMillis(300)), new ByteBudget("decode", 8 << 20, 64),
        requests::gone, timers, new Random(5));
  }

  private Mono<ClientTransport> place(Incarnation rank) {
    return Mono.justOrEmpty(ports.get(rank)).map(this::client);
  }

  private ClientTransport client(int port) {
    return TcpTransport.client(TcpClientOptions.to("127.0.0.1", port), loops);
  }

  @AfterEach
  void stop() {
    requests.close().then(views.close()).then(signals.close()).then(registry.close()).block(SOON);
    nodes.reversed().forEach(node -> node.close().block(SOON));
    timers.dispose();
    loops.disposeLater(Duration.ZERO, SOON).block(SOON);
  }

  private Node node(int rank) {
    return nodes.get(1 + rank);
  }

  private static int blocks() {
    return Math.ceilDiv(PROMPT, FROM.getFirst().tokens());
  }

  private static List<BlockKey> keys(int rank) {
    return IntStream.range(0, blocks()).mapToObj(FROM.get(rank)::key).toList();
  }

  private RemoteRequests engine(int rank) {
    return RemoteRequests.of(client(node(rank).port()), KvClientOptions.defaults(), KvPeerOptions.defaults(), timers,
        new Random(4));
  }

  private boolean keep(String request, int rank) {
    RemoteRequests engine = engine(rank);
    boolean kept =
        requireNonNull(engine.keep(request, FROM.get(rank).space().id(), keys(rank)).block(SOON)).isKept();
    engine.close().block(SOON);
    return kept;
  }

  private void put(int rank) {
    ReshardedModel.Rank from = FROM.get(rank);
    try (SlabArena arena = new SlabArena("made", from.layout(), blocks(), 1);
        SlabArena landed = new SlabArena("landed", from.layout(), 1, 1)) {
      List<Block> made = IntStream.range(0, blocks()).mapToObj(block -> from.block(arena, block)).toList();
      KvClient client = requireNonNull(KvClient.connect(client(node(rank).port()), KvClientOptions.defaults(),
          from.space(), landed, new ByteBudget("engine", 8 << 20, 64)).block(SOON));
      client.put(keys(rank), PutSource.of(made, SliceShape.Order.LAYER_FIRST)).blockLast(SOON);
      client.close().block(SOON);
      made.forEach(Block::close);
    }
  }

  private void awaitMetric(int rank, String line) throws Exception {
    int admin = node(rank).adminPort().orElseThrow();
    Eventually.holds("the metric is shown", () -> AdminRequest.get(admin, "/metrics").body().contains(line));
  }

  private void requireEnds(int rank, String reason, int count) throws Exception {
    awaitMetric(rank, "penstock_requests_ended_total{reason=\"%s\"} %d.0".formatted(reason, count));
    awaitMetric(rank, "penstock_requests_kept 0.0");
  }

  @Test
  void aRequest_livesFromKeepToDone_andBothSidesAreFree() throws Exception {
    put(0);
    put(1);
    assertThat(keep("r", 0)).isTrue();
    assertThat(keep("r", 1)).isTrue();
    awaitMetric(0, "penstock_requests_kept 1.0");
    TransferPlan plan = new Planner(prefill.manifest(), DECODE).plan(new KvRequest("r", PROMPT, 0));
    try (BlockScope scope = new BlockScope()) {
      SlabArena arena = new SlabArena("to", TO.layout(), Math.ceilDiv(PROMPT, TO.tokens()), 1);
      List<BlockDraft> drafts = IntStream.range(0, Math.ceilDiv(PROMPT, TO.tokens()))
          .mapToObj(block -> scope.adopt(requireNonNull(arena.tryClaim(List.of(TO.key(block)))).getFirst())).toList();
      ReceiveOrder order = PlannedOrder.of(plan, new Rank(0, 0, 0), source -> who(source.tp()),
          (source, transfers) -> PullBlocks.mover(transfers, places(source.tp(), drafts), false),
          new PlannedOrder.Terms(() -> Mono.fromRunnable(scope::close), false, FailurePolicy.retry(1), SOON));
      Received received = requireNonNull(requests.receive(order).block(SOON));
      assertThat(received.ending()).as("%s", received.cause()).isEqualTo(Ending.READY);
      for (int block = 0; block < drafts.size(); block++) {
        requireBytes(drafts.get(block), block, scope);
      }
    }
    requireEnds(0, "done", 1);
    requireEnds(1, "done", 1);
    assertThat(requests.figures().requests()).isZero();
    assertThat(CommandLineRun.of("registry", "--connect", "127.0.0.1:" + nodes.getFirst().port()).out())
        .contains("prefill", "ready");
  }

  private Incarnation who(int tp) {
    return prefill.rank(tp).map(Registered::who).orElseThrow();
  }

  private PullBlocks.Places places(int rank, List<BlockDraft> drafts) {
    RemoteViews connected = requireNonNull(views.of(who(rank), TO.space()).block(SOON));
    PullBlocks.Lane lane = new PullBlocks.Lane(connected, 8);
    return new PullBlocks.Places() {
      @Override
      public PullBlocks.Lane lane(Transfer transfer) {
        return lane;
      }

      @Override
      public List<BlockKey> keys(Transfer transfer) {
        return ServePrefillTest.keys(rank);
      }

      @Override
      public BlockDraft draft(Transfer transfer, int destinationBlock) {
        return drafts.get(destinationBlock);
      }
    };
  }

  private static void requireBytes(BlockDraft draft, int block, BlockScope scope) {
    int end = Math.clamp(PROMPT - block * TO.tokens(), 0, TO.tokens());
    if (end < TO.tokens()) {
      draft.part(BlockView.of(TO.layout(), 0, LAYERS, 0, HEADS, end, TO.tokens() - end))
          .landZeros();
    }
    scope.adopt(draft.seal()).read(memory -> {
      TO.requireBytes(block, 0, PROMPT, memory);
      return memory;
    });
  }

  @Test
  void aDecodeRankThatVanishes_costsALease_andAnEngineWithdraws() throws Exception {
    put(1);
    keep("lost", 1);
    signals.send(who(1), new Signal(Signal.Kind.RENEW, "lost", SELF, 1)).block(SOON);
    requireEnds(1, "expired", 1);
    put(0);
    keep("cancelled", 0);
    assertThat(signals.send(who(0), new Signal(Signal.Kind.CANCEL, "cancelled", SELF, 1)).block(SOON))
        .isEqualTo(new RequestAnswer(Outcome.APPLIED, null));
    requireEnds(0, "cancelled", 1);
    assertThat(signals.send(who(0), new Signal(Signal.Kind.RENEW, "cancelled", SELF, 1)).block(SOON)).as("too late")
        .isEqualTo(new RequestAnswer(Outcome.OVER, Release.CANCELLED));
    requests.reject("rejected", List.of(who(0))).block(SOON);
    assertThat(keep("rejected", 0)).as("it was refused before").isFalse();
    requireEnds(0, "rejected", 1);
    RemoteRequests engine = engine(0);
    engine.keep("withdrawn", FROM.getFirst().space().id(), keys(0)).block(SOON);
    assertThat(engine.withdraw("withdrawn").block(SOON)).isEqualTo(new RequestAnswer(Outcome.APPLIED, null));
    requireEnds(0, "withdrawn", 1);
    assertThat(engine.withdraw("withdrawn").block(SOON))
        .isEqualTo(new RequestAnswer(Outcome.OVER, Release.WITHDRAWN));
    assertThat(engine.withdraw("never kept").block(SOON)).isEqualTo(new RequestAnswer(Outcome.UNKNOWN, null));
    assertThatThrownBy(() -> engine.keep("withdrawn", FROM.getFirst().space().id(), keys(0)).block(SOON))
        .hasMessageContaining("request must be new (withdrawn has ended already)");
    assertThatThrownBy(() -> engine.keep("absent", FROM.getFirst().space().id(), List.of(FROM.getFirst().key(99)))
        .block(SOON)).hasMessageContaining("keys must be of blocks that the node has (was 1 that it lacks)");
    awaitMetric(0, "penstock_requests_kept 0.0");
    engine.close().block(SOON);
  }

  @Test
  void theCommandKeep_keepsBlocksOfARank_untilItWithdraws() {
    Node rank = start(Map.of(RankSettings.SIDE, "prefill", RankSettings.INSTANCE, "alone"));
    assertThat(command("put", rank, "--count", "4").exitCode()).isZero();
    assertThat(command("keep", rank, "--request", "r", "--trace-id", "0-3").out())
        .isEqualTo("4 blocks kept for request r\n");
    assertThat(command("keep", rank, "--request", "r", "--trace-id", "0-3").out())
        .isEqualTo("4 blocks were kept for request r already\n");
    assertThat(command("keep", rank, "--request", "r", "--withdraw", "--json").out())
        .contains("\"request\":\"r\"", "\"kept\":false", "\"outcome\":\"applied\"");
    CommandLineRun again = command("keep", rank, "--request", "r", "--withdraw");
    assertThat(again.exitCode()).isOne();
    assertThat(again.out())
        .isEqualTo("request r had ended already, and nothing was withdrawn: it was withdrawn before\n");
    CommandLineRun unknown = command("keep", rank, "--request", "typo", "--withdraw");
    assertThat(unknown.exitCode()).isOne();
    assertThat(unknown.out()).isEqualTo("request typo is not known to the node: nothing was withdrawn\n");
    assertThat(command("keep", rank, "--request", "r", "--trace-id", "0").err())
        .contains("request must be new (r has ended already)");
    assertThat(command("keep", rank, "--request", "s", "--trace-id", "0-4").err())
        .contains("keys must be of blocks that the node has (was 1 that it lacks)");
    assertThat(command("keep", rank, "--request", "s", "--trace-id", "0", "--withdraw").err())
        .contains("--trace-id must be left out with --withdraw (was given)");
    CommandLineRun other = command("keep", nodes.getFirst(), "--request", "r", "--trace-id", "0");
    assertThat(other.exitCode()).isEqualTo(69);
    assertThat(other.err()).contains("rank.side must be prefill in the settings of the node at ");
  }

  private static CommandLineRun command(String name, Node node, String... arguments) {
    List<String> all = new ArrayList<>(List.of(name, "--connect", "127.0.0.1:" + node.port(), "--model", "resharded",
        "--layers", "" + LAYERS, "--kv-heads", "" + HEADS, "--head-dim", "16", "--block-tokens", "8"));
    all.addAll(List.of(arguments));
    return CommandLineRun.of(all.toArray(String[]::new));
  }

  @Test
  void aPrefillRankThatIsLost_failsItsRequestsAtOnce() {
    requireNonNull(views.of(who(0), TO.space()).block(SOON));
    ReceiveOrder order = new ReceiveOrder("waits", List.of(new ReceiveOrder.Shard(who(0), 1, GroupBlocks.range(0, 1),
        ticket -> Mono.never())), List.of(), HeldBlocks.none(), false, FailurePolicy.retry(5), SOON.multipliedBy(10));
    Mono<Received> end = requests.receive(order).cache();
    end.subscribe();
    node(0).close().block(SOON);
    Received received = requireNonNull(end.block(SOON));
    assertThat(received.ending()).isEqualTo(Ending.FAILED);
    assertThat(received.cause()).isInstanceOf(PeerRestartedException.class);
    assertThat(requireNonNull(registry.instances().block(SOON)).getFirst().ranks()).hasSize(1);
  }

  @Test
  void aConnectionThatIsLost_isMadeAnew_forAllThatWantIt() {
    Mono<RemoteViews> early = views.of(who(0), TO.space());
    RemoteViews first = requireNonNull(early.block(SOON));
    first.close().block(SOON);
    RemoteViews second = first;
    while (second.equals(first)) { // the timeout of the class ends it
      second = requireNonNull(views.of(who(0), TO.space()).block(SOON));
    }
    assertThat(early.block(SOON)).isSameAs(views.of(who(0), TO.space()).block(SOON));
  }

  @Test
  void aRankThatDrains_leavesTheRegistryFirst() {
    BlockView all = BlockView.all(FROM.getFirst().layout());
    RemoteViews connected = requireNonNull(views.of(who(0), FROM.getFirst().space()).block(SOON));
    try (SlabArena arena = new SlabArena("landed", FROM.getFirst().layout(), 1, 1);
        BlockDraft draft = requireNonNull(arena.tryClaim(List.of(FROM.getFirst().key(0)))).getFirst()) {
      Disposable waits = connected.fetch(List.of(FROM.getFirst().key(0)), OnMiss.AWAIT,
          new ViewLanding(FROM.getFirst().layout(), all).to(0, 0, draft.part(all))).subscribe();
      Mono<Boolean> drained = node(0).drain().cache();
      drained.subscribe();
      Eventually.holds("the rank has left",
          () -> requireNonNull(registry.instances().block(SOON)).getFirst().ranks().size() <= 1);
      assertThat(node(0).state()).as("a get still runs").isEqualTo(NodeState.DRAINING);
      waits.dispose();
      assertThat(drained.block(SOON)).as("every stream ended by itself").isTrue();
    }
  }

  @Test
  void decodeNodesRegister_too() {
    rank(Side.DECODE, 0, "30s");
    rank(Side.DECODE, 1, "30s");
    InstanceView decode = requireNonNull(registry.ready("decode", SOON).block(SOON));
    assertThat(decode.side()).isEqualTo(Side.DECODE);
    assertThat(decode.ranks()).extracting(each -> each.endpoint().port())
        .containsExactly(nodes.get(3).port(), nodes.get(4).port());
    assertThatThrownBy(() -> start(Map.of(RankSettings.SIDE, "decode", RankSettings.INSTANCE, "prefill",
        RankSettings.REGISTRY, "127.0.0.1:" + nodes.getFirst().port())))
        .hasMessageContaining("rank.registry must be one that takes this rank")
        .hasMessageContaining("side must be PREFILL (was DECODE)");
  }

  @Test
  void anotherProcess_takesARankOver_andTheOlderOneHearsOfIt() {
    Node later = rank(Side.PREFILL, 0, "30s");
    assertThat(later.port()).isPositive();
    Exception refusal = requireNonNull(node(0).refusal().block(SOON));
    assertThat(refusal).isInstanceOf(IOException.class).hasMessageContaining(
        "rank.number must be one that no other process has (was 0: registry 127.0.0.1:").hasMessageContaining(
            "rank prefill/0");
  }

  @Test
  void aClockThatIsSetBack_orAHostWhereTheGenerationWasHigher_keepsNoRankFromItsPlace() throws IOException {
    Path file = folder.resolve("secret-1");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file))).isEqualTo("rw-------");
    RegistryClient elsewhere =
        registry.withSecret(RankSecret.of(Files.readAllLines(file).getFirst().getBytes(StandardCharsets.UTF_8)));
    long ahead = System.currentTimeMillis() + Duration.ofHours(1).toMillis(); // a clock that was an hour ahead
    long higher = requireNonNull(elsewhere.claim(who(1).rank(), ahead).block(SOON));
    node(1).close().block(SOON);
    Node back = rank(Side.PREFILL, 1, "30s");
    InstanceView seen = requireNonNull(registry.ready("prefill", SOON).block(SOON));
    Incarnation restarted = seen.rank(1).orElseThrow().who();
    assertThat(restarted.generation()).isEqualTo(higher + 1);
    ports.put(restarted, back.port());
    assertThat(requireNonNull(views.of(restarted, TO.space()).block(SOON)).generation()).isEqualTo(higher + 1);
    assertThat(signals.send(restarted, new Signal(Signal.Kind.RENEW, "r", SELF, 1)).block(SOON)).isNotNull();
    ports.put(who(1), back.port());
    assertThatThrownBy(() -> signals.send(who(1), new Signal(Signal.Kind.RENEW, "r", SELF, 1)).block(SOON))
        .as("for the earlier start").hasMessageContaining("generation must be " + (higher + 1));
  }

  @Test
  void aProcessWithAnotherSecret_isToldThatTheRankHasAnOwner() {
    RankRefusal refusals = new RankRefusal("127.0.0.1:7733", who(0).rank());
    assertThatThrownBy(() -> registry.claim(who(0).rank(), 0).block(SOON))
        .isInstanceOfSatisfying(RankTakenException.class, taken -> assertThat(refusals.of(taken))
            .isInstanceOf(IOException.class).hasMessage("rank.number must be one that no other process has "
                + "(was 0: rank prefill/0 belongs to another owner at registry 127.0.0.1:7733)"));
  }

  @Test
  void aRefusedRank_namesTheSettingThatDiffers() {
    assertThatThrownBy(() -> start(Map.of(RankSettings.SIDE, "prefill", RankSettings.INSTANCE, "prefill",
        RankSettings.REGISTRY, "127.0.0.1:" + nodes.getFirst().port())))
        .hasRootCauseInstanceOf(RemotePermanentException.class).isInstanceOf(IllegalArgumentException.class)
        .hasMessageEndingWith("which says: rank.tp must be 2 (was 1))");
  }

  @Test
  void aDrain_waitsForKeptRequests() {
    put(0);
    keep("r", 0);
    Mono<Boolean> drained = node(0).drain().cache();
    drained.subscribe();
    assertThatThrownBy(() -> keep("late", 0)).isInstanceOf(DrainingException.class);
    assertThat(node(0).state()).isEqualTo(NodeState.DRAINING);
    signals.send(who(0), new Signal(Signal.Kind.DONE, "r", SELF, 1)).onErrorComplete().block(SOON); // it ends then
    assertThat(drained.block(SOON)).as("all ended by themselves").isTrue();
  }

  @Test
  void theStart_saysWhichRankTheNodeIs() {
    NodeConfig config = NodeConfig.resolve(null, Map.of(),
        Map.of(LayoutSettings.MODEL, "llama-3.1-8b", RankSettings.SIDE, "prefill", RankSettings.INSTANCE, "p",
            RankSettings.NUMBER, "1", RankSettings.TP, "2", RankSettings.REGISTRY, "10.0.0.5:7733"));
    assertThat(Ready.of(node(1), config).sentence())
        .contains("\nprefill rank 1 of instance p, which has 2 ranks; registry 10.0.0.5:7733\n");
  }

  @Test
  void aNodeWithoutARegistry_isNamedWithWhatToSet() {
    CommandLineRun run = CommandLineRun.of("registry", "--connect", "127.0.0.1:" + node(0).port());
    assertThat(run.exitCode()).isEqualTo(69);
    assertThat(run.err()).contains("registry must be true in the settings of the node at 127.0.0.1:",
        "serve --registry true");
  }
}
