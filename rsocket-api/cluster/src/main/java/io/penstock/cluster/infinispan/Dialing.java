package io.penstock.cluster.infinispan;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Executor;
import org.jgroups.PhysicalAddress;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Sendings to members to which there is no connection yet. JGroups connects on the thread that sends to all members,
/// and a host that is silent holds that thread for as long as a connection may take, again and again: members that
/// could talk do not hear each other either. Here each such member has a thread of its own while one connects to it.
///
/// If there is no connection in the end, what waited is lost: the protocols above send it again. Safe from any thread.
final class Dialing {
  /// Most sendings that wait for one member.
  static final int MOST_WAITING = 64;
  private static final Logger LOG = LoggerFactory.getLogger(Dialing.class);

  private final Sender sender;
  private final Executor threads;
  @GuardedBy("this") private final Map<PhysicalAddress, Queue<byte[]>> waiting = new HashMap<>();

  /// Sends, and connects before if it has to.
  interface Sender {
    void send(PhysicalAddress peer, byte[] data) throws Exception;
  }

  /// @param threads runs each connection by itself
  Dialing(Sender sender, Executor threads) {
    this.sender = sender;
    this.threads = threads;
  }

  /// Whether something waits for this member, so that what comes now is to wait, too.
  synchronized boolean isWaiting(PhysicalAddress peer) {
    return waiting.containsKey(peer);
  }

  /// Sends once there is a connection. Copies the bytes.
  void send(PhysicalAddress peer, byte[] data, int offset, int length) {
    boolean isFirst;
    synchronized (this) {
      Queue<byte[]> before = waiting.get(peer);
      isFirst = before == null;
      Queue<byte[]> queue = before == null ? new ArrayDeque<>() : before;
      if (queue.size() < MOST_WAITING) {
        queue.add(Arrays.copyOfRange(data, offset, offset + length));
      }
      waiting.put(peer, queue);
    }
    if (isFirst) {
      threads.execute(() -> connect(peer));
    }
  }

  private void connect(PhysicalAddress peer) {
    boolean allSent = false;
    try {
      for (byte[] next = next(peer); next != null; next = next(peer)) {
        sender.send(peer, next);
      }
      allSent = true;
    } catch (Exception e) {
      LOG.debug("no connection to {}", peer, e);
    } finally {
      if (!allSent) {
        forget(peer);
      }
    }
  }

  private synchronized byte @Nullable [] next(PhysicalAddress peer) {
    Queue<byte[]> queue = waiting.get(peer);
    byte[] next = queue == null ? null : queue.poll();
    if (next == null) {
      waiting.remove(peer);
    }
    return next;
  }

  private synchronized void forget(PhysicalAddress peer) {
    waiting.remove(peer);
  }
}
