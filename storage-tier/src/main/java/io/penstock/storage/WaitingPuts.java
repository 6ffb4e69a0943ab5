package io.penstock.storage;

import io.penstock.tier.spi.StoredBlock;
import io.penstock.tier.spi.StoreUnavailableException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import reactor.core.publisher.MonoSink;

/// Batches that the thread that appends has not come to: the callers hear at once of a disk that takes nothing,
/// though that thread may be stuck. Safe from any thread.
final class WaitingPuts {
  private final Set<Put> waiting = ConcurrentHashMap.newKeySet();

  /// One of them; begun or refused, whichever comes first.
  static final class Put {
    private final MonoSink<List<StoredBlock>> sink;
    private final AtomicBoolean over = new AtomicBoolean();

    private Put(MonoSink<List<StoredBlock>> sink) {
      this.sink = sink;
    }

    private boolean end() {
      return over.compareAndSet(false, true);
    }
  }

  Put add(MonoSink<List<StoredBlock>> sink) {
    Put put = new Put(sink);
    waiting.add(put);
    return put;
  }

  /// The thread comes to `put`; false if it was refused.
  boolean begin(Put put) {
    waiting.remove(put);
    return put.end();
  }

  /// Fails all that were not begun.
  void refuse(StoreUnavailableException why) {
    for (Put put : waiting) {
      if (put.end()) {
        put.sink.error(why);
      }
    }
  }
}
