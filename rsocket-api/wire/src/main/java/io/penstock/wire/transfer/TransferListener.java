package io.penstock.wire.transfer;

import static java.util.Objects.requireNonNull;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// Receives events of a [TransferEngine], for meters and for the log. Called on the threads of the transport and of the
/// timers, so it must neither block nor throw. An engine without a listener reads no clock for its items.
public interface TransferListener {
  /// Why a connection ended.
  enum Cause {
    /// No work needed it for some time.
    IDLE,
    /// The engine was closed.
    CLOSED,
    /// The connection broke, or its peer did.
    LOST
  }

  /// Whether it wants reports of items: without, no clock is read for them, and batches have no times of items.
  default boolean hearsItems() {
    return true;
  }

  /// An item ended.
  default void ended(ItemReport item) {}

  /// An operation completed: it moved one item, or several small ones.
  ///
  /// @param transport word of the transport
  /// @param bytes of its items
  /// @param sharedBytes those of them that went or came through shared memory; the others were in frames
  default void carried(String peer, String transport, TransferBatch.Direction direction, long bytes,
      long sharedBytes) {}

  /// All items of a batch ended, and its notifications.
  default void finished(BatchReport batch) {}

  /// A connection was made and its peer described.
  ///
  /// @param transport word of the transport
  default void connected(String peer, String transport, long nanos) {}

  /// A peer could not be reached.
  default void unreachable(String peer, Throwable cause) {}

  default void disconnected(String peer, String transport, Cause why) {}

  /// An item is tried once more.
  default void retried(String peer, Throwable cause) {}

  /// A listener that ignores all events.
  static TransferListener noop() {
    return Noop.INSTANCE;
  }

  /// All of `listeners`, in order.
  static TransferListener all(List<TransferListener> listeners) {
    List<TransferListener> told = listeners.stream().filter(listener -> listener != Noop.INSTANCE).toList();
    return told.isEmpty() ? noop() : new Listeners(told);
  }

  /// Ignores all events.
  enum Noop implements TransferListener {
    INSTANCE;

    @Override
    public boolean hearsItems() {
      return false;
    }
  }

  /// Passes each event to several listeners.
  record Listeners(List<TransferListener> told) implements TransferListener {
    public Listeners {
      told = List.copyOf(told);
    }

    @Override
    public boolean hearsItems() {
      return told.stream().anyMatch(TransferListener::hearsItems);
    }

    @Override
    public void ended(ItemReport item) {
      told.forEach(listener -> listener.ended(item));
    }

    @Override
    public void finished(BatchReport batch) {
      told.forEach(listener -> listener.finished(batch));
    }

    @Override
    public void carried(String peer, String transport, TransferBatch.Direction direction, long bytes,
        long sharedBytes) {
      told.forEach(listener -> listener.carried(peer, transport, direction, bytes, sharedBytes));
    }

    @Override
    public void connected(String peer, String transport, long nanos) {
      told.forEach(listener -> listener.connected(peer, transport, nanos));
    }

    @Override
    public void unreachable(String peer, Throwable cause) {
      told.forEach(listener -> listener.unreachable(peer, cause));
    }

    @Override
    public void disconnected(String peer, String transport, Cause why) {
      told.forEach(listener -> listener.disconnected(peer, transport, why));
    }

    @Override
    public void retried(String peer, Throwable cause) {
      told.forEach(listener -> listener.retried(peer, cause));
    }
  }

  /// Times of the parts of a transfer, in nanoseconds.
  ///
  /// @param connect waiting for the connection and its descriptors
  /// @param queue waiting for a place, and between attempts
  /// @param transfer from the first request of the last attempt to its end
  /// @param verify computing checksums of received bytes, within `transfer`; 0 of a write, which the peer verifies
  record Times(long connect, long queue, long transfer, long verify) {
    static final Times NONE = new Times(0, 0, 0, 0);

    /// The longer one of each.
    Times longest(Times other) {
      return new Times(Math.max(connect, other.connect), Math.max(queue, other.queue),
          Math.max(transfer, other.transfer), Math.max(verify, other.verify));
    }

    /// Time from the submission to the end.
    public long total() {
      return connect + queue + transfer;
    }
  }

  /// End of one item, and its times.
  ///
  /// @param transport word of the transport; empty if the item met no connection
  /// @param bytes of the item
  /// @param failure null if it completed
  record ItemReport(String peer, String transport, TransferBatch.Direction direction, long bytes, int attempts,
      Times times, @Nullable TransferFailure failure) {
    public ItemReport {
      requireNonNull(peer, "peer");
    }
  }

  /// End of a batch, and its times.
  ///
  /// @param peers of its items
  /// @param transports that carried them
  /// @param nanos from its submission to its end
  /// @param longest times of its items
  record BatchReport(List<String> peers, List<String> transports, Transfer.BatchResult result, long nanos,
      Times longest) {
    public BatchReport {
      peers = List.copyOf(peers);
      transports = List.copyOf(transports);
    }
  }
}
