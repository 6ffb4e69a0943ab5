package io.penstock.wire.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
final class AwakeLoopTest {
  private static final long MOMENT = 50_000;

  private final EmbeddedChannel channel = new EmbeddedChannel();
  private long nanos = Long.MAX_VALUE - MOMENT;
  /// Time that passes with each question for it.
  private long step;
  /// Time that passes with the next questions, before that of `step` does.
  private final Deque<Long> steps = new ArrayDeque<>();
  private final AwakeLoop loop =
      new AwakeLoop(channel.eventLoop(), MOMENT, () -> nanos += steps.isEmpty() ? step : steps.remove());

  /// Lets the loop look once, if it is awake.
  private boolean isAwake() {
    return channel.runScheduledPendingTasks() >= 0;
  }

  /// @return whether the loop was awake, before it heard nothing more for a moment
  private boolean isAwakeForAMoment() {
    boolean was = isAwake();
    nanos += MOMENT;
    assertThat(isAwake()).as("a moment later").isFalse();
    return was;
  }

  private boolean isAwakeOnceHeard() {
    loop.heard(false);
    return isAwakeForAMoment();
  }

  /// The loop hears something, then more as often as `useful` while it is awake, and then nothing for a moment.
  ///
  /// @return whether it was awake
  private boolean isAwakeWith(int useful) {
    loop.heard(false);
    boolean was = isAwake();
    for (int i = 0; i < useful; i++) {
      loop.heard(false);
      isAwake();
    }
    nanos += MOMENT;
    assertThat(isAwake()).as("a moment later").isFalse();
    return was;
  }

  private void hearInVain(int tries) {
    for (int i = 0; i < tries; i++) {
      assertThat(isAwakeOnceHeard()).as("try %d", i).isTrue();
    }
    assertThat(isAwakeOnceHeard()).as("one more").isFalse();
  }

  @Test
  void aLoop_staysAwakeForAMoment_afterEachRead() {
    loop.heard(false);
    nanos += MOMENT - 1;
    assertThat(isAwake()).isTrue();
    loop.heard(false);
    nanos += MOMENT - 1;
    assertThat(isAwake()).isTrue();
    nanos += 1;
    assertThat(isAwake()).isFalse();
  }

  @Test
  void aLoop_sleepsAtOnce_whileNothingComesInItsMoments() {
    hearInVain(AwakeLoop.CREDIT / AwakeLoop.COST);
    for (int i = 2; i < AwakeLoop.PROBE; i++) {
      assertThat(isAwakeOnceHeard()).as("read %d", i).isFalse();
    }
    assertThat(isAwakeOnceHeard()).as("a try").isTrue();
    assertThat(isAwakeOnceHeard()).as("behind a try in vain").isFalse();
  }

  @Test
  void aTryOfUse_earnsAnotherOne() {
    hearInVain(AwakeLoop.CREDIT / AwakeLoop.COST);
    for (int i = 2; i <= AwakeLoop.PROBE; i++) {
      loop.heard(false);
    }
    assertThat(isAwake()).as("a try").isTrue();
    loop.heard(false);
    assertThat(isAwakeForAMoment()).as("of use").isTrue();
    assertThat(isAwakeOnceHeard()).as("with nothing left").isFalse();
  }

  @Test
  void aLoop_staysAwake_whereTwoOfThreeMomentsAreOfUse_andNotWhereEachSecondIs() {
    for (int i = 0; i < 8 * AwakeLoop.CREDIT; i++) {
      assertThat(isAwakeWith(2)).as("two of use before each of no use, time %d", i).isTrue();
    }
    for (int i = AwakeLoop.COST; i < AwakeLoop.CREDIT; i++) {
      assertThat(isAwakeWith(1)).as("one of use before each of no use, time %d", i).isTrue();
    }
    assertThat(isAwakeWith(1)).isFalse();
  }

  @Test
  void readsThatCameTogether_areNoUseOfBeingAwake() {
    for (int i = 0; i < AwakeLoop.CREDIT / AwakeLoop.COST; i++) {
      loop.heard(false);
      assertThat(isAwakeOnceHeard()).as("try %d", i).isTrue();
    }
    loop.heard(false);
    assertThat(isAwakeOnceHeard()).isFalse();
  }

  @Test
  void aLoop_sleepsAtOnce_whereAnotherThreadTakesItsCore() {
    step = AwakeLoop.TAKEN_NANOS;
    loop.heard(false);
    assertThat(isAwake()).as("a core that no thread wants").isTrue();
    step++;
    assertThat(isAwake()).as("one that is taken").isFalse();
    assertThat(isAwake()).as("after that").isFalse();
    step = 0;
    assertThat(isAwakeOnceHeard()).as("with the next read").isTrue();
  }

  @Test
  void aLoop_keepsItsCoreForAWhile_afterAThreadThatComputesHadIt() {
    loop.heard(false);
    steps.addAll(List.of(0L, AwakeLoop.LOST_NANOS + 1));
    assertThat(isAwake()).as("lost").isFalse();
    for (int i = 0; i < 3; i++) {
      loop.heard(false);
      steps.addAll(List.of(0L, AwakeLoop.TAKEN_NANOS + 1));
      assertThat(isAwake()).as("look %d", i).isTrue();
      assertThat(steps).as("the core was not offered in look %d", i).hasSize(1);
      steps.clear();
    }
    nanos += AwakeLoop.KEPT_NANOS;
    loop.heard(false);
    steps.addAll(List.of(0L, AwakeLoop.TAKEN_NANOS + 1));
    assertThat(isAwake()).as("offered again, and taken").isFalse();
  }

  @Test
  void aLoop_offersItsCore_butForTurnsInWhichNoRequestWasWhole() {
    step = AwakeLoop.TAKEN_NANOS + 1;
    for (int i = 0; i < 2 * AwakeLoop.CREDIT; i++) {
      loop.heard(true);
      loop.heard(true);
      assertThat(isAwake()).as("turn %d", i).isTrue();
    }
    assertThat(isAwake()).as("nothing came").isFalse();
    loop.heard(true);
    loop.heard(false);
    loop.heard(true);
    assertThat(isAwake()).as("a whole request between others").isFalse();
  }

  @Test
  void aLoopWithoutAMoment_alwaysSleeps() {
    AwakeLoop never = new AwakeLoop(channel.eventLoop(), 0, () -> nanos);
    never.heard(false);
    assertThat(isAwake()).isFalse();
  }

  @Test
  void aDrivenLoop_neverStaysAwake_andEachLoopHasOne() {
    AwakeLoops loops = new AwakeLoops(Duration.ofNanos(MOMENT), () -> nanos);
    AwakeLoop driven = loops.of(channel.eventLoop());
    driven.heard(false);
    assertThat(isAwake()).isFalse();
    assertThat(loops.of(channel.eventLoop())).isSameAs(driven);
    assertThat(loops.of(new EmbeddedChannel().eventLoop())).isNotSameAs(driven);
  }
}
