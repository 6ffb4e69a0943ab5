package io.penstock.wire.transfer;

import static io.penstock.wire.transfer.TransferState.CANCELLED;
import static io.penstock.wire.transfer.TransferState.COMPLETED;
import static io.penstock.wire.transfer.TransferState.FAILED;
import static io.penstock.wire.transfer.TransferState.IN_PROGRESS;
import static io.penstock.wire.transfer.TransferState.PENDING;
import static io.penstock.wire.transfer.TransferState.TIMEOUT;
import static io.penstock.wire.transfer.TransferState.WAITING;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.PermanentKvException;
import io.penstock.TransientKvException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.test.scheduler.VirtualTimeScheduler;

/// Every order in which connections come and go, operations end, time passes and a cancel comes, for two items at one
/// peer or at two. Each event moves an item only as a table allows.
final class PeerInterleavingsTest {
  private static final Duration BASE = Duration.ofSeconds(10);

  /// What may happen next, and the moves of an item that it allows. An item that ended moves no more.
  private enum What {
    CONNECTS(of(PENDING, IN_PROGRESS)),
    IS_NOT_CONNECTED(of(PENDING, FAILED), of(WAITING, PENDING)),
    CLOSES(),
    SUCCEEDS(of(IN_PROGRESS, COMPLETED), of(WAITING, PENDING, IN_PROGRESS)),
    IS_REFUSED(of(IN_PROGRESS, FAILED, TIMEOUT, CANCELLED), of(WAITING, PENDING, IN_PROGRESS)),
    IS_LOST(of(IN_PROGRESS, PENDING, FAILED, TIMEOUT, CANCELLED), of(WAITING, PENDING, IN_PROGRESS)),
    CANCEL(of(WAITING, CANCELLED), of(PENDING, CANCELLED)),
    /// A second attempt that waits begins before, for time passes.
    DEADLINE(of(WAITING, TIMEOUT), of(PENDING, TIMEOUT, IN_PROGRESS)),
    BACKOFF(of(PENDING, IN_PROGRESS));

    private final Map<TransferState, Set<TransferState>> moves = new EnumMap<>(TransferState.class);

    @SafeVarargs
    What(Map.Entry<TransferState, Set<TransferState>>... moves) {
      for (Map.Entry<TransferState, Set<TransferState>> move : moves) {
        this.moves.put(move.getKey(), move.getValue());
      }
    }

    private static Map.Entry<TransferState, Set<TransferState>> of(TransferState from, TransferState... to) {
      return Map.entry(from, Set.of(to));
    }

    boolean allows(TransferState from, TransferState to) {
      return from == to || moves.getOrDefault(from, Set.of()).contains(to);
    }
  }

  private record Step(What what, int peer, int call) {
    static final int NONE = -1;
  }

  /// @param peers one or two
  /// @param lane items of a peer at once
  private record World(int peers, int lane, int depth, Set<TransferState> seen) {}

  @Test
  void onePeer_oneItemAtATime() {
    requireAllSeen(1, 1, 8, 5_000);
  }

  @Test
  void onePeer_bothAtOnce() {
    requireAllSeen(1, 2, 6, 4_000);
  }

  @Test
  void twoPeers() {
    requireAllSeen(2, 1, 5, 4_000);
  }

  @Tag("proof")
  @Test
  void deeper() {
    requireAllSeen(1, 1, 11, 20_000);
    requireAllSeen(1, 2, 9, 40_000);
    requireAllSeen(2, 1, 7, 90_000);
  }

  private static void requireAllSeen(int peers, int lane, int depth, int least) {
    World world = new World(peers, lane, depth, EnumSet.noneOf(TransferState.class));
    try (Arena arena = Arena.ofShared()) {
      assertThat(explore(world, arena.allocate(64), new ArrayList<>())).isGreaterThan(least);
    }
    assertThat(world.seen).contains(PENDING, IN_PROGRESS, COMPLETED, FAILED, TIMEOUT, CANCELLED);
  }

  /// Plays every sequence of at most `depth` steps, and ends what is left then; answers how many there were.
  private static int explore(World world, MemorySegment memory, List<Step> steps) {
    List<Step> next = new Play(world, memory, steps).run();
    int played = 1;
    for (Step step : next) {
      steps.add(step);
      played += explore(world, memory, steps);
      steps.removeLast();
    }
    return played;
  }

  private static final class Play {
    private static final int ITEMS = 2;
    private final World world;
    private final List<Step> steps;
    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    private final List<FakePeer> peers = new ArrayList<>();
    private final Transfer transfer;
    private final List<Transfer.ItemResult> results = new ArrayList<>();
    private final TransferState[] states = new TransferState[ITEMS];
    /// Operations whose connection has closed: any error of theirs is its loss.
    private final List<FakePeer.Call> lost = new ArrayList<>();
    private int completions;
    /// What a cancel or a deadline, whichever came first, makes of an item that had not ended.
    private @Nullable TransferState verdict;
    private boolean cancelled;
    private boolean late;

