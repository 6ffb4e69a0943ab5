package io.penstock.wire;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.Eventually;
import io.penstock.tier.OnMiss;
import io.penstock.tier.PutSource;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.HoldLimitException;
import io.penstock.tier.TierHolds.KeyFilter;
import io.penstock.tier.TierHolds.KeyOutcome;
import io.penstock.tier.TierHolds.LeaseExpiredException;
import io.penstock.tier.TierHolds.LeaseTerms;
import io.penstock.tier.TierHolds.Pin;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.tier.TierHolds.ReadLease;
import io.penstock.tier.TierHolds.RemovalCount;
import io.penstock.tier.TierStat;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.get.RemoteLease;
import io.penstock.wire.protocol.ControlCodec;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.HoldMessages;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.PutMessages;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.WireErrors;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import io.penstock.wire.protocol.WireFailure.RemoteTransientException;
import io.rsocket.Payload;
import io.rsocket.RSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/// Read leases, pins and removals over a connection.
@Timeout(60)
final class KvHoldsTest {
  private static final BlockLayout LAYOUT = BlockLayout.attention(2, 16, 2, 16, ElementType.BF16);
  private static final CacheSpace SPACE = new CacheSpace("holds", LAYOUT, 1, "salt");
  private static final int WINDOW = 4;
  private static final Duration PATIENCE = WireNode.PATIENCE;
  private static final LeaseTerms PREFIX = LeaseTerms.defaults();

  private static WireNode node() {
    return new WireNode(Link.values()[0], SPACE, 64,
        StackOptions.defaults("dram").withIngressBlocks(4 * WINDOW).withExact(false), WireNode.options(WINDOW),
        8 * WireNode.SLICE_BYTES, Schedulers.newSingle("timers", true));
  }

  private static <T> T value(Mono<T> mono) {
    return requireNonNull(mono.block(PATIENCE));
  }

  private static long readUnder(TierHolds holds, long id, List<BlockKey> keys) {
    return value(Flux.using(BlockScope::new,
        scope -> holds.read(id, keys, scope)
            .flatMapMany(lease -> ((RemoteLease) lease).slices(scope)).doOnNext(slice -> {
              slice.spans().forEach(Blocks::assertBytes);
              slice.close();
            }).map(slice -> (long) slice.bytes()),
        BlockScope::close).reduce(0L, Long::sum));
  }

  private static void evictOthers(WireNode node, KvClient client) {
    for (int i = 0; i < 3; i++) {
      node.put(client, node.keys(1000 + 64 * i, 1064 + 64 * i));
    }
  }

  private static TierStat.Holds held(KvClient client) {
    return value(client.stat()).stat().holds();
  }

  @Test
  void termsOfALease_travelWhole() {
    LeaseTerms terms = PREFIX.withLife(Duration.ofSeconds(7)).withSurvives(true).withPrefetch(true).withId(9);
    assertThat(HoldMessages.LeaseWanted.of(terms).terms(true)).isEqualTo(terms);
    assertThat(HoldMessages.LeaseWanted.of(PREFIX).terms(true)).isEqualTo(PREFIX);
  }

  @Test
  void leaseOfAMatch_keepsItsBlocksForALaterGet() {
    try (WireNode node = node()) {
      KvClient client = node.client(WINDOW);
      List<BlockKey> keys = node.stored(client, 6);
      TierHolds holds = client.holds();
      ReadLease lease = value(holds.lease(keys, PREFIX.withLife(Duration.ofSeconds(60))));
      assertThat(lease.found().prefix()).isEqualTo(6);
      assertThat(lease.leased().count()).isEqualTo(6);
      assertThat(lease.life()).isEqualTo(Duration.ofSeconds(60));

      evictOthers(node, client);
      assertThat(client.match(keys).block(PATIENCE)).isEqualTo(6);
      assertThat(readUnder(holds, lease.id(), keys)).isEqualTo(6L * LAYOUT.blockBytes());
      assertThat(held(client).leasedBlocks()).isEqualTo(6);
      assertThat(held(client).leased()).as("passed over").isPositive();

      assertThat(value(holds.release(lease.id()))).isTrue();
      assertThatThrownBy(() -> readUnder(holds, lease.id(), keys)).isInstanceOfSatisfying(LeaseExpiredException.class,
          expired -> assertThat(expired.id()).isEqualTo(lease.id()));
      evictOthers(node, client);
      assertThat(client.match(keys).block(PATIENCE)).isZero();
    }
  }

  @Test
  void connectionThatEnds_endsItsLeases_butThoseThatSurvive() {
    try (WireNode node = node()) {
      KvClient other = node.client(WINDOW);
      List<BlockKey> keys = node.stored(other, 8);
      KvClient client = node.client(WINDOW);
      ReadLease mine = value(client.holds().lease(keys.subList(0, 4), PREFIX));
      ReadLease kept = value(client.holds().lease(keys.subList(4, 8),
          PREFIX.withPrefixOnly(false).withSurvives(true)));
      client.close().block(PATIENCE);
      Eventually.holds("the leases have ended", () -> held(other).leases() <= 1);
      assertThatThrownBy(() -> readUnder(other.holds(), mine.id(), keys)).isInstanceOf(LeaseExpiredException.class);
      assertThat(readUnder(other.holds(), kept.id(), keys.subList(4, 8))).isEqualTo(4L * LAYOUT.blockBytes());
    }
  }

