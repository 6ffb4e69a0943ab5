package io.penstock.wire;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.EvictionPolicy;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionPage;
import io.penstock.block.session.SessionState;
import io.penstock.block.session.SessionUse;
import io.penstock.flow.LoadPrefix;
import io.penstock.flow.OffloadPrefix;
import io.penstock.flow.SessionTier;
import io.penstock.stack.shape.StackOptions;
import io.penstock.stage.Fetch;
import io.penstock.testkit.Blocks;
import io.penstock.tier.BlockTier;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.KvPeerOptions;
import io.penstock.wire.client.RemoteTier;
import io.penstock.wire.protocol.ControlCodec;
import io.penstock.wire.protocol.EventMessage;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.PutMessages;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.SessionMessages;
import io.penstock.wire.protocol.WireFormatException;
import io.rsocket.RSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/// Sessions, and keys that are being written, over a connection.
@Timeout(60)
final class SessionRoutesTest {
  private static final CacheSpace SPACE =
      new CacheSpace("sessions", BlockLayout.attention(2, 16, 2, 16, ElementType.BF16), 1, "salt");
  private static final int WINDOW = 4;
  private static final SliceShape SHAPE =
      new SliceShape(WINDOW, WireNode.SLICE_BYTES, SliceShape.Order.LAYER_FIRST, 0);
  private static final Duration PATIENCE = WireNode.PATIENCE;
  private static final SessionUse AGENT = new SessionUse(SessionId.of("agent"), 5, Duration.ofMinutes(5));

  private static WireNode node(Link link, EvictionPolicy policy) {
    return new WireNode(link, SPACE, 64,
        StackOptions.defaults("dram").withIngressBlocks(4 * WINDOW).withExact(false).withPolicy(policy),
        WireNode.options(WINDOW), 8 * WireNode.SLICE_BYTES, Schedulers.newSingle("timers", true));
  }

  private static <T> T value(Mono<T> mono) {
    return requireNonNull(mono.block(PATIENCE));
  }

  @ParameterizedTest
  @EnumSource
  void blocksOfAPausedSession_stay_untilItEnds(Link link) {
    try (WireNode node = node(link, EvictionPolicy.SESSIONS)) {
      KvClient client = node.client(WINDOW);
      SessionTier agent = SessionTier.of(new RemoteTier(client, SPACE), AGENT);
      List<BlockKey> keys = node.keys(0, 6);
      assertThat(value(agent.match(keys))).isZero();
      value(agent.put(keys, SHAPE, node.source((SlabArena) client.arena(), SliceShape.Order.LAYER_FIRST)).count());
      assertThat(value(agent.state(SessionState.PAUSED))).isTrue();
      node.put(client, node.keys(1_000, 1_060));
      node.put(client, node.keys(2_000, 2_060));
      assertThat(value(agent.match(keys))).isEqualTo(6);
      assertThat(value(agent.state(SessionState.ENDED))).isTrue();
      node.put(client, node.keys(3_000, 3_060));
      assertThat(value(client.match(keys))).isLessThan(6);
      assertThat(value(client.session(new SessionUse(SessionId.of("never"), 0, null), SessionState.ENDED))).isFalse();
    }
  }

  @ParameterizedTest
  @EnumSource
  void leaseOfASession_makesItsBlocksStay(Link link) {
    try (WireNode node = node(link, EvictionPolicy.SESSIONS)) {
      KvClient client = node.client(WINDOW);
      List<BlockKey> keys = node.stored(client, 6);
      try (BlockScope scope = new BlockScope()) {
        value(client.lease(keys, OnMiss.SKIP, AGENT, scope)).close();
      }
      node.put(client, node.keys(1_000, 1_060));
      node.put(client, node.keys(2_000, 2_060));
      assertThat(value(client.match(keys))).isEqualTo(6);
    }
  }

  @ParameterizedTest
  @EnumSource
  void prefillOfTheNextTurn_pullsWhatTheDecodeOffloaded(Link link) {
    try (WireNode node = node(link, EvictionPolicy.SESSIONS)) {
      KvClient client = node.client(WINDOW);
      SessionTier prefill = SessionTier.of(new RemoteTier(client, SPACE), AGENT);
      SessionTier decode = SessionTier.of(new RemoteTier(node.client(WINDOW), SPACE), AGENT);
      List<BlockKey> whole = node.keys(0, 8); // the share of a session, of 64 blocks
      List<BlockKey> prompt = whole.subList(0, 5);
      value(prefill.put(prompt, SHAPE, node.source((SlabArena) client.arena(), SliceShape.Order.LAYER_FIRST)).count());
      assertThat(loaded(decode, prompt)).isEqualTo(prompt);

      SlabArena generated = node.arena(8);
      value(Flux.using(BlockScope::new,
          scope -> Flux.fromIterable(whole.subList(5, 8)).map(key -> scope.adopt(Blocks.block(generated, key)))
              .transform(OffloadPrefix.blocks(decode, OffloadPrefix.Options.defaults(), Schedulers.single())),
          BlockScope::close).count());
      value(decode.state(SessionState.PAUSED));
      node.put(client, node.keys(1_000, 1_060));
      node.put(client, node.keys(2_000, 2_060));

      assertThat(value(prefill.match(whole))).isEqualTo(8);
      assertThat(loaded(prefill, whole)).isEqualTo(whole);
    }
  }

