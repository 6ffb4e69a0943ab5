package io.penstock.resp;

import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.Future;
import io.penstock.node.door.DoorUses.Kind;
import io.penstock.wire.security.Role;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;

/// One `SET` while its value comes. The tier takes each piece as it has room, and the value becomes visible when all of
/// it has come, with its end and its options. A value that waits too long for room is read to its end and let go: the
/// client is told `OK`, as a cache may evict at once. On the event loop of the channel.
final class IncomingSet {
  private static final Logger LOG = LoggerFactory.getLogger(IncomingSet.class);
  private static final String SYNTAX = "ERR syntax error";

  private final Session session;
  private final @Nullable String name;
  private final int length;
  private final IncomingValue value;
  private final Runnable asked;
  private final Disposable.Swap putting = Disposables.swap();
  private boolean drops;
  private boolean isStored;
  private boolean isSettled;
  private long untilMillis;
  private long waitedNanos;
  private long waitsSince;
  private @Nullable Future<?> timer;
  private @Nullable Runnable done;

  /// @param name null for a key that no value can have
  /// @param asked run when the next piece, or the reply, may go on
  IncomingSet(Session session, @Nullable String name, int length, Runnable asked) {
    this.session = session;
    this.name = name;
    this.length = length;
    this.asked = asked;
    this.value = new IncomingValue(session.channel().eventLoop(), asked);
  }

  void begin() {
    session.use().add(Kind.BYTES_IN, length);
    if (name == null || session.house().isDraining() || !session.isKnown() || !session.may(Role.WRITER)) {
      drops = true;
      return;
    }
    putting.update(session.values().put(name, length, value, Mono.fromSupplier(() -> untilMillis))
        .subscribe(stored -> session.onLoop(() -> settled(stored)), failure -> session.onLoop(() -> failed(failure))));
  }

  private void settled(boolean stored) {
    isStored = stored;
    isSettled = true;
    ended();
  }

  private void failed(Throwable failure) {
    LOG.debug("a value is let go", failure);
    drop();
  }

  /// Whether the next piece must wait.
  boolean waits() {
    boolean now = !drops && !value.wants();
    if (now) {
      watch();
    } else {
      unwatch();
    }
    return now;
  }

  /// Takes over a piece.
  void piece(ByteBuf piece) {
    if (drops || !piece.isReadable()) {
      piece.release();
    } else {
      value.next(piece);
    }
  }

  /// All has come.
  ///
  /// @param args of the request, with nothing in the place of the value
  /// @param done run once after the reply
  void finish(List<byte[]> args, Runnable done) {
    this.done = done;
    long now = session.house().terms().clocks().wall().millis();
    Optional<SetOptions> options = SetOptions.of(args, now);
    if (options.isEmpty()) {
      giveUp();
      session.refuse(SYNTAX);
      answered();
      return;
    } else if (!session.isKnown()) {
      session.refuse(Commands.UNKNOWN_USER);
      answered();
      return;
    } else if (!session.may(Role.WRITER) && session.isParsing()) {
      session.refuse(Commands.NO_RIGHT);
      answered();
      return;
    }
    SetOptions said = options.get();
    untilMillis =
        said.keepsEnd() && name != null ? Math.max(0, session.values().untilMillis(name)) : said.untilMillis();
    if (said.when() == SetOptions.When.ALWAYS || name == null) {
      complete();
    } else {
      session.await(session.values().length(name), found -> {
        if (found == null == (said.when() == SetOptions.When.NEW)) {
          complete();
        } else {
          giveUp();
          session.replies().nil();
          answered();
        }
      }, asked);
    }
  }

  private void complete() {
    if (!drops) {
      value.complete();
      if (!isSettled && !drops) {
        watch();
      }
    }
    ended();
  }

  /// Answers, if the value has come and was stored or let go.
  private void ended() {
    if (done != null && (drops || isSettled)) {
      session.use().count(drops ? Kind.DROP : Kind.WRITE);
      if (!drops && !isStored) {
        LOG.debug("another writer stored {} first", name);
      }
      session.replies().ok();
      answered();
    }
  }

  private void answered() {
    unwatch();
    Runnable then = done;
    done = null;
    if (then != null) {
      then.run();
    }
  }

  private void watch() {
    if (timer == null) {
      long most = session.house().limits().roomNanos();
      waitsSince = session.house().terms().clocks().nanos().getAsLong();
      timer = session.channel().eventLoop().schedule(() -> {
        timer = null;
        drop();
        asked.run();
      }, Math.max(0, most - waitedNanos), TimeUnit.NANOSECONDS);
    }
  }

  private void unwatch() {
    Future<?> running = timer;
    if (running != null) {
      timer = null;
      waitedNanos += session.house().terms().clocks().nanos().getAsLong() - waitsSince;
      running.cancel(false);
    }
  }

  private void drop() {
    giveUp();
    ended();
  }

  private void giveUp() {
    drops = true;
    unwatch();
    putting.dispose();
  }

  /// The connection ended before the reply: the value never was.
  void abort() {
    if (!isSettled) {
      session.use().count(Kind.ABORT);
    }
    giveUp();
    done = null;
  }
}
