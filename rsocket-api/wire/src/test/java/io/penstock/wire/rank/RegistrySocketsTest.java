package io.penstock.wire.rank;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.BlockView;
import io.penstock.block.Plane;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.disagg.Incarnation;
import io.penstock.disagg.RankId;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.registry.InstanceView;
import io.penstock.disagg.registry.RankOwner;
import io.penstock.disagg.registry.RankRegistry;
import io.penstock.disagg.registry.RankTakenException;
import io.penstock.disagg.registry.Registrant;
import io.penstock.disagg.registry.Registration;
import io.penstock.disagg.registry.Registration.Endpoint;
import io.penstock.disagg.registry.Registration.Engine;
import io.penstock.disagg.registry.Registration.Side;
import io.penstock.disagg.registry.RegistryBounds;
import io.penstock.disagg.registry.RegistryOptions;
import io.penstock.disagg.request.DecodeConnector;
import io.penstock.disagg.request.FailurePolicy;
import io.penstock.disagg.request.GroupBlocks;
import io.penstock.disagg.request.HeldBlocks;
import io.penstock.disagg.request.LifecycleListener;
import io.penstock.disagg.request.LifecycleOptions;
import io.penstock.disagg.request.PrefillConnector;
import io.penstock.disagg.request.ReceiveOrder;
import io.penstock.disagg.request.ReceiveOrder.Shard;
import io.penstock.disagg.request.Received;
import io.penstock.disagg.request.Release;
import io.penstock.disagg.request.RequestAnswer;
import io.penstock.disagg.request.RequestAnswer.Outcome;
import io.penstock.disagg.request.RequestState;
import io.penstock.disagg.request.Signal;
import io.penstock.stack.HostTier;
import io.penstock.testkit.Eventually;
import io.penstock.testkit.ReshardedModel;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.tier.PutSource;
import io.penstock.tier.TierHolds.HoldLimitException;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.ViewLanding;
import io.penstock.wire.Link;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.KvPeerOptions;
import io.penstock.wire.client.Lane;
import io.penstock.wire.client.link.NodeConnection;
import io.penstock.wire.protocol.DisaggMessages;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.StatMessages;
import io.penstock.wire.protocol.WireFailure.DrainingException;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import io.penstock.wire.security.Access;
import io.penstock.wire.security.AccessRules;
import io.penstock.wire.security.Credentials;
import io.penstock.wire.security.Grant;
import io.penstock.wire.security.Role;
import io.penstock.wire.security.UserFile;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.server.route.DisaggServices;
import io.penstock.wire.server.space.NodeSpaces;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// Ranks that find each other by a registry, and tell each other about a request, over loopback sockets.
@Timeout(60)
final class RegistrySocketsTest {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final long GENERATION = 7;
  private static final Manifest ONE = Manifest.of("m", BlockLayout.attention(2, 16, 4, 8, ElementType.BF16),
      Parallelism.ofTp(1));
  private static final Incarnation PREFILL = new RankId("p", 0).since(GENERATION);
  private static final Incarnation DECODE = new RankId("d", 0).since(1);

  private static final ReshardedModel.Rank FROM = new ReshardedModel(2, 2, List.of(
      new Plane(Plane.Kind.KEY, ElementType.BF16, 1, 16))).rank(0, 2, 0, 2, 8, TokenOrder.NHD);

  private final Scheduler timers = Schedulers.newSingle("timers", true);
  private final HostTier tier = new HostTier(FROM.space(), 4, TierListener.noop());
  private final Queue<Incarnation> gone = new ConcurrentLinkedQueue<>();
  private final RankRegistry registry = new RankRegistry(
      RegistryOptions.defaults().withHeartbeat(Duration.ofMillis(100), 2), System::nanoTime, gone::add);
  private final BlockingQueue<Release> released = new LinkedBlockingQueue<>();
  private final PrefillConnector kept = new PrefillConnector(LifecycleOptions.defaults(), new LifecycleListener() {
    @Override
    public void released(String request, Release release) {
      released.add(release);
    }
  }, timers);
  private KvServer server = serve(Access.open(), registry);
  private RegistryClient client = client(Credentials.none());

