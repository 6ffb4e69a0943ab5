package io.penstock.gateway.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.gateway.choice.BlockIndex;
import io.penstock.gateway.choice.Medium;
import io.penstock.gateway.choice.PromptBlocks;
import io.penstock.gateway.events.PackedEvents.Hash;
import io.penstock.gateway.events.PackedEvents.Layout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Gaps, restarts and lost answers, in virtual time and under seeds.
final class PublisherFeedTest {
  private static final PackedEvents FORM = new PackedEvents(Layout.ARRAY, Hash.UNSIGNED);
  private static final Duration PATIENCE = Duration.ofSeconds(2);
  private static final Duration IDLE = Duration.ofSeconds(5);

  private final BlockIndex index = new BlockIndex();
  private final EventCounts counts = new EventCounts();
  private final InstanceBlocks instance = new InstanceBlocks(index, 0);
  private final Engine engine = new Engine();
  private final PublisherFeed feed = feed(engine);
  private long now;

  private PublisherFeed feed(PublisherFeed.@Nullable Replay replay) {
    return new PublisherFeed("tcp://engine", new PublisherBlocks(instance, counts, 1, 1000, true), counts, replay,
        () -> now,
        PATIENCE, IDLE);
  }

  /// A publisher of single blocks with its ring of batches, and the network between.
  private static final class Engine implements PublisherFeed.Replay {
    private final Set<Integer> blocks = new TreeSet<>();
    private final ArrayDeque<byte[]> ring = new ArrayDeque<>();
    private final ArrayDeque<Message> live = new ArrayDeque<>();
    private final ArrayDeque<Message> answers = new ArrayDeque<>();
    private int keeps = 1000;
    private long next;
    private int life;
    private boolean isDeaf;
    private int asked;

    @SuppressWarnings("ArrayRecordComponent") // passed on as it is
    private record Message(long number, byte[] payload) {}

    void store(int block) {
      blocks.add(block);
      publish(FORM.batch(null, PackedEvents.stored(null, new long[] {block}, new int[] {block}, 1, "GPU"), stamp()));
    }

    void remove(int block) {
      blocks.remove(block);
      publish(FORM.batch(null, PackedEvents.removed(new long[] {block}, "GPU"), stamp()));
    }

    /// Stands for the time in a batch, which differs between two lives of a publisher.
    private PackedEvents.Event stamp() {
      return new PackedEvents.Event(Map.of("type", "life " + life));
    }

    void publishBad() {
      publish(("life " + life).getBytes(StandardCharsets.UTF_8));
    }

    void publish(byte[] batch) {
      ring.add(batch);
      if (ring.size() > keeps) {
        ring.remove();
      }
      live.add(new Message(next++, batch));
    }

    void restart() {
      life++;
      blocks.clear();
      ring.clear();
      live.clear();
      next = 0;
    }

    @Override
    public void ask(long from) {
      asked++;
      if (isDeaf) {
        return;
      }
      long first = next - ring.size();
      List<byte[]> kept = new ArrayList<>(ring);
      for (long number = Math.max(first, from); number < next; number++) {
        answers.add(new Message(number, kept.get((int) (number - first))));
      }
      answers.add(new Message(-1, new byte[0]));
    }

    @Override
    public void reset() {
      answers.clear();
    }

    /// Delivers everything that can be.
    void deliver(PublisherFeed to) {
      while (!answers.isEmpty() || (to.takesLive() && !live.isEmpty())) {
        if (!answers.isEmpty()) {
          Message answer = answers.remove();
          if (answer.number() == -1) {
            to.replayEnded();
          } else {
            to.replayed(answer.number(), answer.payload());
          }
        } else {
          Message message = live.remove();
          to.live(message.number(), message.payload());
        }
      }
      to.tick();
    }
  }

  private void pass(Duration time) {
    now += time.toNanos();
    feed.tick();
  }

  private Set<Integer> known() {
    Set<Integer> known = new TreeSet<>();
    for (int block = 0; block < 100; block++) {
      long[] name = PromptBlocks.names(PromptBlocks.ROOT, new int[] {block}, 1);
      if (index.overlap(name, 1).on(0, Medium.DEVICE) == 1) {
        known.add(block);
      }
    }
    return known;
  }

  private void knowsAll() {
    engine.deliver(feed);
    assertThat(known()).isEqualTo(engine.blocks);
  }

  @Test
  void subscriberThatComesLate_isFilled() {
    engine.store(1);
    engine.store(2);
    engine.live.clear();
    feed.connected();
    engine.store(3); // by the answer, and live
    knowsAll();
    assertThat(counts.of(EventCount.RESETS)).isZero();
  }

  @Test
  void gap_isReplayed_withoutForgetting() {
    feed.connected();
    engine.store(1);
    knowsAll();
    engine.store(2);
    engine.remove(1);
    engine.live.clear();
    engine.store(3);
    knowsAll();
    assertThat(counts.of(EventCount.GAPS)).isEqualTo(1);
    assertThat(counts.of(EventCount.RESETS)).isZero();
  }

  @Test
  void lastBatchThatWasLost_isAskedForAfterATime() {
    feed.connected();
    engine.store(1);
    knowsAll();
    engine.store(2);
    engine.live.clear();
    engine.deliver(feed);
    assertThat(known()).containsExactly(1);
    pass(IDLE);
    knowsAll();
    assertThat(counts.of(EventCount.RESETS)).isZero();
  }

