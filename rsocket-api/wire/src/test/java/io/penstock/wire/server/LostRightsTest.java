package io.penstock.wire.server;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBufAllocator;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.budget.Permits;
import io.penstock.stack.HostTier;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierListener;
import io.penstock.wire.WireNode;
import io.penstock.wire.credit.Budget;
import io.penstock.wire.credit.BudgetLane;
import io.penstock.wire.credit.NodeBudget;
import io.penstock.wire.protocol.ControlCodec;
import io.penstock.wire.protocol.HoldMessages;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.security.Access;
import io.penstock.wire.security.AccessRules;
import io.penstock.wire.security.Credentials;
import io.penstock.wire.security.Grant;
import io.penstock.wire.security.Role;
import io.penstock.wire.security.UserFile;
import io.penstock.wire.segment.StagingSlots;
import io.penstock.wire.server.call.HeldRights;
import io.penstock.wire.server.call.RunningStreams;
import io.penstock.wire.server.call.Turns;
import io.penstock.wire.server.route.DisaggServices;
import io.penstock.wire.server.space.NodeSpaces;
import io.penstock.wire.server.space.ServedSpaces;
import io.rsocket.Payload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;
import reactor.test.scheduler.VirtualTimeScheduler;

/// A connection whose user loses rights while streams run and leases live.
final class LostRightsTest {
  private static final List<BlockKey> KEYS = Blocks.keys(Blocks.smallSpace(), 0, 4);

  @TempDir
  Path folder;

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final HostTier tier = new HostTier(Blocks.smallSpace(), 8, TierListener.noop());
  private final ByteBudget ingress = leaks.watch(new ByteBudget("ingress", 1 << 20, 4));
  private final RunningStreams running = new RunningStreams();
  private final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
  private final AtomicReference<AccessRules> rules = new AtomicReference<>(rules(Role.WRITER));
  private final AtomicReference<@Nullable UserFile> users = new AtomicReference<>();
  private KvResponder responder;

  private AccessRules rules(Role role) {
    return new AccessRules(Map.of("alice", List.of(new Grant(role, Set.of(tier.info().name())))));
  }

  private UserFile file(String name, String secret) throws IOException {
    return UserFile.read(Files.writeString(folder.resolve("users"), UserFile.lineOf(name, secret.toCharArray())));
  }

  @BeforeEach
  void connect() throws IOException {
    users.set(file("alice", "token"));
    Access access = Access.of(() -> requireNonNull(users.get()), rules::get);
    FairShares shares = new FairShares(new NodeBudget(ingress.permits(), 512 << 10),
        new BudgetLane("messages of requests", Budget.of(new Permits("requests", 1 << 16, 1)), 1 << 16, 1),
        new BudgetLane("windows", Budget.of(new Permits("windows", 128, 1)), 128, 16));
    responder = new KvResponder(new Serving(new ServedSpaces(NodeSpaces.of(List.of(tier)), Limits.defaults()),
        KvServerOptions.builder().access(access).build(), shares, clock,
        new Turns(Schedulers.immediate()), Schedulers.immediate(), ByteBufAllocator.DEFAULT, () -> false, running, null,
        new StagingSlots(1 << 20), DisaggServices.none(),
        HeldRights.changing(), Map.of()), ControlCodec.CBOR.mimeType(), "here", null,
        access.begin(Credentials.bearer("token".toCharArray()), "rsocket", "here", 0).caller(), 0);
    try (BlockScope scope = new BlockScope()) {
      Reservation room = requireNonNull(tier.reserve(KEYS, scope).block());
      room.drafts().forEach(Blocks::produce);
      room.commit(room.drafts()).block();
    }
  }

  @AfterEach
  void close() {
    responder.dispose();
    tier.close().block();
  }

  /// Reads one stream, with as much credit as it gives.
  private static final class Reader extends BaseSubscriber<Payload> {
    private final long credit;
    private int payloads;
    private @Nullable Throwable failure;

    private Reader(long credit) {
      this.credit = credit;
    }

    private static Reader of(Flux<Payload> stream, long credit) {
      Reader reader = new Reader(credit);
      stream.subscribe(reader);
      return reader;
    }

    @Override
    protected void hookOnSubscribe(Subscription subscription) {
      if (credit > 0) {
        subscription.request(credit);
      }
    }

    @Override
    protected void hookOnNext(Payload payload) {
      payloads++;
      payload.release();
    }

    @Override
    protected void hookOnError(Throwable error) {
      failure = error;
    }

