package io.penstock.wire.transport.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.util.concurrent.ScheduledFuture;
import io.penstock.wire.transport.AwakeLoops;
import io.penstock.wire.transport.ReceiveLimits;
import io.penstock.wire.transport.Refusal;
import io.penstock.wire.transport.TransportFailure.RefusedPeerException;
import io.penstock.wire.transport.frame.AskedFrames;
import io.penstock.wire.transport.frame.FrameDecoder;
import io.penstock.wire.transport.frame.FrameRoom;
import io.penstock.wire.transport.frame.StreamBodies;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;

/// Rules of a server for the bytes of a peer: SETUP in time and short, then frames that find room and arrive whole in
/// time. A client trusts the node that it chose, so these rules do not apply there.
///
/// All of it runs on the event loop, except [#sent].
final class IncomingFrames {
  /// A frame that others wait for room behind has one of these parts of its time.
  private static final int PARTS = 10;

  /// Parts of a listener that all its connections share.
  record Server(ReceiveLimits limits, FrameRoom room, AcceptedConnections accepted, AwakeLoops loops) {
    Server(TcpServerOptions options) {
      this(options.receive(), new FrameRoom(options.receive().roomBytes()), new AcceptedConnections(options.slots()),
          AwakeLoops.of(options.tuning()));
    }
  }

  private final Channel channel;
  private final int maxFrameBytes;
  private final @Nullable Server server;
  private final TcpConnection connection;
  private final Consumer<ByteBuf> to;
  private final FrameDecoder decoder;
  private final AskedFrames asked = new AskedFrames();
  private final FrameRoom.Place place = new FrameRoom.Place(this::roomGranted);

  private boolean setUp;
  private boolean tookRoom;
  private Disposable untilSetup = Disposables.disposed();
  private @Nullable ScheduledFuture<?> untilTick;
  private int watched;
  private int parts;

  /// @param server null for a client
  /// @param connection receives a peer that breaks a rule, and the stops and starts of reading
  /// @param bodies memory of streams for their frames; null if all frames must come whole
  /// @param to takes the frames, which stay the giver's
  IncomingFrames(Channel channel, int maxFrameBytes, @Nullable Server server, TcpConnection connection,
      @Nullable StreamBodies bodies, Consumer<ByteBuf> to) {
    this.channel = channel;
    this.maxFrameBytes = maxFrameBytes;
    this.server = server;
    this.connection = connection;
    this.to = to;
    this.setUp = server == null;
    int first = server == null ? maxFrameBytes : Math.min(maxFrameBytes, server.limits().setupBytes());
    this.decoder = new FrameDecoder(channel.alloc(), first, this::hasRoom, bodies);
  }

  FrameDecoder decoder() {
    return decoder;
  }

  /// The time to SETUP begins.
  void begin(Duration timeToSetup) {
    untilSetup = connection.timers()
        .schedule(() -> setupIsLate(timeToSetup.toMillis()), timeToSetup.toMillis(), TimeUnit.MILLISECONDS);
  }

  private void setupIsLate(long millis) {
    connection.fail(new RefusedPeerException(Refusal.SETUP_TIME,
        "SETUP must come within " + millis + " ms (was not there)"));
    connection.closeAtOnce();
  }

  /// A frame leaves for the peer.
  void sent(int streamId, ByteBuf frame) {
    if (server != null) {
      asked.sent(streamId, frame);
    }
  }

  /// Reads all of `in`.
  ///
  /// @throws RefusedPeerException for a frame that breaks a rule
  void read(ByteBuf in) {
    decoder.feed(in, this::accept);
    if (decoder.isWaiting()) {
      connection.showDemand();
    }
  }

  /// A read ended: a frame that is open now is watched.
  void readComplete() {
    if (server != null && untilTick == null && decoder.isOpen()) {
      watched = decoder.begun();
      parts = 0;
      tickLater(server);
    }
  }

  /// True while nothing may be read: a frame waits for room.
  boolean isWaiting() {
    return decoder.isWaiting();
  }

  /// Drops the open frame. Idempotent.
  void close() {
    decoder.close();
    giveRoomBack();
    untilSetup.dispose();
    if (untilTick != null) {
      untilTick.cancel(false);
    }
  }

  private void accept(ByteBuf frame) {
    if (!setUp && !setUp()) {
      return;
    }
    if (server != null) {
      asked.came(frame);
    }
    try {
      to.accept(frame);
    } finally {
      giveRoomBack();
    }
  }

  private boolean setUp() {
    setUp = true;
    untilSetup.dispose();
    decoder.maxFrameBytes(maxFrameBytes);
    RefusedPeerException refusal = server == null ? null : server.accepted().setUp(connection);
    if (refusal != null) {
      connection.fail(refusal);
      if (server != null && !server.accepted().mayLinger()) {
        connection.closeAtOnce();
      }
    }
    return refusal == null;
  }

  /// A frame that this side asked for needs no room: it must not wait for room while others wait for the bytes that it
  /// was charged with.
  private boolean hasRoom(int length) {
    if (server == null || length <= ReceiveLimits.FREE_BYTES
        || (length <= server.limits().askedBytes() && asked.any())) {
      return true;
    }
    tookRoom = true;
    return server.room().take(place, length);
  }

  private void giveRoomBack() {
    if (tookRoom && server != null) {
      tookRoom = false;
      server.room().giveBack(place);
    }
  }

  private void roomGranted() {
    connection.onLoop(this::roomFound);
  }

  private void roomFound() {
    try {
      decoder.roomFound(this::accept);
    } catch (RuntimeException | Error e) {
      connection.fail(e);
    }
    connection.showDemand();
    readComplete();
  }

  private void tickLater(Server rules) {
    untilTick = channel.eventLoop().schedule(() -> tick(rules), rules.limits().frameTime().toNanos() / PARTS,
        TimeUnit.NANOSECONDS);
  }

  private void tick(Server rules) {
    Duration time = rules.limits().frameTime();
    untilTick = null;
    if (!decoder.isOpen()) {
      return;
    }
    if (decoder.begun() != watched || !channel.config().isAutoRead()) {
      watched = decoder.begun();
      parts = 0;
    } else {
      parts++;
    }
    if (parts >= PARTS) {
      connection.fail(late(Refusal.FRAME_TIME, time, ""));
    } else if (parts > 0 && rules.room().mustMakeWay(place)) {
      connection.fail(late(Refusal.ROOM, time.dividedBy(PARTS), " while others wait for room"));
    } else {
      tickLater(rules);
    }
  }

  private RefusedPeerException late(Refusal reason, Duration time, String when) {
    return new RefusedPeerException(reason, "frame must be complete within " + time.toMillis() + " ms" + when + " (was "
        + decoder.got() + " of " + decoder.length() + " bytes)");
  }
}
