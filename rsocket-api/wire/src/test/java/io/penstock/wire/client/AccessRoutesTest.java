package io.penstock.wire.client;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionState;
import io.penstock.block.session.SessionUse;
import io.penstock.flow.ProducingSource;
import io.penstock.stack.HostTier;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierHolds.Pin;
import io.penstock.tier.TierListener;
import io.penstock.wire.Link;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.SegmentMessages;
import io.penstock.wire.protocol.SessionMessages;
import io.penstock.wire.protocol.WireFailure.ConnectionLostException;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import io.penstock.wire.security.Access;
import io.penstock.wire.security.AccessRules;
import io.penstock.wire.security.Credentials;
import io.penstock.wire.security.Grant;
import io.penstock.wire.security.Role;
import io.penstock.wire.security.UserFile;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.server.space.NodeSpaces;
import io.penstock.wire.transfer.SegmentRegistry;
import io.rsocket.exceptions.RejectedSetupException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// What each role may do in each space, over loopback sockets.
@Timeout(60)
final class AccessRoutesTest {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final CacheSpace CHAT = Blocks.smallSpace();
  private static final CacheSpace CODE = new CacheSpace("code", CHAT.layout(), 0, "");

  private static final SessionId AGENT = SessionId.of("agent");

  @TempDir
  Path folder;

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final List<HostTier> tiers = List.of(tier("chat", CHAT), tier("code", CODE));
  private final Scheduler timers = Schedulers.newSingle("timers", true);
  private final ByteBudget ingress = leaks.watch(new ByteBudget("ingress", 1 << 20, 64));
  private final AtomicReference<AccessRules> rules = new AtomicReference<>(new AccessRules(Map.of(
      "reader", List.of(new Grant(Role.READER, Set.of("chat"))),
      "writer", List.of(new Grant(Role.WRITER, Set.of("chat"))),
      "admin", List.of(new Grant(Role.ADMIN, Set.of("chat"))),
      "both", List.of(Grant.everywhere(Role.ADMIN)))));
  private KvServer server;

  private HostTier tier(String name, CacheSpace space) {
    return new HostTier(space, 64, StackOptions.defaults(name).withIngressBlocks(16), TierListener.noop());
  }

  @BeforeEach
  void serve() throws IOException {
    Path file = Files.write(folder.resolve("users"),
        List.of("reader", "writer", "admin", "both", "stranger").stream()
            .map(user -> UserFile.lineOf(user, user.toCharArray())).toList());
    UserFile users = UserFile.read(file);
    server = requireNonNull(KvServer.bind(Link.PENSTOCK.server(), NodeSpaces.of(List.copyOf(tiers)),
        new SegmentRegistry(1), KvServerOptions.builder().access(Access.of(() -> users, rules::get)).build(), ingress,
        timers,
        Schedulers.immediate()).block(PATIENCE));
  }

  @AfterEach
  void close() {
    server.close().block(PATIENCE);
    tiers.forEach(tier -> tier.close().block(PATIENCE));
    timers.dispose();
  }

  private static Credentials of(String user) {
    return Credentials.bearer(user.toCharArray());
  }

  private Mono<KvClient> connecting(Credentials credentials, CacheSpace space, SlabArena arena, ByteBudget budget) {
    return KvClient.connect(Link.PENSTOCK.client(Link.PENSTOCK.port(server)),
        KvClientOptions.builder().credentials(credentials).build(), space, arena, budget);
  }

  /// Runs `work` with a client of `user`.
  private <T> T with(String user, CacheSpace space, Function<KvClient, T> work) {
    try (SlabArena arena = new SlabArena("client", space.layout(), 64, 16)) {
      KvClient client = requireNonNull(
          connecting(of(user), space, arena, new ByteBudget("client", 4 << 20, 16)).block(PATIENCE));
      try {
        return work.apply(client);
      } finally {
        client.close().block(PATIENCE);
      }
    }
  }

  private static List<BlockKey> keys(CacheSpace space) {
    return Blocks.keys(space, 0, 2);
  }

  private static Mono<?> put(KvClient client, CacheSpace space) {
    return client.put(keys(space), new ProducingSource(client.arena(),
        SliceShape.Order.LAYER_FIRST,
        (key, range, memory) -> Blocks.fill(key, range.offset(space.layout()), memory))).collectList();
  }

  private static Mono<?> get(KvClient client, CacheSpace space, OnMiss onMiss) {
    return Mono.using(BlockScope::new, scope -> client.lease(keys(space), onMiss, scope), BlockScope::close);
  }

  /// A name, the least role, and the request.
  private record Asked(Role least, Function<KvClient, Mono<?>> request) {}

  private static Map<String, Asked> requests() {
    Map<String, Asked> all = new LinkedHashMap<>();
    all.put("match", new Asked(Role.READER, client -> client.match(keys(CHAT))));
    all.put("exists", new Asked(Role.READER, client -> client.contains(keys(CHAT))));
    all.put("stat", new Asked(Role.READER, KvClient::stat));
    all.put("get", new Asked(Role.READER, client -> get(client, CHAT, OnMiss.SKIP)));
    all.put("put", new Asked(Role.WRITER, client -> put(client, CHAT)));
    all.put("events", new Asked(Role.READER, client -> client.events(0).next()));
    all.put("blocks", new Asked(Role.READER, client -> client.sessionKeys(AGENT, null, 1)));
    all.put("session", new Asked(Role.WRITER, client -> client.session(SessionUse.of(AGENT), SessionState.ACTIVE)));
    all.put("session everywhere", new Asked(Role.WRITER, client -> client.connection().ask(Routes.SESSION,
        new SessionMessages.SessionRequest(new SessionMessages.Named(AGENT.bytes(), null, null), "ENDED", null, true),
        SessionMessages.SessionReply.class)));
    all.put("release", new Asked(Role.READER, client -> client.holds().release(1)));
    all.put("pin", new Asked(Role.WRITER, client -> client.holds().pin(keys(CHAT), Pin.none())));
    all.put("get with ADMIT", new Asked(Role.WRITER, client -> get(client, CHAT, OnMiss.ADMIT)));
    all.put("remove", new Asked(Role.ADMIN, client -> client.remove(keys(CHAT))));
    return all;
  }

