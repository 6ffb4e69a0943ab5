package io.penstock.resp;

import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.Future;
import io.penstock.flow.ValueStore;
import io.penstock.node.door.DoorUses.Kind;
import io.penstock.wire.security.Role;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// One `SET`, or a command like it, while its value comes. The tier takes each piece as it has room, and the value
/// becomes visible when all of it has come, with its end and its options. A value that waits too long for room is read
/// to its end and let go: the client is told `OK`, as a cache may evict at once; the value that it would have replaced
/// goes with it. On the event loop of the channel.
final class IncomingSet {
  private static final Logger LOG = LoggerFactory.getLogger(IncomingSet.class);
  /// Behind a value.
  private static final int END_BYTES = 2;
  private static final int SHORT_REST = 256 << 10;

  private final Session session;
  /// Null for a key that no value can have.
  private final @Nullable String name;
  /// What such a key is refused with.
  private final String refusal;
  private final int length;
  private final IncomingValue value;
  private final Runnable asked;
  private final Disposable.Swap putting = Disposables.swap();
  private @Nullable ByteBuf piece;
  private int came;
  private Fate fate = Fate.COMES;
  private Reply reply = Reply.NOT_DUE;
  /// Whether the client hears that its value is stored if it gives way.
  private final Sinks.One<Boolean> decided = Sinks.one();
  private boolean replaces;
  private boolean isRefused;
  /// Why the space can never hold the value; null if it can.
  private @Nullable String tooLong;
  /// The client hears a number.
  private boolean isNumber;
  private long untilMillis;
  private long waitedNanos;
  private long waitsSince;
  private @Nullable Future<?> timer;
  private boolean isAwaited;
  private int cameBefore;
  private long silentSince;
  private @Nullable String claim;
  private @Nullable Runnable done;

  /// What becomes of the value.
  private enum Fate {
    /// The tier takes what comes.
    COMES,
    /// Another writer is to store its value first.
    GIVES_WAY,
    /// It is let go.
    DROPPED,
    /// It is visible.
    STORED,
    /// Another writer stored its value first.
    OVERTAKEN;

    boolean isOpen() {
      return this == COMES || this == GIVES_WAY;
    }
  }

  /// How far the reply is.
  private enum Reply {
    /// The request has not come whole.
    NOT_DUE,
    /// It is asked whether the condition of the options holds.
    ASKS,
    /// The fate of the value is awaited.
    DUE,
    /// What the value was to replace is being removed.
    REMOVES,
    GIVEN
  }

  /// @param asked run when the next piece, or the reply, may go on
  IncomingSet(Session session, byte[] key, int length, Runnable asked) {
    this.session = session;
    this.name = session.name(key);
    this.refusal = name == null ? "ERR " + session.rule(key) : "";
    this.length = length;
    this.asked = asked;
    this.value = new IncomingValue(session.channel().eventLoop(), length, asked);
  }

  void begin() {
    session.use().add(Kind.BYTES_IN, length);
    if (name == null || session.house().isDraining() || !session.isKnown() || !session.may(Role.WRITER)) {
      fate = Fate.DROPPED;
    } else if (session.isParsing() || !EngineKey.isOfChunk(name)) {
      begin(name);
    } else {
      beginAsLongAsBefore(name);
    }
  }

  private void begin(String name) {
    if (length > 0) {
      put(name);
    }
  }

  /// A client that reads replies by their width would take what follows a longer value for the next reply. While the
  /// node still looks for the names that it had before its start, the tiers are asked.
  private void beginAsLongAsBefore(String name) {
    OptionalLong known = session.values().knownLength(name);
    if (known.isPresent() || length == 0 || session.values().isComplete()) {
      begin(name, known.orElse(length));
      return;
    }
    session.await(session.values().length(name), found -> {
      if (fate == Fate.COMES) {
        begin(name, found == null ? length : found);
      }
    }, asked);
  }

  /// @param before length of the value of this name
  private void begin(String name, long before) {
    if (before == length) {
      begin(name);
    } else {
      fate = Fate.DROPPED;
      isRefused = true;
      session.use().count(Kind.REFUSAL);
      session.end("a value of a model must be as long as the one of its key was (was " + length + ")");
    }
  }