    private void assertLost(Role least, String route, String was) {
      assertThat(failure).as(route).isNotNull();
      assertThat(requireNonNull(failure).getMessage())
          .contains("role must be " + least.word() + " for " + route + " in space dram (was " + was + ")");
    }
  }

  private Reader events() {
    return Reader.of(responder.requestStream(WireNode.request(ControlCodec.CBOR, Routes.EVENTS,
        new Messages.EventsRequest(0))), Long.MAX_VALUE);
  }

  /// A get whose reader has taken the answer and no slice.
  private Reader get() {
    return Reader.of(responder.requestStream(WireNode.request(ControlCodec.CBOR, Routes.GET,
        new Messages.GetRequest(Messages.Keys.of(KEYS), "SKIP", "LAYER_FIRST", 0, 4096, 4, 1))), 1);
  }

  /// The same get, asked for one answer, which nothing has asked for yet.
  private Reader shortGet() {
    return Reader.of(Flux.from(responder.requestResponse(WireNode.request(ControlCodec.CBOR, Routes.GET,
        new Messages.GetRequest(Messages.Keys.of(KEYS), "SKIP", "LAYER_FIRST", 0, 4096, 4, 2)))), 0);
  }

  @Test
  void getWithOneAnswer_endsWithTheRight_orHasItsAnswer() {
    Reader waiting = shortGet();
    assertThat(running.count()).isEqualTo(1);
    rules.set(rules(Role.READER));
    assertThat(responder.review()).isTrue();
    assertThat(waiting.failure).isNull();

    rules.set(new AccessRules(Map.of()));
    assertThat(responder.review()).isTrue();

    waiting.assertLost(Role.READER, Routes.GET, "none");
    assertThat(running.count()).isZero();
    waiting.request(1);
    assertThat(waiting.payloads).isZero();
    Reader late = shortGet();
    late.request(1);
    assertThat(late.failure).hasMessageContaining("in which the user has a role");
    assertThat(late.payloads).isZero();

    rules.set(rules(Role.READER));
    Reader answered = shortGet();
    answered.request(1);
    assertThat(answered.payloads).isOne();
    assertThat(answered.failure).isNull();
    assertThat(running.count()).isZero();
    assertThat(ingress.inUseBytes()).isZero();
  }

  @Test
  void streams_endWithTheRightUnderWhichTheyBegan_andOthersGoOn() {
    Reader events = events();
    Reader get = get();
    assertThat(get.failure).isNull();
    assertThat(running.count()).isEqualTo(1);

    rules.set(rules(Role.READER));
    assertThat(responder.review()).isTrue();

    assertThat(get.failure).isNull();
    assertThat(events.failure).isNull();
    assertThat(running.count()).isEqualTo(1);
    int before = events.payloads;
    tier.remove(KEYS.subList(0, 1)).block();
    assertThat(events.payloads).isGreaterThan(before);

    rules.set(new AccessRules(Map.of()));
    assertThat(responder.review()).isTrue();

    get.assertLost(Role.READER, Routes.GET, "none");
    events.assertLost(Role.READER, Routes.EVENTS, "none");
    assertThat(running.count()).isZero();
    int last = events.payloads;
    tier.remove(KEYS.subList(1, 2)).block();
    assertThat(events.payloads).isEqualTo(last);
    assertThat(ingress.inUseBytes()).isZero();
  }

  @Test
  void leases_endWithTheRightToRead_alsoThoseThatSurviveTheConnection() {
    for (boolean survives : new boolean[] {false, true}) {
      rules.set(rules(Role.READER));
      Payload leased = requireNonNull(responder.requestResponse(WireNode.request(ControlCodec.CBOR, Routes.MATCH,
          new Messages.KeysRequest(Messages.Keys.of(KEYS),
              new HoldMessages.LeaseWanted(60_000L, survives, null, null))))
          .block());
      leased.release();
      assertThat(requireNonNull(tier.stat().block()).holds().leases()).isEqualTo(1);

      rules.set(new AccessRules(Map.of()));
      responder.review();

      assertThat(requireNonNull(tier.stat().block()).holds().leases()).isZero();
    }
  }

  @Test
  void userWhoWasRemoved_orWhoseSecretWas_isKnownNoMore() throws IOException {
    Reader events = events();
    users.set(file("alice", "token"));
    assertThat(responder.review()).isTrue();
    assertThat(events.failure).isNull();

    users.set(file("alice", "another"));
    assertThat(responder.review()).isFalse();

    users.set(file("bob", "token"));
    assertThat(responder.review()).isFalse();
    events().assertLost(Role.READER, Routes.EVENTS, "none");
  }
}
