package io.penstock.wire.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.flow.ProducingSource;
import io.penstock.stack.HostTier;
import io.penstock.testkit.Blocks;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.Presence;
import io.penstock.tier.TierListener;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.protocol.WireFailure.ConnectionLostException;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.simulate.Direction;
import io.penstock.wire.simulate.LinkEvent;
import io.penstock.wire.simulate.LinkPlan;
import io.penstock.wire.simulate.SimulatedLink;
import io.penstock.wire.simulate.SimulatedTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/// Small look-ups of one turn share a request, and each hears of its own keys.
@Timeout(60)
final class LookUpsTest {
  private static final CacheSpace SPACE =
      CacheSpace.of("look-ups", BlockLayout.attention(1, 16, 1, 16, ElementType.BF16));
  private static final int MAX_KEYS = 40;
  private static final int STORED = 20;
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final SimulatedTime time = new SimulatedTime(3);
  private final SimulatedTime.CapturedDefaults defaults = time.captureDefaults();
  private final List<LinkEvent> events = new ArrayList<>();
  private final HostTier tier = new HostTier(SPACE, 64, TierListener.noop());
  private final SlabArena arena = new SlabArena("client", SPACE.layout(), STORED, 8);
  private final KvServer server;
  private final KvClient client;

  LookUpsTest() {
    SimulatedLink link = new SimulatedLink(time, "link", UnpooledByteBufAllocator.DEFAULT,
        number -> LinkPlan.quiet(), events::add);
    server = now(KvServer.bind(link.server(), tier, KvServerOptions.defaults()
        .withLimits(new Limits(4096, STORED, MAX_KEYS)), new ByteBudget("node", 1 << 20, 64), time.scheduler()));
    client = now(KvClient.connect(link.client(), KvClientOptions.builder().maxSliceBytes(4096).build(), SPACE, arena,
        new ByteBudget("client", 1 << 20, 64)));
    now(client.put(Blocks.keys(SPACE, 0, STORED), new ProducingSource(arena, SliceShape.Order.LAYER_FIRST,
        (key, range, memory) -> Blocks.fill(key, range.offset(SPACE.layout()), memory))).count());
    events.clear();
  }

  @AfterEach
  void close() {
    now(client.close().then(server.close()).then(tier.close()).thenReturn(true));
    defaults.close();
    arena.close();
  }

  private <T> T now(Mono<T> work) {
    CompletableFuture<T> result = work.toFuture();
    assertThat(time.runUntil(result::isDone, PATIENCE)).isTrue();
    return result.join();
  }

  private long requests() {
    return events.stream().filter(event -> event.direction() == Direction.UP).count();
  }

  private static List<BlockKey> any(SplittableRandom random) {
    int from = random.nextInt(2 * STORED);
    return Blocks.keys(SPACE, from, from + random.nextInt(8));
  }

  @Test
  void lookUpsOfOneTurn_shareRequests_andHearOfTheirOwnKeys() {
    SplittableRandom random = new SplittableRandom(7);
    List<List<BlockKey>> asked = IntStream.range(0, 64).mapToObj(i -> any(random)).toList();

    List<CompletableFuture<Presence>> answers = asked.stream().map(keys -> client.contains(keys).toFuture()).toList();

    assertThat(time.runUntil(() -> answers.stream().allMatch(CompletableFuture::isDone), PATIENCE)).isTrue();
    List<BlockKey> stored = Blocks.keys(SPACE, 0, STORED);
    for (int i = 0; i < asked.size(); i++) {
      List<BlockKey> keys = asked.get(i);
      Presence answer = answers.get(i).join();
      assertThat(answer.size()).isEqualTo(keys.size());
      assertThat(IntStream.range(0, keys.size()).allMatch(k -> answer.get(k) == stored.contains(keys.get(k)))).isTrue();
    }
    long keys = asked.stream().mapToLong(List::size).sum();
    assertThat(requests()).isBetween(Math.ceilDiv(keys, (long) MAX_KEYS) / 2, 2 * Math.ceilDiv(keys, (long) MAX_KEYS));
  }

  @Test
  void lookUpThatIsCancelled_isNotSent_andOthersAreAnswered() {
    client.contains(Blocks.keys(SPACE, 0, 1)).subscribe().dispose();
    CompletableFuture<Presence> other = client.contains(Blocks.keys(SPACE, 1, 2)).toFuture();

    assertThat(time.runUntil(other::isDone, PATIENCE)).isTrue();

    assertThat(other.join().count()).isEqualTo(1);
    assertThat(requests()).isEqualTo(1);
  }

  @Test
  void lookUpsThatAreCancelled_leaveTheQueueBeforeTheyAreSent() {
    List<Disposable> some = IntStream.range(0, 5)
        .mapToObj(i -> client.contains(Blocks.keys(SPACE, i, i + 1)).subscribe()).toList();
    assertThat(client.waitingLookUps()).isEqualTo(5);

    some.subList(1, 5).forEach(Disposable::dispose);

    assertThat(client.waitingLookUps()).isEqualTo(1);
    some.getFirst().dispose();
    CompletableFuture<Presence> later = client.contains(Blocks.keys(SPACE, 0, MAX_KEYS / 2)).toFuture();
    assertThat(time.runUntil(later::isDone, PATIENCE)).isTrue();
    assertThat(requests()).isEqualTo(1);
  }

  @Test
  void readerThatThrows_failsAlone() {
    client.contains(Blocks.keys(SPACE, 0, 1)).subscribe(new CoreSubscriber<Presence>() {
      @Override
      public void onSubscribe(Subscription subscription) {
        subscription.request(1);
      }

      @Override
      public void onNext(Presence found) {}

      @Override
      public void onError(Throwable error) {
        throw new IllegalStateException("reader failed", error);
      }

      @Override
      public void onComplete() {}
    });
    CompletableFuture<Presence> other = client.contains(Blocks.keys(SPACE, 1, 2)).toFuture();

    now(client.close().thenReturn(true));

    assertThat(time.runUntil(other::isDone, PATIENCE)).isTrue();
    assertThat(other).failsWithin(Duration.ZERO).withThrowableThat().havingCause()
        .isInstanceOf(ConnectionLostException.class);
  }

  @Test
  void lookUpOfTooManyKeys_failsAlone() {
    CompletableFuture<Presence> tooMany = client.contains(Blocks.keys(SPACE, 0, MAX_KEYS + 1)).toFuture();
    CompletableFuture<Presence> other = client.contains(Blocks.keys(SPACE, 0, 1)).toFuture();

    assertThat(time.runUntil(() -> tooMany.isDone() && other.isDone(), PATIENCE)).isTrue();

    assertThat(tooMany).failsWithin(Duration.ZERO).withThrowableThat().havingCause()
        .isInstanceOf(RemotePermanentException.class);
    assertThat(other.join().count()).isEqualTo(1);
  }

  @Test
  void lostConnection_failsAllThatShare() {
    List<CompletableFuture<Presence>> answers = IntStream.range(0, 3)
        .mapToObj(i -> client.contains(Blocks.keys(SPACE, i, i + 1)).toFuture()).toList();

    now(client.close().thenReturn(true));

    assertThat(time.runUntil(() -> answers.stream().allMatch(CompletableFuture::isDone), PATIENCE)).isTrue();
    assertThat(answers).allSatisfy(answer -> assertThat(answer).failsWithin(Duration.ZERO).withThrowableThat()
        .havingCause().isInstanceOf(ConnectionLostException.class));
  }
}