  private KvServer serve(Access access, RankRegistry registry) {
    return requireNonNull(KvServer.bind(Link.PENSTOCK.server(), NodeSpaces.of(List.of(tier)), null,
        new DisaggServices(registry, kept), KvServerOptions.builder().access(access).generation(GENERATION).build(),
        new ByteBudget("ingress", 1 << 20, 4), timers, Schedulers.immediate()).block(PATIENCE));
  }

  private RegistryClient client(Credentials credentials) {
    return RegistryClient.of(Link.PENSTOCK.client(Link.PENSTOCK.port(server)),
        KvClientOptions.builder().credentials(credentials).build(), KvPeerOptions.defaults(), timers, new Random(1));
  }

  @AfterEach
  void close() {
    client.close().block(PATIENCE);
    server.close().block(PATIENCE);
    kept.close().block(PATIENCE);
    tier.close().block(PATIENCE);
    timers.dispose();
  }

  private Registration prefill(long generation) {
    return new Registration(Side.PREFILL, PREFILL.rank().since(generation), Routes.VERSION, ONE,
        new Endpoint("127.0.0.1", Link.PENSTOCK.port(server)));
  }

  @Test
  void aRankStaysRegistered_andIsGoneWhenItFallsSilent() throws InterruptedException {
    BlockingQueue<InstanceView> seen = new LinkedBlockingQueue<>();
    Disposable staying = client.stay(prefill(GENERATION)).subscribe(seen::add);
    InstanceView view = requireNonNull(seen.poll(20, TimeUnit.SECONDS));
    assertThat(view.isReady()).isTrue();
    assertThat(view.manifest()).isEqualTo(ONE);
    assertThat(client.ready("p", PATIENCE).block(PATIENCE)).isEqualTo(view);
    client.leave(PREFILL).block(PATIENCE); // the registry has forgotten it, as a registry that has restarted
    assertThat(seen.poll(20, TimeUnit.SECONDS)).isEqualTo(view);
    staying.dispose();
    Eventually.holds("the registry is empty", () -> registry.instances().isEmpty());
    assertThat(gone).containsOnly(PREFILL);
    assertThat(client.instances().block(PATIENCE)).isEmpty();
    assertThat(client.leave(PREFILL).block(PATIENCE)).isFalse();
  }

  @Test
  void anEngine_isNamedByItsRank_andSaysThatItDrains() {
    Engine engine = new Engine(Engine.Role.BOTH, "http://127.0.0.1:8100#dialect=nixl-pull", false);
    Engine draining = new Engine(Engine.Role.BOTH, engine.url(), true);
    client.register(prefill(GENERATION).withEngine(engine)).block(PATIENCE);
    assertThat(engineOfTheOnlyRank()).isEqualTo(engine);
    client.register(prefill(GENERATION).withEngine(draining)).block(PATIENCE);
    assertThat(engineOfTheOnlyRank()).isEqualTo(draining);
    client.register(prefill(GENERATION)).block(PATIENCE);
    assertThat(engineOfTheOnlyRank()).as("a client of an earlier release names none").isNull();
    assertThatThrownBy(() -> new Engine(Engine.Role.BOTH, "ftp://h", false))
        .hasMessageContaining("url must be an http or https URL").hasMessageContaining("was ftp://h");
    assertThatThrownBy(() -> new Engine(Engine.Role.BOTH, "http://" + "h".repeat(512), false))
        .hasMessageContaining("was 519 characters");
  }

  private @Nullable Engine engineOfTheOnlyRank() {
    return requireNonNull(client.instances().block(PATIENCE)).getFirst().ranks().getFirst().engine();
  }