  @Test
  void pins_areSetByKeyOrWithAPut_andBeyondTheirShareRefusedWithBothNumbers() {
    try (WireNode node = node()) {
      KvClient client = node.client(WINDOW);
      List<BlockKey> keys = node.stored(client, 4);
      TierHolds holds = client.holds();
      assertThat(value(holds.pin(node.keys(2, 6), Pin.soft(Duration.ofMinutes(5))))).containsExactly(KeyOutcome.OK,
          KeyOutcome.OK, KeyOutcome.NOT_FOUND, KeyOutcome.NOT_FOUND);
      List<BlockKey> pinned = node.keys(10, 14);
      client.put(pinned, PutTerms.plain().withPin(Pin.hard()).withGroup("a turn"),
          node.source((SlabArena) client.arena(), SliceShape.Order.LAYER_FIRST)).blockLast(PATIENCE);
      assertThat(held(client).softPinned()).isEqualTo(2);
      assertThat(held(client).hardPinned()).isEqualTo(4);
      evictOthers(node, client);
      assertThat(value(client.contains(keys)).bits().stream()).containsExactly(2, 3);
      assertThat(value(client.contains(pinned)).count()).isEqualTo(4);
      holds.pin(keys, Pin.none()).block(PATIENCE);
      assertThat(held(client).softPinned()).isZero();

      List<BlockKey> many = node.keys(1150, 1190);
      assertThatThrownBy(() -> holds.pin(many, Pin.hard()).block(PATIENCE)).isInstanceOf(HoldLimitException.class)
          .hasMessage("pinned blocks must be <= 32 (was 44)");
    }
  }

  /// Bits turn in memory after the checksums were made, as on a bad link.
  @Test
  void damagedBlockOfAPut_failsAlone_andARetryStoresIt() {
    try (WireNode node = node(); BlockScope scope = new BlockScope()) {
      KvClient client = node.client(WINDOW);
      node.put(client, node.keys(0, 1));
      List<BlockKey> keys = node.keys(0, 10);
      List<Block> blocks = keys.stream().map(key -> scope.adopt(Blocks.block(client.arena(), key))).toList();
      Blocks.corrupt(blocks.get(2), 100);
      Blocks.corrupt(blocks.get(5), LAYOUT.blockBytes() - 1);
      for (int i = 6; i < 9; i++) { // a whole window and more
        Blocks.corrupt(blocks.get(i), 1);
      }
      List<BlockKey> stored = new ArrayList<>();
      assertThatThrownBy(() -> client.put(keys, PutSource.of(blocks, SliceShape.Order.LAYER_FIRST))
          .doOnNext(receipt -> stored.add(receipt.key())).blockLast(PATIENCE))
          .isInstanceOfSatisfying(RemoteTransientException.class, failure -> {
            assertThat(failure.code()).isEqualTo(ErrorCode.BLOCK_CORRUPT.code());
            assertThat(failure).hasMessageContaining("5 of 10 damaged");
          });
      assertThat(stored).containsExactly(keys.get(1), keys.get(3), keys.get(4), keys.get(9));
      assertThat(value(client.contains(keys)).bits().stream()).containsExactly(0, 1, 3, 4, 9);
      assertThat(node.put(client, keys)).hasSize(5);
      assertThat(value(node.get(client, keys, OnMiss.SKIP))).isEqualTo(10L * LAYOUT.blockBytes());
    }
  }

  @Test
  void roomOfAPut_tellsDuplicates_andAnOlderSenderIsToldNothingNew() {
    try (WireNode node = node()) {
      node.put(node.client(WINDOW), node.keys(0, 2));
      RSocket raw = node.raw("application/cbor");
      Messages.Keys keys = Messages.Keys.of(node.keys(0, 4));
      for (Boolean outcomes : Arrays.asList(true, null)) {
        Payload first = requireNonNull(raw.requestChannel(Flux.concat(Mono.fromSupplier(() -> WireNode.request(
            ControlCodec.CBOR, Routes.PUT, new PutMessages.PutRequest(keys, 4096, WINDOW, 0, null, null, null,
                outcomes))),
            Mono.never())).blockFirst(PATIENCE));
        PutMessages.Room room =
            requireNonNull(WireNode.read(ControlCodec.CBOR, first, PutMessages.PutSignal.class).room());
        assertThat(room.wanted().presence().bits().stream()).containsExactly(2, 3);
        assertThat(room.present() == null ? null : room.present().presence().count())
            .isEqualTo(outcomes == null ? null : 2);
        node.awaitIdle();
      }
    }
  }

