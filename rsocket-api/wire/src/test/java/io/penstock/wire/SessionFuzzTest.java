package io.penstock.wire;

import static io.penstock.wire.Fuzz.ALL;
import static io.penstock.wire.Fuzz.KEYS;
import static io.penstock.wire.Fuzz.LAYOUT;
import static io.penstock.wire.Fuzz.SPACE;
import static io.penstock.wire.Fuzz.each;
import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.netty.buffer.ByteBuf;
import io.penstock.block.Block;
import io.penstock.block.BlockScope;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.flow.ProducingSource;
import io.penstock.stack.HostTier;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierListener;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.get.FaultyPeer;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.simulate.LinkPlan;
import io.penstock.wire.simulate.SimulatedLink;
import io.penstock.wire.simulate.SimulatedTime;
import io.penstock.wire.transport.ConnectionLimits;
import io.penstock.wire.transport.frame.LedgerAllocator;
import io.rsocket.DuplexConnection;
import io.rsocket.frame.FrameHeaderCodec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Sessions of a good client, recorded frame by frame and played again with faults anywhere in them, against one server
/// over a simulated link: after each session nothing is held and no block is wrong, and a good client is served.
@Timeout(120)
final class SessionFuzzTest {
  private static final int SLICE_BYTES = 4096;
  /// Longer than a frame and its answers need on a quiet link.
  private static final Duration TURN = Duration.ofMillis(2);
  /// Longer than the grace of a close.
  private static final Duration GONE = Duration.ofSeconds(5);
  private static final int GOOD_EVERY = 500;
  private static final int[] WINDOWS = {1, 2, KEYS};

  private final LedgerAllocator buffers = new LedgerAllocator();
  private final LeakLedger leaks = new LeakLedger();
  private final SimulatedTime time = new SimulatedTime(1);
  private final SimulatedLink link = SimulatedLink.of(time, "fuzz", buffers,
      LinkPlan.quiet().withLimits(ConnectionLimits.defaults().withMaxFrameBytes(1 << 16)));
  private final HostTier tier =
      new HostTier(SPACE, KEYS, StackOptions.defaults("dram").withIngressBlocks(2 * KEYS), TierListener.noop());
  private final ByteBudget budget = leaks.watch(new ByteBudget("node", 64 * SLICE_BYTES, 64));
  private final SlabArena arena = leaks.watch(new SlabArena("client", LAYOUT, 8 * KEYS, 64));
  private final ByteBudget clientBudget = leaks.watch(new ByteBudget("client", 64 * SLICE_BYTES, 64));
  private final SimulatedTime.CapturedDefaults captured = time.captureDefaults();
  private final List<List<byte[]>> sessions = new ArrayList<>();
  private @Nullable KvServer server;

  @BeforeEach
  void record() {
    KvServerOptions options =
        KvServerOptions.defaults().withLimits(new Limits(SLICE_BYTES, KEYS, 256)).withSendWindowBytes(4 * SLICE_BYTES);
    server = now(KvServer.bind(link.server(), tier, options, budget, time.scheduler()));
    for (int window : WINDOWS) {
      RecordedSession session = new RecordedSession();
      good(window, session);
      sessions.add(session.frames());
    }
  }

  @AfterEach
  void nothingIsHeld() {
    server().close().subscribe();
    time.advance(GONE);
    captured.close();
    tier.close().block();
    leaks.watch("slots of the tier", tier.arena()::claimedSlots);
    leaks.close();
    buffers.assertAllReturned();
  }

  @Test
  void sessions_mutated_leaveNothingWrongAndNothingHeld() {
    play(50_000_000, 1_000);
  }

  @Tag("proof")
  @Timeout(3600)
  @Test
  void sessions_mutatedAHundredThousandTimes_leaveNothingWrongAndNothingHeld() {
    play(60_000_000, 100_000);
  }

  private void play(int from, int count) {
    for (int done = 0; done < count; done += GOOD_EVERY) {
      each(from + done, Math.min(GOOD_EVERY, count - done), this::session);
      good(WINDOWS[0], new RecordedSession());
    }
  }

