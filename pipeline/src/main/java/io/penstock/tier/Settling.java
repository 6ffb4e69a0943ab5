package io.penstock.tier;

import io.penstock.tier.StackEntry.Resident;
import java.util.List;
import java.util.stream.IntStream;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// One who waits until a [TierStack] has brought to its disks what the books have put there. Nothing is chosen for him:
/// he waits for blocks that move to a disk or wait to, and for commits that are written through. Never waits for a disk
/// that does not take blocks, for nothing is on its way to one.
final class Settling {
  private final StackBooks books;
  private final Sinks.Empty<Void> over = Sinks.empty();
  /// Those that were on their way when it began. Guarded by the stack's lock, as all below.
  private final List<Resident> chosen;
  /// Those before it are not on their way any more, or were not a while ago.
  private int next;
  private int missed;
  private boolean closed;

  Settling(StackBooks books) {
    this.books = books;
    synchronized (books.lock) {
      this.closed = books.isClosedNow();
      this.chosen = books.residents(this::isOnItsWay);
      books.settling.add(this);
    }
  }

  /// Completes when nothing is on its way, or the stack closes.
  Mono<Void> over() {
    return Mono.defer(() -> {
      signal();
      return over.asMono();
    });
  }

  /// Something may have ended. Not under the lock.
  void signal() {
    boolean ended;
    synchronized (books.lock) {
      ended = closed || (books.queue.isEmpty() && noneIsOnItsWay());
    }
    if (ended) {
      over.tryEmitEmpty();
    }
  }

  /// Looks at each of them about once, though it is asked again and again.
  private boolean noneIsOnItsWay() {
    while (next < chosen.size() && !isOnItsWay(chosen.get(next))) {
      next++;
    }
    return next == chosen.size() && chosen.stream().noneMatch(this::isOnItsWay); // a disk may be well again
  }

  private boolean isOnItsWay(Resident entry) {
    return !entry.gone && (entry.moving || (entry.wait != null && isDisk(entry.wait.target))) && isMissing(entry);
  }

  /// Whether a disk that is to have it does not.
  private boolean isMissing(Resident entry) {
    return entry.gone || (!entry.released && IntStream.range(0, books.levels.size())
        .anyMatch(level -> isDisk(level) && books.mover.isShortOf(entry, level)));
  }

  private boolean isDisk(int level) {
    return books.levels.get(level).medium() == Medium.DISK;
  }

  /// How many of them have not got there.
  int missed() {
    synchronized (books.lock) {
      return closed ? missed : (int) chosen.stream().filter(this::isMissing).count();
    }
  }

  /// The books are about to close, and nothing that waits gets anywhere. Under the lock.
  void close(Aftermath after) {
    missed = missed();
    closed = true;
    after.then(this::signal);
  }

  /// Waits no more.
  void leave() {
    books.settling.remove(this);
  }
}
