package io.penstock.wire.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.TransientKvException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.Scannable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.scheduler.VirtualTimeScheduler;

/// In virtual time, with connections that are none.
final class LaneTest {
  private static final KvPeerOptions OPTIONS =
      KvPeerOptions.defaults().withIdleAfter(Duration.ofSeconds(60)).withBackOff(Duration.ofMillis(100),
          Duration.ofSeconds(2));

  private static final class Refused extends TransientKvException {
    Refused() {
      super("as told");
    }
  }

  private record Fake(int number, Sinks.Empty<Void> gone) {
    boolean isGone() {
      return gone.scanOrDefault(Scannable.Attr.TERMINATED, false);
    }
  }

  private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
  private final List<Fake> made = new ArrayList<>();
  private final List<Throwable> failing = new ArrayList<>();
  private int attempts;
  private final Lane<Fake> lane = new Lane<>(new Lane.Link<>(Mono.defer(this::open), fake -> fake.gone().asMono(),
      fake -> Mono.fromRunnable(fake.gone()::tryEmitEmpty)), OPTIONS, time, new Random(3));

  @AfterEach
  void end() {
    time.dispose();
  }

  private Mono<Fake> open() {
    attempts++;
    if (!failing.isEmpty()) {
      return Mono.error(failing.removeFirst());
    }
    Fake fake = new Fake(made.size(), Sinks.empty());
    made.add(fake);
    return Mono.just(fake);
  }

  private List<Object> run() {
    List<Object> seen = new ArrayList<>();
    lane.with(fake -> Flux.just(fake.number())).subscribe(seen::add, seen::add);
    return seen;
  }

  @Test
  void connection_isMadeOnDemand_sharedAndReleasedWhenIdle() {
    assertThat(attempts).isZero();
    assertThat(run()).containsExactly(0);
    time.advanceTimeBy(Duration.ofSeconds(59));
    assertThat(run()).containsExactly(0);
    time.advanceTimeBy(Duration.ofSeconds(59));
    assertThat(lane.isOpen()).isTrue();
    time.advanceTimeBy(Duration.ofSeconds(1));

    assertThat(lane.isOpen()).isFalse();
    assertThat(made.getFirst().isGone()).isTrue();
    assertThat(run()).containsExactly(1);
  }

  @Test
  void connection_withWork_isNotIdleHoweverLongThatTakes() {
    Disposable work = lane.with(fake -> Flux.never()).subscribe();
    time.advanceTimeBy(Duration.ofHours(5));
    assertThat(lane.isOpen()).isTrue();

    work.dispose();
    time.advanceTimeBy(Duration.ofSeconds(60));
    assertThat(lane.isOpen()).isFalse();
  }

  @Test
  void connection_thatIsLost_isReplacedByTheNextWork() {
    assertThat(run()).containsExactly(0);
    made.getFirst().gone().tryEmitEmpty();
    assertThat(lane.isOpen()).isFalse();
    assertThat(run()).containsExactly(1);
  }

  @Test
  void opening_hasASecondAttemptAfterABackOffWithJitter_sharedByAllWork() {
    failing.add(new Refused());
    List<Object> first = run();
    List<Object> second = run();
    time.advanceTimeBy(Duration.ofMillis(49));
    assertThat(attempts).isEqualTo(1);
    time.advanceTimeBy(Duration.ofMillis(51));

    assertThat(attempts).isEqualTo(2);
    assertThat(first).containsExactly(0);
    assertThat(second).containsExactly(0);
  }

  @Test
  void failure_thatIsNotTransient_hasNoSecondAttempt() {
    failing.add(new IllegalStateException("another version"));
    assertThat(run()).singleElement().isInstanceOf(IllegalStateException.class);
    time.advanceTimeBy(Duration.ofSeconds(10));
    assertThat(attempts).isEqualTo(1);
  }

  @Test
  void peer_thatIsGone_isLeftAloneForATimeThatDoubles() {
    int before = 0;
    for (int round = 0; round < 8; round++) {
      failing.addAll(List.of(new Refused(), new Refused()));
      List<Object> seen = run();
      time.advanceTimeBy(Duration.ofMillis(100));
      assertThat(seen).singleElement().isInstanceOf(Refused.class);
      assertThat(attempts).isEqualTo(before + 2);
      assertThat(run()).singleElement().isInstanceOf(Refused.class); // at once
      assertThat(attempts).isEqualTo(before + 2);
      before = attempts;
      time.advanceTimeBy(Duration.ofMillis(Math.min(2_000, 100L << round)));
    }
    assertThat(run()).containsExactly(0);
  }

  @Test
  void work_cancelledWhileItOpens_leavesNoUser() {
    failing.add(new Refused());
    Disposable work = lane.with(fake -> Flux.just(fake.number())).subscribe();
    work.dispose();
    time.advanceTimeBy(Duration.ofMillis(100));
    assertThat(run()).containsExactly(0);
    time.advanceTimeBy(Duration.ofSeconds(60));
    assertThat(lane.isOpen()).isFalse();
  }

  @Test
  void connection_whoseWorkWasCancelledWhileItOpened_isIdle() {
    failing.add(new Refused());
    lane.with(fake -> Flux.just(fake.number())).subscribe().dispose();
    time.advanceTimeBy(Duration.ofMillis(100));
    assertThat(lane.isOpen()).isTrue();
    time.advanceTimeBy(Duration.ofSeconds(60));
    assertThat(lane.isOpen()).isFalse();
    assertThat(made.getFirst().isGone()).isTrue();
  }

  @Test
  void close_endsTheConnection_andWorkAfterIt() {
    run();
    lane.close().block(Duration.ofSeconds(1));
    assertThat(made.getFirst().isGone()).isTrue();
    assertThat(run()).singleElement().isInstanceOf(IllegalStateException.class);
  }
}