  private KvServer server() {
    return requireNonNull(server, "server");
  }

  private void session(SplittableRandom random) {
    List<byte[]> frames = new ArrayList<>(sessions.get(random.nextInt(sessions.size())));
    for (int faults = random.nextInt(1, 4); faults > 0 && !frames.isEmpty(); faults--) {
      FaultyPeer.broken(frames, Integer.MAX_VALUE, random);
    }
    DuplexConnection connection = now(link.client().connect());
    connection.receive().subscribe(frame -> {}, ended -> {});
    for (byte[] frame : frames) {
      if (frame.length >= FrameHeaderCodec.size() && !connection.isDisposed()) { // others are no frames
        ByteBuf sent = buffers.directBuffer(frame.length).writeBytes(frame);
        connection.sendFrame(FrameHeaderCodec.streamId(sent), sent);
        time.advance(TURN);
      }
    }
    connection.dispose();
    time.advance(GONE);
    requireIdle();
    tier.remove(ALL).block();
  }

  /// Nothing is held but visible blocks, and those are right.
  private void requireIdle() {
    assertEquals(0, server().runningStreams(), "streams");
    leaks.assertEmpty();
    buffers.assertAllReturned();
    int visible = 0;
    try (BlockScope scope = new BlockScope()) {
      for (Block block : requireNonNull(tier.lease(ALL, OnMiss.SKIP, scope).block()).windows(KEYS, scope)
          .flatMapIterable(window -> window).map(LeasedBlock::block).toIterable()) {
        visible++;
        Blocks.assertBytes(block);
      }
    }
    assertEquals(visible, requireNonNull(tier.stat().block()).blocks(), "blocks of other keys");
    assertEquals(visible, tier.arena().claimedSlots(), "slots of the tier");
  }

  /// A whole session, all of whose answers are as they should be.
  private void good(int window, RecordedSession session) {
    KvClientOptions options = KvClientOptions.builder().maxSliceBytes(SLICE_BYTES).windowBlocks(window).build();
    KvClient client =
        now(KvClient.connect(session.recording(link.client()), options, SPACE, arena, clientBudget));
    ProducingSource source = new ProducingSource(arena, SliceShape.Order.LAYER_FIRST,
        (key, range, memory) -> Blocks.fill(key, range.offset(LAYOUT), memory));
    assertEquals(0, now(client.match(ALL)));
    assertEquals(KEYS, now(client.put(ALL, source).collectList()).size());
    assertEquals(KEYS, now(client.match(ALL)));
    assertEquals(KEYS, now(client.contains(ALL)).count());
    assertEquals(KEYS, now(read(client)));
    assertEquals(KEYS, now(client.stat()).stat().blocks());
    assertEquals(2, now(client.remove(ALL.subList(0, 2))).count());
    assertEquals(KEYS - 2, now(client.remove(ALL)).count());
    client.close().subscribe();
    time.advance(GONE);
    requireIdle();
  }

  /// Blocks that came, each compared; the stream is over on both sides.
  private static Mono<Integer> read(KvClient client) {
    return Mono.usingWhen(Mono.fromSupplier(BlockScope::new),
        scope -> client.lease(ALL, OnMiss.SKIP, scope)
            .flatMap(lease -> lease.windows(KEYS, scope).concatMapIterable(window -> window).map(leased -> {
              try (Block block = leased.block()) {
                Blocks.assertBytes(block);
              }
              return 1;
            }).reduce(0, Integer::sum).flatMap(count -> lease.drained().thenReturn(count))),
        scope -> Mono.fromRunnable(scope::close));
  }

  private <T> T now(Mono<T> answer) {
    List<T> values = new ArrayList<>();
    List<Throwable> errors = new ArrayList<>();
    Flux.from(answer).subscribe(values::add, errors::add);
    time.runUntil(() -> !values.isEmpty() || !errors.isEmpty(), Duration.ofMinutes(1));
    assertEquals(List.of(), errors);
    return assertPresent(values);
  }

  private static <T> T assertPresent(List<T> values) {
    assertEquals(1, values.size(), "answers");
    assertNotNull(values.getFirst());
    return values.getFirst();
  }
}
