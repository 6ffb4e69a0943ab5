package io.penstock.disagg.request;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.PermanentKvException;
import io.penstock.TransientKvException;
import io.penstock.disagg.Incarnation;
import io.penstock.disagg.RankId;
import io.penstock.disagg.request.MoveFailure.BlocksReleasedException;
import io.penstock.disagg.request.MoveFailure.MoveTimeoutException;
import io.penstock.disagg.request.MoveFailure.PeerRestartedException;
import io.penstock.disagg.request.ReceiveOrder.Shard;
import io.penstock.disagg.request.RequestAnswer.Outcome;
import io.penstock.disagg.request.Signal.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.scheduler.VirtualTimeScheduler;

final class DecodeConnectorTest {
  private static final Incarnation SELF = new RankId("decode", 0).since(7);
  private static final Incarnation P0 = new RankId("prefill", 0).since(1);
  private static final Incarnation P1 = new RankId("prefill", 1).since(1);
  private static final Incarnation P2 = new RankId("prefill", 2).since(1);
  private static final Duration DEADLINE = Duration.ofMinutes(10);

  private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
  private final List<String> told = new ArrayList<>();
  private final List<Received> ended = new ArrayList<>();
  private final List<Received> ready = new ArrayList<>();
  private final List<MoveTicket> tickets = new ArrayList<>();
  private final Sinks.Empty<Void> cancelAcknowledged = Sinks.empty();
  private int freed;
  /// Answer of every source to a renewal.
  private RequestAnswer renewed = RequestAnswer.of(Outcome.APPLIED);

  private final DecodeConnector requests = new DecodeConnector(SELF, LifecycleOptions.defaults(), (to, signal) -> {
    if (signal.kind() != Kind.RENEW) {
      told.add(signal.kind() + " " + to.rank());
    }
    return signal.kind() == Kind.CANCEL
        ? cancelAcknowledged.asMono().thenReturn(RequestAnswer.of(Outcome.APPLIED))
        : Mono.just(signal.kind() == Kind.RENEW ? renewed : RequestAnswer.of(Outcome.APPLIED));
  }, new LifecycleListener() {
    @Override
    public void ready(Received received) {
      ready.add(received);
    }
  }, time, new Random(1));

  private ReceiveOrder order(FailurePolicy policy, Shard... shards) {
    return new ReceiveOrder("r", List.of(shards), List.of(P2), () -> Mono.fromRunnable(() -> freed++), false, policy,
        DEADLINE);
  }

  private Disposable receive(ReceiveOrder order) {
    return requests.receive(order).subscribe(ended::add);
  }

  private Shard shard(Incarnation source, GroupBlocks blocks, ShardMover mover) {
    return new Shard(source, 1, blocks, ticket -> {
      tickets.add(ticket);
      return mover.move(ticket);
    });
  }

  private static Mono<Void> lost() {
    return Mono.error(new TransientKvException("lost"));
  }

  @Test
  void aFullHit_tellsItsSources_andIsNeverReady() {
    receive(order(FailurePolicy.fail(), shard(P0, GroupBlocks.none(), ticket -> lost()),
        shard(P1, GroupBlocks.none(), ticket -> lost())));
    assertThat(ended).singleElement().extracting(Received::ending, Received::state)
        .containsExactly(Ending.NOTHING_TO_MOVE, RequestState.SUCCESS);
    assertThat(ready).isEmpty();
    assertThat(tickets).isEmpty();
    assertThat(told).containsExactlyInAnyOrder("DONE prefill/0", "DONE prefill/1", "DONE prefill/2");
    assertThat(requests.figures().requests()).isZero();
  }

