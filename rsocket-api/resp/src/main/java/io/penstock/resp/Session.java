package io.penstock.resp;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.DuplexChannel;
import io.netty.util.concurrent.Future;
import io.penstock.node.door.DoorSpace;
import io.penstock.node.door.DoorUses;
import io.penstock.node.door.DoorUses.Kind;
import io.penstock.node.door.DoorValues;
import io.penstock.node.text.Reason;
import io.penstock.wire.security.Caller;
import io.penstock.wire.security.Role;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// What one connection is: who its user is, which space it uses, how it speaks. On the event loop of its channel.
final class Session {
  private static final String ANYONE = "";
  private static final long LINGER_MILLIS = 500;

  private final RespHouse house;
  private final ChannelHandlerContext context;
  private final Replies replies;
  private final long number;
  private final long begunNanos;
  private @Nullable Caller caller;
  private boolean isKnown;
  private boolean parses;
  private boolean hasRefused;
  private boolean isOver;
  private int database;
  private String clientName = "";
  private @Nullable OutgoingValue sending;
  private DoorSpace space;
  private DoorUses.Use use;

  Session(RespHouse house, ChannelHandlerContext context) {
    this.house = house;
    this.context = context;
    this.replies = new Replies(context, house.shared(context.channel().eventLoop()));
    this.number = house.nextConnection();
    this.begunNanos = house.terms().clocks().nanos().getAsLong();
    this.isKnown = house.terms().access().isOpen();
    this.space = house.terms().spaces().of("0");
    this.use = house.terms().uses().of(ANYONE);
  }

  RespHouse house() {
    return house;
  }

  Replies replies() {
    return replies;
  }

  Channel channel() {
    return context.channel();
  }

  long number() {
    return number;
  }

  /// Whole seconds since the connection began.
  long ageSeconds() {
    return TimeUnit.NANOSECONDS.toSeconds(house.terms().clocks().nanos().getAsLong() - begunNanos);
  }

  DoorUses.Use use() {
    return use;
  }

  DoorValues values() {
    return space.values();
  }

  DoorSpace space() {
    return space;
  }

  int database() {
    return database;
  }

  /// Whether the client may send requests for data: it showed credentials, or needs none.
  boolean isKnown() {
    return isKnown && (caller == null || caller.isKnown());
  }

  /// The client is the user of `shown`; null for one of a node without users.
  void become(@Nullable Caller shown) {
    caller = shown;
    isKnown = true;
    use = house.terms().uses().of(user());
    select(database);
  }

  /// The connection is as a new one, but for what is known of how its client reads.
  void reset() {
    caller = null;
    isKnown = house.terms().access().isOpen();
    use = house.terms().uses().of(ANYONE);
    clientName = "";
    select(0);
  }

  /// What the client calls this connection; empty for nothing.
  String name() {
    return clientName;
  }

  void call(String name) {
    clientName = name;
  }

  private String user() {
    Caller known = caller;
    return known == null ? ANYONE : known.user();
  }

  void select(int database) {
    this.database = database;
    this.space = house.terms().spaces().of(user(), Integer.toString(database));
  }

  boolean may(Role role) {
    Caller known = caller;
    return known == null || known.role(space.name()).filter(has -> has.includes(role)).isPresent();
  }

  /// The client reads every reply as what it is: it sent a request that a client with fixed replies never sends.
  void parses() {
    parses = true;
  }

  /// Whether the client may be told of an error.
  boolean isParsing() {
    return parses;
  }

  /// The name of the value of `key`; null for a key that no value can have.
  @Nullable String name(byte[] key) {
    return RespName.of(database, key);
  }

  /// The rule that `key`, which no value can have, breaks.
  String rule(byte[] key) {
    return RespName.rule(database, key);
  }

  /// Answers with the value of `name`.
  ///
  /// @param done run once when the reply is written
  void send(String name, Runnable done) {
    OutgoingValue value = new OutgoingValue(this, name, () -> {
      sending = null;
      done.run();
    });
    sending = value;
    value.begin();
  }