  @Test
  void whatDoesNotFit_isRefusedWithItsField() {
    client.register(prefill(GENERATION)).block(PATIENCE);
    assertThat(client.register(prefill(GENERATION)).block(PATIENCE)).isNotNull();
    assertThatThrownBy(() -> client.register(prefill(GENERATION - 1)).block(PATIENCE))
        .isInstanceOf(RemotePermanentException.class).hasMessageContaining("generation must be >= 7 (was 6)");
    Registration other = new Registration(Side.DECODE, DECODE, 2, ONE, new Endpoint("h", 1));
    assertThatThrownBy(() -> client.stay(other).blockLast(PATIENCE)).hasMessageContaining("version must be 1 (was 2)");
    assertThatThrownBy(() -> client.ready("absent", Duration.ofMillis(10)).block(PATIENCE))
        .hasRootCauseInstanceOf(java.util.concurrent.TimeoutException.class);
  }

  @Test
  void aStranger_takesNoRankOfAnother_andEndsNone() {
    RankRegistry still = new RankRegistry(RegistryOptions.defaults().withHeartbeat(Duration.ofMillis(100), 2),
        () -> 0L, gone::add); // no rank falls silent
    client.close().block(PATIENCE);
    server.close().block(PATIENCE);
    server = serve(Access.open(), still);
    client = client(Credentials.none());
    InstanceView owned = requireNonNull(client.register(prefill(GENERATION)).block(PATIENCE));
    RegistryClient stranger = client.withSecret(RankSecret.of("a stranger's secret".getBytes(UTF_8)));
    for (long generation : new long[] {GENERATION, GENERATION + 1, 1L << 62}) {
      assertTaken(stranger.register(prefill(generation)));
    }
    assertTaken(stranger.claim(PREFILL.rank(), 1L << 62));
    assertTaken(stranger.leave(PREFILL));
    assertThat(client.instances().block(PATIENCE)).containsExactly(owned);
    assertThatThrownBy(() -> client.register(prefill(1L << 62)).block(PATIENCE)).as("owners go in steps, too")
        .hasMessageContaining("generation must be <= 8, the next one (was 4611686018427387904)");
  }

  private static void assertTaken(Mono<?> work) {
    assertThatThrownBy(() -> work.block(PATIENCE)).isInstanceOfSatisfying(RankTakenException.class,
        taken -> assertThat(taken.silence()).isEqualTo(Duration.ofMillis(200)));
  }

  @Test
  void aRankWhoseOwnerIsSilent_isFree_andOneWhoseOwnerLivesIsGivenUp() {
    AtomicLong nanos = new AtomicLong();
    RankRegistry still = new RankRegistry(RegistryOptions.defaults().withHeartbeat(Duration.ofMillis(100), 2),
        nanos::get, gone::add); // time stands still for it
    client.close().block(PATIENCE);
    server.close().block(PATIENCE);
    server = serve(Access.open(), still);
    client = client(Credentials.none());
    client.register(prefill(GENERATION)).block(PATIENCE);
    RegistryClient restarted = client.withSecret(RankSecret.of("of a later start".getBytes(UTF_8)));
    assertTaken(restarted.claim(PREFILL.rank(), 0));
    nanos.set(Duration.ofMillis(201).toNanos());
    long next = requireNonNull(restarted.whileTaken(restarted.claim(PREFILL.rank(), 0)).block(PATIENCE));
    assertThat(next).as("whatever its clock says").isEqualTo(GENERATION + 1);
    assertTaken(client.whileTaken(client.claim(PREFILL.rank(), 0)));
    assertTaken(client.stay(PREFILL.rank(), 0, (generation, place) -> prefill(generation), lost -> {}).next());
  }

  @Test
  void aRank_isClaimedAndRegistered_inOneStream() throws InterruptedException {
    BlockingQueue<InstanceView> seen = new LinkedBlockingQueue<>();
    Disposable staying = client
        .stay(PREFILL.rank(), GENERATION, (generation, place) -> prefill(generation), lost -> {}).subscribe(seen::add);
    assertThat(requireNonNull(seen.poll(20, TimeUnit.SECONDS)).rank(0)).get()
        .extracting(InstanceView.Registered::who).isEqualTo(PREFILL);
    staying.dispose();
  }