  @Test
  void allShards_makeItReady_andEachSourceHearsOnce() {
    Sinks.Empty<Void> second = Sinks.empty();
    receive(order(FailurePolicy.fail(), shard(P0, GroupBlocks.range(0, 2), ticket -> Mono.empty()),
        shard(P1, GroupBlocks.range(0, 3), ticket -> second.asMono())));
    assertThat(told).containsExactly("DONE prefill/2", "DONE prefill/0");
    assertThat(requests.state("r")).contains(RequestState.BOOTSTRAPPING);
    tickets.getLast().accepted();
    assertThat(requests.state("r")).contains(RequestState.WAITING_FOR_INPUT);
    tickets.getLast().landed(1);
    assertThat(requests.state("r")).contains(RequestState.TRANSFERRING);
    second.tryEmitEmpty();
    assertThat(ready).singleElement().extracting(end -> end.blocks().counts().get(BlockOutcome.HIT)).isEqualTo(3);
    assertThat(told).containsExactly("DONE prefill/2", "DONE prefill/0", "DONE prefill/1");
    assertThat(freed).isZero();
  }

  @Test
  void aRetry_isAnAttemptOfItsOwn_afterAJitteredPause() {
    int[] attempts = new int[1];
    List<Long> begun = new ArrayList<>();
    receive(order(FailurePolicy.retry(2), shard(P0, GroupBlocks.range(0, 1), ticket -> {
      begun.add(time.now(TimeUnit.MILLISECONDS));
      return ++attempts[0] < 3 ? lost() : Mono.empty();
    })));
    time.advanceTimeBy(Duration.ofSeconds(2));
    assertThat(ended).singleElement().extracting(Received::ending, Received::retries)
        .containsExactly(Ending.READY, 2);
    assertThat(begun.get(1) - begun.get(0)).isBetween(50L, 100L);
    assertThat(begun.get(2) - begun.get(1)).isBetween(100L, 200L);
    assertThat(tickets).extracting(MoveTicket::attempt).containsExactly(1, 2, 3);
    assertThat(tickets.getFirst().admits(1)).isFalse();
    assertThat(requests.figures().stale()).isOne();
  }

  @Test
  void aPermanentFailure_isNotRetried_andMemoryWaitsForTheAcknowledgement() {
    receive(order(FailurePolicy.retry(5), shard(P0, GroupBlocks.range(0, 1), ticket -> Mono.error(
        new PermanentKvException("gone"))), shard(P1, GroupBlocks.range(0, 1), ticket -> Mono.never())));
    assertThat(ended).singleElement().extracting(Received::ending, end -> end.cause().getMessage())
        .containsExactly(Ending.FAILED, "gone");
    assertThat(told).contains("CANCEL prefill/0", "CANCEL prefill/1");
    assertThat(freed).isZero();
    assertThat(tickets.getLast().admits(1)).isFalse();
    cancelAcknowledged.tryEmitEmpty();
    assertThat(freed).isOne();
    assertThat(requests.figures().requests()).isZero();
  }

  @Test
  void aSourceThatNeverAcknowledges_keepsMemoryForTheTimeOfADrainOnly() {
    Disposable running = receive(order(FailurePolicy.fail(), shard(P0, GroupBlocks.range(0, 1),
        ticket -> Mono.never())));
    running.dispose();
    assertThat(ended).isEmpty();
    time.advanceTimeBy(Duration.ofSeconds(9));
    assertThat(freed).isZero();
    time.advanceTimeBy(Duration.ofSeconds(2));
    assertThat(freed).isOne();
    time.advanceTimeBy(Duration.ofMinutes(10));
    assertThat(requests.figures()).extracting(DecodeConnector.Figures::requests, DecodeConnector.Figures::telling,
        DecodeConnector.Figures::untold).containsExactly(0L, 0L, 1L);
  }

