package io.penstock.cluster.directory;

import io.penstock.tier.TierEvent;
import io.penstock.tier.TierEvent.SnapshotStarted;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;

/// One subscription to what a tier tells: a snapshot, then changes. Asks for the first event alone; its owner asks for
/// more.
final class Feed extends BaseSubscriber<TierEvent> {
  /// Receives the signals of feeds, on their threads.
  interface Reader {
    void read(Feed feed, TierEvent event);

    /// @param error null if the feed completed
    void ended(Feed feed, @Nullable Throwable error);
  }

  private final Reader reader;
  private @Nullable SnapshotStarted beginning;

  Feed(Reader reader) {
    this.reader = reader;
  }

  /// The first event; null before it. Only for the owner's steps.
  @Nullable SnapshotStarted beginning() {
    return beginning;
  }

  void beganWith(SnapshotStarted event) {
    beginning = event;
  }

  @Override
  protected void hookOnSubscribe(Subscription subscription) {
    subscription.request(1);
  }

  @Override
  protected void hookOnNext(TierEvent event) {
    reader.read(this, event);
  }

  @Override
  protected void hookOnError(Throwable error) {
    reader.ended(this, error);
  }

  @Override
  protected void hookOnComplete() {
    reader.ended(this, null);
  }
}