  /// The blocks of `keys` that `tier` has, their bytes compared.
  private static List<BlockKey> loaded(BlockTier tier, List<BlockKey> keys) {
    return value(Flux.using(BlockScope::new,
        scope -> LoadPrefix.blocks(tier, keys, Fetch.Options.defaults(), scope).doOnNext(Blocks::assertBytes)
            .doOnNext(Block::close).map(Block::key),
        BlockScope::close).collectList());
  }

  @ParameterizedTest
  @EnumSource
  void blocksOfASession_areListed_andItsEndIsAnEvent_forThoseWhoAskForIt(Link link) {
    try (WireNode node = node(link, EvictionPolicy.SESSIONS)) {
      KvClient client = node.client(WINDOW);
      SessionTier agent = SessionTier.of(new RemoteTier(client, SPACE), AGENT);
      SessionTier other = SessionTier.of(new RemoteTier(client, SPACE), SessionUse.of(SessionId.of("other")));
      List<BlockKey> keys = node.keys(0, 6);
      value(agent.put(keys, SHAPE, node.source((SlabArena) client.arena(), SliceShape.Order.LAYER_FIRST)).count());
      try (BlockScope scope = new BlockScope()) {
        value(other.lease(keys.subList(0, 2), OnMiss.SKIP, scope)).close();
      }

      SessionPage first = value(client.sessionKeys(AGENT.session(), null, 4));
      SessionPage rest = value(client.sessionKeys(AGENT.session(), requireNonNull(first.next()), 4));
      assertThat(Stream.of(first, rest).flatMap(page -> page.keys().stream()))
          .containsExactlyInAnyOrderElementsOf(keys);
      assertThat(rest.next()).isNull();
      assertThat(client.sessionKeys(SessionId.of("never"), null, 4).blockOptional(PATIENCE)).isEmpty();
      assertThat(client.sessionKeys(AGENT.session(), keys.getFirst(), 4).blockOptional(PATIENCE))
          .as("after a block that is the other's now").isEmpty();

      RSocket old = node.raw("application/cbor");
      Flux<EventMessage> unasked = events(old, new Messages.EventsRequest(0));
      value(agent.state(SessionState.ENDED));
      value(agent.state(SessionState.ENDED)); // no second event
      node.put(client, node.keys(6, 7));
      List<TierEvent> events = value(client.events(0).take(8).collectList());
      assertThat(events.get(6)).isEqualTo(new TierEvent.SessionEnded(6, AGENT.session()));
      assertThat(events).extracting(TierEvent::sequence).containsExactly(1L, 2L, 3L, 4L, 5L, 6L, 6L, 7L);
      assertThat(value(unasked.take(7).collectList())).extracting(EventMessage::type).containsOnly("stored");
      assertThat(value(client.events(6).take(1).single())).isInstanceOf(TierEvent.SessionEnded.class);
      assertThat(value(client.events(7 - 1).skip(1).take(1).single()).sequence()).isEqualTo(7);
    }
  }

  private static Flux<EventMessage> events(RSocket socket, Messages.EventsRequest request) {
    return Flux.defer(() -> socket.requestStream(WireNode.request(ControlCodec.CBOR, Routes.EVENTS, request)))
        .map(payload -> WireNode.read(ControlCodec.CBOR, payload, EventMessage.class));
  }

