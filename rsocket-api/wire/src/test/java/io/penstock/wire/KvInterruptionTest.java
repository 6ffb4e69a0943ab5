package io.penstock.wire;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.KvException;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.LayerSlice;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.testkit.Eventually;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.tier.PutSource;
import io.penstock.tier.Receipt;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.get.RemoteLease;
import io.penstock.wire.protocol.Carrier;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.WireFailure.ConnectionLostException;
import io.penstock.wire.protocol.WireFailure.DrainingException;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Gets and puts that end anywhere: both sides hear of it, nothing half is visible, nothing leaks.
@Timeout(120)
final class KvInterruptionTest {
  private static final BlockLayout LAYOUT = BlockLayout.attention(4, 16, 2, 16, ElementType.BF16);
  private static final CacheSpace SPACE = CacheSpace.of("interruption", LAYOUT);
  private static final int WINDOW = 4;
  private static final int KEYS = 10;

  private static final class SourceFailed extends RuntimeException {}

  /// What a call ended with; null if it succeeded.
  private static @Nullable Throwable end(CompletableFuture<?> call, String what) {
    try {
      call.get(WireNode.PATIENCE.toSeconds(), TimeUnit.SECONDS);
      return null;
    } catch (ExecutionException e) {
      return e.getCause();
    } catch (TimeoutException | InterruptedException e) {
      throw new AssertionError(what + " must end", e);
    }
  }

  /// A source whose slices are watched: `at` is told the number of each slice before it goes on.
  private static PutSource watched(PutSource source, IntConsumer at) {
    AtomicInteger count = new AtomicInteger();
    return window -> source.window(window).doOnNext(slice -> {
      try {
        at.accept(count.getAndIncrement());
      } catch (RuntimeException e) {
        slice.close();
        throw e;
      }
    });
  }

