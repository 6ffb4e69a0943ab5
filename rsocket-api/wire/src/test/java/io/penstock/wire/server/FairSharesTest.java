package io.penstock.wire.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.budget.Permits;
import io.penstock.operator.Serial;
import io.penstock.wire.credit.Budget;
import io.penstock.wire.credit.BudgetLane;
import io.penstock.wire.credit.IdleStreams;
import io.penstock.wire.credit.NodeBudget;
import io.penstock.wire.credit.Reclaim;
import io.penstock.wire.credit.SharedTimer;
import io.penstock.wire.credit.SilenceLimit;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.test.scheduler.VirtualTimeScheduler;

/// Strangers that take what they can and stand still, and a client that works, under many seeds in virtual time.
@Timeout(60)
final class FairSharesTest {
  private static final Duration GRACE = Duration.ofMillis(15);
  private static final Duration STALL = Duration.ofSeconds(30);
  private static final long MESSAGES = 1 << 20;
  private static final int BLOCKS = 128;
  private static final int SLICE = 512 << 10;

  /// Place of the strangers, as the node sees it.
  private enum Strangers {
    SAME_ADDRESS, OTHER_ADDRESSES, OTHER_USER;

    @Nullable String user() {
      return this == OTHER_USER ? "stranger" : this == SAME_ADDRESS ? "good" : null;
    }

    Object address(int number) {
      return this == SAME_ADDRESS ? "here" : "there " + number % 8;
    }
  }

  private final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
  private final Permits bytes = new Permits("node", 64 << 20, 1024);
  private final Permits messages = new Permits("messages", MESSAGES, 1);
  private final Permits blocks = new Permits("windows", BLOCKS, 1);
  private final FairShares shares = new FairShares(new NodeBudget(bytes, SLICE, this::reclaim),
      new BudgetLane("messages", Budget.of(messages), MESSAGES, Integer.MAX_VALUE, reclaim()),
      new BudgetLane("windows", Budget.of(blocks), BLOCKS, Integer.MAX_VALUE, reclaim()));

  private Reclaim reclaim() {
    return new Reclaim(GRACE, clock);
  }

  /// One connection with its lanes, and the streams that it has.
  private final class Connection {
    private final Budget messages;
    private final BudgetLane windows;
    private final Budget incoming;
    private final IdleStreams gets;
    private final IdleStreams puts;
    private final List<Stream> streams = new ArrayList<>();

    Connection(@Nullable String user, Object address) {
      FairShares.Share share = shares.enter(user, address);
      messages = share.requests();
      windows = share.windows(1024);
      incoming = share.incoming(1024);
      gets = share.gets();
      puts = share.puts();
    }

    /// A message that is charged, as `Request` does; null if it is refused.
    @Nullable Stream get(int size) {
      if (!charged(size) && !(messages.reclaim(2L * size) && charged(size))) {
        return null;
      }
      Stream stream = new Stream(this, gets);
      stream.held.add(() -> messages.release(size));
      stream.owes();
      return stream;
    }

    private boolean charged(int size) {
      return messages.free() >= 2L * size && messages.tryAcquire(size);
    }

    /// A put that takes blocks of a window and one slice of credit, or waits for them.
    Stream put(int wanted) {
      Stream stream = new Stream(this, puts);
      long taken = windows.takeUpTo(wanted);
      if (taken > 0) {
        stream.opened(taken);
      } else {
        Budget.Place place = windows.acquire(1, () -> stream.opened(1), refusal -> {
          throw refusal;
        });
        stream.held.add(place::cancel);
      }
      return stream;
    }

    void close() {
      List.copyOf(streams).forEach(Stream::end);
    }
  }

  /// A stream that stands still unless it moves bytes.
  private final class Stream {
    private final Connection connection;
    private final Deque<Runnable> held = new ArrayDeque<>();
    private final SilenceLimit silence;
    private boolean open = true;
    private boolean granted;
    private long blocks;
    private long moved;

    Stream(Connection connection, IdleStreams idle) {
      this.connection = connection;
      connection.streams.add(this);
      Serial serial = new Serial(failure -> end());
      silence = new SilenceLimit("slices", new SilenceLimit.Rule(STALL, clock, new SharedTimer(clock), idle), serial,
          () -> open && granted, () -> moved);
    }