  @Test
  void namesThatNoTerminalShows_areRefused() {
    Lane<NodeConnection> lane = RegistryClient.lane(Link.PENSTOCK.client(Link.PENSTOCK.port(server)), "the node",
        KvClientOptions.defaults(), KvPeerOptions.defaults(), timers, new Random(2));
    byte[] secret = new byte[32];
    for (String odd : List.of("\u001b[31mred", "two\nlines", "\u202eright", "\u009bcsi", "\ud800")) {
      assertThatThrownBy(() -> new DisaggMessages.ClaimRequest(odd, 0, null, secret))
          .hasMessage("instance must be of printable characters (was of others)");
    }
    DisaggMessages.RegisterRequest good = DisaggMessages.RegisterRequest.of(prefill(GENERATION), secret);
    Map<String, Object> raw = Map.of("side", good.side(), "who", good.who(), "version", good.version(), "manifest",
        good.manifest(), "host", "\u001b]0;owned\u0007", "port", 1, "secret", secret);
    assertThatThrownBy(() -> lane.with(node -> node.ask(Routes.REGISTER, raw, DisaggMessages.RegisterReply.class))
        .blockLast(PATIENCE)).hasMessageContaining("host must be of printable characters (was of others)");
    assertThatThrownBy(() -> lane.with(node -> node.ask(Routes.HEARTBEAT,
        new DisaggMessages.HeartbeatRequest(DisaggMessages.Who.of(PREFILL), true, null),
        DisaggMessages.HeartbeatReply.class)).blockLast(PATIENCE))
        .hasMessageContaining("secret must be 16 to 64 bytes (was absent)");
    lane.close().block(PATIENCE);
  }

  @Test
  void oneConnection_registersSoManyRanks_andLeavesRoomForOthers() {
    RankRegistry small = new RankRegistry(
        RegistryOptions.defaults().withBounds(RegistryBounds.defaults().withRanks(9, 5, 3)), () -> 0L, gone::add);
    client.close().block(PATIENCE);
    server.close().block(PATIENCE);
    server = serve(Access.open(), small);
    client = client(Credentials.none());
    RegistryClient other = client(Credentials.none());
    assertThat(claims(client)).isEqualTo(3);
    assertThatThrownBy(() -> client.claim(new RankId("more", 0), 0).block(PATIENCE))
        .isInstanceOf(HoldLimitException.class).hasMessage("ranks of one connection must be <= 3 (was 4)");
    assertThat(claims(other)).as("both are at one address").isEqualTo(2);
    other.close().block(PATIENCE);
  }

  private static int claims(RegistryClient client) {
    int granted = 0;
    for (int i = 0; i < 10; i++) {
      if (client.claim(new RankId("flood-" + client.hashCode(), i), 0).onErrorComplete().block(PATIENCE) != null) {
        granted++;
      }
    }
    return granted;
  }

  @Test
  void theReplicaOfARequest_isToldOnce() {
    assertThat(client.replica("r").block(PATIENCE)).isNull();
    assertThat(client.assign("r", 3).block(PATIENCE)).isEqualTo(3);
    assertThat(client.replica("r").block(PATIENCE)).isEqualTo(3);
    assertThatThrownBy(() -> client.assign("r", 2).block(PATIENCE)).hasMessageContaining("replica must be 3 (was 2)");
  }

  @Test
  void aReceivedRequest_isReleasedAtTheHostOfItsSource() throws InterruptedException {
    Disposable staying = client.stay(prefill(GENERATION)).subscribe();
    WireSignals signals = new WireSignals(rank -> client.ready(rank.rank().instance(), PATIENCE)
        .flatMap(view -> Mono.justOrEmpty(view.rank(rank.rank().rank())))
        .map(place -> Link.PENSTOCK.client(place.endpoint().port())), KvClientOptions.defaults(),
        KvPeerOptions.defaults(), timers, new Random(2));
    DecodeConnector requests = new DecodeConnector(DECODE, LifecycleOptions.defaults(), signals,
        LifecycleListener.noop(), timers, new Random(3));
    kept.open("r", Set.of(DECODE.rank()), HeldBlocks.none());
    Received received = requireNonNull(requests.receive(new ReceiveOrder("r",
        List.of(new Shard(PREFILL, 1, GroupBlocks.range(0, 2), ticket -> Mono.empty())), List.of(), HeldBlocks.none(),
        false, FailurePolicy.fail(), PATIENCE)).block(PATIENCE));
    assertThat(received.state()).isEqualTo(RequestState.SUCCESS);
    assertThat(released.poll(20, TimeUnit.SECONDS)).isEqualTo(Release.DONE);
    Signal stale = new Signal(Signal.Kind.CANCEL, "r", DECODE, 1);
    assertThatThrownBy(() -> signals.send(PREFILL.rank().since(GENERATION - 1), stale).block(PATIENCE))
        .hasMessageContaining("generation must be 7 (was 6)");
    signals.close().block(PATIENCE);
    staying.dispose();
  }