  private void put(String name) {
    Mono<Boolean> replacing = Mono.defer(() -> {
      session.onLoop(this::giveWay);
      return decided.asMono();
    });
    putting.update(session.values().put(name, length, value, () -> untilMillis, replacing)
        .subscribe(stored -> session.onLoop(() -> settled(stored)), failure -> session.onLoop(() -> failed(failure))));
  }

  private void giveWay() {
    if (fate != Fate.COMES) {
      return;
    }
    fate = Fate.GIVES_WAY;
    if (reply == Reply.NOT_DUE) {
      asked.run();
    }
  }

  /// Whether bytes that come are let go.
  private boolean letsGo() {
    return fate != Fate.COMES;
  }

  private void settled(boolean stored) {
    if (fate.isOpen()) {
      fate = stored ? Fate.STORED : Fate.OVERTAKEN;
    }
    endedEarly();
  }

  private void failed(Throwable failure) {
    LOG.debug("a value is let go", failure);
    if (failure instanceof ValueStore.ValueTooLargeException large) {
      tooLong = "a value must be <= %d bytes, the room of space %s (was %d)".formatted(large.mostBytes(),
          session.space().name(), large.length());
      session.loggedLetGo(tooLong);
    }
    giveUp();
    endedEarly();
  }

  /// Lets the bytes go on that waited for memory: none comes any more.
  private void endedEarly() {
    boolean waited = reply == Reply.NOT_DUE;
    ended();
    if (waited) {
      asked.run();
    }
  }

  /// Whether the next bytes must wait.
  boolean waits() {
    boolean now = left() > 0 && !letsGo() && !value.wants();
    if (now) {
      watch();
    } else if (reply == Reply.NOT_DUE) {
      unwatch();
    }
    return now;
  }

  /// Bytes that have not come.
  private int left() {
    ByteBuf rest = piece;
    return length - came + (rest == null ? 0 : rest.readableBytes());
  }

  /// Whether some of it has to come, and not much.
  boolean isNearItsEnd() {
    return left() <= SHORT_REST;
  }

  /// Takes over a piece.
  void piece(ByteBuf one) {
    came += one.readableBytes();
    piece = one;
    takePiece();
  }

  /// Hands on what has come, as far as there is memory for it.
  ///
  /// @return false if some of it still waits
  boolean takePiece() {
    ByteBuf one = piece;
    if (one == null) {
      return true;
    }
    while (one.isReadable() && !letsGo() && value.wants()) {
      value.put(one);
    }
    if (one.isReadable() && !letsGo()) {
      return false;
    }
    piece = null;
    one.release();
    return true;
  }

  /// Memory for the next bytes of the socket, which are those of the value alone; null for none.
  ValueReads.@Nullable Room room() {
    return piece == null && came < length && !letsGo() ? value.room(END_BYTES) : null;
  }

  /// Whether there is such memory.
  boolean hasRoom() {
    return piece == null && came < length && !letsGo() && value.wants();
  }

  /// Bytes of the value that were copied.
  long copied() {
    return value.copied();
  }

  /// Whether bytes of the value have not come.
  boolean hasMoreToCome() {
    return left() > 0;
  }

  /// All has come.
  ///
  /// @param args of the request, with nothing in the place of the value
  /// @param done run once after the reply
  void finish(List<byte[]> args, Runnable done) {
    this.done = done;
    reply = Reply.DUE;
    long now = session.house().terms().clocks().wall().millis();
    SetOptions said;
    try {
      said = SetOptions.of(args, now);
    } catch (IllegalArgumentException e) {
      giveUp();
      session.refuse(String.valueOf(e.getMessage()));
      answered();
      return;
    }
    if (!session.isKnown()) {
      giveUp();
      session.refuseRight(Commands.UNKNOWN_USER);
      answered();
      return;
    } else if (!session.may(Role.WRITER)) {
      giveUp();
      session.refuseRight(Commands.NO_RIGHT);
      answered();
      return;
    } else if (name == null && session.isParsing()) { // another client is told OK, as for any value that is let go
      giveUp();
      session.refuse(refusal);
      answered();
      return;
    }
    isNumber = said.isNumber();
    decide(said);
  }