  /// Of a lease that is over, a decode rank hears with its next renewal, and computes the blocks itself at once.
  @Test
  void aRenewalThatIsTooLate_endsAMoveWithoutBytes_andSaysWhy() {
    renewed = RequestAnswer.over(Release.EXPIRED);
    receive(order(FailurePolicy.retry(3), shard(P0, GroupBlocks.range(0, 1), ticket -> Mono.never())));
    time.advanceTimeBy(LifecycleOptions.defaults().lease().life().dividedBy(2));
    cancelAcknowledged.tryEmitEmpty();
    time.advanceTimeBy(Duration.ofSeconds(1));
    assertThat(ended).hasSize(1);
    assertThat(ended.getFirst().cause()).isInstanceOfSatisfying(BlocksReleasedException.class, gone -> {
      assertThat(gone.source()).isEqualTo(P0);
      assertThat(gone.release()).isEqualTo(Release.EXPIRED);
    });
    assertThat(requests.figures().tooLate()).isOne();
    assertThat(requests.figures().retried()).isZero();
  }

  /// Reads that have begun come to their end, also after the lease.
  @Test
  void aRenewalThatIsTooLate_leavesAMoveThatHasBytes() {
    renewed = RequestAnswer.over(Release.EXPIRED);
    Sinks.Empty<Void> moved = Sinks.empty();
    receive(order(FailurePolicy.fail(), shard(P0, GroupBlocks.range(0, 1), ticket -> {
      ticket.landed(1);
      return moved.asMono();
    })));
    time.advanceTimeBy(LifecycleOptions.defaults().lease().life().dividedBy(2));
    moved.tryEmitEmpty();
    assertThat(ended).extracting(Received::state).containsExactly(RequestState.SUCCESS);
  }

  @Test
  void aRequestThatIsCancelledBeforeItBegins_movesNothing_andIsGivenUpOnce() {
    requests.receive(order(FailurePolicy.fail(), shard(P0, GroupBlocks.range(0, 1), ticket -> Mono.never())))
        .subscribe(new BaseSubscriber<>() {
          @Override
          protected void hookOnSubscribe(Subscription subscription) {
            subscription.cancel();
          }
        });
    cancelAcknowledged.tryEmitEmpty();
    time.advanceTimeBy(DEADLINE.plusMinutes(1));
    assertThat(tickets).isEmpty();
    assertThat(freed).isOne();
    assertThat(told).containsExactly("CANCEL prefill/0", "DONE prefill/2");
    assertThat(requests.figures().requests()).isZero();
  }

  @Test
  void recompute_letsTheOtherShardsCome_andNamesEachBlockOfEachGroup() {
    BitSet full = new BitSet();
    full.set(0, 4);
    BitSet window = new BitSet();
    window.set(2);
    GroupBlocks both = GroupBlocks.of(List.of(full, window));
    Sinks.Empty<Void> good = Sinks.empty();
    receive(order(FailurePolicy.recompute(), shard(P0, both, ticket -> {
      ticket.failed(0, 3, BlockOutcome.CORRUPT);
      ticket.failed(1, 2, BlockOutcome.MISS);
      return Mono.empty();
    }), shard(P1, GroupBlocks.range(0, 4), ticket -> good.asMono())));
    assertThat(ended).isEmpty();
    good.tryEmitEmpty();
    cancelAcknowledged.tryEmitEmpty();
    Received end = ended.getFirst();
    assertThat(end.ending()).isEqualTo(Ending.RECOMPUTE);
    assertThat(end.state()).isEqualTo(RequestState.FAILED);
    assertThat(end.blocks().invalid(0)).containsExactly(3);
    assertThat(end.blocks().of(0, 3)).isEqualTo(BlockOutcome.CORRUPT);
    assertThat(end.blocks().of(1, 2)).isEqualTo(BlockOutcome.MISS);
    assertThat(end.blocks().validTokens(List.of(16, 16), 64)).isEqualTo(32);
    assertThat(freed).isZero(); // the engine computes into these blocks
  }

  @Test
  void aSourceThatDoesNotAnswer_stalls_orNeverEnds_timesOut() {
    receive(order(FailurePolicy.fail(), shard(P0, GroupBlocks.range(0, 1), ticket -> Mono.never())));
    time.advanceTimeBy(Duration.ofSeconds(311));
    assertThat(ended).singleElement().extracting(Received::cause).isInstanceOf(MoveTimeoutException.class);
    assertThat(ended.getFirst().blocks().of(0, 0)).isEqualTo(BlockOutcome.TIMEOUT);
  }

