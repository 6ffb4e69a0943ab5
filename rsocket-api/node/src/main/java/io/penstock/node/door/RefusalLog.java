package io.penstock.node.door;

import static java.util.Objects.requireNonNull;

import io.penstock.node.text.Reason;
import io.penstock.wire.transport.SourceAddress;
import java.net.SocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Writes requests that a door refused, and values that it let go because they can never fit, into the log, at most one
/// a second: the next line says how many had none. Safe from any thread.
public final class RefusalLog {
  private static final Logger LOG = LoggerFactory.getLogger(RefusalLog.class);
  private static final long EACH_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final int MOST_CHARACTERS = 300;

  private final String door;
  private final LongSupplier nanos;
  private final AtomicLong next;
  private final AtomicLong without = new AtomicLong();

  /// @param door its name among the settings
  public RefusalLog(String door, LongSupplier nanos) {
    this.door = requireNonNull(door, "door");
    this.nanos = requireNonNull(nanos, "nanos");
    this.next = new AtomicLong(nanos.getAsLong());
  }

  /// @param why it was refused; text of the client in it does no harm
  /// @param user whose request it was; empty for a client without credentials
  /// @param from address of the client
  public void add(String why, String user, @Nullable SocketAddress from) {
    if (isDue()) {
      LOG.warn("a request at the door {} was refused: {}; user {}, from {}{}", door, shown(why), named(user),
          SourceAddress.words(from), more());
    }
  }

  /// As [#add], for a value that its client believes to be stored.
  public void letGo(String why, String user, @Nullable SocketAddress from) {
    if (isDue()) {
      LOG.warn("a value at the door {} was let go: {}; user {}, from {}{}", door, shown(why), named(user),
          SourceAddress.words(from), more());
    }
  }

  private boolean isDue() {
    long now = nanos.getAsLong();
    long due = next.get();
    boolean isDue = now - due >= 0 && next.compareAndSet(due, now + EACH_NANOS);
    if (!isDue) {
      without.incrementAndGet();
    }
    return isDue;
  }

  private static String shown(String why) {
    String reason = Reason.printable(why);
    return reason.substring(0, Math.min(MOST_CHARACTERS, reason.length()));
  }

  private static String named(String user) {
    return user.isEmpty() ? "unknown" : user;
  }

  private String more() {
    long more = without.getAndSet(0);
    return more == 0 ? "" : " (" + more + " more since the line before)";
  }
}