  @Test
  void requestBeyondARole_isRefusedByName_andTheConnectionLivesOn() {
    with("both", CHAT, client -> put(client, CHAT).block(PATIENCE));
    for (Role role : Role.values()) {
      with(role.word(), CHAT, client -> {
        requests().forEach((name, asked) -> assertAnswer(client, role, name, asked));
        return client.match(keys(CHAT)).block(PATIENCE);
      });
    }
    assertThat(server.runningStreams()).isZero();
  }

  private static void assertAnswer(KvClient client, Role role, String name, Asked asked) {
    Mono<?> answer = asked.request().apply(client);
    if (role.includes(asked.least())) {
      answer.block(PATIENCE);
    } else {
      assertThatThrownBy(() -> answer.block(PATIENCE)).as(role + ": " + name)
          .isInstanceOfSatisfying(RemotePermanentException.class, refused -> {
            assertThat(refused.code()).isEqualTo(ErrorCode.FORBIDDEN.code());
            assertThat(refused.field()).isEqualTo("role");
            assertThat(String.valueOf(refused.wanted())).startsWith(asked.least().word() + " for penstock.v1.")
                .endsWith("in space chat");
            assertThat(refused.actual()).isEqualTo(role.word());
          });
      assertThat(ErrorCode.FORBIDDEN.store()).isEqualTo(-1603);
    }
  }

  @Test
  void spaceWithoutARole_isNotThere() {
    assertThatThrownBy(() -> with("admin", CODE, KvClient::node)).isInstanceOf(RemotePermanentException.class)
        .hasMessageNotContaining("code ").satisfies(refused -> assertThat(((RemotePermanentException) refused).code())
            .isEqualTo(ErrorCode.SPACE_MISMATCH.code()));
    with("admin", CHAT, client -> {
      ServerStat stat = requireNonNull(client.stat().block(PATIENCE));
      assertThat(stat.spaces()).extracting(SpaceStat::tier).containsExactly("chat");
      Messages.KeysRequest other = new Messages.KeysRequest(Messages.Keys.of(keys(CODE)));
      for (String route : List.of(Routes.MATCH, Routes.EXISTS, Routes.REMOVE)) {
        assertThatThrownBy(() -> client.connection().ask(route, other, Messages.Bits.class).block(PATIENCE)).as(route)
            .isInstanceOf(RemotePermanentException.class).hasMessageNotContaining("" + tiers.get(1).info().name());
      }
      return client;
    });
    with("both", CODE, client -> client.stat().map(ServerStat::spaces)
        .doOnNext(spaces -> assertThat(spaces).hasSize(2)).block(PATIENCE));
    assertThatThrownBy(() -> with("stranger", CHAT, KvClient::node)).isInstanceOf(RemotePermanentException.class)
        .hasMessageContaining("one in which the user has a role");
  }

  @Test
  void segmentsOfMemory_areForUsersWithARoleInEverySpace() {
    assertThatThrownBy(() -> with("admin", CHAT, client -> segments(client).block(PATIENCE)))
        .hasMessage("role must be reader for " + Routes.SEGMENTS + " in every space (was none)");
    SegmentMessages.SegmentsReply told = with("both", CHAT, client -> segments(client).block(PATIENCE));
    assertThat(told.segments()).isEmpty();
  }

  private static Mono<SegmentMessages.SegmentsReply> segments(KvClient client) {
    return client.connection().ask(Routes.SEGMENTS, new SegmentMessages.SegmentsRequest(null, null),
        SegmentMessages.SegmentsReply.class);
  }

  @Test
  void rulesThatChange_countForConnectionsThatAreThere() {
    with("writer", CHAT, client -> {
      put(client, CHAT).block(PATIENCE);
      rules.set(new AccessRules(Map.of("writer", List.of(new Grant(Role.READER, Set.of("chat"))))));
      assertThatThrownBy(() -> put(client, CHAT).block(PATIENCE)).isInstanceOf(RemotePermanentException.class);
      rules.set(new AccessRules(Map.of()));
      assertThatThrownBy(() -> client.match(keys(CHAT)).block(PATIENCE)).isInstanceOf(RemotePermanentException.class);
      return client;
    });
  }

  @Test
  void clientWithoutCredentials_orWithWrongOnes_isRefusedAtSetup() {
    try (SlabArena arena = new SlabArena("client", CHAT.layout(), 8, 16)) {
      for (Credentials credentials : List.of(Credentials.none(), of("other"),
          Credentials.simple("reader", "reader".toCharArray()))) {
        assertThatThrownBy(
            () -> connecting(credentials, CHAT, arena, new ByteBudget("client", 1 << 20, 4)).block(PATIENCE))
            .isInstanceOf(ConnectionLostException.class).hasCauseInstanceOf(RejectedSetupException.class)
            .cause().hasMessageContaining("credentials");
      }
    }
  }

  @Test
  void route_withoutARule_isForAdmins() {
    assertThat(Routes.roleFor("penstock.v1.other")).isEqualTo(Role.ADMIN);
  }
}
