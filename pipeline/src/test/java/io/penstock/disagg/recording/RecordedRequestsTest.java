package io.penstock.disagg.recording;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.disagg.RankId;
import io.penstock.disagg.request.HandClock;
import io.penstock.disagg.request.HeldBlocks;
import io.penstock.disagg.request.LifecycleListener;
import io.penstock.disagg.request.LifecycleOptions;
import io.penstock.disagg.request.LifecycleOptions.Lease;
import io.penstock.disagg.request.LifecycleOptions.Patience;
import io.penstock.disagg.request.PrefillConnector;
import io.penstock.disagg.request.Signal;
import io.penstock.recording.Difference;
import io.penstock.recording.Payloads;
import io.penstock.recording.Player;
import io.penstock.recording.Player.Outcome;
import io.penstock.recording.Player.PlayedStoreSpec;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.recording.RecordedMachine;
import io.penstock.recording.Turns;
import io.penstock.testkit.Race;
import io.penstock.tier.BlockTier;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.TierInputs;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// What several threads did to the requests of a prefill rank happens again on one thread.
@Timeout(60)
final class RecordedRequestsTest {
  private static final List<RankId> READERS = List.of(new RankId("decode", 0), new RankId("decode", 1));
  private static final int REQUESTS = 12;
  private static final int ROUNDS = 150;

  /// No tiers.
  private static final class Nothing implements Player.World {
    @Override
    public List<PlayedStoreSpec> stores(RecordedEvent opened) {
      throw new IllegalStateException("a recording of requests must have no tier");
    }

    @Override
    public BlockTier open(RecordedEvent opened, TierInputs inputs, List<BlockStore> stores) {
      throw new IllegalStateException("a recording of requests must have no tier");
    }

    @Override
    public void expire(BlockTier tier) {
      throw new IllegalStateException("a recording of requests must have no tier");
    }

    @Override
    public RecordedMachine.Played machine(RecordedEvent begin, RecordedMachine machine) {
      return new PlayedRequests(begin, machine);
    }
  }

  /// Only the thread that moves it runs timers: a virtual-time scheduler would run those of others in a turn.
  private final HandClock timers = new HandClock(0);
  private final Deque<Sinks.Empty<Void>> draining = new ArrayDeque<>();
  private final List<RecordedEvent> recording = new ArrayList<>();

  private static Outcome play(List<RecordedEvent> recording) {
    try (Player player = new Player(recording.iterator(), new Nothing(), Payloads.ofKeys())) {
      return player.play();
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void whatThreadsDidToRequests_happensAgain(long seed) {
    record(seed);

    Outcome outcome = play(recording);

    assertThat(outcome.difference()).as("seed %d: %s", seed, outcome.difference()).isNull();
    assertThat(outcome.events()).as("seed %d", seed).isEqualTo(recording.size()).isGreaterThan(500);
    assertThat(recording.stream().map(RecordedEvent::kind)).as("seed %d", seed).contains(Kind.REQUEST_LOOK,
        Kind.REQUEST_FREED, Kind.REQUEST_RELEASED, Kind.REQUEST_SAME);
  }

  @Test
  void aSignalThatWasLost_isTheFirstDifference() {
    record(5);
    int lost = indexOf(Kind.REQUEST_RELEASED);
    int cause = lost;
    while (!recording.get(cause).begins()) {
      cause--;
    }
    recording.set(cause, recording.get(cause).withText("another request\ndecode"));

    Difference difference = play(recording).difference();

    assertThat(difference).isNotNull();
    assertThat(difference.number()).isBetween((long) cause, (long) lost);
  }

  private int indexOf(Kind kind) {
    for (int i = recording.size() / 2; i < recording.size(); i++) {
      if (recording.get(i).kind() == kind && beginsWithSignal(i)) {
        return i;
      }
    }
    throw new AssertionError("recording must have an event of kind " + kind);
  }

  /// Releases come in the turn of freed memory; the signal that ended the request lies before.
  private boolean beginsWithSignal(int at) {
    int begin = at;
    while (!recording.get(begin).begins()) {
      begin--;
    }
    return recording.get(begin).kind() == Kind.REQUEST_FREED;
  }

  private void record(long seed) {
    LifecycleOptions options = new LifecycleOptions(
        new Lease(Duration.ofSeconds(2), Duration.ofSeconds(20), Duration.ofSeconds(5)),
        new Patience(Duration.ofSeconds(3), Duration.ofSeconds(3), Duration.ofSeconds(2), Duration.ofSeconds(1)),
        LifecycleOptions.defaults().signals(), Duration.ofMillis(100));
    PrefillConnector connector = new PrefillConnector(options, LifecycleListener.noop(), timers,
        new RecordedRequests(new RecordedMachine(new Turns(System::nanoTime, recording::add), 0), "prefill/0"));
    try (Race race = new Race(3)) {
      race.run(() -> engine(connector, new Random(seed)), () -> readers(connector, new Random(seed + 1)),
          () -> time(new Random(seed + 2)));
    }
    connector.open("the last", new Held(false));
    connector.open("the last", new Held(false)); // an engine whose answer was lost asks again
    for (int second = 0; second < 120; second++) {
      timers.advance(Duration.ofSeconds(1).toNanos());
    }
    connector.close().subscribe();
    free(Integer.MAX_VALUE);
  }

  private void engine(PrefillConnector connector, Random random) {
    for (int round = 0; round < ROUNDS; round++) {
      String request = request(random, round);
      switch (random.nextInt(6)) {
        case 0 -> connector.withdraw(request);
        case 1 -> connector.moved(request);
        default -> open(connector, request, random);
      }
    }
  }

  private void open(PrefillConnector connector, String request, Random random) {
    try {
      HeldBlocks blocks = new Held(random.nextInt(3) == 0);
      if (random.nextBoolean()) {
        connector.open(request, Set.copyOf(READERS), blocks);
      } else {
        connector.open(request, blocks);
      }
    } catch (IllegalArgumentException e) { // a name serves one request
      assertThat(e).hasMessageContaining("request must be new");
    }
  }

  private static void readers(PrefillConnector connector, Random random) {
    for (int round = 0; round < ROUNDS; round++) {
      Signal.Kind kind = Signal.Kind.values()[random.nextInt(Signal.Kind.values().length)];
      connector.accept(new Signal(kind, request(random, round),
          READERS.get(random.nextInt(READERS.size())).since(1 + random.nextInt(2)), 2)).subscribe();
    }
  }

  private void time(Random random) {
    for (int round = 0; round < ROUNDS; round++) {
      timers.advance(Duration.ofMillis(random.nextInt(400)).toNanos());
      free(random.nextInt(3));
    }
  }

  private void free(int most) {
    for (int i = 0; i < most; i++) {
      Sinks.Empty<Void> next;
      synchronized (draining) {
        next = draining.poll();
      }
      if (next == null) {
        return;
      }
      next.tryEmitEmpty();
    }
  }

  private static String request(Random random, int round) {
    return "request " + (round * REQUESTS / ROUNDS + random.nextInt(3));
  }

  /// Blocks whose reads drain at once, or later.
  private final class Held implements HeldBlocks {
    private final boolean drains;

    Held(boolean drains) {
      this.drains = drains;
    }

    @Override
    public Mono<Void> release() {
      return Mono.defer(() -> {
        if (!drains) {
          return Mono.empty();
        }
        Sinks.Empty<Void> free = Sinks.empty();
        synchronized (draining) {
          draining.add(free);
        }
        return free.asMono();
      });
    }

    @Override
    public boolean isSameAs(HeldBlocks other) {
      return other instanceof Held held && held.drains == drains;
    }
  }
}