  @Test
  void gapThatIsNoLongerKept_forgetsWhatWasBefore() {
    engine.keeps = 2;
    feed.connected();
    engine.store(1);
    knowsAll();
    for (int i = 10; i < 20; i++) {
      engine.store(i);
    }
    while (engine.live.size() > 1) {
      engine.live.remove();
    }
    engine.deliver(feed);
    assertThat(known()).as("what was sent last").containsExactly(18, 19);
    assertThat(counts.of(EventCount.RESETS)).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 3, 4, 9})
  void publisherThatStartsAnew_isNotTakenForTheOldOne(int newBatches) {
    feed.connected();
    for (int i = 0; i < 4; i++) {
      engine.store(i);
    }
    knowsAll();
    engine.restart();
    for (int i = 0; i < newBatches; i++) {
      engine.store(50 + i);
    }
    engine.live.clear(); // before the subscription
    feed.connected();
    knowsAll();
    assertThat(counts.of(EventCount.RESETS)).isEqualTo(1);
  }

  @Test
  void publisherThatStartsAnew_withoutANotice_isKnownByItsNumbers() {
    feed.connected();
    for (int i = 0; i < 4; i++) {
      engine.store(i);
    }
    knowsAll();
    engine.restart();
    engine.store(50);
    knowsAll();
    engine.store(51);
    knowsAll();
  }

  @Test
  void reconnectionDuringAReplay_isCheckedAfterIt() {
    engine.store(1);
    feed.connected();
    engine.restart();
    engine.store(2);
    engine.live.clear();
    feed.connected(); // the answer of the first life is still on its way
    knowsAll();
  }

  @Test
  void replayThatIsNotAnswered_forgets_andGoesOnWithWhatComes() {
    feed.connected();
    engine.store(1);
    knowsAll();
    engine.isDeaf = true;
    engine.store(2);
    engine.live.clear();
    engine.store(3);
    engine.deliver(feed);
    assertThat(feed.takesLive()).isFalse();
    pass(PATIENCE);
    assertThat(known()).containsExactly(3);
    assertThat(counts.of(EventCount.UNANSWERED)).isEqualTo(1);
    engine.store(4);
    engine.deliver(feed);
    assertThat(known()).containsExactly(3, 4);
  }

  @Test
  void questionOutOfIdleness_thatIsNotAnswered_forgetsNothing() {
    feed.connected();
    engine.store(1);
    knowsAll();
    engine.isDeaf = true;
    pass(IDLE);
    pass(PATIENCE);
    assertThat(known()).containsExactly(1);
    engine.store(2);
    knowsAll();
    assertThat(counts.of(EventCount.RESETS)).isZero();
  }

  @Test
  void publisherWithoutReplay_isForgottenAtAGap_andAtAReconnection() {
    PublisherFeed plain = feed(null);
    plain.connected();
    engine.store(1);
    engine.store(2);
    engine.deliver(plain);
    assertThat(known()).containsExactly(1, 2);
    engine.store(3);
    engine.live.clear();
    engine.store(4);
    engine.deliver(plain);
    assertThat(known()).containsExactly(4);
    plain.connected();
    assertThat(known()).isEmpty();
    engine.store(5);
    engine.deliver(plain);
    assertThat(known()).containsExactly(5);
    assertThat(engine.asked).isZero();
  }

  @Test
  void batchThatCannotBeRead_isCounted_andTheNextIsTaken() {
    feed.connected();
    engine.store(1);
    engine.publish(new byte[] {(byte) 0xc1});
    engine.publish(new byte[0]);
    engine.store(2);
    knowsAll();
    assertThat(counts.of(EventCount.BAD)).isEqualTo(2);
    assertThat(counts.of(EventCount.RESETS)).isZero();
    feed.close();
    assertThat(index.size()).isZero();
  }

  /// After anything has happened, a quiet time suffices to know exactly what a publisher has that keeps its batches.
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void afterAQuietTime_allIsKnown(long seed) {
    Random random = new Random(seed);
    feed.connected();
    for (int step = 0; step < 2000; step++) {
      switch (random.nextInt(60)) {
        case 0 -> {
          engine.restart();
          if (random.nextBoolean()) {
            engine.answers.clear();
          }
          feed.connected();
        }
        case 1 -> feed.connected();
        case 2 -> engine.isDeaf = !engine.isDeaf;
        case 3 -> pass(PATIENCE);
        case 4 -> pass(IDLE);
        case 5, 6, 7 -> engine.live.poll();
        case 8, 9 -> engine.publishBad();
        default -> {
          int block = random.nextInt(100);
          if (engine.blocks.contains(block)) {
            engine.remove(block);
          } else {
            engine.store(block);
          }
        }
      }
      if (random.nextInt(3) == 0) {
        engine.deliver(feed);
      }
      if (step % 100 == 99) {
        engine.isDeaf = false;
        for (int i = 0; i < 3; i++) {
          pass(PATIENCE);
          engine.deliver(feed);
          pass(IDLE);
          engine.deliver(feed);
        }
        assertThat(known()).as("seed %d, step %d: %s", seed, step, counts).isEqualTo(engine.blocks);
      }
    }
    assertThat(counts.of(EventCount.RESETS)).isPositive();
    assertThat(counts.of(EventCount.REPLAYED)).isPositive();
    assertThat(counts.of(EventCount.UNANSWERED)).isPositive();
  }
}
