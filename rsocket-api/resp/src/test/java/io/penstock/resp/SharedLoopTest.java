package io.penstock.resp;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import io.penstock.wire.transport.AwakeLoops;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class SharedLoopTest {
  private final EmbeddedChannel channel = new EmbeddedChannel();
  private final SharedLoop loop =
      new SharedLoop(channel.eventLoop(), new AwakeLoops(Duration.ZERO, () -> 0).of(channel.eventLoop()));

  @Test
  void connectionsThatSendByTurns_shareTheLoop_untilOneSendsAlone() {
    int one = loop.connect();
    int other = loop.connect();
    loop.heard(one, false);
    assertThat(loop.isShared()).as("the first read of all").isTrue();
    loop.heard(other, false);
    for (int i = 0; i < SharedLoop.SHARED; i++) {
      assertThat(loop.isShared()).as("read %d", i).isTrue();
      loop.heard(other, false);
    }
    assertThat(loop.isShared()).isFalse();
    loop.heard(one, false);
    assertThat(loop.isShared()).isTrue();
  }

  private boolean repliesLater(List<String> replies, String reply) {
    return loop.repliesLater(() -> replies.add(reply));
  }

  @Test
  void replies_goOutTogether_behindWhatTheLoopHasReadBefore() {
    loop.heard(loop.connect(), false);
    List<String> replies = new ArrayList<>();
    assertThat(repliesLater(replies, "a")).isTrue();
    loop.came(SharedLoop.MOST_BEHIND - 1);
    assertThat(repliesLater(replies, "b")).isTrue();
    assertThat(replies).isEmpty();
    channel.runPendingTasks();
    assertThat(replies).containsExactly("a", "b");
    assertThat(repliesLater(replies, "c")).isTrue();
    channel.runPendingTasks();
    assertThat(replies).containsExactly("a", "b", "c");
  }

  @Test
  void replies_waitForNoMoreBytesThanAFew() {
    loop.heard(loop.connect(), false);
    List<String> replies = new ArrayList<>();
    assertThat(repliesLater(replies, "a")).isTrue();
    loop.came(SharedLoop.MOST_BEHIND - 1);
    assertThat(repliesLater(replies, "b")).isTrue();
    loop.came(1);
    assertThat(replies).containsExactly("a", "b");
    assertThat(repliesLater(replies, "c")).isTrue();
    loop.came(SharedLoop.MOST_BEHIND - 1);
    assertThat(replies).containsExactly("a", "b");
    channel.runPendingTasks();
    assertThat(replies).containsExactly("a", "b", "c");
  }

  @Test
  void replies_toAClientThatHasTheLoopToItself_waitForNothing() {
    int one = loop.connect();
    for (int i = 0; i <= SharedLoop.SHARED + 1; i++) {
      loop.heard(one, false);
    }
    assertThat(repliesLater(new ArrayList<>(), "")).isFalse();
  }

  private boolean isTurnOfNextValue(List<String> read, String value) {
    return loop.awaits(() -> read.add(value));
  }

  @Test
  void valuesBesideQuestions_areReadOneInEachTurnOfTheLoop() {
    loop.heard(loop.connect(), false);
    loop.asked();
    List<String> read = new ArrayList<>();
    for (String value : List.of("a", "b", "c")) {
      assertThat(isTurnOfNextValue(read, value)).isTrue();
    }
    assertThat(read).isEmpty();
    channel.runScheduledPendingTasks();
    assertThat(read).containsExactly("a");
    channel.runScheduledPendingTasks();
    assertThat(read).containsExactly("a", "b");
    channel.runScheduledPendingTasks();
    assertThat(read).containsExactly("a", "b", "c");
    channel.runScheduledPendingTasks();
    assertThat(isTurnOfNextValue(read, "d")).isTrue();
    channel.runScheduledPendingTasks();
    assertThat(read).containsExactly("a", "b", "c", "d");
  }

  @Test
  void values_areReadAtOnce_whereNoClientHasAskedLately() {
    loop.heard(loop.connect(), false);
    List<String> read = new ArrayList<>();
    assertThat(isTurnOfNextValue(read, "before any question")).isFalse();
    loop.asked();
    for (int i = 0; i < SharedLoop.ASKED; i++) {
      assertThat(isTurnOfNextValue(read, "")).as("value %d", i).isTrue();
    }
    assertThat(isTurnOfNextValue(read, "long after the last")).isFalse();
  }

  @Test
  void valuesOfAClientThatHasTheLoopToItself_areReadAtOnce() {
    int one = loop.connect();
    for (int i = 0; i <= SharedLoop.SHARED + 1; i++) {
      loop.heard(one, false);
    }
    loop.asked();
    assertThat(isTurnOfNextValue(new ArrayList<>(), "")).isFalse();
  }
}
