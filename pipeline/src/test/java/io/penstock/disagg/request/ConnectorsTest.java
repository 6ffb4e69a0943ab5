package io.penstock.disagg.request;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockLayout;
import io.penstock.block.Plane.ElementType;
import io.penstock.disagg.RankId;
import io.penstock.disagg.plan.KvRequest;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.plan.Planner;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;

/// The ranks of a prefill and of a decode instance with other parallelism, as their engines call them by a plan.
final class ConnectorsTest {
  private static final int PREFILL = 4;
  private static final int DECODE = 2;
  private static final int PROMPT = 40;
  private static final BlockLayout LAYOUT = BlockLayout.attention(2, 16, 4, 8, ElementType.BF16);

  private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
  private final Manifest prefill = Manifest.of("m", LAYOUT, Parallelism.ofTp(PREFILL));
  private final Manifest decode = Manifest.of("m", LAYOUT, Parallelism.ofTp(DECODE));
  private final List<Release> released = new ArrayList<>();
  private final List<PrefillConnector> senders = IntStream.range(0, PREFILL)
      .mapToObj(rank -> new PrefillConnector(LifecycleOptions.defaults(), new LifecycleListener() {
        @Override
        public void released(String request, Release release) {
          released.add(release);
        }
      }, time)).toList();
  private final List<DecodeConnector> receivers = IntStream.range(0, DECODE)
      .mapToObj(rank -> new DecodeConnector(new RankId("decode", rank).since(1), LifecycleOptions.defaults(),
          (to, signal) -> senders.get(to.rank().rank()).accept(signal), LifecycleListener.noop(), time, new Random(1)))
      .toList();
  private final List<Received> ends = new ArrayList<>();

  private List<Disposable> transfer(int cachedTokens) {
    senders.forEach(sender -> sender.open("r", HeldBlocks.none()));
    return IntStream.range(0, DECODE)
        .mapToObj(rank -> receivers.get(rank).receive(order(rank, cachedTokens)).subscribe(ends::add)).toList();
  }

  private ReceiveOrder order(int rank, int cachedTokens) {
    return PlannedOrder.of(new Planner(prefill, decode).plan(new KvRequest("r", PROMPT, cachedTokens)),
        decode.parallelism().rank(rank),
        source -> new RankId("prefill", prefill.parallelism().index(source)).since(1),
        (source, transfers) -> ticket -> Mono.delay(Duration.ofMillis(5), time).then(),
        new PlannedOrder.Terms(HeldBlocks.none(), false, FailurePolicy.fail(), Duration.ofMinutes(1)));
  }

  @Test
  void blocksComeFromAllSenders_andAllRanksAreReleased() {
    assertThat(order(0, 16).shards()).hasSize(PREFILL / DECODE);
    transfer(16);
    assertThat(ends).isEmpty();
    time.advanceTimeBy(Duration.ofMillis(10));
    assertThat(ends).extracting(Received::ending).containsExactly(Ending.READY, Ending.READY);
    assertThat(released).hasSize(PREFILL).containsOnly(Release.DONE);
  }

  @Test
  void aFullHit_releasesPrefill_andMovesNothing() {
    transfer(PROMPT);
    assertThat(ends).extracting(Received::ending).containsExactly(Ending.NOTHING_TO_MOVE, Ending.NOTHING_TO_MOVE);
    assertThat(released).hasSize(PREFILL).containsOnly(Release.DONE);
  }

  @Test
  void aCancelAtDecode_releasesPrefill() {
    transfer(0).forEach(Disposable::dispose);
    time.advanceTimeBy(Duration.ofSeconds(1));
    assertThat(ends).isEmpty();
    assertThat(released).hasSize(PREFILL).containsOnly(Release.CANCELLED);
  }
}