  @Test
  void removal_answersAnOutcomeForEachKey_andCountsForAPattern() {
    try (WireNode node = node()) {
      KvClient client = node.client(WINDOW);
      List<BlockKey> keys = node.stored(client, 20);
      TierHolds holds = client.holds();
      holds.lease(keys.subList(0, 2), PREFIX).block(PATIENCE);
      assertThat(value(holds.remove(node.keys(1, 3), false))).containsExactly(KeyOutcome.LEASED, KeyOutcome.OK);
      assertThat(value(holds.remove(node.keys(1, 3), true))).containsExactly(KeyOutcome.OK, KeyOutcome.NOT_FOUND);
      assertThat(value(client.remove(keys.subList(0, 4))).bits().stream()).as("leased, gone, gone").containsExactly(3);

      Predicate<BlockKey> even = key -> (key.hash().low() & 1) == 0;
      long evens = keys.subList(4, 20).stream().filter(even).count();
      KeyFilter pattern = new KeyFilter("[02468ace]$", even);
      RemovalCount some = value(holds.remove(pattern, false).reduce(RemovalCount::plus));
      assertThat(some.removed() + some.leased()).isBetween(evens, evens + 1);
      assertThat(value(holds.remove(KeyFilter.all(), true).reduce(RemovalCount::plus)).removed())
          .isEqualTo(17 - some.removed());
      assertThat(value(client.stat()).stat().blocks()).isZero();
      assertThat(client.events(0).take(40).collectList().block(PATIENCE)).hasSize(40);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "(", "a{33}", "(a{6}){6}", "(?=a)", "((((a{1000}){1000}){1000}){1000})"})
  void patternThatIsNone_orTooLarge_isRefused(String pattern) {
    try (WireNode node = node()) {
      RSocket raw = node.raw("application/cbor");
      refused(raw, Routes.REMOVE, Map.of("pattern", pattern), ErrorCode.BAD_REQUEST, "pattern");
    }
  }

  @Test
  void fieldsThatBreakTheirRules_areRefused_andOldRequestsStayValid() {
    try (WireNode node = node()) {
      RSocket raw = node.raw("application/cbor");
      Messages.Keys keys = Messages.Keys.of(node.keys(0, 2));
      Map<String, Object> named = Map.of("space", keys.space(), "hashes", keys.hashes());
      refused(raw, Routes.MATCH, Map.of("keys", named, "lease", Map.of("millis", -1)), ErrorCode.BAD_REQUEST,
          "millis");
      refused(raw, Routes.MATCH, Map.of("keys", named, "lease", Map.of("millis", "10")), ErrorCode.BAD_REQUEST,
          "millis");
      refused(raw, Routes.MATCH, Map.of("keys", named, "lease", Map.of("millis", 86_400_000)),
          ErrorCode.BAD_REQUEST, "life of a lease");
      refused(raw, Routes.PIN, Map.of("keys", named, "pin", Map.of("kind", "FIRM")), ErrorCode.BAD_REQUEST, "kind");
      refused(raw, Routes.PIN, Map.of("keys", named, "pin", Map.of("kind", "HARD", "millis", 1)),
          ErrorCode.BAD_REQUEST, "millis");
      refused(raw, Routes.PIN, Map.of("keys", named), ErrorCode.BAD_REQUEST, "pin");
      refused(raw, Routes.REMOVE, Map.of(), ErrorCode.BAD_REQUEST, "keys");
      refused(raw, Routes.REMOVE, Map.of("all", false), ErrorCode.BAD_REQUEST, "keys");
      refused(raw, Routes.REMOVE, Map.of("all", true, "pattern", "a"), ErrorCode.BAD_REQUEST, "exactly one");
      Messages.Bits bits = WireNode.read(ControlCodec.CBOR,
          value(raw.requestResponse(WireNode.request(ControlCodec.CBOR, Routes.REMOVE, Map.of("keys", named)))),
          Messages.Bits.class);
      assertThat(bits.size()).isEqualTo(2);
      Payload get = WireNode.request(ControlCodec.CBOR, Routes.GET, Map.of("keys", named, "onMiss", "AWAIT", "order",
          "LAYER_FIRST", "startLayer", 0, "maxSliceBytes", 4096, "windowBlocks", 1, "ticket", 0, "lease", 3));
      assertThatThrownBy(() -> raw.requestStream(get).blockLast(PATIENCE)).hasMessageContaining("onMiss");
    }
  }

  private static void refused(RSocket raw, String route, Map<String, Object> message, ErrorCode code, String says) {
    assertThatThrownBy(
        () -> raw.requestResponse(WireNode.request(ControlCodec.CBOR, route, message)).block(PATIENCE))
        .satisfies(error -> assertThat(WireErrors.fromWire(error, "node"))
            .isInstanceOfSatisfying(RemotePermanentException.class, told -> {
              assertThat(told.code()).isEqualTo(code.code());
              assertThat(told).hasMessageContaining(says);
            }));
  }
}