    Play(World world, MemorySegment memory, List<Step> steps) {
      this.world = world;
      this.steps = steps;
      for (int i = 0; i < world.peers; i++) {
        FakePeer peer = new FakePeer(Map.of("kv", memory));
        peer.holdsConnections = true;
        peers.add(peer);
      }
      TransferOptions options = new TransferOptions("engine", BASE, 0, world.lane, 1 << 20, 64, Duration.ofDays(1),
          Duration.ofDays(1), Duration.ofMillis(1), Duration.ofDays(1));
      TransferEngine engine = new TransferEngine(options,
          (address, number) -> peers.get(Integer.parseInt(address)).connect(address, number), time,
          new SplittableRandom(1));
      TransferBatch.Builder batch = TransferBatch.builder();
      for (int i = 0; i < ITEMS; i++) {
        batch.read("" + i % world.peers, "kv", i, memory.asSlice(i, 1));
      }
      transfer = engine.submit(batch.build());
      transfer.results().subscribe(results::add);
      transfer.done().subscribe(result -> completions++);
      look();
    }

    private void look() {
      for (int i = 0; i < ITEMS; i++) {
        states[i] = transfer.state(i);
        world.seen.add(states[i]);
      }
    }

    /// Takes the steps, and answers which may follow.
    List<Step> run() {
      for (Step step : steps) {
        take(step);
        requireRight(step.what);
        look();
      }
      List<Step> next = steps.size() < world.depth ? next() : List.of();
      if (next.isEmpty()) {
        finish();
      }
      return next;
    }

    private void take(Step step) {
      switch (step.what) {
        case CONNECTS -> peers.get(step.peer).connect(false);
        case IS_NOT_CONNECTED -> peers.get(step.peer).connect(true);
        case CLOSES -> {
          lost.addAll(peers.get(step.peer).open());
          peers.get(step.peer).links.getLast().close();
        }
        case SUCCEEDS -> call(step).end(null);
        case IS_REFUSED -> call(step).end(new PermanentKvException("no"));
        case IS_LOST -> call(step).end(new TransientKvException("lost"));
        case CANCEL -> {
          cancelled = true;
          verdict = verdict == null ? CANCELLED : verdict;
          transfer.cancel();
        }
        case DEADLINE -> {
          late = true;
          verdict = verdict == null ? TIMEOUT : verdict;
          time.advanceTimeBy(BASE);
        }
        case BACKOFF -> time.advanceTimeBy(Duration.ofMillis(2));
      }
    }

    private FakePeer.Call call(Step step) {
      return peers.get(step.peer).calls.get(step.call);
    }

    private List<Step> next() {
      List<Step> next = new ArrayList<>();
      if (results.size() == ITEMS) {
        return next;
      }
      for (int i = 0; i < peers.size(); i++) {
        FakePeer peer = peers.get(i);
        if (!peer.connecting.isEmpty()) {
          next.add(new Step(What.CONNECTS, i, Step.NONE));
          next.add(new Step(What.IS_NOT_CONNECTED, i, Step.NONE));
        } else if (!peer.links.isEmpty() && !peer.links.getLast().isClosed) {
          next.add(new Step(What.CLOSES, i, Step.NONE));
        }
        for (FakePeer.Call call : peer.open()) {
          int at = peer.calls.indexOf(call);
          next.add(new Step(What.SUCCEEDS, i, at));
          if (!lost.contains(call)) {
            next.add(new Step(What.IS_REFUSED, i, at));
          }
          next.add(new Step(What.IS_LOST, i, at));
        }
      }
      if (List.of(states).contains(PENDING)) {
        next.add(new Step(What.BACKOFF, Step.NONE, Step.NONE));
      }
      if (!cancelled) {
        next.add(new Step(What.CANCEL, Step.NONE, Step.NONE));
      }
      if (!late) {
        next.add(new Step(What.DEADLINE, Step.NONE, Step.NONE));
      }
      return next;
    }

    /// The moves are those of the table; an item that ended uses no memory, and none ended twice.
    private void requireRight(What what) {
      for (int i = 0; i < ITEMS; i++) {
        TransferState now = transfer.state(i);
        require(what.allows(states[i], now), "item %d must not go from %s to %s".formatted(i, states[i], now));
        boolean ended = !states[i].isTerminal() && now.isTerminal();
        require(!ended || verdict == null || now == COMPLETED || now == verdict,
            "item %d must be completed or %s (was %s)".formatted(i, verdict, now));
      }
      requireQuiet();
    }

    private void requireQuiet() {
      List<Integer> ended = results.stream().map(Transfer.ItemResult::index).toList();
      require(ended.size() == Set.copyOf(ended).size(), "no item must end twice (was " + ended + ")");
      for (Transfer.ItemResult result : results) {
        require(result.state() == transfer.state(result.index()), "the result must be the state (was " + result + ")");
      }
      for (FakePeer peer : peers) {
        for (FakePeer.Call call : peer.open()) {
          require(!ended.contains((int) call.offset), "memory of an item that ended must be quiet");
        }
      }
      require(completions == (ended.size() == ITEMS ? 1 : 0), "the batch must end once, with its last item");
    }

    private void finish() {
      for (int i = 0; i < 100 && results.size() < ITEMS; i++) {
        for (FakePeer peer : peers) {
          while (!peer.connecting.isEmpty()) {
            peer.connect(false);
          }
          peer.open().forEach(call -> call.end(null));
        }
        time.advanceTimeBy(Duration.ofMillis(2));
      }
      requireQuiet();
      require(results.size() == ITEMS, "all items must end (did " + results + ")");
      look();
    }

    private void require(boolean holds, String rule) {
      if (!holds) {
        throw new AssertionError(rule + ", after " + steps);
      }
    }
  }
}
