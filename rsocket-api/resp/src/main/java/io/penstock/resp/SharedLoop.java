package io.penstock.resp;

import io.netty.util.concurrent.EventExecutor;
import io.penstock.wire.transport.AwakeLoop;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;

/// The connections of one event loop: it knows whether several of them send by turns, and keeps the loop awake for what
/// they send next. Where some of them ask while others store, one value is read in each turn of the loop, so a question
/// waits for the bytes of one value, not of all. Their replies go out together when the loop has handled what they all
/// had sent: a client of several connections is woken less often. On the event loop.
final class SharedLoop {
  /// Turns of values after the last question in which the others wait for theirs.
  static final int ASKED = 256;
  /// Reads of one connection, with none of another between them, until the loop is not shared.
  static final int SHARED = 64;

  /// Most bytes that are read while replies wait.
  static final int MOST_BEHIND = 512 << 10;

  private final EventExecutor loop;
  private final AwakeLoop awake;
  private final Queue<Runnable> replies = new ArrayDeque<>();
  private final Runnable replyAll = this::replyAll;
  /// Bytes that have come since the first of these replies.
  private int behind;
  private final Queue<Runnable> turns = new ArrayDeque<>();
  private final Runnable next = this::next;
  private int asked;
  private int connections;
  /// The connection that was heard last; 0 before the first one, which counts as shared: others may be about to send.
  private int last;
  /// Reads of one connection in a row until it has the loop to itself.
  private int shared;

  SharedLoop(EventExecutor loop, AwakeLoop awake) {
    this.loop = loop;
    this.awake = awake;
  }

  /// A number for a connection of this loop.
  int connect() {
    return ++connections;
  }

  /// Whether other connections have sent something lately, too.
  boolean isShared() {
    return shared > 0;
  }

  /// The client of `connection` has sent something.
  ///
  /// @param hasMore whether a short rest of its request has to come before it gets an answer
  void heard(int connection, boolean hasMore) {
    shared = connection == last ? Math.max(0, shared - 1) : SHARED;
    last = connection;
    awake.heard(hasMore);
  }

  /// Runs `reply` when what other connections had sent by now was handled, or much of it. False, with nothing to run
  /// later, if this connection has the loop to itself.
  boolean repliesLater(Runnable reply) {
    if (!isShared()) {
      return false;
    }
    if (replies.isEmpty()) {
      behind = 0;
      loop.execute(replyAll);
    }
    replies.add(reply);
    return true;
  }

  private void replyAll() {
    try {
      for (Runnable reply = replies.poll(); reply != null; reply = replies.poll()) {
        reply.run();
      }
    } finally {
      if (!replies.isEmpty()) { // one has failed
        loop.execute(replyAll);
      }
    }
  }

  /// Bytes have come, and are handled next.
  void came(int bytes) {
    if (replies.isEmpty()) {
      return;
    }
    behind += bytes;
    if (behind >= MOST_BEHIND) {
      replyAll();
    }
  }

  /// A request without a value has come.
  void asked() {
    asked = ASKED;
  }

  /// Runs `turn` behind those of other values, one in each turn of the loop. False if the bytes of a value need not
  /// wait, since no client has asked lately.
  boolean awaits(Runnable turn) {
    if (asked == 0 || !isShared()) {
      return false;
    }
    asked--;
    turns.add(turn);
    if (turns.size() == 1) {
      again();
    }
    return true;
  }

  /// Behind what has come meanwhile, which a task that is due at once would not be.
  private void again() {
    var _ = loop.schedule(next, 0, TimeUnit.NANOSECONDS);
  }

  private void next() {
    Runnable turn = turns.remove();
    if (!turns.isEmpty()) {
      again();
    }
    turn.run();
  }
}
