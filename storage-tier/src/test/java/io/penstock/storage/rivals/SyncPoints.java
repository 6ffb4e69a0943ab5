package io.penstock.storage.rivals;

import io.penstock.storage.disk.SyncMode;
import io.penstock.storage.disk.SyncRule;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Forces a rival's file when the store would: after each batch, or beside the writing at half of the rule's bytes or
/// at its age, and the writing waits at the whole of them. Used by one thread.
final class SyncPoints implements AutoCloseable {
  private final SyncRule rule;
  private final Runnable force;
  private final ExecutorService beside = Executors.newSingleThreadExecutor();
  private @Nullable Future<?> running;
  private long unsynced;
  private long taken;
  private long since = System.nanoTime();

  SyncPoints(SyncRule rule, Runnable force) {
    this.rule = rule;
    this.force = force;
  }

  /// Waits until `bytes` more may be unsynced.
  void admit(long bytes) {
    if (rule.mode() == SyncMode.INTERVAL && unsynced + bytes > rule.bytes()) {
      begin();
      end();
    }
  }

  void appended(long bytes) {
    unsynced += bytes;
    if (rule.mode() == SyncMode.INTERVAL) {
      if (running != null && running.isDone()) {
        end();
      }
      if (unsynced - taken >= rule.bytes() / 2
          || System.nanoTime() - since >= TimeUnit.MILLISECONDS.toNanos(rule.interval().toMillis())) {
        begin();
      }
    }
  }

  void acknowledged() {
    if (rule.mode() == SyncMode.ALWAYS) {
      force.run();
    }
  }

  private void begin() {
    if (running == null) {
      taken = unsynced;
      since = System.nanoTime();
      running = beside.submit(force);
    }
  }

  private void end() {
    Future<?> sync = running;
    if (sync != null) {
      try {
        sync.get();
      } catch (Exception e) {
        throw new IllegalStateException("sync of a rival failed", e);
      }
      unsynced -= taken;
      taken = 0;
      running = null;
    }
  }

  @Override
  public void close() {
    end();
    beside.shutdown();
  }
}