  @ParameterizedTest
  @EnumSource
  void put_whoseSourceFailsAtAnySlice_leavesNothingOfItsWindow(Link link) {
    try (WireNode node = WireNode.of(link, SPACE, WINDOW)) {
      KvClient client = node.client(WINDOW);
      PutSource source = node.source((SlabArena) client.arena(), SliceShape.Order.LAYER_FIRST);
      List<BlockKey> keys = node.keys(0, KEYS);
      for (int last = 0; last < 24; last++) {
        int at = last;
        PutSource failing = watched(source, slice -> {
          if (slice == at) {
            throw new SourceFailed();
          }
        });
        CompletableFuture<List<Receipt>> put = client.put(keys, failing).collectList().toFuture();
        Throwable failure = end(put, "a put whose source fails at slice " + last);
        if (last < 20) {
          assertTrue(failure instanceof SourceFailed, "slice " + last + ": " + failure);
        } else {
          assertEquals(null, failure);
        }
        node.requireHonestTier(keys);
        assertEquals(last < 20 ? last / 8 * WINDOW : KEYS, requireNonNull(node.tier.remove(keys).block()).count(),
            "after slice " + last);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void put_cancelledAtAnySlice_leavesNothingOfItsWindow(Link link) {
    try (WireNode node = WireNode.of(link, SPACE, WINDOW)) {
      KvClient client = node.client(WINDOW);
      PutSource source = node.source((SlabArena) client.arena(), SliceShape.Order.BLOCK_FIRST);
      List<BlockKey> keys = node.keys(0, KEYS);
      for (int last = 0; last < 20; last++) {
        int at = last;
        Disposable.Swap put = Disposables.swap();
        CompletableFuture<Void> reached = new CompletableFuture<>();
        put.update(client.put(keys, watched(source, slice -> {
          if (slice == at) {
            reached.complete(null);
          }
        })).subscribe(receipt -> {}, reached::completeExceptionally));
        end(reached, "slice " + last);
        put.dispose();
        node.requireHonestTier(keys);
        assertEquals(0, requireNonNull(node.tier.remove(keys).block()).count() % 2,
            "whole windows after slice " + last);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void put_ofASourceThatNeverCompletes_completesAllTheSame(Link link) {
    try (WireNode node = WireNode.of(link, SPACE, WINDOW)) {
      KvClient client = node.client(WINDOW);
      PutSource source = node.source((SlabArena) client.arena(), SliceShape.Order.LAYER_FIRST);
      CompletableFuture<List<Receipt>> put =
          client.put(node.keys(0, KEYS), window -> source.window(window).concatWith(Flux.never())).collectList()
              .toFuture();
      assertEquals(null, end(put, "a put"));
      node.requireHonestTier(node.keys(0, KEYS));
      assertEquals(0, node.server.runningStreams());
    }
  }

  /// Each slice but the first gives way to a copy of the one before it: one comes, one goes, so that a cancel leaves
  /// none in between.
  private static Flux<LayerSlice> repeated(Flux<LayerSlice> slices, BlockScope copies) {
    AtomicReference<@Nullable LayerSlice> before = new AtomicReference<>();
    return slices.map(slice -> {
      LayerSlice copy =
          before.getAndSet(copies.adopt(new LayerSlice(slice.place(), slice.range(), new int[] {slice.position(0)},
              List.of(slice.spans().getFirst().share()))));
      if (copy == null) {
        return slice;
      }
      slice.close();
      return copy;
    });
  }

  @ParameterizedTest
  @EnumSource
  void put_ofASourceThatSendsTooMuchOrTooLittle_isATypedError(Link link) {
    try (WireNode node = WireNode.of(link, SPACE, WINDOW)) {
      KvClient client = node.client(WINDOW);
      PutSource source = node.source((SlabArena) client.arena(), SliceShape.Order.LAYER_FIRST);
      List<BlockKey> keys = node.keys(0, KEYS);
      BlockScope copies = new BlockScope();
      Throwable twice =
          end(client.put(keys, window -> repeated(source.window(window), copies)).collectList().toFuture(),
              "a put of the same slices twice");
      copies.close();
      assertTrue(twice instanceof RemotePermanentException e && e.code() == ErrorCode.BAD_SLICE.code(),
          String.valueOf(twice));
      Throwable none = end(client.put(keys, window -> {
        throw new SourceFailed();
      }).collectList().toFuture(), "a put whose source cannot be asked");
      assertTrue(none instanceof SourceFailed, String.valueOf(none));
      node.requireHonestTier(keys);
      assertEquals(0, requireNonNull(node.tier.contains(keys).block()).count());
    }
  }

  @ParameterizedTest
  @EnumSource
  void connection_cutAtAnyByte_isATypedErrorAndNothingLeaks(Link link) {
    interrupted(link, false, 25);
  }

  @ParameterizedTest
  @EnumSource
  void link_thatFlipsABitAnywhere_neverDeliversIt(Link link) {
    interrupted(link, true, 12);
  }

  @Tag("proof")
  @Timeout(1200)
  @ParameterizedTest
  @EnumSource
  void link_cutOrFlippedAThousandTimes_holds(Link link) {
    interrupted(link, false, 1000);
    interrupted(link, true, 1000);
  }

  /// A get and a put beside each other over a link with a fault at a place that the seed chooses.
  private static void interrupted(Link link, boolean flips, int seeds) {
    try (WireNode node = WireNode.of(link, SPACE, WINDOW)) {
      List<BlockKey> old = node.keys(0, KEYS);
      List<BlockKey> fresh = node.keys(KEYS, 2 * KEYS);
      node.put(node.client(WINDOW), old);
      for (int seed = 0; seed < seeds; seed++) {
        SplittableRandom random = new SplittableRandom(seed);
        Relay.Fault fault = new Relay.Fault(random.nextBoolean(), random.nextInt(100_000), flips);
        try (Relay relay = Relay.to(node.port(), fault)) {
          interrupted(node, link, relay, old, fresh);
        } catch (Throwable e) {
          throw new AssertionError("seed " + seed + ": " + fault, e);
        }
      }
    }
  }

  private static void interrupted(WireNode node, Link link, Relay relay, List<BlockKey> old, List<BlockKey> fresh) {
    try (SlabArena arena = new SlabArena("interrupted", LAYOUT, 64, 8, link.chunks())) {
      ByteBudget budget = new ByteBudget("interrupted", 64 * WireNode.SLICE_BYTES, 8);
      KvClientOptions options =
          WireNode.asking(WINDOW).keepAlive(Duration.ofMillis(300), Duration.ofMillis(1500)).build();
      CompletableFuture<Void> all = KvClient.connect(link.client(relay.port()), options, SPACE, arena, budget)
          .timeout(Duration.ofSeconds(5)) // a SETUP that was broken on the way has no reply
          .onErrorMap(TimeoutException.class, e -> new DrainingException())
          .flatMap(client -> Mono.whenDelayError(
              client.put(fresh, node.source(arena, SliceShape.Order.LAYER_FIRST)).then(),
              node.get(client, old, OnMiss.SKIP))
              .onErrorResume(e -> client.close().then(Mono.error(e))).then(client.close()))
          .toFuture();
      Throwable failure = end(all, "whatever runs over a broken link");
      for (Throwable each : Exceptions.unwrapMultiple(failure)) {
        assertTrue(each instanceof KvException, () -> "failure must be typed (was " + trace(each) + ")");
      }
      LeakLedger leaks = new LeakLedger();
      leaks.watch(arena);
      leaks.watch(budget);
      leaks.awaitEmpty(LeakLedger.PATIENCE);
      node.requireHonestTier(fresh);
      Eventually.holds("no stream runs", () -> node.server.runningStreams() <= 0);
      assertEquals(0, node.server.runningStreams(), "running streams");
      node.tier.remove(fresh).block();
    }
  }

  private static String trace(Throwable failure) {
    StringWriter out = new StringWriter();
    failure.printStackTrace(new PrintWriter(out));
    return out.toString();
  }

  @ParameterizedTest
  @EnumSource
  void server_closedWhileStreamsRun_isATypedError(Link link) {
    for (int taken = 0; taken < 12; taken += 3) {
      try (WireNode node = WireNode.of(link, SPACE, WINDOW)) {
        KvClient client = node.client(WireNode.clientOptions(WINDOW), node.arena(KEYS), node.budget(2));
        node.put(client, node.keys(0, KEYS));
        BlockScope scope = new BlockScope();
        RemoteLease lease =
            requireNonNull(client.lease(node.keys(0, KEYS), OnMiss.SKIP, scope).block(WireNode.PATIENCE));
        int last = taken;
        AtomicInteger seen = new AtomicInteger();
        CompletableFuture<Void> get = lease.slices(scope).doOnNext(LayerSlice::close).concatMap(
            slice -> seen.getAndIncrement() == last ? node.server.close().then(Mono.<LayerSlice>empty()) : Mono.empty(),
            1).then().toFuture();
        Throwable failure = end(get, "a get from a server that closes");
        assertTrue(failure instanceof ConnectionLostException, String.valueOf(failure));
        scope.close();
        assertThrows(KvException.class, () -> node.get(client, node.keys(0, 1), OnMiss.SKIP).block(WireNode.PATIENCE));
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void tier_closedWhileFramesWait_crashesNothing(Link link) {
    try (WireNode node = WireNode.of(link, SPACE, WINDOW);
        Relay relay = Relay.to(node.port(), Relay.Fault.none(), true)) {
      List<BlockKey> keys = node.keys(0, 60);
      node.put(node.client(WINDOW), keys);
      int port = link.carrier() == Carrier.INLINE ? relay.port() : node.port(); // a relay speaks TCP alone
      KvClient slow =
          node.client(link.client(port), WireNode.clientOptions(WINDOW), node.arena(128), node.budget(256));
      CompletableFuture<Long> get = node.get(slow, keys, OnMiss.SKIP).toFuture();
      Eventually.holds("the get is under way", () -> link.carrier() == Carrier.INLINE
          ? relay.bytesTowardsClient() >= 64 << 10
          : node.server.runningStreams() > 0);
      node.tier.close().block();
      relay.flow();
      Throwable failure = end(get, "a get from a tier that closed");
      assertTrue(failure == null || failure instanceof KvException, String.valueOf(failure));
    }
  }

  @ParameterizedTest
  @EnumSource
  void get_cancelledAHundredTimes_leaksNothing(Link link) {
    cancelled(link, 100);
  }

  @Tag("proof")
  @Timeout(600)
  @ParameterizedTest
  @EnumSource
  void get_cancelledTenThousandTimes_leaksNothing(Link link) {
    cancelled(link, 10_000);
  }

  private static void cancelled(Link link, int times) {
    try (WireNode node = WireNode.of(link, SPACE, WINDOW)) {
      // A reader that keeps all
      KvClient client = node.client(WireNode.clientOptions(WINDOW), node.arena(KEYS + WINDOW), node.budget(3));
      List<BlockKey> keys = node.keys(0, KEYS);
      node.put(client, keys);
      for (int seed = 0; seed < times; seed++) {
        int taken = new SplittableRandom(seed).nextInt(21);
        try {
          Flux.using(BlockScope::new,
              scope -> client.lease(keys, OnMiss.SKIP, scope).flatMapMany(lease -> lease.slices(scope)).take(taken),
              BlockScope::close).blockLast(WireNode.PATIENCE);
        } catch (RuntimeException e) {
          throw new AssertionError("seed " + seed + ", " + taken + " taken, " + node.state(), e);
        }
      }
      node.leaks.awaitEmpty(LeakLedger.PATIENCE);
      node.requireHonestTier(keys);
    }
  }
}