  /// Puts block 0.
  private void put() {
    try (SlabArena arena = new SlabArena("made", FROM.layout(), 1, 1); Block made = FROM.block(arena, 0)) {
      tier.put(List.of(FROM.key(0)), SliceShape.defaults(),
          PutSource.of(List.of(made), SliceShape.Order.LAYER_FIRST)).blockLast(PATIENCE);
    }
  }

  @Test
  void aKeptRequest_isRenewedByItsOwnBytes_andItsBlocksStay() throws InterruptedException {
    put();
    RemoteRequests engine = RemoteRequests.of(Link.PENSTOCK.client(Link.PENSTOCK.port(server)),
        KvClientOptions.defaults(), KvPeerOptions.defaults(), timers, new Random(2));
    assertThat(engine.keep("r", FROM.space().id(), List.of(FROM.key(0)), Set.of(DECODE.rank())).block(PATIENCE))
        .isEqualTo(new RequestAnswer(Outcome.APPLIED, null));
    assertThat(engine.keep("other", FROM.space().id(), List.of()).block(PATIENCE))
        .isEqualTo(new RequestAnswer(Outcome.APPLIED, null));
    assertThat(tier.remove(List.of(FROM.key(0))).block(PATIENCE).count()).as("removed").isZero();
    RemoteViews views = requireNonNull(RemoteViews.connect(Link.PENSTOCK.client(Link.PENSTOCK.port(server)),
        KvClientOptions.defaults(), FROM.space(), new ByteBudget("decode", 1 << 20, 4)).block(PATIENCE));
    try (SlabArena arena = new SlabArena("landed", FROM.layout(), 1, 1);
        BlockDraft draft = requireNonNull(arena.tryClaim(List.of(FROM.key(0)))).getFirst()) {
      BlockView all = BlockView.all(FROM.layout());
      ViewLanding landing = new ViewLanding(FROM.layout(), all).to(0, 0, draft.part(all));
      views.fetch(List.of(FROM.key(0)), OnMiss.SKIP, landing.attempt(1, "r", () -> {})).blockLast(PATIENCE);
    }
    assertThat(kept.state("r")).contains(RequestState.TRANSFERRING);
    assertThat(kept.state("other")).contains(RequestState.BOOTSTRAPPING);
    kept.accept(new Signal(Signal.Kind.DONE, "r", DECODE, 1)).block(PATIENCE);
    assertThat(released.poll(20, TimeUnit.SECONDS)).isEqualTo(Release.DONE);
    assertThat(tier.remove(List.of(FROM.key(0))).block(PATIENCE).count()).as("removed").isOne();
    views.close().then(engine.close()).block(PATIENCE);
  }

  @Test
  void aKeepThatIsRefused_leasesNothing() {
    put();
    Lane<NodeConnection> lane = RegistryClient.lane(Link.PENSTOCK.client(Link.PENSTOCK.port(server)), "the node",
        KvClientOptions.defaults(), KvPeerOptions.defaults(), timers, new Random(2));
    Messages.Keys keys = Messages.Keys.of(List.of(FROM.key(0)));
    DisaggMessages.KeepRequest noRank =
        new DisaggMessages.KeepRequest("r", keys, List.of(new DisaggMessages.Receiver("d", -1)));
    assertThatThrownBy(() -> lane.with(node -> node.ask(Routes.KEEP, noRank, DisaggMessages.KeepReply.class))
        .blockLast(PATIENCE)).hasMessageContaining("receivers");
    kept.open("used", HeldBlocks.none());
    DisaggMessages.KeepRequest used = new DisaggMessages.KeepRequest("used", keys, null);
    assertThatThrownBy(() -> lane.with(node -> node.ask(Routes.KEEP, used, DisaggMessages.KeepReply.class))
        .blockLast(PATIENCE)).hasMessageContaining("request must be new");
    assertThat(tier.remove(List.of(FROM.key(0))).block(PATIENCE).count()).as("removed").isOne();
    lane.close().block(PATIENCE);
  }