  @ParameterizedTest
  @EnumSource
  void clientWithoutASpace_endsASession_inEachSpaceWithoutASalt(Link link) {
    CacheSpace open = new CacheSpace("sessions", SPACE.layout(), 1, "");
    try (WireNode salted = node(link, EvictionPolicy.SESSIONS);
        WireNode node = new WireNode(link, open, 64,
            StackOptions.defaults("dram").withPolicy(EvictionPolicy.SESSIONS), WireNode.options(WINDOW),
            8 * WireNode.SLICE_BYTES, Schedulers.newSingle("timers", true))) {
      for (WireNode each : List.of(salted, node)) {
        KvClient client = each.client(WINDOW);
        value(client.match(each.keys(0, 1), AGENT, Duration.ZERO));
        NodeSessions sessions = NodeSessions.of(each.transport(), KvClientOptions.defaults(),
            KvPeerOptions.defaults(), Schedulers.single(), new Random(1));
        int spaces = each == node ? 1 : 0;
        assertThat(value(sessions.spaces(AGENT.session()))).hasSize(spaces);
        assertThat(value(sessions.state(AGENT, SessionState.PAUSED))).isEqualTo(spaces);
        assertThat(value(sessions.spaces(SessionId.of("never")))).isEmpty();
        sessions.close().block(PATIENCE);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void sessions_meanNothingToOtherPolicies(Link link) {
    try (WireNode node = node(link, EvictionPolicy.LRU)) {
      SessionTier agent = SessionTier.of(new RemoteTier(node.client(WINDOW), SPACE), AGENT);
      assertThat(value(agent.state(SessionState.ACTIVE))).isFalse();
      assertThat(value(agent.match(node.keys(0, 3)))).isZero();
    }
  }

  @ParameterizedTest
  @EnumSource
  void keyThatIsBeingWritten_isPending_andAMatchMayWaitForIt(Link link) {
    try (WireNode node = node(link, EvictionPolicy.SESSIONS); BlockScope scope = new BlockScope()) {
      KvClient client = node.client(WINDOW);
      List<BlockKey> keys = node.stored(client, 4);
      List<BlockKey> both = node.keys(0, 7);
      Reservation writing = value(node.tier.reserve(node.keys(4, 6), PutTerms.plain(), scope));

      KvClient.Matched at = value(client.match(both, AGENT, Duration.ZERO));
      assertThat(at.prefix()).isEqualTo(keys.size());
      assertThat(at.pending()).as("keys 4 and 5, not 6").isEqualTo(2);
      assertThat(value(client.match(both))).as("as ever").isEqualTo(4);
      assertThat(value(new RemoteTier(client, SPACE).promised(both))).isEqualTo(6);
      assertThat(value(client.match(both, null, Duration.ofMillis(20))).pending()).as("not in time").isEqualTo(2);

      CompletableFuture<KvClient.Matched> waiting =
          client.match(both, AGENT, Duration.ofSeconds(10)).toFuture();
      List<BlockDraft> drafts = writing.drafts();
      drafts.forEach(Blocks::produce);
      value(writing.commit(drafts));
      KvClient.Matched then = value(Mono.fromFuture(waiting));
      assertThat(then.prefix()).isEqualTo(6);
      assertThat(then.pending()).isZero();
    }
  }

  @Test
  void messages_areThoseOfEarlierReleases_withoutASession_andBadFieldsAreRefused() {
    Messages.Keys keys = new Messages.Keys(new byte[16], new byte[0]);
    assertThat(json(new Messages.KeysRequest(keys))).doesNotContain("session", "pending");
    assertThat(json(new Messages.MatchReply(1))).isEqualTo("{\"prefix\":1}");
    assertThat(json(PutMessages.PutRequest.of(keys, 4096, 1, 1, PutTerms.plain(), null))).doesNotContain("session");
    SessionMessages.Named named = requireNonNull(SessionMessages.Named.of(AGENT));
    assertThat(named.use()).isEqualTo(AGENT);
    assertThat(json(new Messages.KeysRequest(keys, null, null, named, 250L)))
        .endsWith(",\"session\":{\"id\":\"YWdlbnQ=\",\"priority\":5,\"keepMillis\":300000},\"pendingMillis\":250}");
    assertThat(json(new SessionMessages.SessionReply(true))).isEqualTo("{\"known\":true}");
    assertThat(json(new SessionMessages.SessionRequest(named, "ENDED", null))).doesNotContain("everywhere");
    assertThat(json(new Messages.EventsRequest(3, null, null, true))).isEqualTo("{\"after\":3,\"snapshot\":true}");
    assertThatThrownBy(() -> new SessionMessages.SessionRequest(named, "ENDED", new byte[16], true))
        .hasMessageContaining("everywhere must be absent with a space");
    assertThatThrownBy(() -> new SessionMessages.BlocksRequest(new byte[1], null, new byte[16], null))
        .hasMessageContaining("after must be absent without a space");
    assertThatThrownBy(() -> new SessionMessages.BlocksRequest(new byte[1], null, null, 0))
        .hasMessageContaining("most must be >= 1");
    refused("{\"id\":\"\"}", "session.id must be of 1 to 64 bytes (was 0)");
    refused("{\"id\":\"YQ==\",\"priority\":8}", "session.priority must be in [0, 7] (was 8)");
    refused("{\"id\":\"YQ==\",\"keepMillis\":-1}", "session.keepMillis must be in [0, 3600000] (was -1)");
    assertThatThrownBy(() -> new SessionMessages.SessionRequest(named, "ASLEEP", null))
        .isInstanceOf(WireFormatException.class).hasMessageContaining("state must be one of [ACTIVE, PAUSED, ENDED]");
  }

  private static void refused(String json, String says) {
    assertThatThrownBy(
        () -> ControlCodec.JSON.decode(Unpooled.copiedBuffer(json, StandardCharsets.UTF_8),
            SessionMessages.Named.class))
        .hasStackTraceContaining(says);
  }

  private static String json(Object message) {
    return ControlCodec.JSON.encode(message, UnpooledByteBufAllocator.DEFAULT)
        .toString(StandardCharsets.UTF_8);
  }
}
