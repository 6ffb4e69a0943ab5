package io.penstock.cluster.directory;

import io.penstock.check.Uncaught;
import io.penstock.operator.Serial;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import java.util.stream.LongStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;

/// Sends what is said of blocks, in batches, one after the other: a batch when it is full, or a moment after its first
/// name. A batch that was full and was sent quickly lets the next ones be twice as large, and a slow one half as large:
/// a batch that takes longer than the map waits would never be sent. Tells the cluster first under which number. All
/// fields are touched in steps of one [Serial].
final class BatchSender {
  /// Former rounds whose left entries are looked for; older ones were purged long ago.
  private static final int MOST_FORMER = 8;
  private static final int MOST_DOUBLINGS = 8;
  private static final long NO_ROUND = 0;
  private static final long QUICK_NANOS = Duration.ofMillis(100).toNanos();
  private static final long SLOW_NANOS = Duration.ofMillis(500).toNanos();
  private static final Logger LOG = LoggerFactory.getLogger(BatchSender.class);

  private final AnnounceParts parts;
  private final Serial serial;
  private final Runnable onRoom;
  private final LongConsumer onDoubt;
  private final Disposable.Swap timer = Disposables.swap();
  private final Disposable.Swap pacing = Disposables.swap();

  private Batch filling = new Batch();
  private long round = NO_ROUND;
  private long lastWhole = NO_ROUND;
  private long[] former = {};
  private int limit;
  private boolean isBusy;
  private boolean isLingering;
  private boolean hasToTell;
  private boolean hasToEnd;
  private boolean isDoubtful;
  private boolean isEnded;
  private int failures;

  /// @param onRoom runs when a batch was taken away and another one fills, or when batches may be larger
  /// @param onDoubt gets the milliseconds to wait when a batch failed; until the next round nothing more is sent
  BatchSender(AnnounceParts parts, Serial serial, Runnable onRoom, LongConsumer onDoubt) {
    this.parts = parts;
    this.serial = serial;
    this.onRoom = onRoom;
    this.onDoubt = onDoubt;
    this.limit = parts.terms().batch();
  }

  /// Drops what was not sent, and goes on under a new number.
  void beginRound(long number) {
    if (round != NO_ROUND) {
      former = LongStream.concat(LongStream.of(former), LongStream.of(round)).toArray();
      if (former.length > MOST_FORMER) { // the last whole round still counts, however long ago it was
        long oldest = former[0] == lastWhole ? former[1] : former[0];
        former = LongStream.of(former).filter(each -> each != oldest).toArray();
      }
    }
    round = number;
    filling = new Batch();
    hasToEnd = false;
    hasToTell = true;
    isDoubtful = false;
    go();
  }

  /// Ends the former rounds when all that was put is sent.
  void endRound() {
    hasToEnd = true;
    go();
  }

  void put(BlockName name, int level) {
    filling.put(name, level);
    go();
  }

  void putPaced(BlockName name, int level) {
    filling.putPaced(name, level);
    go();
  }

  /// Names in the batch that fills.
  int size() {
    return filling.size();
  }

  /// Names at which a batch is full.
  int limit() {
    return limit;
  }

  /// Sends nothing more, and takes back all that was said.
  void stop() {
    isEnded = true;
    timer.dispose();
    pacing.dispose();
    parts.rounds().tell(this).subscribe(nothing -> {}, Uncaught::report);
  }

  private void go() {
    if (isBusy || isDoubtful || isEnded) {
      return;
    }
    if (hasToTell) {
      tell();
    } else if (filling.size() >= limit) {
      send();
    } else if (filling.size() > 0) {
      linger();
    } else if (hasToEnd) {
      hasToEnd = false;
      lastWhole = round;
      failures = 0;
      tell();
    }
  }

  private void tell() {
    hasToTell = false;
    long[] valid = lastWhole == NO_ROUND || lastWhole == round ? new long[] {round} : new long[] {lastWhole, round};
    await(parts.rounds().tell(this, valid), round);
  }

  private void linger() {
    if (!isLingering) {
      isLingering = true;
      after(parts.terms().linger().toNanos(), () -> {
        isLingering = false;
        if (!isBusy && !isDoubtful && !isEnded && !hasToTell && filling.size() > 0) {
          send();
        }
      });
    }
  }

  private void send() {
    Batch batch = filling;
    filling = new Batch();
    long number = round;
    long wait = batch.paced() == 0 ? 0 : parts.pace().take(batch.paced());
    Mono<Void> sent = Mono.defer(() -> {
      long began = nanos();
      return number == round
          ? batch.send(parts.map(), number, former)
              .doOnSuccess(done -> serial.run(() -> adapt(batch.size(), nanos() - began)))
          : Mono.empty();
    });
    isBusy = true;
    if (wait == 0) {
      await(sent, number);
    } else {
      pacing.update(parts.timers().schedule(() -> serial.run(() -> {
        if (!isEnded) {
          await(sent, number);
        }
      }), wait, TimeUnit.NANOSECONDS));
    }
    onRoom.run();
  }

  private long nanos() {
    return parts.timers().now(TimeUnit.NANOSECONDS);
  }

  private void adapt(int sent, long nanos) {
    if (nanos > SLOW_NANOS) {
      limit = Math.max(parts.terms().batch(), limit / 2);
    } else if (nanos < QUICK_NANOS && sent >= limit) {
      limit = Math.min(parts.terms().most(), 2 * limit);
      onRoom.run();
    }
  }

  private void await(Mono<Void> work, long number) {
    isBusy = true;
    work.subscribe(nothing -> {}, error -> serial.run(() -> failed(number, error)), () -> serial.run(this::done));
  }

  private void done() {
    isBusy = false;
    go();
  }

  private void failed(long number, Throwable error) {
    isBusy = false;
    limit = parts.terms().batch();
    if (number == round && !isEnded) {
      isDoubtful = true;
      long millis = parts.terms().retry().toMillis() << Math.min(failures++, MOST_DOUBLINGS);
      LOG.warn("announcing blocks failed, all will be announced again in {} ms: {}", millis, error.toString());
      onDoubt.accept(millis);
    }
    go();
  }

  private void after(long nanos, Runnable step) {
    timer.update(parts.timers().schedule(() -> serial.run(step), nanos, TimeUnit.NANOSECONDS));
  }
}