  @Test
  void aSourceThatTrickles_endsAtTheDeadline() {
    receive(order(FailurePolicy.fail(), shard(P0, GroupBlocks.range(0, 1), ticket -> Mono.never())));
    for (int i = 0; i < 70 && ended.isEmpty(); i++) {
      tickets.getFirst().landed(1);
      time.advanceTimeBy(Duration.ofSeconds(10));
    }
    assertThat(time.now(TimeUnit.SECONDS)).isBetween(600L, 610L);
    assertThat(ended).singleElement().extracting(Received::ending).isEqualTo(Ending.FAILED);
    assertThat(ended.getFirst().blocks().of(0, 0)).isEqualTo(BlockOutcome.TIMEOUT);
  }

  @Test
  void aStalledSource_timesOutLongBeforeTheFirstByteWould() {
    receive(order(FailurePolicy.fail(), shard(P0, GroupBlocks.range(0, 1), ticket -> Mono.never())));
    tickets.getFirst().landed(1);
    time.advanceTimeBy(Duration.ofSeconds(41)); // 30 s of silence, looked at three times a lease
    assertThat(ended).singleElement().extracting(Received::ending).isEqualTo(Ending.FAILED);
  }

  @Test
  void auxData_areThoseOfTheRequest() {
    ReceiveOrder order = new ReceiveOrder("r", List.of(shard(P0, GroupBlocks.range(0, 1), ticket -> {
      AuxData data = AuxData.of(ticket.attempt() == 1 ? "other" : "r", 42, List.of(-0.25), 16);
      ticket.aux(ticket.attempt() == 2 ? new AuxData("r", 43, List.of(-0.25), 16, data.crc()) : data);
      return Mono.empty();
    })), List.of(), HeldBlocks.none(), true, FailurePolicy.retry(2), DEADLINE);
    receive(order);
    time.advanceTimeBy(Duration.ofSeconds(5));
    assertThat(ended).singleElement().extracting(Received::ending, Received::retries)
        .containsExactly(Ending.READY, 2);
    assertThat(ended.getFirst().aux()).isEqualTo(AuxData.of("r", 42, List.of(-0.25), 16));
  }

  @Test
  void missingAuxData_failTheRequest() {
    receive(new ReceiveOrder("r", List.of(shard(P0, GroupBlocks.range(0, 1), ticket -> Mono.empty())), List.of(),
        HeldBlocks.none(), true, FailurePolicy.fail(), DEADLINE));
    assertThat(ended).singleElement().extracting(Received::ending).isEqualTo(Ending.FAILED);
    assertThat(ended.getFirst().cause()).isInstanceOf(AuxData.AuxMissingException.class);
  }

  @Test
  void aSourceThatIsGone_failsAtOnce() {
    receive(order(FailurePolicy.retry(5), shard(P0, GroupBlocks.range(0, 1), ticket -> Mono.never())));
    requests.gone(P1);
    requests.gone(new RankId("prefill", 0).since(2));
    assertThat(ended).isEmpty();
    requests.gone(P0);
    assertThat(ended).singleElement().extracting(Received::cause).isInstanceOf(PeerRestartedException.class);
  }

  @Test
  void aNameInUse_isRefused() {
    receive(order(FailurePolicy.fail(), shard(P0, GroupBlocks.range(0, 1), ticket -> Mono.never())));
    Throwable[] error = new Throwable[1];
    requests.receive(order(FailurePolicy.fail())).subscribe(received -> {}, refused -> error[0] = refused);
    assertThat(error[0]).hasMessageContaining("must be new");
    requests.close().subscribe();
    assertThat(tickets.getFirst().admits(1)).isFalse();
  }
}
