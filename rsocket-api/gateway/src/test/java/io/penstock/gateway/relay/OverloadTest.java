package io.penstock.gateway.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.gateway.api.ApiException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.test.scheduler.VirtualTimeScheduler;

/// The queue before engines of a set capacity, in virtual time: three times as many requests as they can answer, for a
/// minute, and then half as many.
final class OverloadTest {
  private static final int SLOTS = 16;
  private static final int QUEUE = 64;
  private static final Duration ANSWER = Duration.ofMillis(400);
  private static final double CAPACITY = SLOTS * 1000.0 / ANSWER.toMillis();
  private static final long OVERLOAD_MILLIS = 60_000;
  private static final long END_MILLIS = 70_000;
  private static final double LEAVING = 0.1;

  private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
  private final SplittableRandom random = new SplittableRandom(4);
  private final Admission admission =
      new Admission(new AdmissionOptions(QUEUE, Duration.ofSeconds(30), null), () -> SLOTS, time);
  private final List<Long> ended = new ArrayList<>();
  private final List<Long> waited = new ArrayList<>();
  private final List<Long> told = new ArrayList<>();
  private int left;
  private int ranAfterLeaving;
  private long lastRefusal;
  private long lastWait;
  private int most;

  @Test
  void goodputStaysAtTheCapacity_refusalsTellTheTruth_andCalmReturns() {
    for (double at = 0; at < END_MILLIS; at += gap(at)) {
      time.advanceTimeTo(java.time.Instant.ofEpochMilli((long) at));
      ask((long) at);
      most = Math.max(most, admission.running());
      assertThat(admission.waiting()).isLessThanOrEqualTo(QUEUE);
    }
    time.advanceTimeBy(Duration.ofSeconds(10));

    long good = ended.stream().filter(at -> at <= OVERLOAD_MILLIS).count();
    assertThat(good).isGreaterThanOrEqualTo((long) (0.9 * CAPACITY * OVERLOAD_MILLIS / 1000));
    assertThat(most).isEqualTo(SLOTS);
    double wait = waited.stream().sorted().skip(waited.size() / 2).findFirst().orElseThrow() / 1000.0;
    assertThat(told).hasSizeGreaterThan(3000).allMatch(seconds -> seconds >= Math.floor(wait) && seconds <= wait + 1.5);
    assertThat(left).isGreaterThan(200);
    assertThat(ranAfterLeaving).isZero();
    assertThat(lastRefusal).isLessThanOrEqualTo(OVERLOAD_MILLIS + 100);
    assertThat(lastWait).isLessThanOrEqualTo(OVERLOAD_MILLIS + 3500); // the queue had as many as 1.6 s answer
    assertThat(admission.running()).isZero();
    assertThat(admission.waiting()).isZero();
    assertThat(time.getScheduledTaskCount()).isZero();
  }

  private double gap(double at) {
    double rate = CAPACITY * (at < OVERLOAD_MILLIS ? 3 : 0.5);
    return -Math.log(1 - random.nextDouble()) * 1000 / rate;
  }

  private void ask(long at) {
    boolean leaves = random.nextDouble() < LEAVING;
    Admission.Ticket ticket;
    try {
      ticket = admission.enter(4);
    } catch (ApiException refusal) {
      lastRefusal = at;
      if (at > 5000) { // the estimate follows the first answers
        told.add(java.util.Objects.requireNonNull(refusal.retryAfter()).toSeconds());
      }
      return;
    }
    boolean[] gone = {false};
    Disposable waiting = ticket.granted().subscribe(nothing -> {}, failure -> ticket.leave(), () -> {
      ranAfterLeaving += gone[0] ? 1 : 0;
      long now = time.now(TimeUnit.MILLISECONDS);
      if (now > at) {
        lastWait = Math.max(lastWait, at);
      }
      if (at > 5000 && at < OVERLOAD_MILLIS) {
        waited.add(now - at);
      }
      time.schedule(() -> {
        ended.add(time.now(TimeUnit.MILLISECONDS));
        ticket.leave();
      }, ANSWER.toMillis(), TimeUnit.MILLISECONDS);
    });
    if (leaves && !waiting.isDisposed()) {
      time.schedule(() -> {
        if (!waiting.isDisposed()) {
          left++;
          gone[0] = true;
          waiting.dispose();
          ticket.leave();
        }
      }, 50, TimeUnit.MILLISECONDS);
    }
  }
}