  @Test
  void aPrefillRank_letsItsReadersWaitAsLongAsTheyDo() {
    DisaggServices services = new DisaggServices(registry, kept);
    assertThat(services.leastAwait()).isEqualTo(Duration.ofSeconds(300));
    assertThat(DisaggServices.none().leastAwait()).isZero();
  }

  @Test
  void manyRanks_comeInSeveralReplies() {
    int ranks = 1024 + 700; // more than one reply may have
    RankRegistry registry = new RankRegistry(
        RegistryOptions.defaults().withBounds(RegistryBounds.defaults().withRanks(4096, 4096, 4096)), () -> 0L,
        gone::add); // no rank falls silent
    Registrant owner = new Registrant(RankOwner.ofUser("engine"), "address", "connection");
    client.close().block(PATIENCE);
    server.close().block(PATIENCE);
    server = serve(Access.open(), registry);
    client = client(Credentials.none());
    Manifest large = Manifest.of("large", ONE.groups().getFirst().layout(), Parallelism.ofTp(ranks));
    for (String name : List.of("a", "b")) {
      for (int rank = 0; rank < ranks; rank++) {
        registry.register(owner, new Registration(Side.DECODE, new RankId(name, rank).since(1), Routes.VERSION, large,
            new Endpoint("h", 1 + rank)));
      }
    }
    List<InstanceView> all = requireNonNull(client.instances().block(PATIENCE));
    assertThat(all).isEqualTo(registry.instances());
    assertThat(all).extracting(view -> view.ranks().size()).containsExactly(ranks, ranks);
    assertThat(client.ready("b", PATIENCE).block(PATIENCE)).isEqualTo(all.get(1));
  }

  @Test
  void aRankThatCameBack_takesThePlaceOfItsEarlierStarts() {
    WireSignals signals = new WireSignals(rank -> Mono.just(Link.PENSTOCK.client(Link.PENSTOCK.port(server))),
        KvClientOptions.defaults(), KvPeerOptions.defaults(), timers, new Random(2));
    Signal done = new Signal(Signal.Kind.DONE, "r", DECODE, 1);
    for (long generation = 1; generation <= GENERATION; generation++) {
      signals.send(PREFILL.rank().since(generation), done).onErrorComplete().block(PATIENCE);
    }
    signals.send(new RankId("p", 1).since(GENERATION), done).block(PATIENCE);
    assertThat(signals.ranks()).containsExactlyInAnyOrder(PREFILL, new RankId("p", 1).since(GENERATION));
    signals.close().block(PATIENCE);
  }

  @Test
  void rolesAreRespected(@TempDir Path folder) throws IOException {
    Path file = Files.write(folder.resolve("users"), List.of("reader", "writer", "other").stream()
        .map(user -> UserFile.lineOf(user, user.toCharArray())).toList());
    UserFile users = UserFile.read(file);
    AccessRules rules = new AccessRules(Map.of("reader", List.of(Grant.everywhere(Role.READER)), "writer",
        List.of(Grant.everywhere(Role.WRITER)), "other", List.of(Grant.everywhere(Role.WRITER))));
    client.close().block(PATIENCE);
    server.close().block(PATIENCE);
    server = serve(Access.of(() -> users, () -> rules), registry);
    client = client(Credentials.bearer("reader".toCharArray()));
    assertThat(client.instances().block(PATIENCE)).isEmpty();
    assertThatThrownBy(() -> client.register(prefill(GENERATION)).block(PATIENCE))
        .hasMessageContaining("writer for penstock.v1.register");
    client.close().block(PATIENCE);
    client = client(Credentials.bearer("writer".toCharArray()));
    assertThat(client.register(prefill(GENERATION)).block(PATIENCE)).isNotNull();
    RegistryClient restarted = client(Credentials.bearer("writer".toCharArray()));
    assertThat(restarted.claim(PREFILL.rank(), 0).block(PATIENCE)).as("the rank belongs to the user").isEqualTo(8);
    restarted.close().block(PATIENCE);
    client.close().block(PATIENCE);
    client = client(Credentials.bearer("other".toCharArray()));
    assertTaken(client.claim(PREFILL.rank(), 0));
    assertThatThrownBy(() -> client.register(new Registration(Side.PREFILL, new RankId("p", 1).since(1),
        Routes.VERSION, ONE, new Endpoint("h", 1))).block(PATIENCE)).hasMessageContaining("rank must be < 1");
  }

