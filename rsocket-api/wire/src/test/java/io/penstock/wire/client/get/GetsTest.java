package io.penstock.wire.client.get;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.HeldSlots;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionUse;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.TierHolds.LeaseExpiredException;
import io.penstock.wire.SliceStream;
import io.penstock.wire.client.link.AnswerLimits;
import io.penstock.wire.client.link.ClientCarriers;
import io.penstock.wire.client.link.LinkTerms;
import io.penstock.wire.client.link.NodeConnection;
import io.penstock.wire.client.link.Nowhere;
import io.penstock.wire.protocol.Carrier;
import io.penstock.wire.protocol.ControlCodec;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.RequestMetadata;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.WireErrors;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.report.Carried;
import io.penstock.wire.report.StreamListener;
import io.penstock.wire.security.Credentials;
import io.penstock.wire.transport.ConnectionGauges;
import io.rsocket.Payload;
import io.rsocket.RSocket;
import io.rsocket.util.ByteBufPayload;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Which gets are asked for by one request, and what becomes of those that the node does not answer so. The node
/// answers at once, on the thread that asks.
@Timeout(60)
final class GetsTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final BlockLayout LAYOUT = SPACE.layout();
  private static final int SLICE = 4096;
  private static final int WINDOW = 4;
  private static final List<BlockKey> KEYS = Blocks.keys(SPACE, 0, WINDOW);
  private static final SliceStream HONEST = new SliceStream(SPACE, WINDOW, 0, SLICE, SliceShape.Order.LAYER_FIRST);
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final LeakLedger leaks = new LeakLedger();
  private final SlabArena arena = leaks.watch(new SlabArena("client", LAYOUT, 3 * WINDOW, 4));
  private final ByteBudget budget = leaks.watch(new ByteBudget("client", 16L * SLICE, 4));
  private final List<StreamListener.Report> reports = new ArrayList<>();
  private final Node node = new Node();
  private final NodeConnection connection = connection();

  @AfterEach
  void nothingLeaks() {
    leaks.close();
  }

  /// A node that has all blocks.
  private static final class Node implements RSocket {
    private final List<String> heard = new ArrayList<>();
    private final List<Messages.GetRequest> asked = new ArrayList<>();
    private final AtomicInteger cancelled = new AtomicInteger();
    private Mono<Payload> answer = payload(HONEST.of(KEYS, List.of(0, 1, 2, 3)).getFirst());
    private Flux<Payload> stream = all();

    private static Flux<Payload> all() {
      BitSet all = new BitSet();
      all.set(0, WINDOW);
      Messages.Bits found = Messages.Bits.of(Presence.of(WINDOW, all));
      Messages.Bits none = Messages.Bits.of(Presence.of(WINDOW, new BitSet()));
      return Flux.concat(Mono.fromSupplier(() -> ByteBufPayload.create(
          ControlCodec.CBOR.encode(new Messages.Found(found, found, none, none), UnpooledByteBufAllocator.DEFAULT))),
          Flux.fromIterable(HONEST.of(KEYS, List.of(0, 1, 2, 3))).map(ByteBufPayload::create));
    }

    private String hear(String how, Payload payload) {
      String route = RequestMetadata.read(payload.sliceMetadata(), "").route();
      heard.add(how + " " + route.substring(route.lastIndexOf('.') + 1));
      if (route.equals(Routes.GET)) {
        asked.add(NodeConnection.read(payload, Messages.GetRequest.class));
      } else {
        payload.release();
      }
      return route;
    }

    @Override
    public Mono<Payload> requestResponse(Payload payload) {
      return hear("request", payload).equals(Routes.GET)
          ? answer.doOnCancel(cancelled::incrementAndGet)
          : Mono.fromSupplier(() -> ByteBufPayload.create(
              ControlCodec.CBOR.encode(new Messages.DrainReply(true), UnpooledByteBufAllocator.DEFAULT)));
    }

    @Override
    public Flux<Payload> requestStream(Payload payload) {
      hear("stream", payload);
      return stream.doOnCancel(cancelled::incrementAndGet);
    }
  }

  private static Mono<Payload> payload(byte... bytes) {
    return Mono.fromSupplier(() -> ByteBufPayload.create(bytes));
  }

  private NodeConnection connection() {
    NodeConnection made = requireNonNull(NodeConnection.open(() -> Mono.just(new Nowhere()),
        new LinkTerms(Credentials.none(), Duration.ofHours(1), Duration.ofHours(1), PATIENCE, PATIENCE, null,
            reports::add),
        "node").block(PATIENCE));
    return new NodeConnection(node, made.transport(), "node");
  }

  private Gets gets(boolean isShort, int sliceBytes) {
    return new Gets(connection,
        ClientCarriers.agreed(List.of(Carrier.INLINE), ConnectionGauges.NO_PROCESS, null),
        new GetSetting(arena, SPACE.id(), budget.permits(), sliceBytes, WINDOW, 4, 0, SliceShape.Order.LAYER_FIRST,
            OnMiss.SKIP, ControlCodec.CBOR, AnswerLimits.NONE, "node", error -> WireErrors.fromWire(error, "node")),
        isShort ? new ShortTurns() : null, new AtomicLong(), Carried.UNCOUNTED);
  }

  private static Mono<Long> read(Gets gets, List<BlockKey> keys, OnMiss onMiss) {
    return Flux.using(BlockScope::new, scope -> gets.lease(keys, onMiss, null, scope)
        .flatMapMany(lease -> lease.windows(2, scope)).concatMapIterable(blocks -> blocks).doOnNext(leased -> {
          Blocks.assertBytes(leased.block());
          leased.block().close();
        }).count(), BlockScope::close).next();
  }

  private static Throwable refusal(ErrorCode code) {
    return WireErrors.toWire(new WireFormatException(code, "blocks in one answer", "<= 1", 2));
  }

  @Test
  void blocksThatFitInOneSlice_areAskedForByOneRequest() {
    Gets gets = gets(true, SLICE);
    SessionUse session = new SessionUse(SessionId.of("agent"), 5, Duration.ofMinutes(5));
    try (BlockScope scope = new BlockScope()) {
      RemoteLease lease = requireNonNull(gets.lease(KEYS, OnMiss.SKIP, 77L, session, scope).block(PATIENCE));
      assertThat(lease.found().count()).isEqualTo(WINDOW);
      lease.slices(scope).doOnNext(slice -> slice.close()).blockLast(PATIENCE);
      lease.drained().block(PATIENCE);
    }

    assertThat(node.heard).containsExactly("request get", "request drain");
    assertThat(node.cancelled).hasValue(0);
    assertThat(node.asked).singleElement().satisfies(request -> {
      assertThat(request.onMiss()).isEqualTo("SKIP");
      assertThat(request.isVerified()).isTrue();
      assertThat(request.lease()).isEqualTo(77);
      assertThat(request.ticket()).isPositive();
      assertThat(requireNonNull(request.session()).id()).isEqualTo("agent".getBytes(StandardCharsets.UTF_8));
      assertThat(request.view()).isNull();
      assertThat(request.request()).isNull();
      assertThat(request.proof()).isNull();
    });
    assertThat(reports).singleElement().satisfies(report -> {
      assertThat(report.route()).isEqualTo("get");
      assertThat(report.bytes()).isEqualTo((long) WINDOW * LAYOUT.blockBytes());
      assertThat(report.failure()).isNull();
    });
  }

  @ParameterizedTest
  @EnumSource(value = OnMiss.class, names = "SKIP", mode = EnumSource.Mode.EXCLUDE)
  void getThatWaits_isAStream(OnMiss onMiss) {
    assertThat(read(gets(true, SLICE), KEYS, onMiss).block(PATIENCE)).isEqualTo(WINDOW);
    assertThat(node.heard).containsExactly("stream get");
  }

  @Test
  void nodeWithoutTheWord_isAskedForAStream() {
    assertThat(read(gets(false, SLICE), KEYS, OnMiss.SKIP).block(PATIENCE)).isEqualTo(WINDOW);
    assertThat(node.heard).containsExactly("stream get");
  }

  @Test
  void moreThanASlice_orNothing_isAStream() {
    assertThat(read(gets(true, WINDOW * LAYOUT.blockBytes() - 1), KEYS, OnMiss.SKIP).materialize().block(PATIENCE))
        .isNotNull();
    node.stream = Flux.empty();
    assertThat(read(gets(true, SLICE), List.of(), OnMiss.SKIP).materialize().block(PATIENCE)).isNotNull();
    assertThat(node.heard).containsExactly("stream get", "stream get");
  }

  @Test
  void arenaOrBudgetWithoutRoom_asksForAStream() {
    Gets gets = gets(true, SLICE);
    try (HeldSlots others = requireNonNull(arena.tryHold(2 * WINDOW))) {
      assertThat(read(gets, KEYS, OnMiss.SKIP).block(PATIENCE)).isEqualTo(WINDOW);
      assertThat(others.left()).isEqualTo(2 * WINDOW);
    }
    assertThat(budget.permits().tryAcquire(8L * SLICE)).isTrue();
    assertThat(read(gets, KEYS, OnMiss.SKIP).block(PATIENCE)).isEqualTo(WINDOW);
    budget.permits().release(8L * SLICE);
    assertThat(read(gets, KEYS, OnMiss.SKIP).block(PATIENCE)).isEqualTo(WINDOW);
    assertThat(node.heard).containsExactly("stream get", "stream get", "request get");
  }

  @Test
  void answerThatDoesNotFit_comesAsAStream_andIsToldAsOneGet() {
    node.answer = Mono.error(refusal(ErrorCode.LIMIT_EXCEEDED));

    assertThat(read(gets(true, SLICE), KEYS, OnMiss.SKIP).block(PATIENCE)).isEqualTo(WINDOW);

    assertThat(node.heard).containsExactly("request get", "stream get");
    assertThat(node.asked.get(0).ticket()).isNotEqualTo(node.asked.get(1).ticket());
    assertThat(reports).singleElement().satisfies(report -> {
      assertThat(report.failure()).isNull();
      assertThat(report.bytes()).isEqualTo((long) WINDOW * LAYOUT.blockBytes());
    });
  }

  /// The stream is what the reader cancels then.
  @Test
  void cancel_afterTheNodeRefused_endsTheStream() {
    node.answer = Mono.error(refusal(ErrorCode.LIMIT_EXCEEDED));
    node.stream = Flux.never();
    Disposable get = read(gets(true, SLICE), KEYS, OnMiss.SKIP).subscribe();
    assertThat(node.heard).containsExactly("request get", "stream get");

    get.dispose();

    assertThat(node.cancelled).hasValue(1);
    leaks.assertEmpty();
  }

  @Test
  void otherErrors_reachTheReader() {
    for (ErrorCode code : List.of(ErrorCode.BAD_REQUEST, ErrorCode.FORBIDDEN, ErrorCode.SPACE_MISMATCH)) {
      node.answer = Mono.error(refusal(code));
      assertThatThrownBy(() -> read(gets(true, SLICE), KEYS, OnMiss.SKIP).block(PATIENCE))
          .isInstanceOfSatisfying(RemotePermanentException.class, e -> assertThat(e.code()).isEqualTo(code.code()));
      leaks.assertEmpty();
    }
    node.answer = Mono.error(WireErrors.toWire(new LeaseExpiredException(5)));
    assertThatThrownBy(() -> read(gets(true, SLICE), KEYS, OnMiss.SKIP).block(PATIENCE))
        .isInstanceOf(LeaseExpiredException.class);
    assertThat(node.heard).hasSize(4).containsOnly("request get");
    assertThat(reports).extracting(StreamListener.Report::failure).containsExactly(ErrorCode.BAD_REQUEST,
        ErrorCode.FORBIDDEN, ErrorCode.SPACE_MISMATCH, ErrorCode.LEASE_EXPIRED);
  }

  @Test
  void endWithoutAnAnswer_orMoreSlicesThanOne_reachTheReader() {
    node.answer = Mono.empty();
    assertThatThrownBy(() -> read(gets(true, SLICE), KEYS, OnMiss.SKIP).block(PATIENCE))
        .isInstanceOf(WireFormatException.class).hasMessageContaining("one payload");
    node.answer = payload(new SliceStream(SPACE, WINDOW, 0, LAYOUT.blockBytes(), SliceShape.Order.LAYER_FIRST)
        .of(KEYS, List.of(0, 1)).getFirst());
    assertThatThrownBy(() -> read(gets(true, SLICE), KEYS, OnMiss.SKIP).block(PATIENCE))
        .hasMessageContaining("granules missing");
    assertThat(node.heard).containsExactly("request get", "request get");
    leaks.assertEmpty();
  }

  @Test
  void damagedByte_fails_andTheNodeIsAskedToCompare() {
    byte[] slice = HONEST.of(KEYS, List.of(0, 1, 2, 3)).getFirst();
    slice[slice.length - 1 - LAYOUT.blockBytes()] ^= 1;
    node.answer = payload(slice);

    assertThatThrownBy(() -> read(gets(true, SLICE), KEYS, OnMiss.SKIP).block(PATIENCE))
        .isInstanceOfSatisfying(BlockCorruptException.class, e -> assertThat(e.key()).isEqualTo(KEYS.get(2)));

    assertThat(node.heard).containsExactly("request get", "stream get");
    Messages.GetRequest compare = node.asked.get(1);
    assertThat(compare.isVerified()).isFalse();
    assertThat(compare.keys().hashes()).isEqualTo(Messages.Keys.of(KEYS.subList(2, 3)).hashes());
  }

  @Test
  void cancel_beforeTheAnswer_reachesTheNode_andIsNoFailure() {
    node.answer = Mono.never();
    Gets gets = gets(true, SLICE);
    for (int run = 0; run < 2_000; run++) {
      Disposable get = read(gets, KEYS, OnMiss.SKIP).subscribe();
      get.dispose();
      assertThat(node.cancelled).hasValue(run + 1);
      leaks.assertEmpty();
    }
    assertThat(reports).hasSize(2_000).allMatch(report -> report.failure() == null);
  }

  @Test
  void leaseThatIsNotRead_keepsItsBlocks_untilItCloses() {
    BlockScope scope = new BlockScope();
    CompletableFuture<@Nullable RemoteLease> lease =
        gets(true, SLICE).lease(KEYS, OnMiss.SKIP, null, scope).toFuture();
    assertThat(lease).isDone();
    assertThat(arena.claimedSlots()).isEqualTo(WINDOW);
    assertThat(budget.inUseBytes()).isZero();
    assertThat(reports).isEmpty();
    scope.close();
    leaks.assertEmpty();
    assertThat(reports).hasSize(1);
  }
}
