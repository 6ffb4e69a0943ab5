package io.penstock.cluster.directory;

import io.penstock.block.BlockKey;
import io.penstock.operator.Serial;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierEvent.Level;
import io.penstock.tier.TierEvent.SnapshotStarted;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.MonoSink;

/// Says in the directory which blocks one tier has, until the tier closes.
///
/// | What happens | What is said |
/// |---|---|
/// | the beginning | a *round* under a new number: all blocks, at the pace of the node, and each change |
/// | a split healed, a batch failed, events were missed, | a new round. The number of the last whole round counts |
/// | a level went down or came up | until the new one is whole; then nothing said under it does, wherever it is left |
/// | members were lost with segments of the map | the blocks of these segments, under the number in use |
///
/// Blocks of lost segments come from a second feed of the tier. The first feed goes on until it has told all up to the
/// beginning of the second, so no change between the two is missed.
///
/// The tier is asked for no more than the batch that fills has room for. All fields are touched in steps of one
/// [Serial].
final class TierAnnouncement implements Feed.Reader, Disposable {
  private final Serial serial = new Serial();
  private final BlockTier tier;
  private final AnnounceParts parts;
  private final VisibleLevels levels;
  private final BatchSender sender;
  private final MonoSink<Void> end;
  private final Disposable losses;
  private final Disposable.Swap mending = Disposables.swap();

  private @Nullable Feed feed;
  private @Nullable Feed next;
  private long position;
  /// Events of `feed` that were requested and did not come yet.
  private int requested;
  /// Whether the snapshot of this round has ended.
  private boolean isWhole;
  private boolean isDoubtful;
  private boolean isEnded;
  private BitSet lost = new BitSet();
  /// Segments that the present snapshot of a whole round is for.
  private BitSet repaired = new BitSet();

  /// @param order names of the tier's levels, fastest first
  TierAnnouncement(BlockTier tier, List<String> order, AnnounceParts parts, MonoSink<Void> end) {
    this.tier = tier;
    this.parts = parts;
    this.end = end;
    this.levels = new VisibleLevels(order);
    this.sender = new BatchSender(parts, serial, this::askForMore, this::doubt);
    this.losses = parts.map().losses().subscribe(loss -> serial.run(() -> onLoss(loss)));
  }

  void start() {
    serial.run(this::newRound);
  }

  @Override
  public void read(Feed from, TierEvent event) {
    serial.run(() -> onEvent(from, event));
  }

  @Override
  public void ended(Feed from, @Nullable Throwable error) {
    serial.run(() -> onEnd(from, error));
  }

  @Override
  public void dispose() {
    serial.run(this::stop);
  }

  private void newRound() {
    cancelFeeds();
    beginRound();
    feed = open();
    requested = 1; // see Feed
  }

  private void beginRound() {
    isWhole = false;
    isDoubtful = false;
    lost = new BitSet();
    repaired = new BitSet();
    sender.beginRound(parts.numbers().getAsLong());
  }

  private Feed open() {
    Feed opened = new Feed(this);
    tier.follow().subscribe(opened);
    return opened;
  }

  private void cancelFeeds() {
    if (feed != null) {
      feed.cancel();
    }
    if (next != null) {
      next.cancel();
    }
    feed = null;
    next = null;
  }

  private void onEvent(Feed from, TierEvent event) {
    if (from.equals(feed)) {
      requested--;
      position = event.sequence();
      follow(from, event);
      takeOver();
      askForMore();
    } else if (from.equals(next) && event instanceof SnapshotStarted beginning) {
      from.beganWith(beginning);
      takeOver();
      askForMore();
    }
  }

  private void follow(Feed from, TierEvent event) {
    switch (event) {
      case SnapshotStarted started -> {
        if (from.beginning() != null) { // the feed fell behind, and changes were missed
          beginRound();
        }
        from.beganWith(started);
        levels.restart(started.down());
      }
      case TierEvent.Present present -> present(present.key(), present.levels());
      case TierEvent.SnapshotEnded ended -> {
        repaired = new BitSet();
        if (!isWhole) {
          isWhole = true;
          sender.endRound();
        }
        mend();
      }
      case TierEvent.Stored stored -> changed(stored.key(), stored.levels());
      case TierEvent.Moved moved -> changed(moved.key(), moved.to());
      case TierEvent.Evicted evicted -> changed(evicted.key(), List.of());
      case TierEvent.Removed removed -> changed(removed.key(), List.of());
      case TierEvent.Lost gone -> changed(gone.key(), List.of());
      case TierEvent.LevelDown down -> newRound();
      case TierEvent.LevelUp up -> newRound();
      case TierEvent.Skipped skipped -> newRound();
      case TierEvent.SessionEnded session -> {
      }
    }
  }

  private void present(BlockKey key, List<Level> on) {
    BlockName name = parts.names().of(key);
    int level = levels.fastest(on);
    if (level != VisibleLevels.NONE && (!isWhole || repaired.get(name.segment()))) {
      sender.putPaced(name, level);
    }
  }

  private void changed(BlockKey key, List<Level> on) {
    sender.put(parts.names().of(key), levels.fastest(on));
  }

  private void askForMore() {
    int room = sender.limit() - sender.size() - requested;
    if (feed != null && room > 0 && room >= sender.limit() / 2) {
      requested += room;
      feed.request(room);
    }
  }

  private void onLoss(MapLoss loss) {
    if (isEnded) {
      return;
    }
    switch (loss) {
      case MapLoss.Segments segments -> lost.or(segments.segments());
      case MapLoss.Healed healed -> isDoubtful = true;
    }
    mendAfter(parts.terms().settle().toMillis());
  }

  /// What was said may not be what the map has: a batch failed, and may have been carried out or may be yet.
  private void doubt(long waitMillis) {
    isDoubtful = true;
    mendAfter(waitMillis);
  }

  private void mendAfter(long millis) {
    if (!isEnded) {
      mending.update(
          parts.timers().schedule(() -> serial.run(this::mend), millis, TimeUnit.MILLISECONDS));
    }
  }

  private void mend() {
    if (isEnded) {
      return;
    }
    if (isDoubtful) {
      newRound();
    } else if (isWhole && !lost.isEmpty() && next == null && repaired.isEmpty()) {
      next = open();
    }
  }

  /// Goes over to the second feed once the first has told all up to its beginning.
  private void takeOver() {
    SnapshotStarted beginning = next == null ? null : next.beginning();
    if (feed != null && beginning != null && position >= beginning.sequence()) {
      feed.cancel();
      feed = next;
      next = null;
      levels.restart(beginning.down());
      requested = 0;
      repaired = lost;
      lost = new BitSet();
    }
  }

  private void onEnd(Feed from, @Nullable Throwable error) {
    if (isEnded || !(from.equals(feed) || from.equals(next))) {
      return;
    }
    if (error == null || error instanceof TierClosedException) {
      stop();
      end.success();
    } else {
      cancelFeeds();
      doubt(parts.terms().retry().toMillis());
    }
  }

  private void stop() {
    if (!isEnded) {
      isEnded = true;
      losses.dispose();
      mending.dispose();
      cancelFeeds();
      sender.stop();
    }
  }
}