  @Test
  void theRegistrysLock_keepsNoEventLoop() throws InterruptedException {
    RankRegistry patient = new RankRegistry(RegistryOptions.defaults(), System::nanoTime, gone::add);
    Scheduler decisions = Schedulers.newSingle("decisions", true);
    client.close().block(PATIENCE);
    server.close().block(PATIENCE);
    server = requireNonNull(KvServer.bind(Link.PENSTOCK.server(), NodeSpaces.of(List.of(tier)), null,
        new DisaggServices(patient, kept), KvServerOptions.defaults(), new ByteBudget("ingress", 1 << 20, 4), timers,
        decisions).block(PATIENCE));
    client = client(Credentials.none());
    client.register(prefill(GENERATION)).block(PATIENCE);
    BlockingQueue<Boolean> left = new LinkedBlockingQueue<>();
    Lane<NodeConnection> lane = RegistryClient.lane(Link.PENSTOCK.client(Link.PENSTOCK.port(server)), "the node",
        KvClientOptions.defaults(), KvPeerOptions.defaults(), timers, new Random(2));
    synchronized (patient) {
      client.leave(PREFILL).subscribe(left::add);
      lane.with(node -> node.ask(Routes.STAT, new Messages.StatRequest(), StatMessages.StatReply.class))
          .blockLast(PATIENCE);
      assertThat(left).as("waits for the lock").isEmpty();
    }
    assertThat(left.poll(20, TimeUnit.SECONDS)).isTrue();
    lane.close().block(PATIENCE);
    decisions.dispose();
  }

  @Test
  void aKeepThatIsRepeated_isAnsweredAgain_andLeasesOnce() {
    put();
    RemoteRequests engine = RemoteRequests.of(Link.PENSTOCK.client(Link.PENSTOCK.port(server)),
        KvClientOptions.defaults(), KvPeerOptions.defaults(), timers, new Random(2));
    for (int i = 0; i < 3; i++) {
      assertThat(engine.keep("r", FROM.space().id(), List.of(FROM.key(0)), Set.of(DECODE.rank())).block(PATIENCE))
          .isEqualTo(new RequestAnswer(i == 0 ? Outcome.APPLIED : Outcome.REPEATED, null));
    }
    assertThatThrownBy(() -> engine.keep("r", FROM.space().id(), List.of(), Set.of(DECODE.rank())).block(PATIENCE))
        .hasMessageContaining("request must be new (r is kept, with other blocks or receivers)");
    engine.withdraw("r").block(PATIENCE);
    assertThat(tier.remove(List.of(FROM.key(0))).block(PATIENCE).count()).as("no lease is left").isOne();
    engine.close().block(PATIENCE);
  }

  @Test
  void aDrainingRank_keepsNothingNew() {
    kept.open("r", Set.of(DECODE.rank()), HeldBlocks.none());
    kept.drained().subscribe();
    RemoteRequests engine = RemoteRequests.of(Link.PENSTOCK.client(Link.PENSTOCK.port(server)),
        KvClientOptions.defaults(), KvPeerOptions.defaults(), timers, new Random(2));
    assertThatThrownBy(() -> engine.keep("new", FROM.space().id(), List.of()).block(PATIENCE))
        .isInstanceOf(DrainingException.class);
    engine.close().block(PATIENCE);
  }
}
