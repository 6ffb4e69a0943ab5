package io.penstock.gateway.relay;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.gateway.api.ApiException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.test.scheduler.VirtualTimeScheduler;

/// The queue before engines of a set capacity, in virtual time: three times as many requests as they can answer, for a
/// minute, and then half as many.
final class OverloadTest {
  private static final int SLOTS = 16;
  private static final Duration ANSWER = Duration.ofMillis(400);
  private static final double CAPACITY = SLOTS * 1000.0 / ANSWER.toMillis();
  private static final long OVERLOAD_MILLIS = 60_000;
  private static final long END_MILLIS = 70_000;
  private static final double LEAVING = 0.1;

  private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
  private final SplittableRandom random = new SplittableRandom(4);
  private final List<Long> ended = new ArrayList<>();
  private final List<Long> waited = new ArrayList<>();
  private final List<Long> told = new ArrayList<>();
  private int left;
  private int ranAfterLeaving;
  private long lastRefusal;
  /// When the last request came that waited as none does without an overload.
  private long lastWait;
  private int most;

  /// @param queue requests that wait at most: those that 0.8 s and 3.2 s answer
  @ParameterizedTest
  @ValueSource(ints = {32, 128})
  void goodputStaysAtTheCapacity_refusalsTellTheTruth_andCalmReturns(int queue) {
    Admission admission =
        new Admission(new AdmissionOptions(queue, Duration.ofSeconds(30), null), () -> SLOTS, time);
    for (double at = 0; at < END_MILLIS; at += gap(at)) {
      time.advanceTimeTo(Instant.ofEpochMilli((long) at));
      ask(admission, (long) at);
      most = Math.max(most, admission.running());
      assertThat(admission.waiting()).isLessThanOrEqualTo(queue);
    }
    time.advanceTimeBy(Duration.ofSeconds(10));

    long good = ended.stream().filter(at -> at <= OVERLOAD_MILLIS).count();
    assertThat(good).isGreaterThanOrEqualTo((long) (0.9 * CAPACITY * OVERLOAD_MILLIS / 1000));
    assertThat(most).isEqualTo(SLOTS);
    double wait = waited.stream().sorted().skip(waited.size() / 2).findFirst().orElseThrow() / 1000.0;
    assertThat(wait).isBetween(0.7 * queue / CAPACITY, 1.1 * queue / CAPACITY);
    assertThat(told).hasSizeGreaterThan(3000).allMatch(seconds -> seconds >= wait && seconds <= wait + 1.5);
    assertThat(left).isGreaterThan(200);
    assertThat(ranAfterLeaving).isZero();
    assertThat(lastRefusal).isLessThanOrEqualTo(OVERLOAD_MILLIS + 100);
    assertThat(lastWait - OVERLOAD_MILLIS).isLessThanOrEqualTo((long) (1000 * queue / (CAPACITY / 2) + 400));
    assertThat(admission.running()).isZero();
    assertThat(admission.waiting()).isZero();
  }

  private double gap(double at) {
    double rate = CAPACITY * (at < OVERLOAD_MILLIS ? 3 : 0.5);
    return -Math.log(1 - random.nextDouble()) * 1000 / rate;
  }

  private void ask(Admission admission, long at) {
    boolean leaves = random.nextDouble() < LEAVING;
    Admission.Ticket ticket;
    try {
      ticket = admission.enter(4);
    } catch (ApiException refusal) {
      lastRefusal = at;
      if (at > 5000) { // the estimate follows the first answers
        told.add(requireNonNull(refusal.retryAfter()).toSeconds());
      }
      return;
    }
    boolean[] gone = {false};
    Disposable waiting = ticket.granted().subscribe(nothing -> {}, failure -> ticket.leave(), () -> {
      ranAfterLeaving += gone[0] ? 1 : 0;
      long now = time.now(TimeUnit.MILLISECONDS);
      if (now - at > 100) {
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