    private void opened(long taken) {
      if (!open) { // it ended on the way
        connection.windows.release(taken);
        return;
      }
      held.clear();
      held.add(() -> connection.windows.release(taken));
      blocks = taken;
      Budget.Place place = connection.incoming.acquire(SLICE, this::grant, refusal -> {
        throw refusal;
      });
      if (!granted) {
        held.add(place::cancel);
      }
    }

    private void grant() {
      if (!open) {
        connection.incoming.release(SLICE);
        return;
      }
      owes();
      held.add(() -> connection.incoming.release(SLICE));
    }

    /// Its peer may move bytes from now on.
    private void owes() {
      granted = true;
      silence.watch();
    }

    void move() {
      moved += SLICE;
      silence.watch();
    }

    void end() {
      if (open) {
        open = false;
        silence.stop();
        connection.streams.remove(this);
        for (Runnable back = held.poll(); back != null; back = held.poll()) {
          back.run();
        }
      }
    }
  }

  @Test
  void thirtyConnectionsWith300IdleGetsEach_fromTheGoodClientsAddress_refuseItNothing() {
    List<Connection> strangers = strangers(Strangers.SAME_ADDRESS, 30);
    Connection good = new Connection("good", "here");
    SplittableRandom random = new SplittableRandom(31);
    for (int round = 0; round < 100; round++) { // a second
      strangers.forEach(stranger -> {
        for (int i = stranger.streams.size(); i < 300; i++) {
          if (stranger.get(1 + random.nextInt(600)) == null) {
            break;
          }
        }
      });
      Stream get = good.get(600);
      assertThat(get).as("get %d: %d of %d in use", round, messages.inUse(), MESSAGES).isNotNull();
      get.end();
      clock.advanceTimeBy(Duration.ofMillis(10));
    }
    assertGoneAfter(strangers);
  }

  @ParameterizedTest
  @EnumSource
  void silentPuts_keepAGoodPutWaitingForNoLongerThanItsBound(Strangers place) {
    silentPuts_keepAGoodPutWaiting(place, 3, 20);
  }

  @Tag("proof")
  @Timeout(600)
  @ParameterizedTest
  @EnumSource
  void silentPuts_keepAGoodPutWaitingForNoLongerThanItsBound_atLength(Strangers place) {
    silentPuts_keepAGoodPutWaiting(place, 30, 60);
  }

  private void silentPuts_keepAGoodPutWaiting(Strangers place, int seeds, int rounds) {
    for (int seed = 0; seed < seeds; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      List<Connection> strangers = strangers(place, random.nextInt(1, 129));
      Connection good = new Connection("good", "here");
      long slowest = 0;
      for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < 64; i++) { // those that were ended come again
          Connection stranger = strangers.get(i % strangers.size());
          if (stranger.streams.size() < 64) {
            stranger.put(random.nextInt(1, 65));
          }
        }
        slowest = Math.max(slowest, millisOfPut(good, 8));
        clock.advanceTimeBy(Duration.ofMillis(10));
      }
      assertThat(slowest).as("%s, seed %d, %d connections", place, seed, strangers.size()).isLessThanOrEqualTo(25);
      good.close();
      assertGoneAfter(strangers);
    }
  }

  /// Puts blocks window by window, each as soon as it has room.
  private long millisOfPut(Connection good, int count) {
    long began = clock.now(TimeUnit.MILLISECONDS);
    for (long left = count; left > 0;) {
      Stream put = good.put((int) left);
      while (!put.granted && clock.now(TimeUnit.MILLISECONDS) - began < 10_000) {
        clock.advanceTimeBy(Duration.ofMillis(1));
      }
      put.move();
      left -= Math.max(1, put.blocks);
      put.end();
    }
    return clock.now(TimeUnit.MILLISECONDS) - began;
  }

  @Test
  void streamsThatStandStill_keepEverything_whileNoOtherWaits() {
    List<Connection> quiet = strangers(Strangers.SAME_ADDRESS, 4);
    quiet.forEach(one -> one.put(16));
    clock.advanceTimeBy(STALL.minusSeconds(1));
    new Connection("good", "here").put(1).end();
    assertThat(quiet).allMatch(one -> one.streams.size() == 1);
    assertGoneAfter(quiet);
  }

  private List<Connection> strangers(Strangers place, int count) {
    List<Connection> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      all.add(new Connection(place.user(), place.address(i)));
    }
    return all;
  }

  private void assertGoneAfter(List<Connection> strangers) {
    strangers.forEach(Connection::close);
    assertThat(List.of(bytes.inUse(), messages.inUse(), blocks.inUse())).containsOnly(0L);
  }
}