  /// Stores the value that has come, if the condition of its options holds.
  private void decide(SetOptions said) {
    untilMillis =
        said.keepsEnd() && name != null ? Math.max(0, session.values().untilMillis(name)) : said.untilMillis();
    replaces = said.when() != SetOptions.When.NEW && !isRefused;
    if (said.when() == SetOptions.When.ALWAYS || name == null) {
      complete();
    } else if (said.when() == SetOptions.When.NEW && !claims(name)) {
      refused();
    } else {
      reply = Reply.ASKS;
      session.await(session.values().length(name), found -> {
        reply = Reply.DUE;
        if (found == null == (said.when() == SetOptions.When.NEW)) {
          complete();
        } else {
          refused();
        }
      }, this::looked);
    }
  }

  /// The condition does not hold.
  private void refused() {
    giveUp();
    tellNotStored();
    answered();
  }

  private void tellStored() {
    if (isNumber) {
      session.replies().integer(1);
    } else {
      session.replies().ok();
    }
  }

  private void tellNotStored() {
    if (isNumber) {
      session.replies().integer(0);
    } else {
      session.replies().nil();
    }
  }

  /// Two clients that bring a value for one new name look and store in turn.
  private boolean claims(String name) {
    String one = session.space().name() + ' ' + name;
    boolean isOurs = session.house().claims().add(one);
    claim = isOurs ? one : null;
    return isOurs;
  }

  private void unclaim() {
    String ours = claim;
    if (ours != null) {
      claim = null;
      session.house().claims().remove(ours);
    }
  }

  /// A question that failed was answered with its error.
  private void looked() {
    if (reply == Reply.ASKS) {
      giveUp();
      answered();
    }
    asked.run();
  }

  private void complete() {
    var _ = decided.tryEmitValue(replaces);
    if (fate.isOpen()) {
      if (length == 0 && name != null) {
        put(name);
      } else {
        value.complete();
      }
      if (fate.isOpen()) {
        watch();
      }
    }
    ended();
  }

  /// Answers, if the value has come and was stored or let go.
  private void ended() {
    if (reply != Reply.DUE || fate.isOpen()) {
      return;
    }
    if (tooLong != null && session.isParsing()) { // what it was to replace stays
      session.refuse("ERR " + tooLong);
      answered();
      return;
    }
    if (fate == Fate.DROPPED && replaces && name != null && session.may(Role.WRITER)) {
      reply = Reply.REMOVES;
      session.use().count(Kind.DROP);
      session.await(session.values().remove(name), removed -> tellStored(), this::answered);
      return;
    }
    session.use().count(fate == Fate.DROPPED ? Kind.DROP : Kind.WRITE);
    if (fate == Fate.OVERTAKEN) {
      LOG.debug("another writer stores {} first", name);
    }
    if (fate != Fate.OVERTAKEN || replaces) {
      tellStored();
    } else {
      tellNotStored();
    }
    answered();
  }

  /// How long the client has sent nothing of the value, in nanoseconds, if there is memory for it or all has come; 0 if
  /// the tier, or replies that the client does not take, hold it up.
  long silentNanos() {
    long now = session.house().terms().clocks().nanos().getAsLong();
    boolean isDue = (came == length || value.wants()) && piece == null && session.channel().isWritable();
    if (!isAwaited || !isDue || came != cameBefore) {
      isAwaited = true;
      cameBefore = came;
      silentSince = now;
    }
    return now - silentSince;
  }

  /// Whether bytes of the value, or of its request, have to come.
  boolean awaitsClient() {
    return reply == Reply.NOT_DUE && fate != Fate.DROPPED;
  }

  private void answered() {
    unwatch();
    unclaim();
    reply = Reply.GIVEN;
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
    if (fate.isOpen()) {
      fate = Fate.DROPPED;
    }
    takePiece();
    unwatch();
    putting.dispose();
  }

  /// The connection ended before the reply: the value never was.
  void abort() {
    if (fate != Fate.STORED && fate != Fate.OVERTAKEN) {
      session.use().count(Kind.ABORT);
    }
    giveUp();
    unclaim();
    done = null;
  }
}