  /// The socket takes more.
  void writable() {
    OutgoingValue value = sending;
    if (value != null) {
      value.writable();
    }
  }

  /// The connection is gone.
  void over() {
    isOver = true;
    OutgoingValue value = sending;
    if (value != null) {
      value.cancel();
    }
    replies.release();
  }

  /// Refuses a request for data. A client that may read replies by their width alone is told nothing: its connection
  /// ends, before it takes the reply of one request for that of another.
  void refuse(String error) {
    use.count(Kind.REFUSAL);
    if (parses) {
      replies.error(error);
    } else {
      end(error);
    }
  }

  /// Refuses a request to which the client has no right, as [#refuse] does, with a line in the log.
  void refuseRight(String error) {
    if (parses) {
      logged(error);
    }
    refuse(error);
  }

  /// Counts a request to which the client has no right, and which is answered as if there were nothing.
  void refuseSilently() {
    use.count(Kind.REFUSAL);
    logged(Commands.NO_RIGHT);
  }

  /// Ends the connection, with what it did in the log.
  void end(String why) {
    loggedEnd(why);
    close();
  }

  /// As [#end], when the client has taken its replies.
  void endBehindReplies(String why) {
    loggedEnd(why);
    closeBehindReplies();
  }

  private void loggedEnd(String why) {
    if (!hasRefused) {
      hasRefused = true;
      logged(why + "; its connection is ended");
    }
  }

  private void logged(String why) {
    house.refusals().add(why, use.user(), channel().remoteAddress());
  }

  /// Says in the log why a value that can never be stored was let go: its client is told `OK`.
  void loggedLetGo(String why) {
    house.refusals().letGo(why, use.user(), channel().remoteAddress());
  }

  void close() {
    replies.flushDue();
    replies.release();
    ChannelFuture unused = context.close();
  }

  /// Ends the connection when the client has taken its replies, or takes them for too long. What it still sends is let
  /// go for a moment: a socket that is closed with bytes that were not read takes the last replies back.
  void closeBehindReplies() {
    replies.flush();
    house.begin();
    channel().closeFuture().addListener(closed -> house.end());
    Future<?> late = context.executor().schedule(this::close, house.limits().stallNanos(), TimeUnit.NANOSECONDS);
    context.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(taken -> {
      late.cancel(false);
      if (channel() instanceof DuplexChannel socket && house.terms().tls() == null) {
        var _ = socket.shutdownOutput();
        socket.config().setAutoRead(true);
        var _ = context.executor().schedule(this::close, LINGER_MILLIS, TimeUnit.MILLISECONDS);
      } else {
        close();
      }
    });
  }

  /// Runs `task` on the loop, at once if this is its thread.
  void onLoop(Runnable task) {
    if (context.executor().inEventLoop()) {
      task.run();
    } else {
      context.executor().execute(task);
    }
  }

  /// Subscribes to `work`; hands its value, or null for none, to `then`, and runs `done`, on the loop. An error refuses
  /// the request. Once the connection is gone nothing runs.
  <T> void await(Mono<T> work, Consumer<@Nullable T> then, Runnable done) {
    Await<T> one = new Await<>(then, done);
    work.subscribe(one::value, one::failed, one::ended);
  }

  private final class Await<T> {
    private final Consumer<@Nullable T> then;
    private final Runnable done;
    private volatile @Nullable T value;

    Await(Consumer<@Nullable T> then, Runnable done) {
      this.then = then;
      this.done = done;
    }

    void value(T one) {
      value = one;
    }

    void ended() {
      onLoop(() -> {
        if (!isOver) {
          then.accept(value);
          done.run();
        }
      });
    }

    void failed(Throwable failure) {
      onLoop(() -> {
        if (!isOver) {
          refuse("ERR " + Reason.of(failure));
          done.run();
        }
      });
    }
  }
}
